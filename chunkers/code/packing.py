"""Pack small units with their neighbours, and name each group of units."""

from collections import Counter
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from cqm.chunkers.code.enclosing import method_signatures
from cqm.chunkers.code.outline import TYPES, Mark, Place, is_loose
from cqm.chunkers.languages.model import COMMENT, GROUP, IMPORTS, LEADING
from cqm.chunkers.tokens import quarters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cqm.chunkers.code.source import Source
    from cqm.chunkers.code.units import Unit


class Draft(NamedTuple):
    """A piece of whole rows, or a part of a row over the limit; `start` and `end` are characters.

    For a type's head, `methods` are the signatures of its methods if they are in other pieces.
    """

    start: int
    end: int
    kind: str
    symbol: str
    defines: tuple[str, ...]
    context: str
    methods: tuple[str, ...] = ()


class Scope(NamedTuple):
    """The surroundings of a sequence of units.

    Attributes:
        place: the enclosing symbol.
        outer: the context of the enclosing symbol itself.
        context: for members of the symbol: its declaring lines, and its other facts in the language.
        declared: the lines declaring the symbol and the symbols around it.
    """

    place: Place
    outer: str = ""
    context: str = ""
    declared: str = ""


@dataclass(slots=True, eq=False)
class Pack:
    """Units of one piece: their rows, size in quarters of a token, and flags for loose units, imports ...

    It grows while units are packed. Comments count as imports too.
    """

    units: "list[Unit]"
    first: int
    end: int
    size: int
    loose: bool
    imports: bool
    comments: bool


def packs_of(units: "Sequence[Unit]", source: "Source") -> list[Pack]:
    """Group units of one scope: small ones with their neighbours within the limit; others stand alone."""
    packs: list[Pack] = []
    sizes = source.sizes
    for unit in units:
        pack = _pack(unit, source)
        size = sizes[pack.end] - sizes[packs[-1].first] if packs else 0
        if packs and _belong_together(packs[-1], pack, size, source):
            _add(packs[-1], pack, size)
        else:
            packs.append(pack)
    return _without_small(packs, source)


def _pack(unit: "Unit", source: "Source") -> Pack:
    marks, first, end = unit.marks, unit.first, unit.end
    if len(marks) == 1 and (kind := marks[0].kind) != GROUP:
        # As nearly all units are.
        comments = kind == COMMENT
        imports = comments or kind == IMPORTS
    else:
        kinds = {mark.kind for mark in marks}
        imports = kinds <= _IMPORTING or (GROUP in kinds and all(map(_is_import, marks)))
        comments = kinds <= _COMMENTS
    return Pack([unit], first, end, source.sizes[end] - source.sizes[first], unit.loose, imports, comments)


def _is_import(mark: Mark) -> bool:
    if mark.kind == GROUP:
        return bool(mark.members) and all(member.kind in _IMPORTING for member in mark.members)
    return mark.kind in _IMPORTING


_IMPORTING = frozenset({IMPORTS, COMMENT})
_COMMENTS = frozenset({COMMENT})


def _add(pack: Pack, after: Pack, size: int) -> None:
    pack.units += after.units
    pack.end, pack.size = after.end, size
    pack.loose &= after.loose
    pack.imports &= after.imports
    pack.comments &= after.comments


def _belong_together(before: Pack, after: Pack, size: int, source: "Source") -> bool:
    if size > source.limit:
        return False
    if source.apart:
        alike = before.imports == after.imports or before.comments or after.comments
        return before.loose and after.loose and alike
    if before.size < source.least:
        return after.size < source.least or (before.imports and after.imports)
    if not (before.loose and after.loose) or before.imports != after.imports:
        return False
    # Statements, values and keys without a blank row between them stay together; others only up to half the limit.
    small = after.size < source.least or before.end == after.first
    return small and (before.end == after.first or size <= source.limit // 2)


def _without_small(packs: list[Pack], source: "Source") -> list[Pack]:
    waiting = list(reversed(packs))
    result: list[Pack] = []
    while waiting:
        pack = waiting.pop()
        if pack.size >= source.least:
            result.append(pack)
            continue
        after = waiting[-1] if waiting else None
        fits_after = after is not None and _fits(pack, after, source)
        fits_before = bool(result) and _fits(result[-1], pack, source)
        if not (fits_after or fits_before):
            result.append(pack)
        elif after is not None and fits_after and not (fits_before and _prefers_before(result[-1], pack, after)):
            _add(pack, after, source.size(pack.first, after.end))
            waiting[-1] = pack
        else:
            _add(result[-1], pack, source.size(result[-1].first, pack.end))
    return result


def _fits(before: Pack, after: Pack, source: "Source") -> bool:
    return source.size(before.first, after.end) <= source.limit


def _prefers_before(before: Pack, pack: Pack, after: Pack) -> bool:
    touches_before, touches_after = before.end == pack.first, pack.end == after.first
    if touches_before != touches_after:
        return touches_before
    return not pack.loose and before.size < after.size


def draft_of(pack: Pack, scope: Scope, source: "Source") -> Draft:
    """Make a pack's piece, named after its largest symbol or else after the symbol around it."""
    end = source.trimmed(pack.first, pack.end)
    # A header is the first unit of the container it opens.
    header = pack.units[0].marks[0] if pack.units[0].header else None
    kind, symbol = _identity(pack, header, scope, source)
    context = scope.outer if header else scope.context
    methods = method_signatures(header, source) if header else ()
    return Draft(source.starts[pack.first], source.starts[end], kind, symbol, _defines(pack), context, methods)


def _defines(pack: Pack) -> tuple[str, ...]:
    names: dict[str, None] = {}
    for unit in pack.units:
        for mark in unit.marks:
            if mark.members and not unit.header:
                names.update(dict.fromkeys(mark.names()))
            elif mark.name:
                names[mark.name] = None
    return tuple(names)


def _identity(pack: Pack, header: Mark | None, scope: Scope, source: "Source") -> tuple[str, str]:
    named = _symbols([mark for unit in reversed(pack.units) if not unit.header for mark in unit.marks])
    largest = max(named, key=_weight) if len(named) > 1 else named[0] if named else None
    if header is not None and (largest is None or largest.kind == "constructor" or _is_mostly_loose(pack, source)):
        return header.kind, header.name
    if largest is None:
        kind = _unnamed_kind(pack, source)
        return scope.place.kind if scope.place.name and kind in ("statement", "code") else kind, scope.place.name
    # Several fields of a class are a part of the class.
    fields = len(named) > 1 and is_loose(largest) and scope.place.kind in TYPES
    return (scope.place.kind, scope.place.name) if fields else (largest.kind, largest.name)


def _weight(mark: Mark) -> tuple[bool, int]:
    return not is_loose(mark), mark.last - mark.first


def _is_mostly_loose(pack: Pack, source: "Source") -> bool:
    return sum(source.size(unit.first, unit.end) for unit in pack.units if unit.loose) * 3 >= pack.size


def _unnamed_kind(pack: Pack, source: "Source") -> str:
    sizes: Counter[str] = Counter()
    for unit in pack.units:
        kinds = [mark.kind for mark in unit.marks] or ["statement"]
        grouped = {member.kind for mark in unit.marks for member in mark.members} if kinds == [GROUP] else set()
        kind = IMPORTS if IMPORTS in grouped and grouped <= {IMPORTS, COMMENT} else kinds[-1]
        sizes[_PLAIN_KINDS.get(kind, kind)] += source.size(unit.first, unit.end)
    return sizes.most_common(1)[0][0]


_ATTACHED = frozenset({COMMENT, LEADING})
_PLAIN_KINDS = {COMMENT: "code", LEADING: "code", GROUP: "statement"}


def _symbols(waiting: list[Mark]) -> list[Mark]:
    # From the last one on. A group has no name, but its members may have one.
    found: list[Mark] = []
    while waiting:
        mark = waiting.pop()
        if mark.kind == GROUP:
            waiting += mark.members
        elif mark.name and mark.kind not in _ATTACHED:
            found.append(mark)
    return found


def without_tiny(drafts: "Sequence[Draft]", source: "Source") -> list[Draft]:
    """Join drafts under half the least size with a neighbour of another scope, if both fit the limit.

    A line between two classes and the opening line of a namespace have no neighbour in their own scope.
    """
    result: list[Draft] = []
    waiting = list(reversed(drafts))
    while waiting:
        draft = waiting.pop()
        after = waiting[-1] if waiting else None
        is_tiny = 2 * (draft.end - draft.start) < source.least and _is_tiny(draft, source)
        # The opening line of a namespace is useless alone.
        if not is_tiny and not (source.apart and draft.kind == "namespace"):
            result.append(draft)
            continue
        opens = after is not None and _opens(draft, after) and _fit(draft, after, source)
        if not is_tiny and not opens:
            result.append(draft)
        elif after is not None and opens:
            waiting[-1] = _joined(draft, after)
        elif result and not (after and _is_of(draft, after)) and _fit(result[-1], draft, source):
            result[-1] = _joined(result[-1], draft)
        elif after is not None and _fit(draft, after, source):
            waiting[-1] = _joined(draft, after)
        else:
            result.append(draft)
    return result


def _is_tiny(draft: Draft, source: "Source") -> bool:
    return 2 * quarters(source.text[draft.start : draft.end]) < source.least


def _is_of(draft: Draft, after: Draft) -> bool:
    # The comment of a function so long as to fill a chunk by itself.
    return bool(draft.symbol) and draft.symbol == after.symbol and not draft.defines


def _opens(draft: Draft, after: Draft) -> bool:
    deeper = after.context != draft.context and after.context.startswith(draft.context)
    return deeper or (bool(draft.symbol) and after.symbol.startswith(f"{draft.symbol}."))


def _fit(before: Draft, after: Draft, source: "Source") -> bool:
    return quarters(source.text[before.start : after.end]) <= source.limit


def _joined(before: Draft, after: Draft) -> Draft:
    larger = max(before, after, key=lambda draft: draft.end - draft.start)
    defines = tuple(dict.fromkeys((*before.defines, *after.defines)))
    context = _shared(before.context, after.context)
    return Draft(before.start, after.end, larger.kind, larger.symbol, defines, context, before.methods + after.methods)


def _shared(context: str, other: str) -> str:
    pairs = zip(context.split("\n"), other.split("\n"), strict=False)
    return "\n".join(line for line, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
