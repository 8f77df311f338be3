"""Define the row of a language, and rules for classifying syntax nodes."""

import functools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from cqm.chunkers.languages.line_patterns import LinePatterns
from cqm.chunkers.languages.usage_nodes import UsageNodes

if TYPE_CHECKING:
    from tree_sitter import Node

COMMENT = "comment"
"""Kind of a comment: it stays with the code right after it."""

LEADING = "leading"
"""Kind of decorators, attributes and labels: they stay with the code after them."""

GROUP = "group"
"""Kind of a node without a name of its own: its children count as its parent's."""

SPLICED = "spliced"
"""Kind of a wrapper of any depth, such as one of a chain of bindings: its children stand in its place."""

GAP = ""
"""Kind of anything insignificant by itself, such as white space or a closing directive."""

IMPORTS = "imports"

COMPONENT = "component"
"""Kind of a class or function which draws a part of a user interface."""


class Found(NamedTuple):
    """A rule's classification of a node.

    Attributes:
        kind: COMMENT, LEADING, GROUP, SPLICED, GAP or a kind for people: function, class, imports, key ...
        name: of the symbol, not qualified; empty for anything but a symbol.
        bodies: the nodes with its members as children; empty without members.
        local: whether the bodies are of functions; variables in them are no symbols.
        opening: a node before it that begins the symbol, such as a signature beside its body.
        within: rules for nodes in its bodies and in groups there; they come before the language's. A rule never asks
            for `Node.parent`: it takes time by the depth of the tree, and rules see every node of a broken text.
    """

    kind: str
    name: str = ""
    bodies: tuple["Node", ...] = ()
    local: bool = False
    opening: "Node | None" = None
    within: "Mapping[str, Rule] | None" = None


Rule = Callable[["Node", bytes], Found | None]
"""Classifies a node of a source; None for a plain statement."""


class Part(NamedTuple):
    """A name declared inside a symbol without a piece of its own.

    Attributes:
        kind: for people; empty for the symbol's.
        name: within the symbol.
        node: its declaration.
        name_node: its name.
        is_beside: whether it stands beside the symbol, in the scope around both.
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
    """Types of a grammar's nodes, by their role beside `Language.rules`.

    Attributes:
        packages: declare the package of the nodes below.
        bodies: hold statements or members, and are no field "body" of their symbol.
        bodiless: declare a function without a body, on any number of rows.
        loose: declare something too small for a piece of its own, such as a field.
        clauses: go with a clause of the same name above them, as the equations of a function in Haskell.
        overloads: go with the next node of the same name.
        named_at_end: have their name, in the field "declarator" or "type_name" of theirs or of a child, below their
            body, unless their first row says it.
        equations: clauses defining nothing new after another clause of the name, such as its signature.
        told_apart: returns a key to tell equations of one name apart, such as the number of parameters.
        enum_values: values of an enumeration, which are no fields.
        additions: add members to a type under its name, and define no type; the node itself or its keyword.
        opening: begin a section without being its node, such as a label: the nodes up to the next are its members.
        outer_docs: begin comments about the symbol around them, not about the next one.
        above: first children of a declaration; they may fill rows above its name, and may say the name.
        parts: rules for names without a piece, by the type of the declaring symbol.
        local: patterns of the start of a function or type inside a function, see `words`; none to look for none.
        local_in_small: whether these are for the text in small letters: a language may ignore case.
    """

    packages: frozenset[str] = frozenset()
    bodies: frozenset[str] = frozenset()
    bodiless: frozenset[str] = frozenset()
    loose: frozenset[str] = frozenset()
    clauses: frozenset[str] = frozenset()
    overloads: frozenset[str] = frozenset()
    named_at_end: frozenset[str] = frozenset()
    equations: frozenset[str] = frozenset()
    told_apart: Callable[["Node"], int] | None = None
    enum_values: frozenset[str] = frozenset()
    additions: frozenset[str] = frozenset()
    opening: frozenset[str] = frozenset()
    outer_docs: tuple[str, ...] = ()
    above: frozenset[str] = _ABOVE
    parts: Mapping[str, PartRule] = field(default_factory=dict)
    local: tuple[bytes, ...] = ()
    local_in_small: bool = False


def words(listed: str, after: bytes) -> tuple[bytes, ...]:
    """Make a pattern of each word and the same rest.

    A pattern beginning with a word is found eight times as fast as one beginning with a choice of words.
    """
    return tuple(word.encode() + after for word in listed.split())


Restated = Callable[[bytes, Sequence[tuple[int, int]], Callable[[bytes], bool]], bytes]
"""Rewrites the statements touched by errors as readable ones; the last argument tells if the grammar reads a text."""


@dataclass(frozen=True, slots=True)
class Unread:
    """Signs of a language for dividing a program unreadable to its grammar.

    Attributes:
        signs: a pattern, see `signs_of`, with groups "note" (comments, directives), "text" (strings), "row" (line
            feeds) and "sign" (brackets, and ends of statements); all else is words, those in a group "plain" too.
        ends_at_rows: whether a statement ends with its row, unless the next is indented more.
        continues: begins a row continuing the statement above it.
        leads: a last row continued by the next one, such as an annotation.
        goes_on: follows the last brace of an unfinished statement.
        alone: a statement ending with its row without an end sign, such as a macro's call.
        label: begins a row indented less than its statements, such as a label.
        mends: whether blocks in braces tell the parts of a program well enough to leave out those with errors.
        interpolates: whether strings hold parsed expressions.
        masks: blank text unreadable to the grammar, keeping a source's length; for sources with errors only.
        restated: rewrites unreadable statements as readable ones.
        has_conditionals: whether lines such as "#if" and "#else" choose among branches.
        directives: a pattern of these lines, see `signs_of`, with groups "word" and "condition"; one beginning with "#"
            counts only as the first of its row.
        is_plain: whether its words mean the same in every place: a tree with errors then tells how its declarations
            read alone. Not in Perl: after an error, a string may begin in the middle of another.
        defined: names tested by the conditionals, and whether they are defined.
    """

    signs: bytes
    ends_at_rows: bool = False
    continues: re.Pattern[bytes] = re.compile(
        rb"[{.?:=&|+*/,<>)\]}]|(?:else|catch|finally|while|where|extends|implements|with)\b"
    )
    leads: re.Pattern[bytes] = re.compile(rb"[ \t]*@[\w.:]+(?:\([^()\n]*\))?[ \t\r]*$")
    goes_on: re.Pattern[bytes] = re.compile(rb"[ \t]*[\w(\[<*&+-]|\s*(?:[;,)\].=?:|{>]|(?:else|catch|finally|while)\b)")
    alone: re.Pattern[bytes] = re.compile(rb"[A-Z_][A-Z0-9_]*+[ \t]*(?:\(.*\))?", re.DOTALL)
    label: re.Pattern[bytes] = re.compile(rb"(?:[A-Za-z_]\w*+[ \t]*+:(?!:)|case\b|@(?:end|public|private|protected)\b)")
    mends: bool = True
    interpolates: bool = False
    masks: tuple[Callable[[bytes], bytes], ...] = ()
    restated: Restated | None = None
    has_conditionals: bool = False
    directives: bytes = (
        rb"#[ \t]*+(?P<word>ifdef|ifndef|if|elifdef|elifndef|elif|elseif|else|endif)\b"
        rb"(?P<condition>(?:[^\\\n]|\\\r?\n|\\)*+)"
    )
    is_plain: bool = False
    defined: Mapping[bytes, bool] = field(default_factory=dict)


@functools.cache
def signs_of(pattern: bytes) -> re.Pattern[bytes]:
    """Compile the signs of a language when they are first needed."""
    return re.compile(pattern, re.DOTALL)


@dataclass(frozen=True, slots=True)
class Language:
    """A row of the table of languages.

    Attributes:
        name: as in `Document.language`.
        grammar: the module of the grammar's wheel and its function for this language.
        rules: by type of node. A node of any other type is a plain statement.
        suffixes: of file names, lower case, with the dot.
        filenames: whole file names.
        line_comment: beginning of a comment, for grammars merging the comment above a symbol into the previous one.
        constructors: names of methods making their object.
        dialects: other rows, each with a test whether it is for a text, such as a header of C++ (each line of the text
            follows a line feed, even the first).
        removed: blank text the grammar can't read, keeping a source's length.
        names_from_text: rules read names in the text itself, not in the result of `removed`.
        unsafe: tells if a source may crash its grammar's parser or take all memory.
        full_names: give members the fully qualified name of their type and its fields as context.
        nodes: further types of nodes.
        usage: nodes telling how a name is used.
        joins_packages: successive package clauses name one package, as in Scala.
        extra: the extra with the grammar's wheel, such as "languages"; empty if every installation has it.
        unread: divides a program with errors; None if only its lines tell.
        by_lines: finds declarations in text unreadable to the grammar, or without it; None for none.
        is_guessed: whether rules for any grammar guess its symbols.
        remembers: whether its grammar reads a text with errors by the text before it; its lines tell then.
    """

    name: str
    grammar: tuple[str, str]
    rules: Mapping[str, Rule]
    suffixes: tuple[str, ...] = ()
    filenames: tuple[str, ...] = ()
    line_comment: str = ""
    constructors: frozenset[str] = field(default=frozenset())
    dialects: tuple[tuple[str, Callable[[str], bool]], ...] = ()
    removed: tuple[Callable[[bytes], bytes], ...] = ()
    names_from_text: bool = False
    unsafe: Callable[[bytes], bool] | None = None
    full_names: bool = False
    nodes: NodeTypes = NodeTypes()
    usage: UsageNodes = field(default_factory=UsageNodes)
    joins_packages: bool = False
    extra: str = ""
    unread: Unread | None = None
    by_lines: LinePatterns | None = None
    is_guessed: bool = False
    remembers: bool = False


_BLANK = bytes(byte if byte in b" \t\n\r\f\v" else ord(" ") for byte in range(256))


def blank(text: bytes) -> bytes:
    """Replace all but white space by spaces: lines and positions stay those of the text."""
    return text.translate(_BLANK)


def blanked(found: re.Match[bytes]) -> bytes:
    """Blank the named groups of a match."""
    text = bytearray(found[0])
    for name in found.re.groupindex:
        first, end = found.span(name)
        if first >= 0:
            text[first - found.start() : end - found.start()] = blank(found[name])
    return bytes(text)


def blanked_at(places: Iterable[int], pattern: re.Pattern[bytes], source: bytes) -> bytes:
    """Blank the named groups of a pattern's matches in a text, where it matches at some places only.

    Parameters:
        places: where it may match, in order.
    """
    parts: list[bytes] = []
    done = 0
    for place in places:
        found = pattern.match(source, place) if place >= done else None
        if found is not None:
            parts += source[done:place], blanked(found)
            done = found.end()
    return b"".join((*parts, source[done:])) if parts else source


def text_of(node: "Node | None", source: bytes) -> str:
    """Return the text of a node; empty for None."""
    # `Node.text` reads freed memory if the source came through a function, and parsing with a deadline needs one.
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace") if node else ""


def first_named(node: "Node") -> "Node | None":
    """Return the first named child of a node; None without any, where `named_child(0)` raises IndexError."""
    return node.named_child(0) if node.named_child_count else None


def child_of_type(node: "Node | None", *types: str) -> "Node | None":
    """Find the first named child of one of the types."""
    # Called for most nodes: a loop takes two thirds of the time of `next`.
    for child in node.named_children if node is not None else ():
        if child.type in types:
            return child
    return None


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
