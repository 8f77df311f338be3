"""Define the row of a language, and rules for classifying syntax nodes."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Node

COMMENT = "comment"
"""Kind of a comment: it stays with the code right after it."""

LEADING = "leading"
"""Kind of decorators, attributes and labels: they stay with the code after them."""

GROUP = "group"
"""Kind of a node without a name of its own: its children count as its parent's."""

GAP = ""
"""Kind of anything insignificant by itself, such as white space or a closing directive."""

IMPORTS = "imports"

COMPONENT = "component"
"""Kind of a class or function which draws a part of a user interface."""


class Found(NamedTuple):
    """A rule's classification of a node.

    Attributes:
        kind: COMMENT, LEADING, GROUP, GAP or a kind for people: function, class, imports, key ...
        name: of the symbol, not qualified; empty for anything but a symbol.
        bodies: the nodes whose children are its members; empty without members.
        local: whether the bodies are those of functions, whose variables are not symbols.
    """

    kind: str
    name: str = ""
    bodies: tuple["Node", ...] = ()
    local: bool = False


Rule = Callable[["Node", bytes], Found | None]
"""Classifies a node of a source; None for a plain statement."""


class Part(NamedTuple):
    """A name declared inside a symbol without a piece of its own.

    Attributes:
        kind: for people; empty for the symbol's.
        name: within the symbol.
        node: which declares it.
        name_node: its name.
        is_beside: whether it stands beside the symbol, in what encloses both.
    """

    kind: str
    name: str
    node: "Node"
    name_node: "Node"
    is_beside: bool = False


PartRule = Callable[["Node", bytes], Iterable[Part]]
"""Yields the parts of a symbol's node of a source."""

Naming = Callable[["Node", bytes], str]
"""Returns the name of a symbol's node of a source; empty without one."""


_ABOVE = frozenset(
    {
        *("annotation", "attribute", "attribute_item", "attribute_list", "attributes", "comment", "decorator"),
        *("line_comment", "block_comment", "marker_annotation", "modifiers", "template_parameter_list"),
    }
)
"""As most grammars call them."""


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
        named_at_end: have their name, the field "declarator", below what they declare, unless their first row says it.
        equations: clauses which define nothing new after another clause of the name, such as its signature.
        enum_values: values of an enumeration, which are no fields.
        additions: add members to a type under its name, and define no type; the node itself or its keyword.
        outer_docs: begin comments about what is around them, not about what follows.
        above: first children of a declaration which may fill rows above its name, and may say the name.
        parts: rules for names without a piece, by the type of the symbol that declares them.
        local: found where a function or type inside a function may begin; None to look for none.
    """

    packages: frozenset[str] = frozenset()
    bodies: frozenset[str] = frozenset()
    bodiless: frozenset[str] = frozenset()
    loose: frozenset[str] = frozenset()
    clauses: frozenset[str] = frozenset()
    overloads: frozenset[str] = frozenset()
    named_at_end: frozenset[str] = frozenset()
    equations: frozenset[str] = frozenset()
    enum_values: frozenset[str] = frozenset()
    additions: frozenset[str] = frozenset()
    outer_docs: tuple[str, ...] = ()
    above: frozenset[str] = _ABOVE
    parts: Mapping[str, PartRule] = field(default_factory=dict)
    local: re.Pattern[bytes] | None = None


@dataclass(frozen=True, slots=True)
class Language:
    """A row of the table of languages.

    Attributes:
        name: as in `Document.language`.
        grammar: the module of the grammar's wheel and its function for this language.
        rules: by type of node. A node of any other type is a plain statement.
        suffixes: of file names, lower case, with the dot.
        filenames: whole file names.
        line_comment: beginning of a comment, for grammars which merge the comment above a symbol into the previous one.
        constructors: names of methods which make their object.
        dialects: other rows, chosen if a pattern is found in the text, such as for a header of C++ (each line of the
            text follows a line feed, even the first).
        removed: blank text the grammar can't read, keeping a source's length.
        unsafe: tells if a source may crash its grammar's parser or take all memory.
        full_names: give members the fully qualified name of their type and its fields as context.
        nodes: further types of nodes.
        joins_packages: successive package clauses name one package, as in Scala.
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
    """Replace the named groups of a match by spaces: positions in the tree stay those of the text."""
    text = bytearray(found[0])
    for name in found.re.groupindex:
        first, end = found.span(name)
        text[first - found.start() : end - found.start()] = b" " * (end - first)
    return bytes(text)


def text_of(node: "Node | None", source: bytes) -> str:
    """Return the text of a node; empty for None."""
    # `Node.text` reads freed memory if the source came through a function, and parsing with a deadline needs one.
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace") if node else ""


def child_of_type(node: "Node | None", *types: str) -> "Node | None":
    """Find the first named child of one of the types."""
    if node is None:
        return None
    return next((child for child in node.named_children if child.type in types), None)


def by_field(name: str) -> Naming:
    """Name a symbol by the source of one of its node's fields."""
    return lambda node, source: text_of(node.child_by_field_name(name), source)


def by_child(*types: str) -> Naming:
    """Name a symbol by the source of its node's first child of one of the types."""
    return lambda node, source: text_of(child_of_type(node, *types), source)


def role(found: Found | str, *types: str) -> dict[str, Rule]:
    """Make rules: nodes of the types all have the same classification."""
    result = Found(found) if isinstance(found, str) else found
    return dict.fromkeys(types, lambda _node, _source: result)


def symbols(kind: str, *types: str, name: Naming | None = None) -> dict[str, Rule]:
    """Make rules: nodes of the types are symbols without members."""
    naming = name or by_field("name")
    return dict.fromkeys(types, lambda node, source: Found(kind, naming(node, source)))


def containers(kind: str, *types: str, name: Naming | None = None, bodies: Iterable[str] = ()) -> dict[str, Rule]:
    """Make rules: nodes of the types are symbols with members.

    Parameters:
        kind: of the symbol.
        types: of the nodes.
        name: names it; its field "name" by default.
        bodies: types of the child with the members; the field "body" by default.
    """
    naming = name or by_field("name")
    body_types = tuple(bodies)

    def rule(node: "Node", source: bytes) -> Found:
        body = child_of_type(node, *body_types) if body_types else node.child_by_field_name("body")
        return Found(kind, naming(node, source), (body,) if body else ())

    return dict.fromkeys(types, rule)


def inlined(kind: str, *types: str, name: Naming | None = None) -> dict[str, Rule]:
    """Make rules: nodes of the types are symbols with their members among their own children."""
    naming = name or by_field("name")
    return dict.fromkeys(types, lambda node, source: Found(kind, naming(node, source), (node,)))


def groups(*types: str) -> dict[str, Rule]:
    """Make rules: children of nodes of the types count as children of their parents."""
    return dict.fromkeys(types, lambda node, _source: Found(GROUP, "", (node,)))
