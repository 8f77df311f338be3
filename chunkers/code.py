"""Chunks of source code: a symbol a piece, from the syntax tree of its language."""

import re
from typing import TYPE_CHECKING, NamedTuple

from cqm.chunkers.languages import BY_NAME, dialect_of
from cqm.chunkers.languages.model import GROUP, Language
from cqm.chunkers.model import ChunkOptions, Piece
from cqm.chunkers.outline import Mark, Place, is_loose, outline
from cqm.chunkers.packing import Draft, Scope, draft_of, packs_of, without_tiny
from cqm.chunkers.source import Source, source_of
from cqm.chunkers.splitting import Rows, spans_of_rows
from cqm.chunkers.syntax import grammar, lost_rows, parse
from cqm.chunkers.units import Unit, units_of

if TYPE_CHECKING:
    from tree_sitter import Node

_SIGNATURE_CHARACTERS = 300
_SEARCHED_NODES = 40


def pieces_of_code(text: str, language: str, options: ChunkOptions) -> tuple[list[Piece], list[str]] | None:
    """Cut a program at its symbols.

    Parameters:
        text: the whole text.
        language: a name of `languages.LANGUAGES`.
        options: the limits.

    Returns:
        Pieces in order that hold every character that is not blank, with warnings for people; None when there is no
        grammar for the language, the text is over `max_parse_bytes`, or the parser can make nothing of it.
    """
    row = BY_NAME.get(dialect_of(language, text))
    data = text.encode("utf-8", "surrogatepass")
    if row is None or len(data) > options.max_parse_bytes:
        return None
    for pattern in row.removed:
        data = pattern.sub(_blanked, data)
    tree = parse(data, grammar(*row.grammar))
    if tree is None:
        return None
    source = source_of(text, options.max_tokens, options.min_tokens)
    walk = _Walk(row, source)
    root = tree.root_node
    marks = outline([root], Place(), row, source)
    drafts = _drafts(_Section(marks, 0, len(source.lines), None, Scope(Place())), walk)
    return [_piece(draft) for draft in without_tiny(drafts, source)], _warnings(root, source)


def _blanked(found: re.Match[bytes]) -> bytes:
    # Positions in the tree must stay those of the text.
    kept = found.start(1) - found.start()
    return found[0][:kept] + b" " * len(found[1])


class _Walk(NamedTuple):
    language: Language
    source: Source


class _Section(NamedTuple):
    """Rows to cut: what is in them, the container that they begin, and what they are in."""

    marks: list[Mark]
    first: int
    end: int
    opening: Mark | None
    scope: Scope


def _warnings(root: "Node", source: Source) -> list[str]:
    rows = {row for first, last in lost_rows(root) for row in range(first, last + 1)}
    lost = sum(1 for row in rows if row < len(source.lines) and not source.is_blank(row))
    return [f"{lost} lines could not be parsed"] if lost else []


def _piece(draft: Draft) -> Piece:
    return Piece(draft.start, draft.end, draft.kind, draft.symbol, draft.defines, draft.context)


def _drafts(section: _Section, walk: _Walk) -> list[Draft]:
    drafts: list[Draft] = []
    waiting: list[_Section | Draft] = [section]
    while waiting:
        item = waiting.pop()
        if isinstance(item, Draft):
            drafts.append(item)
        else:
            waiting.extend(reversed(_cut(item, walk)))
    return [draft for draft in drafts if draft.start < draft.end]


def _cut(section: _Section, walk: _Walk) -> list[_Section | Draft]:
    source = walk.source
    result: list[_Section | Draft] = []
    run: list[Unit] = []
    for unit in units_of(section.marks, section.first, section.end, section.opening, source):
        if source.size(unit.first, unit.end) <= source.limit:
            run.append(unit)
            continue
        result.extend(draft_of(pack, section.scope, source) for pack in packs_of(run, source))
        run = []
        result.extend(_divided(unit, section.scope, walk))
    result.extend(draft_of(pack, section.scope, source) for pack in packs_of(run, source))
    return result


def _divided(unit: Unit, scope: Scope, walk: _Walk) -> list[_Section | Draft]:
    if not unit.marks or unit.header:
        return [*_parts(unit, scope, walk)]
    mark = max(unit.marks, key=lambda mark: mark.last - mark.first)
    if mark.kind == GROUP:
        return [_Section(mark.members, unit.first, unit.end, None, scope)] if mark.members else [*_parts(unit, scope, walk)]
    inner = _inner_scope(mark, scope, walk)
    if any(True for member in mark.members for _ in member.names()):
        return [_Section(mark.members, unit.first, unit.end, mark, inner)]
    body = None if _kept(unit, walk.source) < unit.end else _body_of(mark.node)
    inner = inner._replace(place=inner.place._replace(local=True))
    members = outline([body], inner.place, walk.language, walk.source) if body else []
    if any(_stands_alone(member, walk.source) for member in _flat(members)):
        return [_Section(members, unit.first, unit.end, mark, inner)]
    return [*_parts(unit, scope, walk)]


def _stands_alone(mark: Mark, source: Source) -> bool:
    return bool(mark.name) and not is_loose(mark) and source.size(mark.first, mark.last + 1) >= source.least


def _flat(marks: list[Mark]) -> list[Mark]:
    result: list[Mark] = []
    waiting = list(marks)
    while waiting:
        mark = waiting.pop()
        result.append(mark)
        if mark.kind == GROUP:
            waiting.extend(mark.members)
    return result


def _inner_scope(mark: Mark, scope: Scope, walk: _Walk) -> Scope:
    place = Place(mark.name or scope.place.name, mark.kind, scope.place.local, scope.place.depth + 1)
    return Scope(place, scope.context, _joined(scope.context, _signature(mark, walk.source)))


def _joined(context: str, line: str) -> str:
    return f"{context}\n{line}" if context and line else context or line


def _parts(unit: Unit, scope: Scope, walk: _Walk) -> list[Draft]:
    source = walk.source
    nodes = [] if unit.header else [mark.node for mark in unit.marks]
    mark = max(unit.marks, key=lambda mark: mark.last - mark.first, default=None)
    named = mark is not None and bool(mark.name)
    symbol = mark.name if mark and mark.name else scope.place.name
    kind = _part_kind(mark, scope)
    context = _joined(scope.context, _signature(mark, source)) if mark and named else scope.context
    names = tuple(dict.fromkeys(name for mark in unit.marks for name in mark.names()))
    begin = source.starts[mark.first if unit.header and mark else unit.core]
    drafts: list[Draft] = []
    rows = Rows(unit.first, unit.core, _kept(unit, source), unit.end)
    for start, end in spans_of_rows(nodes, rows, source):
        defines = names if start <= begin < end else ()
        drafts.append(Draft(start, end, kind, symbol, defines, context if drafts else scope.context))
    return drafts


def _kept(unit: Unit, source: Source) -> int:
    """The row where a symbol begins that fits only without its long comment; the unit's end when there is none."""
    long_comment = 2 * source.size(unit.first, unit.core) >= source.least
    return unit.core if long_comment and source.size(unit.core, unit.end) <= source.limit else unit.end


def _part_kind(mark: Mark | None, scope: Scope) -> str:
    if mark is None or mark.kind in ("comment", "leading", GROUP):
        return "code"
    if not mark.name and scope.place.local:
        return scope.place.kind
    return mark.kind


def _body_of(node: "Node") -> "Node | None":
    # "const f = memo(() => {...})" has its body further in.
    waiting = [node]
    for searched in waiting:
        body = searched.child_by_field_name("body") or next(
            (child for child in searched.named_children if child.type in _BODIES), None
        )
        if body is not None:
            return body
        if len(waiting) < _SEARCHED_NODES:
            waiting.extend(searched.named_children)
    return None


_BODIES = frozenset(
    {"block", "do_block", "function_body", "class_body", "enum_class_body", "content", "script_block", "lambda_literal"}
)

_BEFORE_SIGNATURE = re.compile(r"\s*(?:[@\[*/]|#\[|--|#(?!define)|template\b)")


def _signature(mark: Mark, source: Source) -> str:
    """The lines that declare a symbol, without its decorators, comments and body."""
    body = _body_of(mark.node)
    row, column = body.start_point if body is not None else (mark.first + 1, 0)
    first = mark.node.start_point[0]
    while first < min(row, mark.last) and _BEFORE_SIGNATURE.match(source.lines[first]):
        first += 1
    lines = source.lines[first : row + 1]
    if row > first or body is None:
        lines = lines[:-1] if not lines[-1][:column].strip() else [*lines[:-1], lines[-1][:column]]
    else:
        lines = [lines[0][:column]] if lines else []
    return "\n".join(lines).rstrip()[:_SIGNATURE_CHARACTERS].rstrip()
