"""Words like filters in a question: their syntax, and notes on those without effect."""

import re
from collections.abc import Iterator
from difflib import get_close_matches

_NAMES = ("lang", "language", "path", "kind", "sym", "symbol", "source", "issue")
FILTER = re.compile(rf'(?<!\S)(-?)({"|".join(_NAMES)}):("[^"\n]+"|[^\s":][^\s"]*)(?!\S)')
_WORD = re.compile(r'(?<!\S)(-?)([A-Za-z]{2,12}):([^\s:/"][^\s"]*)(?!\S)')
_APART = re.compile(rf"(?<!\S)({'|'.join(_NAMES)}):[ \t]+([\w.*/#+-]+)(?!\S)")
_LEAST_LIKE = 0.8
_OF_OTHERS = {
    **dict.fromkeys(("file", "filename", "dir", "folder", "directory", "glob", "include"), "path:{}"),
    **dict.fromkeys(("ext", "extension"), "path:*.{}"),
    "exclude": "-path:{}",
    **dict.fromkeys(("author", "committer", "repo", "org", "rev", "branch", "since"), ""),
}
"""Filters of other search engines, and how CQM writes them; empty where it has none."""
_KNOWN = "lang, path, kind, sym, source, issue"


def is_filter(name: str, value: str) -> bool:
    """Tell an address or an absolute path of other kinds from a filter's value."""
    return not value.startswith("//") and (name == "path" or not value.startswith("/"))


def notes_on_words(text: str) -> Iterator[str]:
    """Yield a note for each near-filter: misspelled, of another search engine, or with a blank."""
    for found in _WORD.finditer(text):
        whole, name, value = found[0], found[2].lower(), found[3]
        if (found[2] in _NAMES and is_filter(name, value)) or value.isdecimal():
            continue
        if name in _OF_OTHERS:
            meant = _with_sign(found[1], _OF_OTHERS[name].format(value))
        else:
            near = [it for it in _NAMES if sorted(it) == sorted(name)] or get_close_matches(
                name, _NAMES, 1, _LEAST_LIKE
            )
            if not near:
                continue
            meant = f"{found[1]}{near[0]}:{value}"
        why = f"perhaps `{meant}` is meant" if meant else f"expected one of {_KNOWN}"
        yield f"`{whole}` is taken as words: {why}"
    for apart in _APART.finditer(text):
        # Between other words these are more often parts of messages, such as `symbol: class Foo` of a compiler.
        is_at_end = not (text[: apart.start()].strip() and text[apart.end() :].strip())
        if apart[1] in {"path", "symbol", "source", "issue"} and not is_at_end:
            continue
        yield f"`{apart[0]}` is taken as words: a filter has no blank, as in `{apart[1]}:{apart[2]}`"


def _with_sign(sign: str, meant: str) -> str:
    """Write a filter with the minus of a word; the minus turns an excluding filter into an including one."""
    return meant.removeprefix("-") if sign and meant.startswith("-") else f"{sign if meant else ''}{meant}"
