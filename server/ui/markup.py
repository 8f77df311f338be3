"""The frame of every page, links between pages, and escaped text. All text of files passes `safe`."""

from collections.abc import Iterable
from importlib.metadata import version
from urllib.parse import quote, urlencode

from cqm.chunkers.extras import DISTRIBUTION
from cqm.server.page import safe

PAGES = (("./", "Search"), ("preview", "Chunks"), ("health", "Health"), ("asked", "Asked"))
"""The pages at the top of each one. All links are relative: a page does not know the folder it is served from."""


def url(page: str, *, at: str = "", **parameters: object) -> str:
    """Write the address of a page for an attribute: parameters without a value are left out."""
    given = {name: value for name, value in parameters.items() if value not in ("", None, ())}
    question = urlencode(given, doseq=True, errors="backslashreplace")
    return safe(f"{page}{'?' if question else ''}{question}{f'#{quote(at)}' if at else ''}")


def frame(title: str, here: str, body: Iterable[str], *, styles: Iterable[str] = ()) -> str:
    """Write a whole page.

    Parameters:
        title: in plain text.
        here: its row in `PAGES`; another name for a page without one.
        body: its main part, as HTML.
        styles: names of further style sheets.
    """
    links = "".join(
        f"<a href='{page}'{' aria-current=page' if page == here else ''}>{name}</a>" for page, name in PAGES
    )
    new = quote(version(DISTRIBUTION))
    sheets = "".join(f"<link rel='stylesheet' href='static/{name}?{new}'>" for name in ("ui.css", *styles))
    return (
        "<!doctype html>\n<html lang='en'>\n<head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{safe(title)}</title>{sheets}<link rel='icon' href='static/icon.svg?{new}'>"
        f"<script src='static/ui.js?{new}' defer></script></head>\n"
        f"<body><a class='skip' href='#main'>Skip to the content</a>\n<header><b class='name'>CQM</b><nav>{links}</nav>"
        "<button type='button' class='keys' data-keys hidden>Keys <kbd>?</kbd></button></header>\n"
        f"<main id='main' tabindex='-1'>\n{''.join(body)}\n</main>\n{_KEYS}\n</body>\n</html>\n"
    )


def field(label: str, control: str) -> str:
    """Write a control of a form with its label."""
    return f"<label><span>{label}</span>{control}</label>"


def choice(name: str, values: Iterable[str], chosen: str) -> str:
    """Write a list to choose one of some values from."""
    options = "".join(
        f"<option value='{safe(it)}'{' selected' if it == chosen else ''}>{safe(it)}</option>" for it in values
    )
    return f"<select name='{name}'>{options}</select>"


def sentence(line: str) -> str:
    """Return a note of an answer as a sentence of its own."""
    said = line.removeprefix("Note: ")
    return f"{said[:1].upper()}{said[1:]}" if said != line else line


def notes(lines: Iterable[str]) -> str:
    """Write sentences of CQM for readers not to miss."""
    items = "".join(f"<li>{safe(line)}</li>" for line in lines)
    return f"<ul class='notes'>{items}</ul>" if items else ""


def listed(rows: Iterable[tuple[str, str]]) -> str:
    """Write rows of names and values; values are HTML, and empty rows are left out."""
    items = "".join(f"<dt>{safe(name)}</dt><dd>{value}</dd>" for name, value in rows if value)
    return f"<dl class='facts'>{items}</dl>" if items else ""


_KEYS = """<dialog id='keys' aria-labelledby='keys-title'><h2 id='keys-title'>Keys</h2><dl class='facts'>
<dt><kbd>/</kbd></dt><dd>to the question</dd><dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>next result, result before</dd>
<dt><kbd>Enter</kbd></dt><dd>show its file</dd><dt><kbd>o</kbd></dt><dd>open it in the editor</dd>
<dt><kbd>c</kbd></dt><dd>copy it as an agent sees it</dd><dt><kbd>w</kbd></dt><dd>why it ranks here</dd>
<dt><kbd>Esc</kbd></dt><dd>leave the question, or these keys</dd></dl>
<form method='dialog'><button>Close</button></form></dialog>"""
