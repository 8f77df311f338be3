"""Define the row of Dart."""

from typing import TYPE_CHECKING

from cqm.chunkers.grammars import BUNDLE
from cqm.chunkers.languages.hazards import nests_expressions
from cqm.chunkers.languages.model import (
    COMMENT,
    GAP,
    IMPORTS,
    LEADING,
    Found,
    Language,
    NodeTypes,
    Part,
    by_child,
    child_of_type,
    containers,
    first_named,
    groups,
    role,
    symbols,
    text_of,
)
from cqm.chunkers.languages.parts import inside
from cqm.chunkers.languages.scripting import variable_kind
from cqm.chunkers.languages.unread import DART_LINES
from cqm.chunkers.languages.usage_nodes import UsageNodes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_BODIES = ("class_body", "enum_body", "extension_body")
_VALUES = ("static_final_declaration_list", "initialized_identifier_list", "identifier_list")


def _signed(node: "Node | None", source: bytes) -> tuple[str, str]:
    """Return kind and name of a signature, which other nodes may wrap; empty for anything else."""
    while node is not None and node.type in ("method_signature", "declaration"):
        node = child_of_type(node, *_KINDS)
    if node is None or node.type not in _KINDS:
        return "", ""
    if node.type == "operator_signature":
        operator = child_of_type(node, "binary_operator", "tilde_operator", "unary_operator")
        first = source.find(b"operator", node.start_byte, node.end_byte)
        parameters = child_of_type(node, "formal_parameter_list")
        spelled = source[first + len(b"operator") : parameters.start_byte if parameters else node.end_byte]
        return "method", f"operator {(text_of(operator, source) or spelled.decode('utf-8', 'replace')).strip()}"
    if node.type.endswith("constructor_signature"):
        # "const Order(...)", "Order.of(...)", "factory Order.fromJson(...)".
        names = [text_of(it, source) for it in node.named_children if it.type == "identifier"]
        return "constructor", ".".join(names[1:]) or (names[0] if names else "")
    return _KINDS[node.type], text_of(node.child_by_field_name("name"), source)


_KINDS = {
    "function_signature": "function",
    "getter_signature": "property",
    "setter_signature": "property",
    "operator_signature": "method",
    "constructor_signature": "constructor",
    "constant_constructor_signature": "constructor",
    "factory_constructor_signature": "constructor",
    "redirecting_factory_constructor_signature": "constructor",
}


def _signature(node: "Node", source: bytes) -> Found | None:
    # The body is no child of its signature but follows it: both together are the symbol.
    body = node.next_named_sibling
    if body is not None and body.type == "function_body":
        return Found(GAP)
    kind, name = _signed(node, source)
    return Found(kind, name) if kind else None


def _body(node: "Node", source: bytes) -> Found | None:
    signature = node.prev_named_sibling
    kind, name = _signed(signature, source)
    return Found(kind, name, opening=signature) if kind else None


def _declaration(node: "Node", source: bytes) -> Found | None:
    names = child_of_type(node, *_VALUES)
    if names is None:
        return _signature(node, source)
    name = text_of(child_of_type(names.named_children[0], "identifier") or names.named_children[0], source)
    is_constant = child_of_type(node, "const_builtin") is not None
    return Found("constant" if is_constant else variable_kind(name), name)


def _top_values(node: "Node", source: bytes) -> Found | None:
    # At the top, "const", the type and the names are siblings.
    first = node.named_children[0] if node.named_children else None
    if first is None:
        return None
    name = text_of(child_of_type(first, "identifier") or first, source)
    before = node.prev_named_sibling
    opening = None
    for _ in range(_WORDS_BEFORE):
        if before is None or before.type not in _BEFORE or before.start_point[0] < node.start_point[0] - 1:
            break
        opening, before = before, before.prev_named_sibling
    is_constant = opening is not None and opening.type == "const_builtin"
    return Found("constant" if is_constant else variable_kind(name), name, opening=opening)


_WORDS_BEFORE = 5
_BEFORE = frozenset({"const_builtin", "final_builtin", "inferred_type", "late_builtin", "type_identifier"}) | {
    *("type_arguments", "nullable_type", "function_type", "void_type", "record_type")
}


def _further_values(node: "Node", source: bytes) -> "Iterator[Part]":
    names = child_of_type(node, *_VALUES) if node.type == "declaration" else node
    for it in names.named_children[1:] if names else ():
        name = child_of_type(it, "identifier") or it
        yield Part("", text_of(name, source), it, name, is_beside=True)


def _extension(node: "Node", source: bytes) -> Found:
    # One without a name takes the name of its extended type.
    name = node.child_by_field_name("name") or node.child_by_field_name("class")
    body = child_of_type(node, *_BODIES)
    return Found("class", text_of(name, source), (body,) if body else ())


def _is_called(leaf: "Node", whole: "Node", _source: bytes) -> bool:
    """Whether arguments stand beside a name or its selector; a constant object names its type."""
    if whole.parent is not None and whole.parent.type == "const_object_expression":
        return leaf.type == "type_identifier"
    node = leaf
    while node.parent and node.next_named_sibling is None and node.parent.type.endswith("selector"):
        node = node.parent
    after = node.next_named_sibling
    if after is not None and after.type == "selector":
        after = first_named(after) or after
    return after is not None and after.type == "argument_part"


def _receiver_of(leaf: "Node") -> "Node | None":
    """Return the owner of a name: both stand in a row of selectors."""
    if leaf.parent is None or not leaf.parent.type.endswith("assignable_selector"):
        return None
    selector = leaf.parent.parent
    return selector.prev_named_sibling if selector and selector.type == "selector" else None


DART = Language(
    name="dart",
    by_lines=DART_LINES,
    grammar=(BUNDLE, "dart"),
    unsafe=nests_expressions,
    suffixes=(".dart",),
    rules={
        **containers("class", "class_definition", "extension_type_declaration", bodies=_BODIES),
        **containers("class", "mixin_declaration", name=by_child("identifier"), bodies=_BODIES),
        **containers("enum", "enum_declaration", bodies=_BODIES),
        "extension_declaration": _extension,
        **symbols("class", "mixin_application_class", name=by_child("identifier")),
        **symbols("type", "type_alias", name=by_child("type_identifier")),
        **symbols("constant", "enum_constant"),
        **dict.fromkeys((*_KINDS, "method_signature"), _signature),
        "function_body": _body,
        "declaration": _declaration,
        **dict.fromkeys(_VALUES, _top_values),
        **role(COMMENT, "comment", "documentation_comment"),
        **role(LEADING, "annotation", "marker_annotation"),
        **role(GAP, *_BEFORE),
        **role(IMPORTS, "import_or_export", "part_directive", "part_of_directive", "library_name"),
        **groups("ERROR"),
    },
    nodes=NodeTypes(
        bodies=frozenset({"block", *_BODIES}),
        bodiless=frozenset({"declaration"}),
        loose=frozenset({"declaration"}),
        enum_values=frozenset({"enum_constant"}),
        parts={
            **dict.fromkeys(("declaration", *_VALUES), _further_values),
            "extension_type_declaration": inside({"representation_declaration": "property"}),
        },
    ),
    usage=UsageNodes(calls=frozenset({"const_object_expression"}), is_called=_is_called, receiver_of=_receiver_of),
)

ROWS = (DART,)
