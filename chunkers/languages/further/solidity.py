"""Define the row of Solidity."""

from typing import TYPE_CHECKING

from cqm.chunkers.grammars import BUNDLE
from cqm.chunkers.languages.hazards import nests_expressions
from cqm.chunkers.languages.model import (
    COMMENT,
    IMPORTS,
    Found,
    Language,
    NodeTypes,
    Part,
    child_of_type,
    containers,
    groups,
    role,
    symbols,
    text_of,
)
from cqm.chunkers.languages.parts import inside
from cqm.chunkers.languages.usage_nodes import UsageNodes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node


def _unnamed(node: "Node", source: bytes) -> Found:
    # "receive() external payable {...}", "fallback() ...".
    return Found("function", "fallback" if text_of(node, source).startswith("fallback") else "receive")


def _state(node: "Node", source: bytes) -> Found:
    words = text_of(node, source).split("=")[0].split()
    return Found("constant" if "constant" in words else "property", text_of(node.child_by_field_name("name"), source))


def _enum_values(node: "Node", source: bytes) -> "Iterator[Part]":
    body = child_of_type(node, "enum_body")
    for value in body.named_children if body else ():
        if value.type == "enum_value":
            yield Part("constant", text_of(value, source), value, value)


SOLIDITY = Language(
    name="solidity",
    grammar=(BUNDLE, "solidity"),
    unsafe=nests_expressions,
    suffixes=(".sol",),
    rules={
        **containers("class", "contract_declaration", "library_declaration", bodies=("contract_body",)),
        **containers("interface", "interface_declaration", bodies=("contract_body",)),
        **symbols("struct", "struct_declaration"),
        **symbols("enum", "enum_declaration"),
        **symbols("function", "function_definition", "modifier_definition"),
        **symbols("constructor", "constructor_definition", name=lambda _node, _source: "constructor"),
        "fallback_receive_definition": _unnamed,
        **symbols("event", "event_definition"),
        **symbols("error", "error_declaration"),
        **symbols("type", "user_defined_type_definition"),
        **symbols("constant", "constant_variable_declaration"),
        "state_variable_declaration": _state,
        **role(COMMENT, "comment"),
        **role(IMPORTS, "import_directive", "pragma_directive", "using_directive"),
        **groups("contract_body", "ERROR"),
    },
    nodes=NodeTypes(
        bodies=frozenset({"function_body"}),
        bodiless=frozenset({"function_definition", "event_definition", "error_declaration"}),
        loose=frozenset({"event_definition", "error_declaration", "user_defined_type_definition"}),
        parts={
            "struct_declaration": inside({"struct_member": "property"}, "struct_body"),
            "enum_declaration": _enum_values,
        },
    ),
    usage=UsageNodes(calls=frozenset({"emit_statement"})),
)

ROWS = (SOLIDITY,)
