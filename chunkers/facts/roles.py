"""Tell a node's part for a name in it: a call, an import, a text ...

Grammars agree on most types of nodes; these stand here. The row of a language adds its own, see `UsageNodes`.
"""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from cqm.chunkers.languages.usage_nodes import UsageNodes

_HIGHEST = 40
"""Ancestors to look at: enough for real code."""

_CALL = re.compile(
    r"\w*call(_expression)?|\w*invo[ck]ation(_expression)?|new_expression|\w*creation_expression|command"
)
"""Calls, also of macros and commands of shells."""
_CALLEE = frozenset({"function", "name", "method", "constructor", "type", "function_name", "command_name"})
_COMMENT = re.compile("comment")
_TEXT = re.compile(r"string|heredoc|str_text|jsx_text|char(acter)?_literal|regex")
_IMPORT = re.compile(r"import\w*|use_declaration|using_directive|using_declaration|preproc_include|exports?")
_HERITAGE = frozenset({"superclass", "extends_clause", "inheritance_specifier"})
_MEMBER = frozenset({
    "attribute", "member_expression", "selector_expression", "field_expression", "scoped_identifier",
    "scoped_type_identifier", "qualified_identifier", "qualified_type", "qualified_name", "navigation_expression",
    "member_access_expression", "dotted_name", "generic_type", "generic_name", "generic_function", "template_type",
    "dot", "user_type", "command_name", "named_type", "variable_name", "qualified", "identifier", "select_expression",
    "expression",
})  # fmt: skip
_DECORATING = frozenset({"decorator", "annotation"})
_DECLARING = re.compile(
    r"\w*(declaration|definition|declarator|_item|_spec|_elem|variant|signature|_def|enumerator|enum_constant)"
    r"|\w*parameter|enum_entry|enum_body|method|class|module|function|associated_type|property"
)
DECLARED = frozenset({"name", "declarator", "pattern"})
"""Fields of declarations with a name, or with a declarator around it."""
_UNNAMED = frozenset({"variable_declaration", "class_parameter", "parameter", "enum_entry", "enum_body"})
"""Declarations with their name as first child, in no field."""
_PARAMETERS = re.compile(r"\w*parameters|\w*parameter_list|lambda_parameters|identifier_list")
_FUNCTION = re.compile(r"\w*(function|method|lambda|closure|constructor)\w*")
_LOCAL = re.compile(_FUNCTION.pattern + r"|block|compound_statement|statement_list|do_block")
_ASSIGNMENT = frozenset({"assignment", "for_statement", "for_in_clause", "for_in_statement"})


def above(node: "Node") -> "Iterator[Node]":
    """Yield the nodes around a node, innermost first."""
    for _ in range(_HIGHEST):
        parent = node.parent
        if parent is None:
            return
        yield parent
        node = parent


def field_of(node: "Node") -> str:
    """Return the name of a node's field in its parent; empty for none."""
    if node.parent:
        for number, child in enumerate(node.parent.children):
            if child.id == node.id:
                return node.parent.field_name_for_child(number) or ""
    return ""


def is_call(node: "Node", usage: "UsageNodes") -> bool:
    """Whether a node calls something, also a component, a macro, a mixin or a command."""
    return _CALL.fullmatch(node.type) is not None or node.type in usage.calls


def is_comment(node: "Node") -> bool:
    """Whether a node is a comment or a part of one."""
    return _COMMENT.search(node.type) is not None


def is_text(node: "Node", usage: "UsageNodes") -> bool:
    """Whether a node is a string or a part of one."""
    return _TEXT.search(node.type) is not None or node.type in usage.texts


def is_import(node: "Node", usage: "UsageNodes") -> bool:
    """Whether a node imports or exports its names."""
    return _IMPORT.fullmatch(node.type) is not None or node.type in usage.imports


def is_heritage(node: "Node", usage: "UsageNodes") -> bool:
    """Whether a node holds the bases or interfaces of a type."""
    return node.type in _HERITAGE or node.type in usage.heritage


def is_member(node: "Node", usage: "UsageNodes") -> bool:
    """Whether a node joins a name to its owner, or to type arguments after it."""
    return node.type in _MEMBER or node.type in usage.members


def is_annotation(node: "Node") -> bool:
    """Whether an "attribute" is one of C# or Rust; in Python it is a member."""
    return node.type == "attribute" and node.parent is not None and node.parent.type.startswith("attribute_")


def is_decorator(node: "Node", usage: "UsageNodes") -> bool:
    """Whether a node applies a decorator or annotation."""
    return node.type in _DECORATING or node.type in usage.decorators or is_annotation(node)


def is_callee(node: "Node", field: str, usage: "UsageNodes") -> bool:
    """Whether the call around a node calls it, as its field or its place tells."""
    call = node.parent
    if call is None or not is_call(call, usage):
        return False
    if field in _CALLEE or field in usage.callees:
        return True
    return node.prev_named_sibling is None and (not field or call.type in usage.called_first)


def is_declared(node: "Node", field: str, usage: "UsageNodes") -> bool:
    """Whether a node, which stands in a field, is the name in the declaration around it."""
    declaring = node.parent
    if declaring is None or node.type == "user_type":
        return False
    if field in DECLARED and (_DECLARING.fullmatch(declaring.type) or declaring.type in usage.declarations):
        return True
    is_first = node.prev_named_sibling is None or "modifier" in node.prev_named_sibling.type
    return not field and is_first and declaring.type in _UNNAMED


def is_parameter_list(node: "Node", usage: "UsageNodes") -> bool:
    """Whether a node holds parameters."""
    return _PARAMETERS.fullmatch(node.type) is not None or node.type in usage.parameters


def is_assigned(leaf: "Node", usage: "UsageNodes") -> bool:
    """Whether a variable of a function gets its value here, or from a pattern such as "{ a, b }"."""
    node = leaf
    while node.parent and node.parent.type in {"expression_list", "pattern_list", "tuple_pattern"}:
        node = node.parent
    around = node.parent
    is_assignment = around is not None and (around.type in _ASSIGNMENT or around.type in usage.assignments)
    is_target = is_assignment and field_of(node) == "left"
    is_target = is_target or leaf.type.endswith("identifier_pattern") or (leaf.parent or leaf).type in usage.targets
    return is_target and any(is_function(it) for it in above(leaf))


def is_function(node: "Node") -> bool:
    """Whether a node is a function or a part of its declaration."""
    return _FUNCTION.fullmatch(node.type) is not None


def is_block(node: "Node") -> bool:
    """Whether declarations in a node are local: it is a function or a block."""
    return _LOCAL.fullmatch(node.type) is not None
