"""Keep one branch of each conditional of a preprocessor, since a grammar sees the braces of all of them at once."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from cqm.chunkers.languages.model import signs_of

if TYPE_CHECKING:
    from cqm.chunkers.languages.model import Unread

_DEFINE = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(?P<name>\w+)(?P<value>[^\n]*)", re.MULTILINE)
_DEFINED = re.compile(rb"(?P<not>!?)[ \t]*(?i:defined)?[ \t]*\(?[ \t]*(?P<name>[A-Za-z_]\w*)[ \t]*\)?")
_COMMENT = re.compile(rb"/[*/].*", re.DOTALL)
_DECLARED = re.compile(rb"\n[A-Za-z_]")
"""Beginnings of most declarations outside of functions."""
_NONE: Mapping[int, int] = {}
_ENDS = (b"endif", b"ifend")
_KNOWN = {b"0": False, b"false": False, b"1": True, b"true": True}
_BLANKS = b" \t\n\r\f\v"
_BLANK = bytes(byte if byte in _BLANKS else ord(" ") for byte in range(256))


class _Conditional(NamedTuple):
    """An open conditional.

    Attributes:
        is_kept: whether the text around it is kept.
        has_kept: whether it has kept a branch.
        wanted: the number of the branch to keep; negative to keep one by its condition.
        number: of the branch at hand.
    """

    is_kept: bool
    has_kept: bool
    wanted: int = -1
    number: int = 0


def blank(text: bytes) -> bytes:
    """Replace all but white space by spaces."""
    return text.translate(_BLANK)


def one_branch(source: bytes, unread: "Unread", *, last: bool = False, wanted: Mapping[int, int] = _NONE) -> bytes:
    """Blank the directives of conditionals and all their branches but one, keeping length and line feeds.

    A name that an earlier condition took as defined stays defined: branches which open a brace and those which close it
    are of one mind. A source whose conditionals don't pair stays as it is.

    Parameters:
        source: the program.
        unread: with the form of the directives, and names that are defined, or not.
        last: keep the last branch of a conditional rather than the first, where its condition tells neither.
        wanted: numbers of branches to keep, by the first bytes of their conditionals.
    """
    directives = [*signs_of(unread.directives).finditer(source)]
    alternatives = _alternatives(directives)
    if not directives or alternatives is None:
        return source
    # The branch without "#else" that a name chooses would else decide for one that has it.
    chosen_by = {_name_of(it) for it in directives if last and it.start() in alternatives} - {b""}
    parts: list[bytes] = []
    names = {**_KNOWN, **unread.defined}
    around: list[_Conditional] = []
    is_kept, place = True, 0
    for found in directives:
        text = source[place : found.start()]
        parts += [text if is_kept else blank(text), blank(found[0])]
        if is_kept:
            _note_defined(text, names)
        place = found.end()
        word = found["word"].lower()
        if word.startswith(b"if") and word not in _ENDS:
            number = wanted.get(found.start(), -1)
            is_last = last and (found.start() in alternatives or _name_of(found) in chosen_by)
            chosen = number == 0 if number >= 0 else _chooses(found, names, last=is_last)
            around.append(_Conditional(is_kept, chosen, number))
            is_kept = is_kept and chosen
        elif word in _ENDS:
            is_kept = around.pop().is_kept
        else:
            outer, has_kept, number, before = around[-1]
            if number >= 0:
                chosen = number == before + 1
            else:
                chosen = not has_kept and (word == b"else" or _chooses(found, names, last=last))
            around[-1] = _Conditional(outer, has_kept or chosen, number, before + 1)
            is_kept = outer and chosen
    return b"".join([*parts, source[place:]])


def unshown(source: bytes, unread: "Unread", texts: Sequence[bytes]) -> dict[int, int]:
    """Find conditionals with declarations in a branch that is blank in all of some texts of the source.

    Parameters:
        source: the program.
        unread: with the form of the directives.
        texts: the same with one branch of each conditional.

    Returns:
        The number of such a branch, the first one, by the first byte of its conditional; none inside another.
    """
    directives = [*signs_of(unread.directives).finditer(source)]
    if _alternatives(directives) is None:
        return {}
    found: dict[int, int] = {}
    # The first bytes of conditionals with the numbers of their branches, and whether a branch around is found.
    around: list[tuple[int, int, bool]] = []
    for directive, after in zip(directives, [*directives[1:], None], strict=True):
        if directive["word"].lower() in _ENDS:
            around.pop()
            continue
        if directive["word"].lower().startswith(b"if"):
            around.append((directive.start(), 0, bool(around) and around[-1][2]))
        else:
            start, number, _ = around[-1]
            around[-1] = start, number + 1, len(around) > 1 and around[-2][2]
        start, number, is_inside = around[-1]
        span = slice(directive.end(), after.start() if after is not None else len(source))
        declares = not is_inside and _DECLARED.search(source, span.start, span.stop) is not None
        if declares and start not in found and all(text[span].isspace() for text in texts):
            found[start] = number
            around[-1] = start, number, True
    return found


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
        word = directive["word"].lower()
        if word.startswith(b"if") and word not in _ENDS:
            around.append(directive.start())
        elif not around:
            return None
        elif word in _ENDS:
            around.pop()
        else:
            found.add(around[-1])
    return None if around else found


def _name_of(directive: "re.Match[bytes]") -> bytes:
    """Return the name that a condition is about; empty if there is more to it."""
    named = _DEFINED.fullmatch(_COMMENT.sub(b"", directive["condition"]).strip())
    return named["name"] if named else b""


def _chooses(directive: "re.Match[bytes]", known: dict[bytes, bool], *, last: bool) -> bool:
    condition = _COMMENT.sub(b"", directive["condition"]).strip()
    negates = directive["word"].lower().endswith(b"ndef")
    named = _DEFINED.fullmatch(condition)
    if named is None:
        return not last
    negates = negates or bool(named["not"])
    if named["name"] in known:
        return known[named["name"]] != negates
    known[named["name"]] = (not last) != negates
    return not last
