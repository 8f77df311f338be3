"""Tell how a program uses a name: the syntax around each occurrence shows whether it is called, a type, an import ...

Grammars agree on most names of nodes and fields, so one table serves all languages.
"""

import re
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from cqm.chunkers.code.program import program_of
from cqm.chunkers.facts.calling import CALLEE, CALLING, UNNAMED, is_called_so, is_component_of_text, receiver_beside
from cqm.chunkers.facts.names import (
    CALL,
    COMMENT,
    DECLARATION,
    DECORATOR,
    DEFINITION,
    IMPORT,
    STRING,
    SUBCLASS,
    TYPE,
    VALUE,
    Occurrence,
    word,
)
from cqm.chunkers.facts.receivers import types_of
from cqm.chunkers.languages.model import text_of
from cqm.chunkers.model import ChunkOptions, Document

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tree_sitter import Node

    from cqm.chunkers.code.program import Program

_MOST = 2_000
"""Most occurrences to tell of a file; real files have fewer."""
_MOST_RECEIVER = 80
_MOST_TEXT = 2_000
"""Bytes of a text to look into."""
_SEPARATING = re.compile(rb"[\s(,;{\[]")
_BARE_CALLS = frozenset({"ruby"})
"""Languages whose functions are called by their name alone."""
_HIGHEST = 40
"""Ancestors to look at: enough for real code."""

_COMMENT_NODE = re.compile("comment")
_STRING_NODE = re.compile(
    r"string|heredoc|quoted_content|str_text|text_block|jsx_text|raw_text|char(acter)?_literal|regex"
)
_IMPORT_NODE = re.compile(
    r"import\w*|future_import_statement|use_declaration|using_directive|using_declaration|namespace_use\w*"
    r"|preproc_include|export_clause|export_specifier|exports?|extern_crate_declaration"
)
_HERITAGE = frozenset({
    "extends_clause", "implements_clause", "class_heritage", "extends_type_clause", "superclass", "super_interfaces",
    "extends_interfaces", "base_list", "base_clause", "class_interface_clause", "base_class_clause",
    "delegation_specifier", "delegation_specifiers", "inheritance_specifier", "trait_bounds", "protocol_qualifiers",
    "interface_type_list", "class_inheritance",
})  # fmt: skip
_MEMBER = frozenset({
    "attribute", "member_expression", "selector_expression", "field_expression", "scoped_identifier",
    "scoped_type_identifier", "qualified_identifier", "qualified_type", "qualified_name", "navigation_expression",
    "navigation_suffix", "member_access_expression", "member_binding_expression", "conditional_access_expression",
    "dotted_name", "generic_type", "generic_name", "generic_function", "template_function", "template_type",
    "template_method", "scope_resolution", "dot", "dot_index_expression", "method_index_expression", "user_type",
    "nested_identifier", "nested_type_identifier", "instantiation_expression", "object_reference", "command_name",
    "named_type", "variable_name", "class_constant_access_expression", "qualified", "identifier", "value_path",
    "long_identifier", "long_identifier_or_op", "hierarchical_identifier", "sym_lit", "variable_expression",
    "select_expression", "attrpath", "exprDot", "expression", "dot_expression",
})  # fmt: skip
"""Nodes joining a name to what it belongs to, or to type arguments after it."""
_MEMBER_FIELDS = frozenset({"name", "method", "function_name"})
_DECORATING = re.compile(r"decorator|annotation|marker_annotation")
_DECLARING = re.compile(
    r"\w*(declaration|definition|declarator|_item|_spec|_elem|variant|signature|_def|enumerator|enum_constant)"
    r"|\w*parameter|enum_entry|enum_assignment|enum_body|property_element|const_element|method|singleton_method|class"
    r"|module|function|preproc_function_def|type_item|associated_type|property"
)
_DECLARED = frozenset({"name", "declarator", "pattern"})
_PARAMETERS = re.compile(r"\w*parameters|\w*parameter_list|lambda_parameters|identifier_list|bindings")
_UNNAMED = frozenset({"variable_declaration", "class_parameter", "parameter", "enum_entry", "enum_body"})
"""Declarations whose name is their first child, in no field."""
_FUNCTION = re.compile(r"\w*(function|method|lambda|closure|constructor)\w*")
_ASSIGNED = frozenset({
    "assignment", "for_statement", "for_in_clause", "for_in_statement", "short_var_declaration", "range_clause",
    "operator_assignment",
})  # fmt: skip
_BINDING = frozenset({"exception_variable", "left_assignment_list", "rest_assignment", "destructured_left_assignment"})
"""Nodes whose names are assigned variables, in Ruby."""
_MEANING = frozenset({CALL, TYPE, VALUE, DECORATOR, DECLARATION})
"""Kinds of occurrences meaning a variable of their name where there is one."""
_LOCAL = re.compile(
    r"\w*(function|method|lambda|closure|constructor)\w*|block|compound_statement|statement_list|do_block"
)
_IMPORTING = frozenset({"require", "require_relative", "import", "load"})
_MIXING = frozenset({"include", "extend", "prepend"})
_MEMBERS = {
    "method": re.compile(r"method|function|signature_item"),
    "property": re.compile("field|property"),
    "variant": re.compile("variant|enum"),
    "constant": re.compile("const_|constant|preproc"),
    "constructor": re.compile("constructor"),
    "variable": re.compile("variable"),
}


def occurrences(document: Document, name: str) -> tuple[Occurrence, ...] | None:
    """Return all occurrences of a name in order; None if the document is no program that can be parsed.

    Parameters:
        document: a whole file.
        name: the last part of a symbol's name.
    """
    if not document.text:
        return None
    program = program_of(document.text, document.language, ChunkOptions())
    if program is None or isinstance(program, str) or not program.language.rules:
        return None
    found = list(islice(_occurrences(program, word(name)), _MOST))
    return tuple(_with_scopes(found, has_bare_calls=program.language.name in _BARE_CALLS))


def _occurrences(program: "Program", name: re.Pattern[str]) -> "Iterator[tuple[Node | None, Occurrence]]":
    source = program.source
    for row, line in enumerate(source.lines):
        for found in name.finditer(line):
            start = source.offsets[row] + len(line[: found.start()].encode("utf-8", "surrogatepass"))
            written = found[0].encode("utf-8", "surrogatepass")
            leaf = program.root.descendant_for_byte_range(start, start + len(written))
            if leaf is None:
                yield None, Occurrence(row, found.start(), VALUE)
            elif source.data.startswith(written, start) and not _is_unread(leaf, len(written), source.data):
                yield leaf, _occurrence(leaf, row, found.start(), start, source.data)


def _is_unread(leaf: "Node", length: int, data: bytes) -> bool:
    """Whether the grammar does not know a name as one: it is within a text, or of several tokens."""
    if leaf.end_byte - leaf.start_byte <= length or _STRING_NODE.search(leaf.type) or _COMMENT_NODE.search(leaf.type):
        return False
    return _SEPARATING.search(data, leaf.start_byte, min(leaf.end_byte, leaf.start_byte + _MOST_TEXT)) is not None


def _with_scopes(found: "Sequence[tuple[Node | None, Occurrence]]", *, has_bare_calls: bool) -> "Iterator[Occurrence]":
    """Mark the occurrences of a variable or parameter of a function around them.

    Parameters:
        found: with their nodes.
        has_bare_calls: whether a plain name in a function without a variable of this name is a call.
    """
    declared = [leaf for leaf, use in found if leaf and use.kind == DECLARATION]
    scopes = {scope.id for leaf in declared if (scope := _scope(leaf))}
    for leaf, use in found:
        is_bare = leaf is not None and not use.receiver and use.kind in _MEANING
        is_local = is_bare and leaf is not None and any(it.id in scopes for it in _above(leaf))
        if is_local:
            yield replace(use, is_local=True)
        elif has_bare_calls and is_bare and leaf is not None and _is_bare_call(leaf, use):
            yield replace(use, kind=CALL)
        else:
            yield use


def _is_bare_call(leaf: "Node", use: Occurrence) -> bool:
    return use.kind == VALUE and leaf.type == "identifier" and any(_FUNCTION.fullmatch(it.type) for it in _above(leaf))


def _scope(declared: "Node") -> "Node | None":
    """Return the innermost function around a declaration; its own name is declared outside of it."""
    above = declared.parent
    while above and "declarator" in above.type:
        above = above.parent
    return next((it for it in _above(above) if _FUNCTION.fullmatch(it.type)), None) if above else None


def _occurrence(leaf: "Node", row: int, column: int, start: int, data: bytes) -> Occurrence:
    if _COMMENT_NODE.search(leaf.type) or any(_COMMENT_NODE.search(it.type) for it in islice(_above(leaf), 2)):
        return Occurrence(row, column, COMMENT)
    if _STRING_NODE.search(leaf.type):
        is_component = is_component_of_text(leaf, start, data)
        return Occurrence(row, column, CALL if is_component else _kind_of_string(leaf, data))
    if any(_IMPORT_NODE.fullmatch(it.type) for it in _above(leaf)):
        return Occurrence(row, column, SUBCLASS if _is_mixed_in(leaf) else IMPORT)
    whole, receiver = _whole(leaf)
    kind, declares = (SUBCLASS, "") if _callee_around(whole, data) in _MIXING else _kind(leaf, whole, data)
    receiver = receiver or receiver_beside(leaf)
    if receiver is None:
        return Occurrence(row, column, kind, declares)
    told = text_of(receiver, data)[:_MOST_RECEIVER] if kind != DEFINITION else ""
    return Occurrence(row, column, kind, declares, " ".join(told.split()), types_of(told, leaf, data))


def _above(node: "Node") -> "Iterator[Node]":
    for _ in range(_HIGHEST):
        above = node.parent
        if above is None:
            return
        yield above
        node = above


def _field(node: "Node") -> str:
    """The name of the field in which a node stands in its parent; empty for none."""
    if node.parent:
        for number, child in enumerate(node.parent.children):
            if child.id == node.id:
                return node.parent.field_name_for_child(number) or ""
    return ""


def _whole(leaf: "Node") -> "tuple[Node, Node | None]":
    """Return the largest name ending with the leaf, such as "a.b.leaf", and the node before the leaf in it."""
    node, receiver = leaf, None
    for above in _above(leaf):
        if receiver is None and (above.type in _MEMBER or (_is_call(above) and _field(node) in _MEMBER_FIELDS)):
            receiver = node.prev_named_sibling
            if receiver and receiver.type == "optional_chain":
                receiver = receiver.prev_named_sibling
        later = node.next_named_sibling
        ends = later is None or "argument" in later.type or "type_param" in later.type
        if above.type not in _MEMBER or not ends or _is_annotation(above):
            break
        node = above
    return node, receiver


def _is_call(node: "Node") -> bool:
    return CALLING.fullmatch(node.type) is not None


def _is_annotation(node: "Node") -> bool:
    """Whether an "attribute" is one of C# or Rust; in Python it is a member."""
    return node.type == "attribute" and node.parent is not None and node.parent.type.startswith("attribute_")


def _kind(leaf: "Node", whole: "Node", data: bytes) -> tuple[str, str]:
    """Return the kind of a name in code, and the kind of the symbol that it defines."""
    above, field = whole.parent, _field(whole)
    if above is None:
        return VALUE, ""
    if _is_inherited(leaf):
        return SUBCLASS, ""
    is_first = whole.prev_named_sibling is None and (not field or above.type in UNNAMED)
    is_called = _is_call(above) and (field in CALLEE or is_first)
    if not is_called and _is_declared(whole, above, field):
        return _declared(whole)
    if is_called or is_called_so(leaf, whole, data):
        return CALL, ""
    if whole is leaf and _is_assigned(leaf):
        return DECLARATION, ""
    return _plain_kind(leaf, whole, above, field), ""


def _plain_kind(leaf: "Node", whole: "Node", above: "Node", field: str) -> str:
    if _DECORATING.fullmatch(above.type) or _is_annotation(above):
        return DECORATOR
    if any("type" in said for said in (leaf.type, field, above.type, whole.type)):
        return TYPE
    return DECLARATION if _PARAMETERS.fullmatch(above.type) else VALUE


def _is_inherited(leaf: "Node") -> bool:
    """Whether a name stands among those which a type inherits from, implements or embeds."""
    node = leaf
    if leaf.parent and leaf.parent.type in {"field_declaration", "type_elem"} and leaf.type == "type_identifier":
        return leaf.parent.named_child_count == 1
    for above in _above(leaf):
        if above.type in _HERITAGE or (above.type == "impl_item" and _field(node) == "trait"):
            return True
        # Python's.
        if above.type == "argument_list" and above.parent and above.parent.type == "class_definition":
            return node.type != "keyword_argument"
        if "argument" in above.type or "body" in above.type or "parameter" in above.type or "block" in above.type:
            return False
        node = above
    return False


def _is_declared(node: "Node", above: "Node", field: str) -> bool:
    if node.type == "user_type":
        return False
    if field in _DECLARED and _DECLARING.fullmatch(above.type):
        return True
    is_first = node.prev_named_sibling is None or "modifier" in node.prev_named_sibling.type
    return not field and is_first and above.type in _UNNAMED


def _is_assigned(leaf: "Node") -> bool:
    """Whether a variable of a function gets its value here, or from a pattern such as "{ a, b }"."""
    node = leaf
    while node.parent and node.parent.type in {"expression_list", "pattern_list", "tuple_pattern"}:
        node = node.parent
    is_target = node.parent is not None and node.parent.type in _ASSIGNED and _field(node) == "left"
    is_target = is_target or leaf.type.endswith("identifier_pattern") or (leaf.parent or leaf).type in _BINDING
    return is_target and any(_FUNCTION.fullmatch(it.type) for it in _above(leaf))


def _declared(name: "Node") -> tuple[str, str]:
    """Tell a definition from a local declaration, by the nodes around it."""
    declaring, is_function = name.parent, False
    while declaring and declaring.parent and _field(declaring) in _DECLARED and "declarator" in declaring.type:
        is_function = is_function or "function" in declaring.type
        declaring = declaring.parent
    if declaring is None or "parameter" in declaring.type or any(_LOCAL.fullmatch(it.type) for it in _above(declaring)):
        return DECLARATION, ""
    if is_function:
        return DEFINITION, "function"
    kinds = (kind for kind, pattern in _MEMBERS.items() if pattern.search(declaring.type))
    return DEFINITION, next(kinds, "symbol")


def _kind_of_string(leaf: "Node", data: bytes) -> str:
    node = leaf
    while node.parent and _STRING_NODE.search(node.parent.type):
        node = node.parent
    above = node.parent
    if above and any(_IMPORT_NODE.fullmatch(it.type) for it in islice(_above(node), 3)):
        return IMPORT
    # Of Python.
    if above and above.type == "expression_statement" and above.prev_named_sibling is None:
        return COMMENT
    return IMPORT if _callee_around(node, data) in _IMPORTING else STRING


def _callee_around(argument: "Node", data: bytes) -> str:
    """The name of the function that is called with an argument; empty where it is no argument."""
    above = argument.parent
    call = above.parent if above and "argument" in above.type else None
    return text_of(call.named_children[0], data) if call and _is_call(call) else ""


def _is_mixed_in(leaf: "Node") -> bool:
    """Whether "use" stands in a class of PHP: it takes a trait in."""
    return leaf.type == "name" and any(it.type == "declaration_list" for it in islice(_above(leaf), 3))
