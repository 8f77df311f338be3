"""Define the rows of C, C++ and Objective-C."""

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from cqm.chunkers.grammars import BUNDLE
from cqm.chunkers.languages.c_family import titled_tests
from cqm.chunkers.languages.c_family.attributes import (
    without_attributes,
    without_attributes_of_types,
    without_brackets,
    without_modules,
)
from cqm.chunkers.languages.c_family.calls import (
    without_dependent_names,
    without_macros_of_members,
    without_rows_of_calls,
    without_types_in_calls,
)
from cqm.chunkers.languages.c_family.macros import (
    with_enums,
    with_joined_macros,
    without_conditions,
    without_cpp,
    without_exports,
    without_further_arguments,
    without_macros,
)
from cqm.chunkers.languages.c_family.names import (
    SPECIFIERS,
    declarator_name,
    declares_function,
    innermost,
    is_attribute,
    is_conversion,
    spelled,
    type_name,
)
from cqm.chunkers.languages.c_family.parts import declared
from cqm.chunkers.languages.hazards import nests_expressions
from cqm.chunkers.languages.model import (
    COMMENT,
    GROUP,
    IMPORTS,
    LEADING,
    Found,
    Language,
    NodeTypes,
    Rule,
    Unread,
    by_child,
    by_field,
    child_of_type,
    containers,
    groups,
    inlined,
    role,
    symbols,
    text_of,
    words,
)
from cqm.chunkers.languages.scripting import variable_kind
from cqm.chunkers.languages.unread import C_LINES, C_SIGNS, CPP_SIGNS, OBJC_LINES, OBJC_SIGNS
from cqm.chunkers.languages.usage_nodes import UsageNodes
from cqm.chunkers.model import later

if TYPE_CHECKING:
    from tree_sitter import Node

_KEYWORDS = frozenset(
    {
        *("do", "else", "explicit", "for", "friend", "if", "return", "sizeof", "struct", "switch", "template", "while"),
        *("bool", "char", "const", "double", "float", "int", "long", "short", "signed", "static", "unsigned", "void"),
    }
)
"""Words which unread macros leave in the place of a name."""
_MACRO = later(r"[A-Z][A-Z0-9]*_[A-Z0-9_]+")
_TEST_MACRO = later(r"(?:TYPED_|GTEST_)?TEST(?:_[FP])?")


def _c_function(node: "Node", source: bytes) -> Found | None:
    name = declarator_name(node, source)
    if not name or name in _KEYWORDS:
        return None
    if _TEST_MACRO.fullmatch(name):
        return Found("test", _test_title(node, source) or name)
    # "double Shape::area() const {...}" outside its class.
    return Found("method" if "." in name else "function", name)


def _c_definition(node: "Node", source: bytes) -> Found | None:
    # "BOOST_AUTO_TEST_CASE(adds) {...}", "PYBIND11_MODULE(mod, m) {...}" and "PHP_FUNCTION(strlen) {...}" define their
    # first argument; in a class such a macro is an attribute.
    found = _c_function(node, source)
    if found is None or not _MACRO.fullmatch(found.name) or node.child_by_field_name("type") is not None:
        return found
    first = _test_title(node, source).split(".")[0]
    if not first.isidentifier() or first in _KEYWORDS:
        return found
    return Found("test" if "TEST" in found.name.split("_") else "function", first)


def _test_title(node: "Node", source: bytes) -> str:
    # GoogleTest's "TEST(Suite, adds) {...}" looks like a function with two types as parameters.
    declarator = node.child_by_field_name("declarator")
    parameters = text_of(declarator.child_by_field_name("parameters") if declarator else None, source)
    return ".".join(part.strip() for part in parameters.strip("()").split(","))


def _c_declaration(node: "Node", source: bytes) -> Found | None:
    declarator = node.child_by_field_name("declarator")
    if declarator is None:
        return _c_type_of(node, source)
    name = spelled(innermost(declarator), source)
    if is_conversion(node.child_by_field_name("type"), source):
        return Found("function", f"operator {name}")
    kind = node.child_by_field_name("type")
    if is_attribute(node, name):
        return _c_type_of(node, source)
    # Macros read like declarations: "MOCK_METHOD(int, size);", "CHECK_SIZE(int);", "FMT_API explicit".
    if (
        (kind is None and name.isupper() and not name.startswith("~"))
        or name in _KEYWORDS
        or _is_call(declarator, kind, source)
    ):
        made = text_of(kind, source)
        return _made([name], made) if _MADE.fullmatch(made) else None
    if declarator.type == "operator_cast" or declares_function(declarator):
        return Found("function", name)
    return Found(variable_kind(name), name)


def _is_call(declarator: "Node", kind: "Node | None", source: bytes) -> bool:
    return declarator.type == "parenthesized_declarator" and kind is not None and text_of(kind, source).isupper()


_MADE = later(
    r"(?:STATIC_)?DEFINE_\w+|H?LIST_HEAD|DEVICE_ATTR(?:_\w+)?"
    r"|DECLARE_(?:WAIT_QUEUE_HEAD|WORK|DELAYED_WORK|TASKLET|COMPLETION|RWSEM|BITMAP)"
)


def _c_call(node: "Node", source: bytes) -> Found | None:
    """Classify `DEFINE_MUTEX(lock);`, `DEFINE_PER_CPU(int, count);` and `DEFINE_string(flag, "", "");`."""
    call = child_of_type(node, "call_expression")
    callee = text_of(call.child_by_field_name("function"), source) if call is not None else ""
    if call is None or not _MADE.fullmatch(callee):
        return None
    arguments = call.child_by_field_name("arguments")
    return _made([text_of(it, source) for it in arguments.named_children] if arguments else [], callee)


def _made(arguments: list[str], callee: str) -> Found | None:
    name = arguments["PER_CPU" in callee] if len(arguments) > ("PER_CPU" in callee) else ""
    # "DEFINE_TYPE_CASTS(Shape)" is about a type.
    return Found("variable", name) if name[:1].islower() and name.isidentifier() else None


_MEMBERS: dict[str, Rule] = {"function_definition": _c_function}


def _c_specifier(node: "Node", source: bytes) -> Found | None:
    body = node.child_by_field_name("body")
    kind, name = SPECIFIERS[node.type], type_name(node, source)
    within = {"declaration": _constructed(name), **_MEMBERS} if name.isupper() else _MEMBERS
    return Found(kind, name, (body,) if body and kind != "enum" else (), within=within)


def _constructed(own: str) -> Rule:
    def rule(node: "Node", source: bytes) -> Found | None:
        # "DB();" in "class DB" reads like the call of a macro.
        return Found("function", own) if declarator_name(node, source) == own else _c_declaration(node, source)

    return rule


def _c_type_of(node: "Node", source: bytes) -> Found | None:
    specifier = node.child_by_field_name("type")
    return _c_specifier(specifier, source) if specifier is not None and specifier.type in SPECIFIERS else None


def _c_typedef(node: "Node", source: bytes) -> Found:
    found = _c_type_of(node, source)
    name = declarator_name(node, source)
    if found is None or not found.bodies:
        return Found(found.kind if found and node.named_child_count and _has_body(node) else "type", name)
    return Found(found.kind, name or found.name, found.bodies)


def _has_body(node: "Node") -> bool:
    specifier = node.child_by_field_name("type")
    return specifier is not None and specifier.child_by_field_name("body") is not None


def _namespace_name(node: "Node", source: bytes) -> str:
    # "namespace a::b::inline v1 {".
    return by_field("name")(node, source).replace("inline ", "").replace("::", ".")


def _c_macro(node: "Node", source: bytes) -> Found | None:
    name = text_of(node.child_by_field_name("name"), source)
    is_guard = node.child_by_field_name("value") is None and name.rstrip("_").endswith(("_H", "_HPP", "_INCLUDED"))
    return None if is_guard else Found("macro", name)


_C_RULES = {
    "function_definition": _c_definition,
    "declaration": _c_declaration,
    "expression_statement": _c_call,
    "field_declaration": _c_declaration,
    "type_definition": _c_typedef,
    **dict.fromkeys(SPECIFIERS, _c_specifier),
    "preproc_def": _c_macro,
    **symbols("macro", "preproc_function_def"),
    **role(COMMENT, "comment"),
    **role(IMPORTS, "preproc_include"),
    **groups("preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "preproc_elifdef", "linkage_specification"),
    **groups("declaration_list", "ERROR"),
}


def _friend(node: "Node", _source: bytes) -> Found | None:
    # A friend with a body is defined here; others are declared.
    return Found(GROUP, "", (node,)) if child_of_type(node, "function_definition") else None


_CPP_RULES = {
    **_C_RULES,
    **containers("namespace", "namespace_definition", name=_namespace_name),
    **symbols("type", "alias_declaration", "concept_definition", "namespace_alias_definition"),
    **role(LEADING, "template_parameter_list", "access_specifier", "requires_clause"),
    **role(IMPORTS, "using_declaration"),
    "friend_declaration": _friend,
    # "export {...}" with its word blank.
    "expression_statement": lambda node, source: titled_tests.head(node, source) or _c_call(node, source),
    "compound_statement": titled_tests.body,
    **groups("template_declaration", "export_declaration"),
}


def _objc_method(node: "Node", source: bytes) -> Found:
    # A selector: "setHour:minute:".
    parts: list[str] = []
    word = ""
    for child in node.named_children:
        if child.type == "method_parameter":
            parts.append(f"{word}:")
            word = ""
        elif child.type == "identifier":
            # Words after the last parameter are macros.
            word = text_of(child, source)
            if not parts and not child_of_type(node, "method_parameter"):
                return Found("method", word)
        elif child.type in ("ERROR", "compound_statement"):
            break
    return Found("method", "".join(parts))


def _objc_property(node: "Node", source: bytes) -> Found:
    declaration = child_of_type(node, "struct_declaration")
    return Found("property", spelled(innermost(child_of_type(declaration, "struct_declarator")), source))


_OBJC_RULES = {
    **_C_RULES,
    **inlined("class", "class_interface", "class_implementation", name=by_child("identifier")),
    **inlined("interface", "protocol_declaration", name=by_child("identifier")),
    "method_declaration": _objc_method,
    "method_definition": _objc_method,
    "property_declaration": _objc_property,
    **role(IMPORTS, "module_import"),
    # "@optional" stands before the methods of the second.
    **groups("implementation_definition", "qualified_protocol_interface_declaration"),
}

# Headers of the three languages share a suffix.
_OBJC_TEXT = later(
    r"\n@(?:interface|protocol|implementation|class|import)\b"
    r"|\n(?:typedef (?:NS|CF)_(?:\w+_)?(?:ENUM|OPTIONS)[ \t]*\(|FOUNDATION_E)"
)
# Most rows of C begin with none of these letters, and need no further look.
_CPP_WORD = later(
    r"\n[ \t]*+(?=[tncpu#])"
    r"(?:template[ \t]*<|namespace\b[^;=(]*$|class[ \t]+\w[^;(]*$|(?:public|private|protected)[ \t]*:[ \t]*$"
    r"|using[ \t]+\w|#[ \t]*include[ \t]*<(?:string|vector|memory|map|cstd\w+|iostream|utility|type_traits)>"
    r"|(?:typedef[ \t]+)?typename[ \t])",
    re.MULTILINE,
)
# Members without their class, as in headers included in a class.
_CPP_NAME = later(r"\n[ \t]*+[^\n;#\"/*':]*+::\w")
_CPP_MEMBER = later(r"\n[ \t]*+[^\n;#\"(/*]*+\([^()\n\"]*+\)[ \t]*const[ \t]*[;{]?[ \t]*$", re.MULTILINE)
_END_OF_MEMBER = later(r"const[ \t]*[;{]?[ \t]*$(?<!\wconst)", re.MULTILINE)


def _is_cpp(text: str) -> bool:
    """Tell if a row of a text shows that it is C++; each row follows a line feed."""
    if _CPP_WORD.search(text) is not None or ("::" in text and _CPP_NAME.search(text) is not None):
        return True
    return _END_OF_MEMBER.search(text) is not None and _CPP_MEMBER.search(text) is not None


def _is_objc(text: str) -> bool:
    return _OBJC_TEXT.search(text) is not None


_LOCAL = (*words("struct enum union", rb"\b[^;{}()=]{0,200}\{"), rb"#[ \t]*define[ \t]", rb"typedef[ \t]")
_LOCAL_OF_CPP = (
    *_LOCAL,
    *words("class", rb"\b[^;{}()=]{0,200}\{"),
    rb"using(?<![\w.]using)[ \t]+\w{1,100}[ \t]*=",
)

_PARTS = {
    **dict.fromkeys(("enum_specifier", "type_definition", "declaration", "field_declaration"), declared),
}

_NODES = NodeTypes(
    bodiless=frozenset({"declaration", "field_declaration"}),
    loose=frozenset({"declaration", "field_declaration"}),
    parts=_PARTS,
    local=_LOCAL,
    named_at_end=frozenset({"type_definition"}),
)

C = Language(
    name="c",
    grammar=("tree_sitter_c", "language"),
    unsafe=nests_expressions,
    suffixes=(".c", ".h", ".idc", ".xs", ".h.cmake", ".h.cmake.in"),
    rules=_C_RULES,
    dialects=(("objc", _is_objc), ("cpp", _is_cpp)),
    removed=(with_joined_macros, without_macros, without_attributes_of_types),
    nodes=_NODES,
    unread=Unread(
        C_SIGNS,
        has_conditionals=True,
        is_plain=True,
        masks=(
            *(without_exports, without_attributes, without_brackets, without_further_arguments),
            *(without_rows_of_calls, without_macros_of_members, without_types_in_calls),
        ),
        defined={b"__cplusplus": False},
    ),
    by_lines=C_LINES,
)
USAGE_OF_CPP = UsageNodes(
    heritage=frozenset({"base_class_clause"}), members=frozenset({"template_function", "template_method"})
)

CPP = Language(
    name="cpp",
    grammar=(BUNDLE, "cpp"),
    unsafe=nests_expressions,
    suffixes=(
        *(".cpp", ".cc", ".cxx", ".c++", ".hpp", ".hh", ".hxx", ".h++", ".ipp", ".inl", ".tpp", ".txx", ".ino"),
        *(".cppm", ".ixx"),
    ),
    rules=_CPP_RULES,
    removed=(with_joined_macros, without_macros, without_attributes_of_types, without_modules),
    nodes=replace(_NODES, local=_LOCAL_OF_CPP),
    unread=Unread(
        CPP_SIGNS,
        has_conditionals=True,
        is_plain=True,
        masks=(
            *(without_exports, without_attributes, without_brackets, without_conditions, without_further_arguments),
            titled_tests.with_titles,
            *(without_rows_of_calls, without_macros_of_members, without_types_in_calls, without_dependent_names),
        ),
        defined={b"__cplusplus": True},
    ),
    by_lines=C_LINES,
    usage=USAGE_OF_CPP,
)
OBJC = Language(
    name="objc",
    grammar=(BUNDLE, "objc"),
    unsafe=nests_expressions,
    suffixes=(".m", ".mm"),
    rules=_OBJC_RULES,
    removed=(with_joined_macros, without_macros, with_enums),
    nodes=replace(_NODES, bodiless=_NODES.bodiless | {"method_declaration"}),
    unread=Unread(
        OBJC_SIGNS,
        has_conditionals=True,
        is_plain=True,
        masks=(without_exports, without_cpp),
        defined={b"__cplusplus": False, b"__OBJC__": True},
    ),
    by_lines=OBJC_LINES,
    usage=UsageNodes(calls=frozenset({"message_expression"})),
)

ROWS = (C, CPP, OBJC)
