"""Rewrite lazy_static!, bitflags!, cfg_if! and trait aliases as plain Rust."""

import re

from cqm.chunkers.languages.model import blank
from cqm.chunkers.model import later

_LAZY = later(rb"^(?P<head>[ \t]*+(?:pub(?:\([^)\n]*\))?[ \t]+)?static[ \t]+)ref(?=[ \t]+\w+[ \t]*:)", re.MULTILINE)
_ALIAS = later(
    rb"^(?P<head>[ \t]*+(?:pub(?:\([^)\n]*\))?[ \t]+)?trait[ \t]+\w+(?:<[^=;{}\n]*>)?)"
    rb"(?P<bounds>[ \t]*=[^=;{}]{1,400};)",
    re.MULTILINE,
)
_ALIASED = later(rb"trait[ \t]+\w+(?:<[^=;{}\n]*>)?[ \t]*=")
"""The start of the same apart: a word is found several times as fast as rows."""
_BLOCK = later(
    rb"^(?P<indent>[ \t]{0,64})(?P<open>(?:\w++::)?(?P<word>bitflags|cfg_if)! ?\{)[ \t]*\r?\n"
    rb"(?P<body>(?:(?P=indent)[ \t]+[^\n]*\n|[ \t]*\r?\n)*+)(?P=indent)(?P<close>\})",
    re.MULTILINE,
)
_FLAGS = later(rb"struct(?P<space>[ \t]+)(?P<name>\w+)(?P<type>[ \t]*:[^{}\n]*)(?=\{)")
_FLAG = later(rb"^(?P<head>[ \t]*+)const(?P<name>[ \t]+[A-Za-z]\w*[ \t]*=[^;]*);", re.MULTILINE)
_CONDITION = later(
    rb"^(?P<indent>[ \t]*+)(?:\}[ \t]*)?(?:else[ \t]*)?(?:if[ \t]*#\[[^\n]*\][ \t]*)?\{?[ \t]*\r?$", re.MULTILINE
)


def readable_rust(source: bytes) -> bytes:
    """Return Rust of the same length: variables, enumerations and plain items."""
    if b"static ref " in source:
        source = _LAZY.sub(lambda it: it["head"] + b"   ", source)
    if b"bitflags!" in source or b"cfg_if!" in source:
        source = _BLOCK.sub(_plain, source)
    return _ALIAS.sub(_as_trait, source) if _ALIASED.search(source) else source


def _as_trait(found: re.Match[bytes]) -> bytes:
    spaces = blank(found["bounds"])
    return found["head"] + (spaces[:-2] + b"{}" if not spaces[-2:].strip(b" ") else found["bounds"])


def _plain(found: re.Match[bytes]) -> bytes:
    """Blank the call around a block, and write its items as those of plain Rust."""
    text, first = found[0], found.start()
    body = found["body"]
    if found["word"] == b"bitflags":
        body = _FLAGS.sub(lambda it: b"enum  " + it["space"] + it["name"] + blank(it["type"]), body)
        body = _FLAG.sub(lambda it: it["head"] + b"     " + it["name"] + b",", body)
    else:
        inner = min((len(it["indent"]) for it in _CONDITION.finditer(body) if it[0].strip()), default=0)
        body = _CONDITION.sub(lambda it: blank(it[0]) if len(it["indent"]) == inner else it[0], body)
    begin, end = (it - first for it in found.span("body"))
    return blank(text[:begin]) + body + blank(text[end:])
