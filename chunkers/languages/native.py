"""Rows: C, C++, Objective-C, Go, Rust, Zig."""

import re
from typing import TYPE_CHECKING

from cqm.chunkers.languages.model import (
    COMMENT,
    GROUP,
    IMPORTS,
    LEADING,
    Found,
    Language,
    by_child,
    by_field,
    child_of_type,
    containers,
    groups,
    inlined,
    role,
    symbols,
    text_of,
)
from cqm.chunkers.languages.scripting import variable_kind

if TYPE_CHECKING:
    from tree_sitter import Node

_NAMES = frozenset(
    {"identifier", "field_identifier", "type_identifier", "destructor_name", "operator_name", "operator_cast"}
)
_MAX_DECLARATORS = 32


def _innermost(node: "Node | None") -> "Node | None":
    # "void (*signal(int))(int)" nests declarators; the innermost one is the name.
    for _ in range(_MAX_DECLARATORS):
        if node is None or node.type in _NAMES or node.type in ("qualified_identifier", "template_function"):
            return node
        node = node.child_by_field_name("declarator") or (node.named_children[0] if node.named_children else None)
    return None


def _spelled(node: "Node | None") -> str:
    if node is None:
        return ""
    if node.type == "operator_cast":
        return "operator " + text_of(node.child_by_field_name("type"))
    if node.type == "qualified_identifier":
        scope = text_of(node.child_by_field_name("scope")).split("<")[0]
        name = _spelled(node.child_by_field_name("name"))
        return f"{scope}.{name}" if scope.isidentifier() else name
    return text_of(node).split("<")[0].replace("::", ".") if node.type == "template_function" else text_of(node)


def declarator_name(node: "Node") -> str:
    """The name that a C declaration declares, `Class.method` for a member defined outside of its class."""
    return _spelled(_innermost(node.child_by_field_name("declarator")))


def _c_function(node: "Node") -> Found | None:
    name = declarator_name(node)
    return Found("function", name) if name else None


def _c_declaration(node: "Node") -> Found | None:
    declarator = node.child_by_field_name("declarator")
    if declarator is None:
        return _c_type_of(node)
    name = _spelled(_innermost(declarator))
    if _declares_function(declarator):
        return Found("function", name)
    return Found(variable_kind(name), name)


def _declares_function(declarator: "Node | None") -> bool:
    while declarator is not None and declarator.type in ("pointer_declarator", "reference_declarator"):
        declarator = declarator.child_by_field_name("declarator") or (
            declarator.named_children[0] if declarator.named_children else None
        )
    return declarator is not None and declarator.type == "function_declarator"


_SPECIFIERS = {
    "struct_specifier": "struct",
    "union_specifier": "struct",
    "class_specifier": "class",
    "enum_specifier": "enum",
}


def _c_specifier(node: "Node") -> Found | None:
    body = node.child_by_field_name("body")
    kind = _SPECIFIERS[node.type]
    return Found(kind, _type_name(node), (body,) if body and kind != "enum" else ())


def _type_name(node: "Node") -> str:
    return text_of(node.child_by_field_name("name")).split("<")[0].replace("::", ".")


def _c_type_of(node: "Node") -> Found | None:
    specifier = node.child_by_field_name("type")
    return _c_specifier(specifier) if specifier is not None and specifier.type in _SPECIFIERS else None


def _c_typedef(node: "Node") -> Found:
    found = _c_type_of(node)
    name = declarator_name(node)
    if found is None or not found.bodies:
        return Found(found.kind if found and node.named_child_count and _has_body(node) else "type", name)
    return Found(found.kind, name or found.name, found.bodies)


def _has_body(node: "Node") -> bool:
    specifier = node.child_by_field_name("type")
    return specifier is not None and specifier.child_by_field_name("body") is not None


def _namespace_name(node: "Node") -> str:
    return by_field("name")(node).replace("::", ".")


def _c_macro(node: "Node") -> Found | None:
    name = text_of(node.child_by_field_name("name"))
    is_guard = node.child_by_field_name("value") is None and name.rstrip("_").endswith(("_H", "_HPP", "_INCLUDED"))
    return None if is_guard else Found("macro", name)


_C_RULES = {
    "function_definition": _c_function,
    "declaration": _c_declaration,
    "field_declaration": _c_declaration,
    "type_definition": _c_typedef,
    **dict.fromkeys(_SPECIFIERS, _c_specifier),
    "preproc_def": _c_macro,
    **symbols("macro", "preproc_function_def"),
    **role(COMMENT, "comment"),
    **role(IMPORTS, "preproc_include"),
    **groups("preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "preproc_elifdef", "linkage_specification"),
    **groups("declaration_list", "ERROR"),
}

_CPP_RULES = {
    **_C_RULES,
    **containers("namespace", "namespace_definition", name=_namespace_name),
    **symbols("type", "alias_declaration", "concept_definition"),
    **role(LEADING, "template_parameter_list", "access_specifier", "requires_clause"),
    **role(IMPORTS, "using_declaration"),
    **groups("template_declaration", "export_declaration"),
}


def _objc_method(node: "Node") -> Found:
    # A selector: "setHour:minute:".
    parts = [text_of(child) for child in node.named_children if child.type == "identifier"]
    colons = ":" if child_of_type(node, "method_parameter") else ""
    return Found("method", "".join(part + colons for part in parts))


def _objc_property(node: "Node") -> Found:
    declaration = child_of_type(node, "struct_declaration")
    name = text_of(child_of_type(declaration, "struct_declarator")).lstrip("*^ ")
    return Found("property", name)


_OBJC_ENUM = re.compile(r"typedef\s+NS_\w+\s*\([^,()]*,\s*(\w+)\s*\)")


def _objc_typedef(node: "Node") -> Found:
    # The grammar does not know "typedef NS_ENUM(NSInteger, Name) {...}".
    enum = _OBJC_ENUM.match(text_of(node))
    return Found("enum", enum[1]) if enum else _c_typedef(node)


_OBJC_RULES = {
    **_C_RULES,
    **inlined("class", "class_interface", "class_implementation", name=by_child("identifier")),
    **inlined("interface", "protocol_declaration", name=by_child("identifier")),
    "type_definition": _objc_typedef,
    "method_declaration": _objc_method,
    "method_definition": _objc_method,
    "property_declaration": _objc_property,
    **role(IMPORTS, "module_import"),
    **groups("implementation_definition"),
}

# Headers of the three languages have the same suffix.
_OBJC_TEXT = re.compile(r"^@(?:interface|protocol|implementation|class|import)\b", re.MULTILINE)
_CPP_TEXT = re.compile(
    r"^[ \t]*(?:template[ \t]*<|namespace\b[^;=(]*$|class[ \t]+\w[^;(]*$|(?:public|private|protected)[ \t]*:[ \t]*$"
    r"|using[ \t]+\w|#[ \t]*include[ \t]*<(?:string|vector|memory|map|cstd\w+|iostream|utility|type_traits)>)",
    re.MULTILINE,
)

# Macros that stand alone ("FMT_BEGIN_NAMESPACE") or in a declaration ("FMT_EXPORT template", "class FMT_API writer").
_MACROS = (
    re.compile(
        rb"\n([A-Z][A-Z0-9_]{3,})"
        rb"(?=[ \t]*\r?\n| +(?:template|class|struct|enum|inline|constexpr|static|extern|auto|void|typedef|using)\b)"
    ),
    re.compile(rb"\b(?:class|struct) +([A-Z][A-Z0-9_]{3,})(?= +\w)"),
)

C = Language(
    name="c",
    grammar=("tree_sitter_c", "language"),
    suffixes=(".c", ".h", ".idc", ".xs"),
    rules=_C_RULES,
    dialects=(("objc", _OBJC_TEXT), ("cpp", _CPP_TEXT)),
    removed=_MACROS,
)
CPP = Language(
    name="cpp",
    grammar=("tree_sitter_cpp", "language"),
    suffixes=(".cpp", ".cc", ".cxx", ".c++", ".hpp", ".hh", ".hxx", ".h++", ".ipp", ".inl", ".tpp", ".txx", ".ino"),
    rules=_CPP_RULES,
    removed=_MACROS,
)
OBJC = Language(
    name="objc",
    grammar=("tree_sitter_objc", "language"),
    suffixes=(".m", ".mm"),
    rules=_OBJC_RULES,
    removed=_MACROS,
)


def _go_method(node: "Node") -> Found:
    parameter = child_of_type(node.child_by_field_name("receiver"), "parameter_declaration")
    receiver = text_of(parameter.child_by_field_name("type") if parameter else None).lstrip("*").split("[")[0]
    name = text_of(node.child_by_field_name("name"))
    return Found("method", f"{receiver}.{name}" if receiver else name)


_GO_TYPES = {"struct_type": "struct", "interface_type": "interface"}


def _go_type(node: "Node") -> Found:
    definition = node.child_by_field_name("type")
    kind = _GO_TYPES.get(definition.type, "type") if definition else "type"
    return Found(kind, text_of(node.child_by_field_name("name")))


def _go_values(node: "Node") -> Found:
    # One block of constants is one symbol of the first one's name, unless it is large.
    return Found(GROUP, "", (node,))


GO = Language(
    name="go",
    grammar=("tree_sitter_go", "language"),
    suffixes=(".go",),
    rules={
        **symbols("function", "function_declaration"),
        "method_declaration": _go_method,
        "type_spec": _go_type,
        "type_alias": _go_type,
        **symbols("constant", "const_spec"),
        **symbols("variable", "var_spec"),
        **dict.fromkeys(
            ("const_declaration", "var_declaration", "var_spec_list", "type_declaration", "ERROR"), _go_values
        ),
        **role(COMMENT, "comment"),
        **role(IMPORTS, "import_declaration", "package_clause"),
    },
)


def _rust_impl(node: "Node") -> Found:
    body = node.child_by_field_name("body")
    name = text_of(node.child_by_field_name("type")).split("<")[0].replace("::", ".")
    return Found("class", name, (body,) if body else ())


RUST = Language(
    name="rust",
    grammar=("tree_sitter_rust", "language"),
    suffixes=(".rs",),
    rules={
        **symbols("function", "function_item", "function_signature_item"),
        **symbols("struct", "struct_item", "union_item"),
        **symbols("enum", "enum_item"),
        **symbols("type", "type_item", "associated_type"),
        **symbols("constant", "const_item", "static_item"),
        **symbols("macro", "macro_definition"),
        **containers("trait", "trait_item"),
        **containers("module", "mod_item"),
        "impl_item": _rust_impl,
        **role(COMMENT, "line_comment", "block_comment"),
        **role(LEADING, "attribute_item"),
        **role(IMPORTS, "use_declaration", "extern_crate_declaration"),
        **groups("foreign_mod_item", "declaration_list", "ERROR"),
    },
)

_ZIG_TYPES = {
    "struct_declaration": "struct",
    "union_declaration": "struct",
    "opaque_declaration": "struct",
    "enum_declaration": "enum",
}


def _zig_variable(node: "Node") -> Found:
    name = text_of(child_of_type(node, "identifier"))
    declaration = child_of_type(node, *_ZIG_TYPES)
    if declaration is not None:
        return Found(_ZIG_TYPES[declaration.type], name, (declaration,))
    if text_of(child_of_type(child_of_type(node, "builtin_function"), "builtin_identifier")) == "@import":
        return Found(IMPORTS)
    return Found("constant" if any(child.type == "const" for child in node.children) else "variable", name)


def _zig_test(node: "Node") -> Found:
    return Found("test", text_of(child_of_type(node, "string", "identifier")).strip('"') or "test")


ZIG = Language(
    name="zig",
    grammar=("tree_sitter_zig", "language"),
    suffixes=(".zig", ".zon"),
    rules={
        **symbols("function", "function_declaration"),
        "variable_declaration": _zig_variable,
        "test_declaration": _zig_test,
        **role(COMMENT, "comment"),
        **groups("ERROR"),
    },
)

ROWS = (C, CPP, OBJC, GO, RUST, ZIG)
