"""What must be known of a language to tell facts of its symbols: the row of the table, and rules that rows share."""

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
    """A symbol of a document and where it stands.

    Attributes:
        mark: what the outline says of it.
        parent: the symbol around it.
        groups: nodes between it and its parent that only wrap it, such as an export statement; outermost first.
        above: its comments, decorators and attributes that stand above it, in order.
        section: the word of the last label above it that says who sees what follows: "private", "public" ...
        local: whether it is inside a function.
        depth: how many symbols are around it.
    """

    mark: "Mark"
    parent: "Symbol | None"
    groups: tuple["Node", ...]
    above: tuple["Mark", ...]
    section: str
    local: bool
    depth: int


def is_callable(mark: "Mark") -> bool:
    """Whether it has parameters and may hold local symbols; a component may be a class too."""
    return mark.kind in _CALLABLE and not (mark.kind == "component" and mark.members)


def own_name(symbol: Symbol) -> str:
    """Its name without that of what it is in, or names as its own."""
    name = symbol.mark.name
    return name[len(symbol.parent.mark.name) + 1 :] if symbol.parent else name.rpartition(".")[2]


def scope_name(symbol: Symbol) -> str:
    """The name of what it is in, or names as its own; empty for none."""
    return symbol.parent.mark.name if symbol.parent else symbol.mark.name.rpartition(".")[0]


def is_elsewhere(symbol: Symbol) -> bool:
    """Whether it stands outside of the type that it names as its own, as methods of C++ and Go do."""
    return "." in (own_name(symbol) if symbol.parent else symbol.mark.name)


Names = Callable[["Node", bytes], Iterable[str]]
"""Names that a node of a source tells."""

Told = Mapping[str, str]
"""What statements tell of symbols that stand elsewhere, by qualified name: "exported" or a visibility."""


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
    """A row of the table; what is left out is not told of the language's symbols.

    Attributes:
        branches: types of nodes that are a branch each.
        weighed: how many branches a node is, by its type, where that takes a look.
        bodies: types of nodes that are executed; a symbol without one has no complexity.
        calls: the callee of a call, up to its arguments, by the call's type.
        names: types of nodes that use a name.
        unused: the child that is a member's or an argument's name and no use of a name, by its parent's type.
        imports: names that a node binds to what other files define, by its type.
        fields: names of fields that a node declares or assigns, by its type; they are of the type around it.
        methods: names of methods that a node declares without being their symbol, likewise.
        heads: types of nodes that have the parameters and the declared result of a function.
        parameters, returns: of such a node.
        decorators: types of nodes that are decorators, attributes or annotations.
        comments: which comments are documentation.
        docstring: the documentation that stands in a symbol's node.
        joined: clauses of the same name, one after another, are one symbol.
        sections: types of nodes whose word says who sees what follows in the same type.
        told: see `Told`; the names are of the scope where the node stands. By its type.
        visibility: of a symbol by itself.
        exported: whether other modules can name a symbol, from its visibility, what was told, and whether they can
            name its parent (None when that is not in the document).
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
    """The child in a node's field."""
    return lambda node: node.child_by_field_name(name)


def last_child(node: "Node") -> "Node | None":
    """The last named child of a node with several."""
    return node.named_children[-1] if node.named_child_count > 1 else None


def operators(*signs: str) -> Callable[["Node", bytes], int]:
    """One branch for an expression with one of the operators."""

    def weigh(node: "Node", _source: bytes) -> int:
        operator = node.child_by_field_name("operator")
        return int(operator is not None and operator.type in signs)

    return weigh


def unless_default(*defaults: str) -> Callable[["Node", bytes], int]:
    """One branch for a case that does not begin with a token, or a whole pattern, of these."""

    def weigh(node: "Node", source: bytes) -> int:
        first = node.children[0] if node.children else node
        return int(first.type not in defaults and text_of(first, source[: first.start_byte + 9]) not in defaults)

    return weigh


def between(start: "Node", end: "Node | None", source: bytes) -> str:
    """The text from the start of a node to the end of another."""
    return source[start.start_byte : (end or start).end_byte].decode("utf-8", "replace")


def without(node: "Node", left_out: Sequence["Node | None"], source: bytes) -> str:
    """The text of a node without some nodes in it, white space collapsed."""
    parts, done = [], node.start_byte
    for part in left_out:
        if part is not None and part.start_byte >= done:
            parts.append(source[done : part.start_byte])
            done = part.end_byte
    parts.append(source[done : node.end_byte])
    return " ".join(b"".join(parts).decode("utf-8", "replace").split())


def modifier(node: "Node", source: bytes, *types: str) -> str:
    """The written visibility of a declaration: its modifiers that are such words, joined by a space.

    Parameters:
        node: of the declaration.
        source: the text.
        types: of the nodes that are, or hold, modifiers.
    """
    texts = (_WORDS.findall(text_of(part, source)) for part in node.named_children if part.type in types)
    return " ".join(word for words in texts for word in words if word in _VISIBILITIES)


_WORDS = re.compile(r"(?<![@\w.])\w+")
_VISIBILITIES = frozenset({"public", "protected", "private", "internal"})
