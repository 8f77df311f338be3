"""Put a paragraph between two marks into a text for agents, such as AGENTS.md, or take it out."""

from collections.abc import Mapping, Sequence

from cqm.server.setup.edits import BrokenFileError, line_of, newline_of

PARAGRAPH = """\
## Finding code

The MCP server `cqm` searches this machine's projects. Use it before grep, and before reading whole files:

- `search` takes a question in plain words, a symbol, an error message or a path, and answers with files and lines.
- `usages` tells where a symbol is defined, and who calls it.
- `outline` lists the symbols of a file, or maps a folder; `read` shows one symbol or some lines.

Use grep for an exact text which you know. In a shell, `cqm search "your question"` does the same."""
"""Tells agents when to use CQM."""

START, END = "<!-- cqm: written by `cqm setup`, undone by `cqm setup --remove` -->", "<!-- /cqm -->"


def data_of(text: str) -> object:
    """Return the words around the paragraph, and the paragraph itself as if it were at the path "cqm".

    Raises:
        BrokenFileError: a mark stands alone or twice.
    """
    place = _place(text)
    if place is None:
        return {"around": text.split()}
    start, end = place
    inner = text[start + len(START) : end - len(END)].replace("\r\n", "\n").strip("\n")
    return {"around": [*text[:start].split(), *text[end:].split()], "cqm": {"text": inner}}


def put(text: str, _path: Sequence[str], entry: Mapping[str, object]) -> str:
    """Return a text with the paragraph, at its end or in the place of an older one.

    Raises:
        BrokenFileError: as `data_of`.
    """
    newline = newline_of(text)
    block = f"{START}\n{entry['text']}\n{END}".replace("\n", newline)
    place = _place(text)
    if place:
        return text[: place[0]] + block + text[place[1] :]
    before = "" if not text else newline if text.endswith("\n") else newline * 2
    return f"{text}{before}{block}{newline}"


def cut(text: str, _path: Sequence[str], *, is_empty_kept: bool) -> str:  # noqa: ARG001 - there is nothing around it
    """Return a text without the paragraph, which it has."""
    start, end = _place(text) or (0, 0)
    newline = newline_of(text)
    after = text[end:].removeprefix(newline)
    return text[:start].removesuffix(newline) + after


def _place(text: str) -> tuple[int, int] | None:
    """Return the positions of the paragraph with its marks; None without one."""
    start, end = text.find(START), text.find(END)
    if start < 0 and end < 0:
        return None
    if start < 0 or end < start or text.count(START) > 1 or text.count(END) > 1:
        raise BrokenFileError("a mark of cqm setup stands alone or twice", line_of(text, max(start, end)))
    return start, end + len(END)
