"""What the chunker must know of a language: the row of the table, and the rules that say what a syntax node is."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Node

COMMENT = "comment"
"""The kind of a comment: it stays with what follows it directly."""

LEADING = "leading"
"""The kind of decorators, attributes and labels: they stay with what follows them."""

GROUP = "group"
"""The kind of a node without a name of its own whose children count as children of its parent."""

GAP = ""
"""The kind of what is nothing by itself, such as white space or a closing directive."""

IMPORTS = "imports"

COMPONENT = "component"
"""The kind of what draws a part of a user interface, which may be a class or a function."""


class Found(NamedTuple):
    """What a rule found a node to be.

    Attributes:
        kind: COMMENT, LEADING, GROUP, GAP or a kind for people: function, class, imports, key ...
        name: of the symbol, not qualified; empty for what is no symbol.
        bodies: the nodes whose children are its members; empty for what has none.
        local: the bodies are those of functions, whose variables are no symbols.
    """

    kind: str
    name: str = ""
    bodies: tuple["Node", ...] = ()
    local: bool = False


Rule = Callable[["Node", bytes], Found | None]
"""Says what a node of a source is; None for a plain statement."""

Naming = Callable[["Node", bytes], str]
"""The name of a symbol's node of a source, empty when it has none."""


@dataclass(frozen=True, slots=True)
class NodeTypes:
    """Types of a grammar's nodes, by the part they play beside `Language.rules`.

    Attributes:
        packages: declare the package of what follows.
        bodies: hold statements or members, and are no field "body" of their symbol.
        bodiless: declare a function without a body, on any number of rows.
        loose: declare something too small for a piece of its own, such as a field.
        clauses: go with a clause of the same name above them, as the equations of a function in Haskell.
        overloads: go with what follows them under the same name.
        enum_values: values of an enumeration, which are no fields.
    """

    packages: frozenset[str] = frozenset()
    bodies: frozenset[str] = frozenset()
    bodiless: frozenset[str] = frozenset()
    loose: frozenset[str] = frozenset()
    clauses: frozenset[str] = frozenset()
    overloads: frozenset[str] = frozenset()
    enum_values: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Language:
    """A row of the table of languages.

    Attributes:
        name: as in `Document.language`.
        grammar: the module of the grammar's wheel and its function that gives the language.
        rules: by type of node. A node whose type has none is a plain statement.
        suffixes: of file names, lower case, with the dot.
        filenames: whole file names.
        line_comment: how a comment begins, for grammars that put the comment above a symbol into the one before it.
        constructors: names of methods that make their object.
        dialects: other rows whose grammar reads a text better where a pattern is found in it, such as a header of C++
            (a line of the text follows a line feed, the first one too).
        removed: from a source to one of the same length, where what the grammar stumbles over is blank.
        unsafe: whether a source may crash its grammar's parser or take all memory.
        full_names: the context of a member tells the fully qualified name of its type, and the type's fields.
        nodes: further types of nodes.
        joins_packages: clauses one below the other name one package.
    """

    name: str
    grammar: tuple[str, str]
    rules: Mapping[str, Rule]
    suffixes: tuple[str, ...] = ()
    filenames: tuple[str, ...] = ()
    line_comment: str = ""
    constructors: frozenset[str] = field(default=frozenset())
    dialects: tuple[tuple[str, re.Pattern[str]], ...] = ()
    removed: tuple[Callable[[bytes], bytes], ...] = ()
    unsafe: Callable[[bytes], bool] | None = None
    full_names: bool = False
    nodes: NodeTypes = NodeTypes()
    joins_packages: bool = False


def blanked(found: re.Match[bytes]) -> bytes:
    """What was found, with spaces in place of the named groups: positions in the tree must stay those of the text."""
    text = bytearray(found[0])
    for name in found.re.groupindex:
        first, end = found.span(name)
        text[first - found.start() : end - found.start()] = b" " * (end - first)
    return bytes(text)


def text_of(node: "Node | None", source: bytes) -> str:
    """The text of a node; empty for None."""
    # `Node.text` reads freed memory when the source came through a function, as parsing with a deadline demands.
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace") if node else ""


def child_of_type(node: "Node | None", *types: str) -> "Node | None":
    """The first named child of one of the types."""
    if node is None:
        return None
    return next((child for child in node.named_children if child.type in types), None)


def by_field(name: str) -> Naming:
    """Names a symbol by the source of one of its node's fields."""
    return lambda node, source: text_of(node.child_by_field_name(name), source)


def by_child(*types: str) -> Naming:
    """Names a symbol by the source of its node's first child of one of the types."""
    return lambda node, source: text_of(child_of_type(node, *types), source)


def role(found: Found | str, *types: str) -> dict[str, Rule]:
    """Rules: nodes of the types are all the same."""
    result = Found(found) if isinstance(found, str) else found
    return dict.fromkeys(types, lambda _node, _source: result)


def symbols(kind: str, *types: str, name: Naming | None = None) -> dict[str, Rule]:
    """Rules: nodes of the types are symbols without members."""
    naming = name or by_field("name")
    return dict.fromkeys(types, lambda node, source: Found(kind, naming(node, source)))


def containers(kind: str, *types: str, name: Naming | None = None, bodies: Iterable[str] = ()) -> dict[str, Rule]:
    """Rules: nodes of the types are symbols with members.

    Parameters:
        kind: of the symbol.
        types: of the nodes.
        name: names it; its field "name" by default.
        bodies: types of the child that holds the members; the field "body" by default.
    """
    naming = name or by_field("name")
    body_types = tuple(bodies)

    def rule(node: "Node", source: bytes) -> Found:
        body = child_of_type(node, *body_types) if body_types else node.child_by_field_name("body")
        return Found(kind, naming(node, source), (body,) if body else ())

    return dict.fromkeys(types, rule)


def inlined(kind: str, *types: str, name: Naming | None = None) -> dict[str, Rule]:
    """Rules: nodes of the types are symbols whose members are among their own children."""
    naming = name or by_field("name")
    return dict.fromkeys(types, lambda node, source: Found(kind, naming(node, source), (node,)))


def groups(*types: str) -> dict[str, Rule]:
    """Rules: children of nodes of the types count as children of their parents."""
    return dict.fromkeys(types, lambda node, _source: Found(GROUP, "", (node,)))
