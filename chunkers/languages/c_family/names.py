"""Read names from the declarators and types of C, C++ and Objective-C."""

from typing import TYPE_CHECKING

from cqm.chunkers.languages.model import text_of

if TYPE_CHECKING:
    from tree_sitter import Node


_NAMES = frozenset(
    {"identifier", "field_identifier", "type_identifier", "destructor_name", "operator_name", "operator_cast"}
)
_MAX_DECLARATORS = 32
_OPERATOR = len("operator")


def innermost(node: "Node | None") -> "Node | None":
    """Return the name within nested declarators, as in `void (*signal(int))(int)`; None without one."""
    for _ in range(_MAX_DECLARATORS):
        if node is None or node.type in _NAMES or node.type in ("qualified_identifier", "template_function"):
            return node
        node = node.child_by_field_name("declarator") or (node.named_children[0] if node.named_children else None)
    return None


def spelled(node: "Node | None", source: bytes) -> str:
    """Write a name with dots between its scopes, without arguments of templates; empty for None."""
    if node is None:
        return ""
    if node.type == "operator_cast":
        return "operator " + text_of(node.child_by_field_name("type"), source)
    if node.type == "qualified_identifier":
        return _qualified(node, source)
    if node.type == "template_function":
        # In "template<> __device__ half2 padd<half2>(" the grammar takes the type for a part of the name.
        return text_of(node, source).split("<")[0].split()[-1].replace("::", ".")
    return text_of(node, source)


def _qualified(node: "Node", source: bytes) -> str:
    scope = text_of(node.child_by_field_name("scope"), source).split("<")[0]
    name = spelled(node.child_by_field_name("name"), source)
    return f"{scope}.{name}" if scope.isidentifier() else name


def declarator_name(node: "Node", source: bytes) -> str:
    """Return the name declared by a C declaration; `Class.method` for a member defined outside its class."""
    name = spelled(innermost(node.child_by_field_name("declarator")), source)
    return f"operator {name}" if is_conversion(node.child_by_field_name("type"), source) else name


def is_conversion(kind: "Node | None", source: bytes) -> bool:
    """Tell if a type is only the word "operator": the grammar misreads `operator List<int>()` so."""
    return kind is not None and kind.end_byte - kind.start_byte == _OPERATOR and text_of(kind, source) == "operator"


def declares_function(declarator: "Node | None") -> bool:
    """Tell if a declarator is a function's, not a pointer's to one."""
    while declarator is not None and declarator.type in ("pointer_declarator", "reference_declarator"):
        declarator = declarator.child_by_field_name("declarator") or (
            declarator.named_children[0] if declarator.named_children else None
        )
    if declarator is None or declarator.type != "function_declarator":
        return False
    # "int (*compare)(int, int)" is a variable.
    inner = declarator.child_by_field_name("declarator")
    return inner is None or inner.type != "parenthesized_declarator"


SPECIFIERS = {
    "struct_specifier": "struct",
    "union_specifier": "struct",
    "class_specifier": "class",
    "enum_specifier": "enum",
}
"""Kinds of the types a declaration may hold, by their nodes."""


def type_name(node: "Node", source: bytes) -> str:
    """Return the name of a struct, union, class or enum, without arguments of templates."""
    name = node.child_by_field_name("name")
    if name is not None and name.type == "qualified_identifier":
        # "struct List<T>::Node {...}".
        return _qualified(name, source).split("<")[0].replace("::", ".")
    return text_of(node.child_by_field_name("name"), source).split("<")[0].replace("::", ".")


def is_attribute(node: "Node", name: str) -> bool:
    """Tell if the name of a declarator is a macro for an attribute of the type before it: "struct {...} PACKED;"."""
    kind = node.child_by_field_name("type")
    if not name.isupper() or kind is None or kind.type not in SPECIFIERS:
        return False
    if None in map(kind.child_by_field_name, ("name", "body")):
        return False
    declarators = node.children_by_field_name("declarator")
    value = declarators[0].child_by_field_name("value")
    # In an array, a list of variables or a value it is the name of a variable.
    return (
        len(declarators) == 1
        and declarators[0].type != "array_declarator"
        and (value is None or value.type == "argument_list")
    )
