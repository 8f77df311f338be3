"""Keep one branch of each conditional of a preprocessor, since a grammar sees the braces of all of them at once."""

import re
from collections.abc import Mapping
from typing import NamedTuple

_DIRECTIVE = re.compile(
    rb"^[ \t]*+#[ \t]*+(?P<word>ifdef|ifndef|if|elifdef|elifndef|elif|elseif|else|endif)\b"
    rb"(?P<condition>(?:[^\\\n]|\\\r?\n|\\)*+)",
    re.MULTILINE,
)
_DEFINE = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(?P<name>\w+)(?P<value>[^\n]*)", re.MULTILINE)
_DEFINED = re.compile(rb"(?P<not>!?)[ \t]*(?:defined)?[ \t]*\(?[ \t]*(?P<name>[A-Za-z_]\w*)[ \t]*\)?")
_COMMENT = re.compile(rb"/[*/].*", re.DOTALL)
_KNOWN = {b"0": False, b"false": False, b"1": True, b"true": True}
_BLANKS = b" \t\n\r\f\v"
_BLANK = bytes(byte if byte in _BLANKS else ord(" ") for byte in range(256))


class _Conditional(NamedTuple):
    """An open conditional: whether the text around it is kept, and whether it has kept a branch."""

    is_kept: bool
    has_kept: bool


def blank(text: bytes) -> bytes:
    """Replace all but white space by spaces."""
    return text.translate(_BLANK)


def one_branch(source: bytes, known: Mapping[bytes, bool], *, last: bool = False) -> bytes:
    """Blank the directives of conditionals and all their branches but one, keeping length and line feeds.

    A name that an earlier condition took as defined stays defined: branches which open a brace and those which close it
    are of one mind. A source whose conditionals don't pair stays as it is.

    Parameters:
        source: the program.
        known: names that are defined, or not.
        last: keep the last branch of a conditional rather than the first, where its condition tells neither.
    """
    directives = [*_DIRECTIVE.finditer(source)]
    alternatives = _alternatives(directives)
    if not directives or alternatives is None:
        return source
    parts: list[bytes] = []
    names = {**_KNOWN, **known}
    around: list[_Conditional] = []
    is_kept, place = True, 0
    for found in directives:
        text = source[place : found.start()]
        parts += [text if is_kept else blank(text), blank(found[0])]
        if is_kept:
            _note_defined(text, names)
        place = found.end()
        word = found["word"]
        if word.startswith(b"if"):
            chosen = _chooses(found, names, last=last and found.start() in alternatives)
            around.append(_Conditional(is_kept, chosen))
            is_kept = is_kept and chosen
        elif word == b"endif":
            is_kept = around.pop().is_kept
        else:
            outer, has_kept = around[-1]
            chosen = not has_kept and (word == b"else" or _chooses(found, names, last=last))
            around[-1] = _Conditional(outer, has_kept or chosen)
            is_kept = outer and chosen
    return b"".join([*parts, source[place:]])


def _note_defined(text: bytes, names: dict[bytes, bool]) -> None:
    """Note what a kept text defines: "#ifndef A" around "#define A 1" does not leave A undefined."""
    for found in _DEFINE.finditer(text):
        if found["value"].strip() == b"0":
            names.pop(found["name"], None)
        else:
            names[found["name"]] = True


def _alternatives(directives: "list[re.Match[bytes]]") -> set[int] | None:
    """Return the places of conditionals with a second branch; None if conditionals don't pair."""
    found: set[int] = set()
    around: list[int] = []
    for directive in directives:
        if directive["word"].startswith(b"if"):
            around.append(directive.start())
        elif not around:
            return None
        elif directive["word"] == b"endif":
            around.pop()
        else:
            found.add(around[-1])
    return None if around else found


def _chooses(directive: "re.Match[bytes]", known: dict[bytes, bool], *, last: bool) -> bool:
    condition = _COMMENT.sub(b"", directive["condition"]).strip()
    negates = directive["word"].endswith(b"ndef")
    named = _DEFINED.fullmatch(condition)
    if named is None:
        return not last
    negates = negates or bool(named["not"])
    if named["name"] in known:
        return known[named["name"]] != negates
    known[named["name"]] = (not last) != negates
    return not last
