"""Define the row of SystemVerilog and Verilog."""

from typing import TYPE_CHECKING

from cqm.chunkers.languages.further.unread_verilog import readable_verilog
from cqm.chunkers.languages.hazards import nests_expressions
from cqm.chunkers.languages.model import (
    COMMENT,
    GROUP,
    IMPORTS,
    Found,
    Language,
    NodeTypes,
    Part,
    by_child,
    child_of_type,
    groups,
    inlined,
    role,
    symbols,
    text_of,
)
from cqm.chunkers.languages.usage_nodes import UsageNodes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_MOST_NODES = 5_000
_HEADERS = (
    *("module_ansi_header", "module_nonansi_header", "interface_ansi_header", "interface_nonansi_header"),
    *("program_ansi_header", "program_nonansi_header", "udp_ansi_declaration", "udp_nonansi_declaration"),
)


def _design_name(node: "Node", source: bytes) -> str:
    named = child_of_type(node, *_HEADERS) or node
    return text_of(named.child_by_field_name("name") or child_of_type(named, "simple_identifier"), source)


def _subroutine(node: "Node", source: bytes) -> Found | None:
    body = child_of_type(
        node, "function_body_declaration", "task_body_declaration", "function_prototype", "task_prototype"
    )
    body = body or node
    name = text_of(body.child_by_field_name("name"), source)
    scope = text_of(child_of_type(body, "class_scope"), source).split("#")[0].rstrip(":").replace("::", ".")
    return Found("method" if scope else "function", f"{scope}.{name}" if scope else name) if name else None


def _prototype(node: "Node", source: bytes) -> Found | None:
    name = text_of(node.child_by_field_name("name"), source)
    return Found("function", name) if name else None


def _declared(node: "Node") -> "Iterator[Node]":
    """Yield the names of a declaration: "logic a, b;", "localparam int A = 1, B = 2;", "wire c;"."""
    waiting = [node]
    while waiting:
        for child in waiting.pop().named_children:
            if child.type.startswith("list_of_"):
                waiting.append(child)
            elif child.type in ("variable_decl_assignment", "param_assignment", "net_decl_assignment"):
                name = child.child_by_field_name("name") or child_of_type(child, "simple_identifier")
                if name is not None:
                    yield name


def _data(node: "Node", source: bytes) -> Found | None:
    if child_of_type(node, "package_import_declaration") is not None:
        return Found(IMPORTS)
    defined = child_of_type(node, "type_declaration")
    if defined is not None:
        return _type(defined, source)
    name = next(_declared(node), None)
    is_constant = node.type.endswith("parameter_declaration")
    return Found("constant" if is_constant else "variable", text_of(name, source)) if name is not None else None


def _type(node: "Node", source: bytes) -> Found | None:
    name = text_of(node.child_by_field_name("type_name"), source)
    words = text_of(child_of_type(node, "data_type"), source).split(None, 1)[:1]
    kind = {"enum": "enum", "struct": "struct", "union": "struct"}.get(words[0] if words else "", "type")
    return Found(kind, name) if name else None


def _further(node: "Node", source: bytes) -> "Iterator[Part]":
    for name in [*_declared(node)][1:]:
        yield Part("", text_of(name, source), name, name, is_beside=True)
    defined = node if node.type == "type_declaration" else child_of_type(node, "type_declaration")
    data_type = child_of_type(defined, "data_type")
    for member in data_type.named_children if data_type else ():
        if member.type == "enum_name_declaration":
            name = child_of_type(member, "simple_identifier") or member
            yield Part("constant", text_of(name, source), member, name)
        elif member.type == "struct_union_member":
            for name in _declared(member):
                yield Part("property", text_of(name, source), member, name)


def _ports(node: "Node", source: bytes) -> "Iterator[Part]":
    """Yield the ports and parameters in the header of a module, an interface or a class."""
    heads = (*_HEADERS, "parameter_port_list")
    waiting, left = [it for it in node.named_children if it.type in heads], _MOST_NODES
    while waiting and left > 0:
        for child in waiting.pop().named_children:
            left -= 1
            if child.type == "ansi_port_declaration":
                name = child.child_by_field_name("port_name")
                if name is not None:
                    yield Part("property", text_of(name, source), child, name)
            elif child.type in ("param_assignment", "type_assignment"):
                name = child_of_type(child, "simple_identifier")
                kind = "constant" if child.type == "param_assignment" else "type"
                if name is not None:
                    yield Part(kind, text_of(name, source), child, name)
            elif "port" in child.type or "param" in child.type or child.type == "list_of_type_assignments":
                waiting.append(child)


def _primitive_name(node: "Node", source: bytes) -> str:
    head = child_of_type(node, "udp_ansi_declaration", "udp_nonansi_declaration")
    return by_child("simple_identifier")(head or node, source)


def _generated(node: "Node", source: bytes) -> Found:
    """Read a block of generated parts, which may have a name: "begin : lanes"."""
    name = text_of(node.child_by_field_name("name"), source)
    return Found("block" if name else GROUP, name, (node,))


def _macro_name(node: "Node", source: bytes) -> str:
    return by_child("simple_identifier")(child_of_type(node, "text_macro_name") or node, source)


_DATA = ("data_declaration", "net_declaration", "parameter_declaration", "local_parameter_declaration")

SYSTEMVERILOG = Language(
    name="systemverilog",
    grammar=("tree_sitter_systemverilog", "language"),
    extra="languages",
    unsafe=nests_expressions,
    suffixes=(".sv", ".svh", ".v", ".vh", ".svi"),
    removed=(readable_verilog,),
    rules={
        **inlined("module", "module_declaration", "package_declaration", "program_declaration", name=_design_name),
        **inlined("interface", "interface_declaration", name=_design_name),
        **inlined("class", "class_declaration", "interface_class_declaration", name=_design_name),
        **dict.fromkeys(("function_declaration", "task_declaration"), _subroutine),
        **dict.fromkeys(("function_prototype", "task_prototype"), _prototype),
        **symbols("constructor", "class_constructor_declaration", name=lambda _node, _source: "new"),
        **symbols("constructor", "class_constructor_prototype", name=lambda _node, _source: "new"),
        **dict.fromkeys(_DATA, _data),
        "type_declaration": _type,
        **symbols("module", "udp_declaration", name=_primitive_name),
        "generate_block": _generated,
        **symbols("macro", "text_macro_definition", name=_macro_name),
        **symbols("property", "property_declaration", "sequence_declaration"),
        **symbols("property", "constraint_declaration", name=by_child("simple_identifier")),
        **symbols("class", "covergroup_declaration", name=_design_name),
        **symbols(
            "property",
            "modport_declaration",
            name=lambda node, source: by_child("simple_identifier")(
                child_of_type(node, "modport_item") or node, source
            ),
        ),
        **role(COMMENT, "one_line_comment", "block_comment", "comment"),
        **role(IMPORTS, "include_compiler_directive", "package_import_declaration"),
        **groups("package_item", "class_item", "class_method", "class_property", "generate_region"),
        **groups("loop_generate_construct", "conditional_generate_construct", "if_generate_construct", "ERROR"),
        **groups("case_generate_construct", "conditional_compilation_directive", "interface_class_item"),
    },
    line_comment="//",
    nodes=NodeTypes(
        bodiless=frozenset({"function_prototype", "task_prototype"}),
        named_at_end=frozenset({"data_declaration", "type_declaration"}),
        loose=frozenset({"function_prototype", "task_prototype", "property_declaration", "text_macro_definition"}),
        parts={
            **dict.fromkeys((*_DATA, "type_declaration"), _further),
            **dict.fromkeys(("module_declaration", "interface_declaration", "program_declaration"), _ports),
            **dict.fromkeys(("class_declaration", "interface_class_declaration"), _ports),
        },
    ),
    usage=UsageNodes(
        calls=frozenset({"module_instantiation"}),
        callees=frozenset({"instance_type"}),
        members=frozenset({"hierarchical_identifier"}),
    ),
)

ROWS = (SYSTEMVERILOG,)
