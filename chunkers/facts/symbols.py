"""List a document's symbols in order, local ones included, each with its comments and enclosing nodes."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from cqm.chunkers.code.outline import Mark, Place, outline
from cqm.chunkers.code.signature import body_of
from cqm.chunkers.facts.rows.model import Symbol, Syntax, is_callable
from cqm.chunkers.languages.model import COMMENT, GROUP, IMPORTS, LEADING, Language, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

    from cqm.chunkers.code.source import Source

# Keys and elements of data are not symbols.
_NO_SYMBOLS = frozenset({COMMENT, LEADING, GROUP, IMPORTS, "statement", "key", "rule", "element"})
_VALUES = frozenset({"variable", "constant", "property"})

# As deep as the outline goes: real code does not nest deeper, and names stay short.
_MAX_DEPTH = 24

# The only child of a function's body in some grammars.
_BLOCKS = frozenset({"block", "statement_list", "statement_block", "compound_statement"})


class Found(NamedTuple):
    """The symbols in order, and statements about other symbols (see `model.Told`)."""

    symbols: list[Symbol]
    told: dict[str, str]


class _Scope(NamedTuple):
    marks: Sequence[Mark]
    parent: Symbol | None


def symbols_of(marks: list[Mark], language: Language, syntax: Syntax, source: "Source") -> Found:
    """Find all symbols of an outline; its language's rules find local symbols, too."""
    symbols: list[Symbol] = []
    told: dict[str, str] = {}
    waiting = [_Scope(marks, None)]
    while waiting:
        scope = waiting.pop()
        _tell(scope, syntax, source, told)
        for symbol in _symbols_in(scope, syntax, source):
            if symbol.mark.name and not _is_local_value(symbol):
                symbols.append(symbol)
            waiting.append(_inside(symbol, language, source))
    symbols.sort(key=lambda symbol: symbol.mark.node.start_byte)
    once = _joined(symbols) if syntax.joined else _once(symbols)
    return Found(list(once), told)


def _is_local_value(symbol: Symbol) -> bool:
    # An object with functions in it is worth a symbol, even inside a function.
    mark = symbol.mark
    return symbol.local and mark.kind in _VALUES and not any(inner.names() for inner in mark.members)


def _once(symbols: list[Symbol]) -> Iterator[Symbol]:
    # A second assignment declares nothing.
    seen = set()
    for symbol in symbols:
        is_value = symbol.mark.kind in _VALUES and not symbol.mark.members
        if not (is_value and symbol.mark.name in seen):
            yield symbol
        seen.add(symbol.mark.name)


def _joined(symbols: list[Symbol]) -> Iterator[Symbol]:
    """Join successive clauses of a function into one symbol."""
    before: Symbol | None = None
    for symbol in symbols:
        if before is not None and before.mark.name == symbol.mark.name and before.parent is symbol.parent:
            before = before._replace(mark=replace(before.mark, last=max(before.mark.last, symbol.mark.last)))
            continue
        if before is not None:
            yield before
        before = symbol
    if before is not None:
        yield before


def _inside(symbol: Symbol, language: Language, source: "Source") -> _Scope:
    mark = symbol.mark
    if not mark.name:
        return _Scope(mark.members, symbol.parent)
    if mark.members or not is_callable(mark) or symbol.depth >= _MAX_DEPTH:
        return _Scope(mark.members, symbol)
    body = body_of(mark)
    while body is not None and body.named_child_count == 1 and body.named_children[0].type in _BLOCKS:
        body = body.named_children[0]
    place = Place(mark.name, mark.kind, local=True, depth=symbol.depth)
    return _Scope(outline([body], place, language, source) if body else [], symbol)


def _tell(scope: _Scope, syntax: Syntax, source: "Source", told: dict[str, str]) -> None:
    if not syntax.told:
        return
    prefix = f"{scope.parent.mark.name}." if scope.parent else ""
    for mark, _ in _ungrouped(scope.marks):
        telling = syntax.told.get(mark.node.type)
        if telling:
            told.update((prefix + name, word) for name, word in telling(mark.node, source.data))


def _symbols_in(scope: _Scope, syntax: Syntax, source: "Source") -> Iterator[Symbol]:
    """Yield a scope's direct symbols; nameless ones only serve to reach their members."""
    parent = scope.parent
    local = parent is not None and (parent.local or is_callable(parent.mark))
    pending: list[Mark] = []
    section, row = "", -1
    for mark, groups in _ungrouped(scope.marks):
        if mark.node.type in syntax.sections:
            section = _section(mark.node, source.data) or section
        elif mark.kind in (COMMENT, LEADING):
            if mark.kind == LEADING or mark.first != row:
                pending.append(mark)
        elif mark.kind != GROUP:
            row = mark.last
            if mark.kind not in _NO_SYMBOLS and (mark.name or mark.members):
                above = _attached(pending, mark, source)
                yield Symbol(mark, parent, groups, above, section, local, parent.depth + 1 if parent else 0)
            pending = []


def _section(node: "Node", source: bytes) -> str:
    word = text_of(node, source).rstrip(": ")
    return word if word in ("public", "protected", "private") else ""


def _ungrouped(marks: Iterable[Mark]) -> Iterator[tuple[Mark, tuple["Node", ...]]]:
    """Yield all marks of a scope, each with its surrounding groups; the outline limits their depth."""
    waiting: list[tuple[Mark, tuple[Node, ...]]] = [(mark, ()) for mark in reversed(list(marks))]
    while waiting:
        mark, groups = waiting.pop()
        yield mark, groups
        if mark.kind == GROUP:
            waiting.extend((member, (*groups, mark.node)) for member in reversed(mark.members))


def _attached(pending: list[Mark], mark: Mark, source: "Source") -> tuple[Mark, ...]:
    """Return the comments and attributes right above a symbol; one blank row may follow a block comment."""
    following = mark.first
    count = 0
    for above in reversed(pending):
        distance = following - above.last
        is_block = distance == 2 and source.lines[above.first].lstrip().startswith("/**")  # noqa: PLR2004 - a blank row
        if above.kind == COMMENT and distance > 1 and not is_block:
            break
        following = above.first
        count += 1
    return tuple(pending[len(pending) - count :])
