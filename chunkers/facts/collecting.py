"""Collect the facts of symbols from a syntax tree."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from cqm.chunkers.code.outline import TYPES
from cqm.chunkers.code.signature import body_of
from cqm.chunkers.facts.heads import before_body, open_brackets
from cqm.chunkers.facts.members import Members, members_of
from cqm.chunkers.facts.rows import GENERAL, SYNTAXES
from cqm.chunkers.facts.rows.model import Symbol, Syntax, is_callable, is_elsewhere, own_name, scope_name
from cqm.chunkers.facts.rows.uses import Uses, uses_of
from cqm.chunkers.facts.symbols import Found, symbols_of
from cqm.chunkers.languages.model import COMMENT, text_of
from cqm.chunkers.model import Parameter, SymbolFacts

if TYPE_CHECKING:
    from tree_sitter import Node

    from cqm.chunkers.code.outline import Mark
    from cqm.chunkers.code.source import Source
    from cqm.chunkers.languages.model import Language

_SEARCHED_NODES = 40
_MAX_SIGNATURE = 300
_LONGEST_CHARACTER = 4

_NEVER_EXECUTED = TYPES | {"module", "namespace", "type"}

# A row above the declaration but inside its node: a decorator, an attribute, a template's parameters.
_ABOVE = re.compile(
    r"(?:[ \t]*(?:@(?!interface)[\w.]+(?:\([^()\n]*\))?|\[[^\]\n]*\]|#\[.*\]|template\b.*)[ \t]*\r?\n)+"
)
_OPENING = re.compile(r"\s*(?:=\s*|=>\s*)?\{?\Z")
_COMMENTS = ("#", "//", "/*")
_NAME = re.compile(r"\w+")


class Located(NamedTuple):
    """The facts of a symbol, and its first character below its comments and attributes."""

    start: int
    facts: SymbolFacts


class _Seen(NamedTuple):
    """Material for the facts of one symbol."""

    symbol: Symbol
    uses: Uses
    visibility: str
    exported: bool
    members: Members


def facts_of(root: "Node", marks: "list[Mark]", language: "Language", source: "Source") -> list[Located]:
    """Return the facts of all symbols of a document in order; time is linear in the size of its tree."""
    syntax = SYNTAXES.get(language.name, GENERAL)
    found = symbols_of(marks, language, syntax, source)
    walked = uses_of(root, found.symbols, syntax, source.data)
    visible = _visibilities(found, syntax, source.data)
    members = members_of(found.symbols, walked.uses)
    return [
        Located(_start(symbol.mark, source), _facts(_Seen(symbol, *seen), walked.imported, syntax, source))
        for symbol, *seen in zip(found.symbols, walked.uses, *zip(*visible, strict=True), members, strict=False)
    ]


def _start(mark: "Mark", source: "Source") -> int:
    # The column counts bytes; a difference only matters inside a long line, and is small.
    return min(source.starts[mark.first] + mark.node.start_point[1], source.starts[mark.first + 1] - 1)


def _facts(seen: _Seen, imported: set[bytes], syntax: Syntax, source: "Source") -> SymbolFacts:
    symbol, uses = seen.symbol, seen.uses
    mark, data = symbol.mark, source.data
    head = _head(mark, syntax)
    parameters = tuple(syntax.parameters(head, data)) if head else ()
    executed = uses.has_body and mark.kind not in _NEVER_EXECUTED
    return SymbolFacts(
        name=mark.name,
        kind=mark.kind,
        start_line=(symbol.above[0].first if symbol.above else mark.first) + 1,
        end_line=mark.last + 1,
        signature=_signature(symbol, source),
        parameters=parameters,
        returns=syntax.returns(head, data) if head and is_callable(mark) else "",
        doc=_doc(symbol, syntax, data),
        visibility=seen.visibility,
        exported=seen.exported,
        decorators=tuple(_decorators(symbol, syntax, data)),
        complexity=1 + uses.branches if executed else 0,
        calls=tuple(uses.calls)[mark.kind == "test" :],
        imports_used=tuple(_imports_used(seen, imported, parameters)),
        fields=tuple(seen.members.fields),
        methods=tuple(seen.members.methods),
    )


def _head(mark: "Mark", syntax: Syntax) -> "Node | None":
    """Find the node with the parameters: the declaration itself, or the function bound to a name."""
    if mark.node.type in syntax.heads:
        return mark.node
    waiting = [mark.node] if is_callable(mark) else []
    for node in waiting:
        if node.type in syntax.heads:
            return node
        if len(waiting) < _SEARCHED_NODES:
            waiting.extend(node.named_children)
    return None


def _signature(symbol: Symbol, source: "Source") -> str:
    node = symbol.mark.node
    body = body_of(symbol.mark)
    line_end = source.offsets[bisect_right(source.offsets, node.start_byte)] - 1
    end = body.start_byte if body else line_end
    outer = next((group for group in symbol.groups if group.start_point[0] == node.start_point[0]), node)
    start = outer.start_byte if node.start_byte - outer.start_byte < _MAX_SIGNATURE else node.start_byte
    end = min(end, node.end_byte, start + _MAX_SIGNATURE * _LONGEST_CHARACTER)
    text = _written(start, end, source)
    above = _ABOVE.match(text)
    text = text[above.end() if above else 0 :].strip()
    if body is not None and symbol.mark.kind != "test" and open_brackets(text) > 0:
        # It is the body of a function among the arguments: "data class D(val a: Int = run { 1 }) {".
        text = _written(start, min(node.end_byte, start + _MAX_SIGNATURE * _LONGEST_CHARACTER), source)
        text = before_body(text[above.end() if above else 0 :].strip())
    lines = text[:_MAX_SIGNATURE].split("\n")
    while len(lines) > 1 and lines[-1].lstrip().startswith(_COMMENTS):
        lines.pop()
    return _OPENING.sub("", "\n".join(lines))


def _written(start: int, end: int, source: "Source") -> str:
    """Return the original text between two bytes; the data has unreadable parts, such as macros, blank."""
    first, last = bisect_right(source.offsets, start) - 1, bisect_right(source.offsets, max(end - 1, start)) - 1
    rows = "\n".join(source.lines[first : last + 1]).encode("utf-8", "surrogatepass")
    return rows[start - source.offsets[first] : end - source.offsets[first]].decode("utf-8", "replace")


def _doc(symbol: Symbol, syntax: Syntax, source: bytes) -> str:
    comments = [text_of(mark.node, source) for mark in symbol.above if mark.kind == COMMENT]
    return syntax.docstring(symbol.mark.node, source) or (syntax.comments(comments) if comments else "")


def _decorators(symbol: Symbol, syntax: Syntax, source: bytes) -> Iterator[str]:
    node = symbol.mark.node
    inside = [child for group in (*symbol.groups, node) for child in group.named_children[:_SEARCHED_NODES]]
    modifiers = [child for part in inside if part.type == "modifiers" for child in part.named_children]
    nodes = {part.id: part for part in (*(mark.node for mark in symbol.above), *inside, *modifiers)}
    for part in sorted(nodes.values(), key=lambda part: part.start_byte):
        if part.type in syntax.decorators and part.start_byte <= node.end_byte:
            yield text_of(part, source).strip()


def _imports_used(seen: _Seen, imported: set[bytes], parameters: Iterable[Parameter]) -> Iterator[str]:
    # A parameter hides an import of the same name.
    own = {found[0].encode() for parameter in parameters if (found := _NAME.search(parameter.name))}
    own.add(own_name(seen.symbol).encode("utf-8", "replace"))
    return (name.decode("utf-8", "replace") for name in seen.uses.names if name in imported and name not in own)


def _visibilities(found: Found, syntax: Syntax, source: bytes) -> list[tuple[str, bool]]:
    result: list[tuple[str, bool]] = []
    exported: dict[str, bool] = {}
    declared: dict[str, str] = {}
    for symbol in found.symbols:
        name = symbol.mark.name
        told = found.told.get(name, "")
        visibility = told if told not in ("", "exported") else syntax.visibility(symbol, source)
        # A declaration outside its type is as visible as its declaration inside.
        visibility = declared.get(name, visibility) if is_elsewhere(symbol) else visibility
        declared.setdefault(name, visibility)
        parent = exported.get(scope_name(symbol))
        can_be_named = not symbol.local and syntax.exported(symbol, visibility, found.told, parent)
        # A namespace or a block of methods is not visible by itself, but its members may be.
        exported.setdefault(name, can_be_named or not visibility)
        result.append(("local" if symbol.local and visibility else visibility, can_be_named))
    return result
