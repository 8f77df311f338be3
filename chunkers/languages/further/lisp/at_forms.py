"""Rewrite text unreadable to the grammar of Racket: text in code, `@name{...}`."""

import re

_OPENING = re.compile(rb"@[^\s()\[\]{}\"'`,;|@]*(?:\[[^\[\]]{0,400}\])?\{")
_BRACE = re.compile(rb"[{}]")
_SIGN = re.compile(rb"(?<=[\s(\[])@(?=[(\w])")
_NO_TEXT = re.compile(rb"[^\n]")
_TABLE = re.compile(rb"#2d(?=\w)")
_ROW_OF_TABLE = re.compile(rb"^[ \t]*\xe2\x95[\x90-\xac](?:[^\n]*\xe2\x95[\x90-\xac])?", re.MULTILINE)


def without_at_forms(source: bytes) -> bytes:
    """Write strings for the forms of a module in the language `at-exp`, in a text with errors; blank drawn tables."""
    if b"#2d" in source:
        source = _ROW_OF_TABLE.sub(lambda it: _NO_TEXT.sub(b" ", it[0]), _TABLE.sub(b"   ", source))
    if b"@" not in source or b"at-exp" not in source:
        return source
    parts: list[bytes] = []
    done = 0
    while (opening := _OPENING.search(source, done)) is not None:
        end = _end(source, opening.end())
        if end < 0:
            break
        text = _NO_TEXT.sub(b"a", source[opening.start() + 1 : end - 1])
        parts += [source[done : opening.start()], b'"', text, b'"']
        done = end
    return _SIGN.sub(b" ", b"".join([*parts, source[done:]]))


def _end(source: bytes, place: int) -> int:
    """Return the end of the braces opened before a place; -1 if they aren't closed."""
    depth = 1
    for brace in _BRACE.finditer(source, place):
        depth += 1 if brace[0] == b"{" else -1
        if depth == 0:
            return brace.end()
    return -1
