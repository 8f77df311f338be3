"""Turn marks into drafts: pack units within the limit, cut larger containers into members, split larger symbols."""

from typing import TYPE_CHECKING, NamedTuple

from cqm.chunkers.code.enclosing import class_line, fields_line, has_members, ungrouped
from cqm.chunkers.code.outline import Mark, Place, is_loose, outline
from cqm.chunkers.code.packages import packages_of
from cqm.chunkers.code.packing import Draft, Scope, draft_of, packs_of
from cqm.chunkers.code.signature import body_of, declaration
from cqm.chunkers.code.splitting import Rows, spans_of_rows
from cqm.chunkers.code.units import Unit, units_of
from cqm.chunkers.languages.model import COMMENT, GROUP, LEADING, Language

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tree_sitter import Node

    from cqm.chunkers.code.source import Source


# In quarters of a token: enough to stand alone.
_LONG_COMMENT = 128


class Walk(NamedTuple):
    """Data shared by all sections of a text; it has a package if the language's context shows one."""

    language: Language
    source: "Source"
    package: str = ""


class Section(NamedTuple):
    """Rows to cut.

    Attributes:
        marks: the marks in the rows.
        first, end: the rows, half-open.
        opening: the container at the beginning of the rows, with the marks as members.
        scope: the surroundings of the rows.
    """

    marks: "Sequence[Mark]"
    first: int
    end: int
    opening: Mark | None
    scope: Scope


def drafts_of(section: Section, walk: Walk) -> list[Draft]:
    """Cut a section into drafts, in order; together they hold every non-blank character."""
    if walk.language.full_names:
        walk = walk._replace(package=packages_of(section.marks, walk.language, walk.source).at(0))
    drafts: list[Draft] = []
    waiting: list[Section | Draft] = [section]
    while waiting:
        item = waiting.pop()
        if isinstance(item, Draft):
            drafts.append(item)
        else:
            waiting.extend(reversed(_cut(item, walk)))
    return [draft for draft in drafts if draft.start < draft.end]


def _cut(section: Section, walk: Walk) -> list[Section | Draft]:
    source = walk.source
    result: list[Section | Draft] = []
    run: list[Unit] = []
    for unit in units_of(section.marks, section.first, section.end, section.opening, source):
        if source.size(unit.first, unit.end) <= source.limit and not (source.apart and _has_members(unit)):
            run.append(unit)
            continue
        result.extend(draft_of(pack, section.scope, source) for pack in packs_of(run, source))
        run = []
        result.extend(_divided(unit, section.scope, walk))
    result.extend(draft_of(pack, section.scope, source) for pack in packs_of(run, source))
    return result


def _has_members(unit: Unit) -> bool:
    return not unit.header and any(has_members(mark) for mark in unit.marks)


def _divided(unit: Unit, scope: Scope, walk: Walk) -> list[Section | Draft]:
    mark = max(unit.marks, key=lambda mark: mark.last - mark.first, default=None)
    if mark is None or unit.header or mark.first == mark.last:
        return [*_parts(unit, scope, walk)]
    if mark.kind == GROUP and mark.members:
        return [Section(mark.members, unit.first, unit.end, None, scope)]
    if mark.node.type in mark.nodes.opening or any(member.names() for member in mark.members):
        return [Section(mark.members, unit.first, unit.end, mark, _inner(mark, scope, walk))]
    if mark.kind in (GROUP, COMMENT) or _kept(unit, walk.source) < unit.end:
        return [*_parts(unit, scope, walk)]
    inside = scope._replace(place=scope.place._replace(local=True))
    members = _nested(mark, _place(mark, inside), walk)
    if not members:
        return [*_parts(unit, scope, walk)]
    return [Section(members, unit.first, unit.end, mark, _inner(mark, inside, walk))]


def _place(mark: Mark, scope: Scope) -> Place:
    return Place(mark.name or scope.place.name, mark.kind, scope.place.local)


def _inner(mark: Mark, scope: Scope, walk: Walk) -> Scope:
    declared = _lines(scope.declared, declaration(mark, walk.source))
    told = _lines(class_line(mark, walk.package), fields_line(mark)) if walk.language.full_names else ""
    return Scope(_place(mark, scope), scope.context, _lines(declared, told), declared)


def _lines(context: str, line: str) -> str:
    return f"{context}\n{line}" if context and line else context or line


def _nested(mark: Mark, place: Place, walk: Walk) -> list[Mark]:
    """Return a function's statements if functions inside it are worth pieces of their own; else nothing."""
    body = body_of(mark)
    if body is None or not any(_may_stand_alone(child, walk) for child in body.named_children):
        return []
    members = outline([body], place, walk.language, walk.source)
    return members if any(_stands_alone(member, walk.source) for member in ungrouped(members)) else []


def _may_stand_alone(node: "Node", walk: Walk) -> bool:
    # Nodes without a rule are plain statements, as most nodes in a function are; reading points takes longer.
    if node.type not in walk.language.rules:
        return False
    return walk.source.size(node.start_point[0], node.end_point[0] + 1) >= walk.source.least


def _stands_alone(mark: Mark, source: "Source") -> bool:
    return bool(mark.name) and not is_loose(mark) and source.size(mark.first, mark.last + 1) >= source.least


def _parts(unit: Unit, scope: Scope, walk: Walk) -> "Iterator[Draft]":
    source = walk.source
    nodes = [] if unit.header else [mark.node for mark in unit.marks]
    rows = Rows(unit.first, unit.core, _kept(unit, source), unit.end)
    begins = list(_begins(unit, source))
    inside = _lines(scope.context, declaration(unit.marks[0], source)) if len(unit.marks) == 1 else scope.context
    for start, end in spans_of_rows(nodes, rows, source):
        own = [mark for begin, mark in begins if start <= begin < end]
        kind, symbol = _identity(unit, own, scope)
        context = inside if start > source.starts[unit.first] and symbol != scope.place.name else scope.context
        yield Draft(start, end, kind, symbol, tuple(dict.fromkeys(mark.name for mark in own)), context)


def _begins(unit: Unit, source: "Source") -> "Iterator[tuple[int, Mark]]":
    # The column counts bytes; a difference only matters inside a long line, and is small.
    waiting = list(reversed(unit.marks))
    while waiting:
        mark = waiting.pop()
        if mark.name:
            yield min(source.starts[mark.first] + mark.node.start_point[1], source.starts[mark.first + 1] - 1), mark
        if not unit.header:
            waiting.extend(reversed(mark.members))


def _kept(unit: Unit, source: "Source") -> int:
    """Return the first row kept whole: below a unit's long comment if only the rest fits, else the unit's end."""
    is_long = source.size(unit.first, unit.core) >= _LONG_COMMENT
    return unit.core if is_long and source.size(unit.core, unit.end) <= source.limit else unit.end


def _identity(unit: Unit, own: list[Mark], scope: Scope) -> tuple[str, str]:
    mark = unit.marks[0] if len(unit.marks) == 1 else own[0] if own else None
    if mark is not None and mark.name:
        return mark.kind, mark.name
    if scope.place.name:
        return scope.place.kind, scope.place.name
    return "code" if mark is None or mark.kind in (COMMENT, LEADING, GROUP) else mark.kind, ""
