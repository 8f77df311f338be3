"""Define the row of a language's syntax for facts, and the rules shared by rows."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from cqm.chunkers.facts.rows.comments import Comments, marked
from cqm.chunkers.languages.model import Naming, text_of
from cqm.chunkers.model import Parameter

if TYPE_CHECKING:
    from tree_sitter import Node

    from cqm.chunkers.code.outline import Mark

_CALLABLE = frozenset({"function", "method", "constructor", "test", "component"})


class Symbol(NamedTuple):
    """A symbol of a document and its surroundings.

    Attributes:
        mark: its entry in the outline.
        parent: the symbol around it.
        groups: nodes between it and its parent which only wrap it, such as an export statement; outermost first.
        above: comments, decorators and attributes above it, in order.
        section: the word of the last access label above it: "private", "public" ...
        local: whether it is inside a function.
        depth: number of symbols around it.
    """

    mark: "Mark"
    parent: "Symbol | None"
    groups: tuple["Node", ...]
    above: tuple["Mark", ...]
    section: str
    local: bool
    depth: int


def is_callable(mark: "Mark") -> bool:
    """Tell if the symbol has parameters and may hold local symbols; a component may be a class too."""
    return mark.kind in _CALLABLE and not (mark.kind == "component" and mark.members)


def own_name(symbol: Symbol) -> str:
    """Return the symbol's name without its parent's or the type named as its own."""
    name = symbol.mark.name
    return name[len(symbol.parent.mark.name) + 1 :] if symbol.parent else name.rpartition(".")[2]


def scope_name(symbol: Symbol) -> str:
    """Return the name of the symbol's parent, or of the type named as its own; empty for none."""
    return symbol.parent.mark.name if symbol.parent else symbol.mark.name.rpartition(".")[0]


def is_elsewhere(symbol: Symbol) -> bool:
    """Tell if the symbol stands outside the type named as its own, as methods of C++ and Go do."""
    return "." in (own_name(symbol) if symbol.parent else symbol.mark.name)


Names = Callable[["Node", bytes], Iterable[str]]
"""Returns the names in a node of a source."""

Told = Mapping[str, str]
"""Statements' words for symbols declared elsewhere, by qualified name: "exported" or a visibility."""


def _nothing(_node: "Node", _source: bytes) -> tuple[()]:
    return ()


def _no_name(_node: "Node", _source: bytes) -> str:
    return ""


def _unknown(_symbol: Symbol, _source: bytes) -> str:
    return ""


def _visible(_symbol: Symbol, visibility: str, _told: Told, parent: bool | None) -> bool:  # noqa: FBT001 - see Syntax
    return visibility in ("public", "protected", "protected internal") and parent is not False


@dataclass(frozen=True, slots=True)
class Syntax:
    """A row of the table; facts for omitted fields are not collected.

    Attributes:
        branches: types of nodes, each worth one branch.
        weighed: functions counting a node's branches, by node type.
        bodies: types of executed nodes; a symbol without one has no complexity.
        calls: finds the callee of a call, up to its arguments, by the call's type.
        names: types of nodes using a name.
        unused: finds the child naming a member or argument instead of using a name, by its parent's type.
        imports: finds the names a node binds to definitions of other files, by node type.
        fields: finds the fields of the surrounding type declared or assigned by a node, by node type.
        methods: finds the methods declared by a node without being their symbol, by node type.
        heads: types of nodes with the parameters and the declared result of a function.
        parameters, returns: read such a head.
        decorators: types of nodes for decorators, attributes or annotations.
        comments: chooses the documentation among comments.
        docstring: finds the documentation inside a symbol's node.
        joined: treat successive clauses of the same name as one symbol.
        sections: types of nodes setting the visibility of the following members of a type.
        told: see `Told`, by node type; the names belong to the scope around the node.
        visibility: of a symbol by itself.
        exported: tells if other modules can name a symbol, from its visibility, statements about it, and whether they
            can name its parent (None for a parent outside the document).
    """

    branches: frozenset[str] = frozenset()
    weighed: Mapping[str, Callable[["Node", bytes], int]] = field(default_factory=dict)
    bodies: frozenset[str] = frozenset()
    calls: Mapping[str, Naming] = field(default_factory=dict)
    names: frozenset[str] = frozenset()
    unused: Mapping[str, Callable[["Node"], "Node | None"]] = field(default_factory=dict)
    imports: Mapping[str, Names] = field(default_factory=dict)
    fields: Mapping[str, Names] = field(default_factory=dict)
    methods: Mapping[str, Names] = field(default_factory=dict)
    heads: frozenset[str] = frozenset()
    parameters: Callable[["Node", bytes], Iterable[Parameter]] = _nothing
    returns: Naming = _no_name
    decorators: frozenset[str] = frozenset()
    comments: Comments = marked
    docstring: Naming = _no_name
    joined: bool = False
    sections: frozenset[str] = frozenset()
    told: Mapping[str, Callable[["Node", bytes], Iterable[tuple[str, str]]]] = field(default_factory=dict)
    visibility: Callable[[Symbol, bytes], str] = _unknown
    exported: Callable[[Symbol, str, Told, bool | None], bool] = _visible


def child(name: str) -> Callable[["Node"], "Node | None"]:
    """Find the child in a node's field."""
    return lambda node: node.child_by_field_name(name)


def last_child(node: "Node") -> "Node | None":
    """Find the last named child of a node with several."""
    return node.named_children[-1] if node.named_child_count > 1 else None


def operators(*signs: str) -> Callable[["Node", bytes], int]:
    """Count one branch for an expression with one of the operators."""

    def weigh(node: "Node", _source: bytes) -> int:
        operator = node.child_by_field_name("operator")
        return int(operator is not None and operator.type in signs)

    return weigh


def unless_default(*defaults: str) -> Callable[["Node", bytes], int]:
    """Count one branch for a case, unless it begins with one of these tokens or is one of these patterns."""

    def weigh(node: "Node", source: bytes) -> int:
        first = node.children[0] if node.children else node
        return int(first.type not in defaults and text_of(first, source[: first.start_byte + 9]) not in defaults)

    return weigh


def between(start: "Node", end: "Node | None", source: bytes) -> str:
    """Return the text from the start of a node to the end of another."""
    return source[start.start_byte : (end or start).end_byte].decode("utf-8", "replace")


def without(node: "Node", left_out: Sequence["Node | None"], source: bytes) -> str:
    """Return the text of a node without some inner nodes, with white space collapsed."""
    parts, done = [], node.start_byte
    for part in left_out:
        if part is not None and part.start_byte >= done:
            parts.append(source[done : part.start_byte])
            done = part.end_byte
    parts.append(source[done : node.end_byte])
    return " ".join(b"".join(parts).decode("utf-8", "replace").split())


def modifier(node: "Node", source: bytes, *types: str) -> str:
    """Return the written visibility of a declaration: its modifiers of some types, or in these, joined by a space."""
    texts = (_WORDS.findall(text_of(part, source)) for part in node.named_children if part.type in types)
    return " ".join(word for words in texts for word in words if word in _VISIBILITIES)


_WORDS = re.compile(r"(?<![@\w.])\w+")
_VISIBILITIES = frozenset({"public", "protected", "private", "internal"})
