"""Keep one branch of each conditional of a preprocessor, since a grammar sees the braces of all of them at once."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from cqm.chunkers.languages.model import blank, signs_of
from cqm.chunkers.model import later

if TYPE_CHECKING:
    from cqm.chunkers.languages.model import Unread

# Patterns beginning with a character are found four times as fast as those beginning with a row.
_DEFINE = later(rb"#[ \t]*define[ \t]+(?P<name>\w+)(?P<value>[^\n]*)")
_DEFINED = later(rb"(?P<not>!?)[ \t]*(?i:defined)?[ \t]*\(?[ \t]*(?P<name>[A-Za-z_]\w*|[01])[ \t]*\)?")
_COMMENT = later(rb"/[*/].*", re.DOTALL)
_DECLARED = later(rb"\n[A-Za-z_]")
"""Beginnings of most declarations outside of functions."""
_NONE: Mapping[int, int] = {}
_ENDS = (b"endif", b"ifend")
_KNOWN = {b"0": False, b"false": False, b"1": True, b"true": True}
_SIGN = b"#"


class _Directive(NamedTuple):
    """A line such as "#if".

    Attributes:
        start, end: bytes, half-open.
        opens, closes: whether it begins or ends a conditional; else it begins a further branch.
        is_else: whether its branch has no condition.
        name: in its condition; empty if there is more to it.
        negates: whether the name must not be defined.
    """

    start: int
    end: int
    opens: bool
    closes: bool
    is_else: bool
    name: bytes
    negates: bool


class _Define(NamedTuple):
    """A name defined in a line; `is_zero` if as 0."""

    start: int
    name: bytes
    is_zero: bool


class Conditionals(NamedTuple):
    """The conditionals of a source; they pair.

    Attributes:
        defined: names tested in conditions, and whether they are defined.
        directives: in order.
        alternatives: places of conditionals with a second branch.
        defines: names defined in the source, in order.
    """

    source: bytes
    defined: Mapping[bytes, bool]
    directives: list[_Directive]
    alternatives: set[int]
    defines: list[_Define]


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


def without(data: bytes, spans: Iterable[tuple[int, int]], place: int = 0) -> bytes:
    """Blank spans of a text which begins at a place of theirs."""
    blanked = bytearray(data)
    for start, end in spans:
        blanked[start - place : end - place] = blank(data[start - place : end - place])
    return bytes(blanked)


def conditionals_of(source: bytes, unread: "Unread") -> Conditionals | None:
    """Find the conditionals of a program; None if there are none, or if they don't pair.

    Parameters:
        unread: with the form of the directives, and names that are defined, or not.
    """
    directives = [*_directives(source, unread)]
    alternatives = _alternatives(directives)
    if alternatives is None:
        directives = _paired(_outside_comments(directives, source, unread), len(source))
        alternatives = _alternatives(directives)
    if not directives or alternatives is None:
        return None
    return Conditionals(source, unread.defined, directives, alternatives, [*_defines(source)])


def one_branch(them: Conditionals, *, last: bool = False, wanted: Mapping[int, int] = _NONE) -> bytes:
    """Blank the directives of conditionals and all their branches but one, keeping length and line feeds.

    A name taken as defined by an earlier condition stays defined: branches opening a brace and those closing it agree.

    Parameters:
        last: keep the last branch of a conditional rather than the first, if its condition decides for neither.
        wanted: numbers of branches to keep, by the first bytes of their conditionals.
    """
    source = them.source
    # Otherwise a name's branch without "#else" would decide for one with it.
    chosen_by = {it.name for it in them.directives if last and it.start in them.alternatives} - {b""}
    parts: list[bytes] = []
    names = {**_KNOWN, **them.defined}
    defines, next_define = them.defines, 0
    around: list[_Conditional] = []
    is_kept, place = True, 0
    for it in them.directives:
        text = source[place : it.start]
        parts += [text if is_kept else blank(text), blank(source[it.start : it.end])]
        while next_define < len(defines) and defines[next_define].start < it.start:
            if is_kept and defines[next_define].start >= place:
                _note_defined(defines[next_define], names)
            next_define += 1
        place = it.end
        if it.opens:
            number = wanted.get(it.start, -1)
            is_last = last and (it.start in them.alternatives or it.name in chosen_by)
            chosen = number == 0 if number >= 0 else _chooses(it, names, last=is_last)
            around.append(_Conditional(is_kept, chosen, number))
            is_kept = is_kept and chosen
        elif it.closes:
            is_kept = around.pop().is_kept
        else:
            outer, has_kept, number, before = around[-1]
            if number >= 0:
                chosen = number == before + 1
            else:
                chosen = not has_kept and (it.is_else or _chooses(it, names, last=last))
            around[-1] = _Conditional(outer, has_kept or chosen, number, before + 1)
            is_kept = outer and chosen
    return b"".join([*parts, source[place:]])


def unshown(them: Conditionals, texts: Sequence[bytes]) -> dict[int, int]:
    """Find conditionals with declarations in a branch blank in all of some texts of the source.

    Parameters:
        texts: the same with one branch of each conditional.

    Returns:
        The number of such a branch, the first one, by the first byte of its conditional; none inside another.
    """
    source, directives = them.source, them.directives
    found: dict[int, int] = {}
    # The first bytes of conditionals with the numbers of their branches, and whether a branch around is found.
    around: list[tuple[int, int, bool]] = []
    for directive, after in zip(directives, [*directives[1:], None], strict=True):
        if directive.closes:
            around.pop()
            continue
        if directive.opens:
            around.append((directive.start, 0, bool(around) and around[-1][2]))
        else:
            start, number, _ = around[-1]
            around[-1] = start, number + 1, len(around) > 1 and around[-2][2]
        start, number, is_inside = around[-1]
        span = slice(directive.end, after.start if after is not None else len(source))
        declares = not is_inside and _DECLARED.search(source, span.start, span.stop) is not None
        if declares and start not in found and all(text[span].isspace() for text in texts):
            found[start] = number
            around[-1] = start, number, True
    return found


def _directives(source: bytes, unread: "Unread") -> Iterator[_Directive]:
    pattern, place = signs_of(unread.directives), 0
    while (found := pattern.search(source, place)) is not None:
        start, end = found.span()
        if not _begins_row(source, start):
            # No later one of this row begins it.
            place = source.find(b"\n", start)
            if place < 0:
                return
            continue
        place = end
        word = found["word"].lower()
        closes = word in _ENDS
        named = None if closes else _DEFINED.fullmatch(_COMMENT.sub(b"", found["condition"]).strip())
        yield _Directive(
            start,
            end,
            not closes and word.startswith(b"if"),
            closes,
            word == b"else",
            named["name"] if named else b"",
            word.endswith(b"ndef") or (named is not None and bool(named["not"])),
        )


def _outside_comments(directives: list[_Directive], source: bytes, unread: "Unread") -> list[_Directive]:
    """Leave out directives inside of comments; by the signs of a language, others are notes themselves."""
    notes = [it.span() for it in signs_of(unread.signs).finditer(source) if it.lastgroup == "note"]
    starts = [start for start, _ in notes]
    kept = []
    for it in directives:
        place = bisect_right(starts, it.start) - 1
        start, end = notes[place] if place >= 0 else (0, 0)
        if it.start >= end or not source[start : it.start].strip():
            kept.append(it)
    return kept


def _paired(directives: list[_Directive], end: int) -> list[_Directive]:
    """Leave out directives of no conditional, and close open ones: a part of a large program may have both."""
    kept: list[_Directive] = []
    depth = 0
    for it in directives:
        if it.opens or depth:
            kept.append(it)
            depth += it.opens - it.closes
    return kept + [_Directive(end, end, opens=False, closes=True, is_else=False, name=b"", negates=False)] * depth


def _defines(source: bytes) -> Iterator[_Define]:
    for found in _DEFINE.finditer(source):
        if _begins_row(source, found.start()):
            yield _Define(found.start(), found["name"], found["value"].strip() == b"0")


def _begins_row(source: bytes, place: int) -> bool:
    """Tell if a sign "#" is the first of its row; any other sign may stand anywhere."""
    before = source[source.rfind(b"\n", 0, place) + 1 : place]
    return source[place : place + 1] != _SIGN or not before.strip(b" \t")


def _note_defined(define: _Define, names: dict[bytes, bool]) -> None:
    """Note a name defined in a kept text: "#ifndef A" around "#define A 1" does not leave A undefined."""
    if define.is_zero:
        names.pop(define.name, None)
    else:
        names[define.name] = True


def _alternatives(directives: list[_Directive]) -> set[int] | None:
    """Return the places of conditionals with a second branch; None if conditionals don't pair."""
    found: set[int] = set()
    around: list[int] = []
    for directive in directives:
        if directive.opens:
            around.append(directive.start)
        elif not around:
            return None
        elif directive.closes:
            around.pop()
        else:
            found.add(around[-1])
    return None if around else found


def _chooses(directive: _Directive, known: dict[bytes, bool], *, last: bool) -> bool:
    name, negates = directive.name, directive.negates
    if not name:
        return not last
    if name in known:
        return known[name] != negates
    known[name] = (not last) != negates
    return not last
