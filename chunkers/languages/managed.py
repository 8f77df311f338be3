"""Define the rows of Java, Scala, C# and Swift."""

import re
from typing import TYPE_CHECKING

from cqm.chunkers.grammars import BUNDLE
from cqm.chunkers.languages.hazards import nests_expressions
from cqm.chunkers.languages.model import (
    COMMENT,
    GAP,
    GROUP,
    IMPORTS,
    LEADING,
    Found,
    Language,
    NodeTypes,
    Unread,
    blank,
    blanked,
    by_child,
    by_field,
    child_of_type,
    containers,
    groups,
    role,
    symbols,
    text_of,
    words,
)
from cqm.chunkers.languages.parts import (
    cases_of_scala,
    fields_of_scala,
    further_names,
    inside,
    names_of_csharp,
    names_of_scala,
    names_of_swift,
    targets_of_scala,
    targets_of_swift,
)
from cqm.chunkers.languages.scripting import variable_kind
from cqm.chunkers.languages.testing import TESTS, title_of
from cqm.chunkers.languages.unread import (
    CSHARP_LINES,
    CSHARP_SIGNS,
    GENERAL_LINES,
    JAVA_SIGNS,
    KOTLIN_SIGNS,
    SWIFT_LINES,
    SWIFT_SIGNS,
)
from cqm.chunkers.languages.usage_nodes import UsageNodes

if TYPE_CHECKING:
    from tree_sitter import Node


def _constant(name: str) -> str:
    kind = variable_kind(name)
    return kind if kind == "constant" else "property"


def _java_field(node: "Node", source: bytes) -> Found:
    declarators = [child for child in node.named_children if child.type == "variable_declarator"]
    return Found(GROUP, "", (node,)) if len(declarators) != 1 else _java_variable(declarators[0], source)


def _java_variable(node: "Node", source: bytes) -> Found:
    name = text_of(node.child_by_field_name("name"), source)
    return Found(_constant(name), name)


_VALUE = re.compile(
    rb"(?<![\w.])value(?=[ \t]+(?:(?:public|private|protected|static|abstract|final|sealed)[ \t]+)*"
    rb"(?:class|record)[ \t]+\w)"
)


def _without_value(source: bytes) -> bytes:
    """Blank the word of value classes."""
    return _VALUE.sub(lambda it: blank(it[0]), source)


JAVA = Language(
    name="java",
    grammar=(BUNDLE, "java"),
    unsafe=nests_expressions,
    full_names=True,
    suffixes=(".java",),
    unread=Unread(JAVA_SIGNS, masks=(_without_value,)),
    by_lines=CSHARP_LINES,
    rules={
        **containers("class", "class_declaration", "record_declaration"),
        **containers("interface", "interface_declaration", "annotation_type_declaration"),
        **containers("enum", "enum_declaration"),
        **symbols("method", "method_declaration", "annotation_type_element_declaration"),
        **symbols("constructor", "constructor_declaration", "compact_constructor_declaration"),
        **containers("constant", "enum_constant"),
        "field_declaration": _java_field,
        "constant_declaration": _java_field,
        "variable_declarator": _java_variable,
        **role("block", "static_initializer", "block"),
        **role(COMMENT, "line_comment", "block_comment"),
        **role(IMPORTS, "import_declaration", "package_declaration"),
        **groups("enum_body_declarations", "ERROR"),
    },
    nodes=NodeTypes(
        packages=frozenset({"package_declaration"}),
        bodies=frozenset({"block", "class_body"}),
        bodiless=frozenset({"annotation_type_element_declaration", "field_declaration", "method_declaration"}),
        loose=frozenset({"field_declaration"}),
        enum_values=frozenset({"enum_constant"}),
        parts={
            "record_declaration": inside(
                dict.fromkeys(("formal_parameter", "spread_parameter"), "property"), "formal_parameters"
            )
        },
        local=words("class record enum interface", rb" +\w"),
    ),
    usage=UsageNodes(
        heritage=frozenset({"extends_interfaces", "super_interfaces"}), decorators=frozenset({"marker_annotation"})
    ),
)


def _scala_value(node: "Node", source: bytes) -> Found:
    name = text_of(next(iter(targets_of_scala(node)), None), source)
    value = node.child_by_field_name("value")
    if value is not None and value.type == "indented_block":
        value = child_of_type(value, "instance_expression")
    body = child_of_type(value, "template_body")
    return Found(variable_kind(name), name, (body,) if body else ())


def _scala_extension(node: "Node", source: bytes) -> Found:
    # Its methods are those of its extended type.
    parameter = child_of_type(child_of_type(node, "parameters"), "parameter")
    name = text_of(parameter.child_by_field_name("type") if parameter else None, source).partition("[")[0]
    return Found("class", name, tuple(node.children_by_field_name("body")))


def _scala_given(node: "Node", source: bytes) -> Found:
    name = text_of(node.child_by_field_name("name") or node.child_by_field_name("return_type"), source)
    body = node.child_by_field_name("body")
    return Found("variable", name, (body,) if body and body.type.endswith("template_body") else ())


def _scala_call(node: "Node", source: bytes) -> Found | None:
    # "test("adds") {...}" calls the result of a call.
    callee, body = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if callee is None or callee.type != "call_expression" or body is None or body.type != "block":
        return None
    arguments = callee.child_by_field_name("arguments")
    first = arguments.named_children[0] if arguments and arguments.named_children else None
    if first is None or text_of(callee.child_by_field_name("function"), source) not in TESTS:
        return None
    return Found("test", title_of(first, source), (body,), local=True)


SCALA = Language(
    name="scala",
    grammar=("tree_sitter_scala", "language"),
    unsafe=nests_expressions,
    suffixes=(".scala", ".sc", ".sbt"),
    unread=Unread(KOTLIN_SIGNS, ends_at_rows=True, interpolates=True),
    by_lines=GENERAL_LINES,
    rules={
        **containers("class", "class_definition", "object_definition", "package_object"),
        **containers("trait", "trait_definition"),
        **containers("enum", "enum_definition"),
        **symbols("function", "function_definition", "function_declaration"),
        **symbols("type", "type_definition"),
        "val_definition": _scala_value,
        "var_definition": _scala_value,
        "val_declaration": _scala_value,
        "var_declaration": _scala_value,
        "given_definition": _scala_given,
        "extension_definition": _scala_extension,
        "call_expression": _scala_call,
        **role(COMMENT, "comment", "block_comment"),
        **role(LEADING, "annotation"),
        **role(IMPORTS, "import_declaration", "package_clause", "export_declaration"),
        **groups("template_body", "ERROR"),
    },
    line_comment="//",
    joins_packages=True,
    nodes=NodeTypes(
        packages=frozenset({"package_clause"}),
        bodies=frozenset({"block"}),
        clauses=frozenset({"function_declaration"}),
        parts={
            "class_definition": fields_of_scala,
            "enum_definition": cases_of_scala,
            **dict.fromkeys(("val_definition", "var_definition", "val_declaration", "var_declaration"), names_of_scala),
        },
        additions=frozenset({"extension_definition"}),
        local=words("def class object trait enum type", rb"[ \t]+\S"),
    ),
    usage=UsageNodes(calls=frozenset({"instance_expression"}), parameters=frozenset({"bindings"})),
)


def _csharp_field(node: "Node", source: bytes) -> Found:
    declaration = child_of_type(node, "variable_declaration")
    name = by_field("name")(child, source) if (child := child_of_type(declaration, "variable_declarator")) else ""
    constant = any(
        text_of(modifier, source) == "const" for modifier in node.named_children if modifier.type == "modifier"
    )
    return Found("constant" if constant else "property", name)


def _csharp_operator(node: "Node", source: bytes) -> Found:
    operator = node.child_by_field_name("operator") or node.child_by_field_name("type")
    return Found("method", f"operator {text_of(operator, source)}")


# "*(int*)p = *(int*)q": the grammar cannot read the target of a pointer cast, nor "ref" before "partial struct".
_CSHARP_POINTER = re.compile(rb"(?P<cast>\*\([ \t]*[A-Za-z_][\w.]*\*+[ \t]*\))(?=[\w(*&])")
_CSHARP_REF = re.compile(rb"ref(?<!\wref)(?=[ \t]+partial[ \t]+struct\b)")


# "extension<T>(List<T> it) where T : class {" in a static class, which the grammar takes for a constructor.
_CSHARP_EXTENSION = re.compile(
    rb"(?<![\w.@])extension(?P<rest>\s*+(?:<[^(){};]{1,200}?>)?\s*+\((?:[^(){};]|\([^(){};]*+\)){1,400}+\)"
    rb"(?:\s*+where\b[^{};]{1,400}+)?)(?=\s*+\{)"
)
_CSHARP_NAMELESS = "__"


def _without_extensions(source: bytes) -> bytes:
    """Make a nameless class of each block of extension members."""
    if b"extension" not in source or b"class extension" in source:
        return source
    return _CSHARP_EXTENSION.sub(lambda it: b"class __ " + blanked(it)[len(b"extension") :], source)


def _csharp_class(node: "Node", source: bytes) -> Found:
    name, body = by_field("name")(node, source), node.child_by_field_name("body")
    bodies = (body,) if body else ()
    return Found(GROUP, "", bodies) if name == _CSHARP_NAMELESS else Found("class", name, bodies)


def _without_pointers(source: bytes) -> bytes:
    return _CSHARP_REF.sub(b"   ", _CSHARP_POINTER.sub(blanked, source))


CSHARP = Language(
    name="csharp",
    grammar=(BUNDLE, "csharp"),
    unsafe=nests_expressions,
    suffixes=(".cs", ".csx", ".cake"),
    removed=(_without_pointers, _without_extensions),
    unread=Unread(CSHARP_SIGNS, interpolates=True, has_conditionals=True, is_plain=True),
    by_lines=CSHARP_LINES,
    rules={
        **containers("namespace", "namespace_declaration"),
        "class_declaration": _csharp_class,
        **containers("class", "record_declaration"),
        **containers("struct", "struct_declaration", "record_struct_declaration"),
        **containers("interface", "interface_declaration"),
        **containers("enum", "enum_declaration"),
        **symbols("constant", "enum_member_declaration"),
        **symbols("method", "method_declaration"),
        **symbols("function", "local_function_statement"),
        **symbols("constructor", "constructor_declaration"),
        **symbols("method", "destructor_declaration", name=lambda node, source: "~" + by_field("name")(node, source)),
        **symbols("property", "property_declaration", "event_declaration"),
        **symbols("property", "indexer_declaration", name=lambda _node, _source: "this[]"),
        **symbols("type", "delegate_declaration"),
        "operator_declaration": _csharp_operator,
        "conversion_operator_declaration": _csharp_operator,
        "field_declaration": _csharp_field,
        "event_field_declaration": _csharp_field,
        **role(COMMENT, "comment"),
        **role(IMPORTS, "using_directive", "extern_alias_directive", "file_scoped_namespace_declaration"),
        **groups("declaration_list", "preproc_if", "preproc_else", "preproc_elif", "global_statement", "ERROR"),
        **role(LEADING, "preproc_region"),
        **role(GAP, "preproc_endregion"),
    },
    nodes=NodeTypes(
        packages=frozenset({"file_scoped_namespace_declaration", "namespace_declaration"}),
        bodies=frozenset({"block"}),
        bodiless=frozenset({"field_declaration", "method_declaration"}),
        loose=frozenset({"field_declaration"}),
        enum_values=frozenset({"enum_member_declaration"}),
        parts={
            "record_declaration": inside({"parameter": "property"}, "parameter_list"),
            **dict.fromkeys(("field_declaration", "event_field_declaration"), names_of_csharp),
        },
        # A bracket is found in an eighth of the time of the type before the name.
        local=(rb"\((?<=[\w>]\()[^;{}=]{0,200}\)\s*(?:\{|=>|where\b)",),
    ),
    usage=UsageNodes(
        heritage=frozenset({"base_list"}),
        members=frozenset({"conditional_access_expression", "member_binding_expression"}),
    ),
)

_SWIFT_KINDS = {"struct": "struct", "enum": "enum"}


def _swift_type(node: "Node", source: bytes) -> Found:
    keyword = text_of(node.child_by_field_name("declaration_kind"), source)
    body = node.child_by_field_name("body")
    # "extension Array<Int>".
    name = text_of(node.child_by_field_name("name"), source).partition("<")[0].rstrip()
    return Found(_SWIFT_KINDS.get(keyword, "class"), name, (body,) if body else ())


def _swift_function(node: "Node", source: bytes) -> Found:
    # The name of an operator is a bare token between "func" and "(" or "<".
    name = node.child_by_field_name("name")
    if name is not None and name.type == "simple_identifier":
        return Found("function", text_of(name, source))
    tokens = [child for child in node.children if child.type != "modifiers"]
    place = next((place for place, child in enumerate(tokens) if child.type == "func"), -1) + 1
    return Found("function", text_of(tokens[place], source) if 0 < place < len(tokens) else "")


def _swift_property(node: "Node", source: bytes) -> Found:
    pattern = node.child_by_field_name("name")
    if pattern is not None and child_of_type(pattern, "pattern"):
        names = targets_of_swift(node)
        return Found("variable", text_of(names[0], source) if names else "")
    return Found("variable", text_of(pattern, source).removeprefix("var ").removeprefix("let "))


def _swift_directive(node: "Node", source: bytes) -> Found:
    return Found(GAP if text_of(node, source).startswith("#end") else LEADING)


SWIFT = Language(
    name="swift",
    grammar=("tree_sitter_swift", "language"),
    unsafe=nests_expressions,
    suffixes=(".swift",),
    unread=Unread(SWIFT_SIGNS, ends_at_rows=True, interpolates=True, has_conditionals=True, is_plain=True),
    by_lines=SWIFT_LINES,
    rules={
        "class_declaration": _swift_type,
        **containers("interface", "protocol_declaration"),
        "function_declaration": _swift_function,
        "protocol_function_declaration": _swift_function,
        "property_declaration": _swift_property,
        "protocol_property_declaration": _swift_property,
        **symbols("constructor", "init_declaration", name=lambda _node, _source: "init"),
        **symbols("method", "deinit_declaration", name=lambda _node, _source: "deinit"),
        **symbols("method", "subscript_declaration", name=lambda _node, _source: "subscript"),
        **symbols("type", "typealias_declaration", "associatedtype_declaration"),
        **symbols("constant", "enum_entry"),
        **symbols("macro", "macro_declaration", name=by_child("simple_identifier")),
        **symbols("constant", "precedence_group_declaration", name=by_child("simple_identifier")),
        "directive": _swift_directive,
        **role(COMMENT, "comment", "multiline_comment"),
        **role(IMPORTS, "import_declaration"),
        **groups("ERROR"),
    },
    nodes=NodeTypes(
        bodies=frozenset({"class_body", "enum_class_body", "function_body", "lambda_literal"}),
        bodiless=frozenset({"protocol_function_declaration"}),
        loose=frozenset({"protocol_function_declaration"}),
        clauses=frozenset({"function_declaration"}),
        enum_values=frozenset({"enum_entry"}),
        additions=frozenset({"extension"}),
        parts={"enum_entry": further_names(), "property_declaration": names_of_swift},
        local=words("func class struct enum actor", rb"[ \t]+\w"),
    ),
    usage=UsageNodes(members=frozenset({"navigation_suffix"})),
)

ROWS = (JAVA, SCALA, CSHARP, SWIFT)
