"""Define the rows of R, Julia and MATLAB."""

import re
from functools import partial
from typing import TYPE_CHECKING

from cqm.chunkers.grammars import BUNDLE
from cqm.chunkers.languages.hazards import nests_expressions
from cqm.chunkers.languages.model import (
    COMMENT,
    GROUP,
    IMPORTS,
    LEADING,
    Found,
    Language,
    NodeTypes,
    Part,
    Rule,
    by_field,
    child_of_type,
    containers,
    groups,
    role,
    symbols,
    text_of,
)
from cqm.chunkers.languages.scripting import variable_kind
from cqm.chunkers.languages.unread import JULIA_LINES, R_LINES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_R_CLASSES = frozenset({"R6Class", "R6::R6Class", "setRefClass", "setClass", "new_class", "S7::new_class"}) | {
    *("ggproto", "ggplot2::ggproto", "methods::setClass", "methods::setRefClass")
}
_R_MEMBERS = frozenset({"public", "private", "active", "fields", "methods", "properties", "slots"})
_R_TESTS = frozenset({"test_that", "describe", "it"})
_R_IMPORTS = frozenset({"library", "require", "requireNamespace", "loadNamespace", "source", "import", "box::use"})
_R_LEFT, _R_RIGHT = frozenset({"<-", "<<-", "=", ":="}), frozenset({"->", "->>"})


def _r_name(node: "Node | None", source: bytes) -> str:
    if node is None or node.type not in ("identifier", "string", "extract_operator", "dots"):
        return ""
    name = text_of(node, source)
    # "caps$run <- ..." is a member; the "$" of "`$<-.order` <- ..." is the name's own.
    is_path = node.type == "extract_operator"
    return name.replace("`", "").replace("$", ".").replace("@", ".") if is_path else name.strip("`'\"")


def _r_assignment(node: "Node", source: bytes) -> Found | None:
    operator = text_of(node.child_by_field_name("operator"), source)
    left, right = node.child_by_field_name("lhs"), node.child_by_field_name("rhs")
    if operator in _R_RIGHT:
        left, right = right, left
    elif operator not in _R_LEFT:
        return None
    while right is not None and right.type == "parenthesized_expression":
        right = right.child_by_field_name("body")
    name = _r_name(left, source)
    if right is not None and right.type == "function_definition":
        return Found("function", name) if name else None
    found = _r_class(right, source) if right is not None and right.type == "call" else None
    if found is not None:
        return found._replace(name=name or found.name)
    # "x$y <- 1" is no definition.
    return Found(variable_kind(name), name) if name and left is not None and left.type != "extract_operator" else None


def _r_class(call: "Node", source: bytes) -> Found | None:
    if text_of(call.child_by_field_name("function"), source) not in _R_CLASSES:
        return None
    arguments = call.child_by_field_name("arguments")
    return Found("class", _r_string(arguments, source, 0), (arguments,) if arguments else (), within=_R_MEMBER)


def _r_string(arguments: "Node | None", source: bytes, at: int) -> str:
    found = [it for it in arguments.named_children if it.type == "argument"] if arguments else []
    value = found[at].child_by_field_name("value") if len(found) > at else None
    if value is not None and value.type == "call":
        # signature("Order", "numeric") or representation(...).
        return _r_string(value.child_by_field_name("arguments"), source, 0)
    return text_of(value, source).strip("'\"") if value is not None and value.type in ("string", "identifier") else ""


def _r_call(node: "Node", source: bytes) -> Found | None:
    function = text_of(node.child_by_field_name("function"), source)
    arguments = node.child_by_field_name("arguments")
    first = _r_string(arguments, source, 0)
    if function in _R_IMPORTS:
        return Found(IMPORTS)
    if function in ("setGeneric", "methods::setGeneric"):
        return Found("function", first)
    if function in ("setMethod", "setReplaceMethod", "methods::setMethod"):
        of = _r_string(arguments, source, 1)
        return Found("method", f"{of}.{first}" if of else first)
    if function in _R_TESTS and arguments is not None:
        last = arguments.named_children[-1] if arguments.named_children else None
        body = last.child_by_field_name("value") if last is not None and last.type == "argument" else None
        return Found("test", first, (body,) if body else (), local=True)
    return _r_class(node, source)


def _r_member(node: "Node", source: bytes) -> Found | None:
    """Classify an argument of a call which makes a class: a list of members, or a member."""
    name = _r_name(node.child_by_field_name("name"), source)
    value = node.child_by_field_name("value")
    if not name or value is None:
        return None
    if value.type == "function_definition":
        return Found("function", name)
    if name in _R_MEMBERS and value.type == "call":
        arguments = value.child_by_field_name("arguments")
        return Found(GROUP, "", (arguments,) if arguments else (), within=_R_LISTED)
    return None


def _r_listed(node: "Node", source: bytes) -> Found | None:
    """Classify an argument in a list of members: all but functions are properties."""
    name = _r_name(node.child_by_field_name("name"), source)
    has_value = node.child_by_field_name("value") is not None
    return _r_member(node, source) or (Found("property", name) if name and has_value else None)


_R_MEMBER: dict[str, Rule] = {"argument": _r_member}
_R_LISTED: dict[str, Rule] = {"argument": _r_listed}


R = Language(
    name="r",
    by_lines=R_LINES,
    grammar=(BUNDLE, "r"),
    unsafe=nests_expressions,
    suffixes=(".r", ".rprofile"),
    filenames=(".rprofile",),
    rules={
        "binary_operator": _r_assignment,
        "call": _r_call,
        **role(COMMENT, "comment"),
        **groups("if_statement", "braced_expression", "ERROR"),
    },
    line_comment="#",
    constructors=frozenset({"initialize"}),
    nodes=NodeTypes(
        bodies=frozenset({"braced_expression"}),
        loose=frozenset({"argument"}),
        local=(rb"function[ \t]*\(",),
    ),
)


def _julia_global(node: "Node", source: bytes) -> Found | None:
    assignment = child_of_type(node, "assignment")
    return _julia_assignment(assignment, source) if assignment is not None else None


_JULIA_TESTS = frozenset({"@testset", "@testitem", "@safetestset", "@testsetup"})
_MAX_HEAD = 12


def _julia_head(node: "Node | None", source: bytes) -> str:
    """Return the name of a signature: "total(order::Order{T})::T where T", "Base.length(x)", "+(a, b)"."""
    for _ in range(_MAX_HEAD):
        if node is None:
            return ""
        if node.type == "parenthesized_expression":
            # "(order::Order)(x) = ...": an object called as a function.
            typed = child_of_type(node, "typed_expression", "unary_typed_expression")
            node = typed.named_children[-1] if typed else None
        elif node.type in ("identifier", "operator", "field_expression", "macro_identifier", "quote_expression"):
            return text_of(node, source).replace(":(", "").strip("()")
        else:
            node = node.named_children[0] if node.named_children else None
    return ""


def _is_julia_call(node: "Node | None") -> bool:
    for _ in range(_MAX_HEAD):
        if node is None or node.type == "call_expression":
            return node is not None
        if node.type not in ("where_expression", "typed_expression"):
            return False
        node = node.named_children[0] if node.named_children else None
    return False


def _julia_function(node: "Node", source: bytes) -> Found:
    head = child_of_type(node, "signature") or child_of_type(node, "call_expression", "identifier")
    kind = "macro" if node.type == "macro_definition" else "function"
    return Found(kind, _julia_head(head, source))


def _julia_assignment(node: "Node", source: bytes) -> Found | None:
    left = node.named_children[0] if node.named_children else None
    if left is None or (node.child_count and node.children[1].type in ("+=", "-=")):
        return None
    if _is_julia_call(left):
        return Found("function", _julia_head(left, source))
    if left.type == "parametrized_type_expression":
        # "const MinHeap{T} = Heap{T, Forward}".
        return Found("type", text_of(left.named_children[0], source))
    if left.type == "typed_expression":
        left = left.named_children[0]
    return Found(variable_kind(name := text_of(left, source)), name) if left.type == "identifier" else None


def _julia_field(node: "Node", source: bytes) -> Found | None:
    name = _julia_field_name(node)
    return Found("property", text_of(name, source)) if name is not None else None


def _julia_member(node: "Node", source: bytes) -> Found | None:
    """Classify a function or a field of a struct; its functions make its objects."""
    if node.type == "function_definition":
        return _julia_function(node, source)._replace(kind="constructor")
    left = node.named_children[0] if node.type == "assignment" and node.named_children else None
    if _is_julia_call(left):
        return Found("constructor", _julia_head(left, source))
    return _julia_field(node, source)


_JULIA_MEMBERS: dict[str, Rule] = dict.fromkeys(("function_definition", "assignment", "const_statement"), _julia_member)


def _julia_struct(node: "Node", source: bytes) -> Found:
    body = child_of_type(node, "block")
    return Found("struct", _julia_type_name(node, source), (body,) if body else (), within=_JULIA_MEMBERS)


def _julia_field_name(node: "Node") -> "Node | None":
    while node.type in ("const_statement", "assignment", "typed_expression", "macrocall_expression"):
        if not node.named_children:
            return None
        node = node.named_children[0]
    return node if node.type == "identifier" else None


def _julia_constant(node: "Node", source: bytes) -> Found | None:
    inner = node.named_children[0] if node.named_children else None
    found = _julia_assignment(inner, source) if inner is not None and inner.type == "assignment" else None
    return found if found is None or found.kind in ("function", "type") else found._replace(kind="constant")


def _julia_type_name(node: "Node", source: bytes) -> str:
    return text_of(child_of_type(node, "type_head"), source).split("<:")[0].split("{")[0].strip()


def _julia_macro_call(node: "Node", source: bytes) -> Found | None:
    name = text_of(node.named_children[0], source).rpartition(".")[2] if node.named_children else ""
    arguments = child_of_type(node, "macro_argument_list")
    first = arguments.named_children[0] if arguments and arguments.named_children else None
    if first is None or arguments is None:
        return None
    if name in _JULIA_TESTS:
        block = child_of_type(arguments, "compound_statement", "for_statement")
        body = child_of_type(block, "block")
        title = text_of(first, source).strip('"') if first.type == "string_literal" else name
        return Found("test", title.split("\n")[0], (body,) if body else (), local=True)
    if name in ("@enum", "@enumx"):
        if first.type not in ("identifier", "typed_expression"):
            return None
        return Found("enum", text_of(first, source).split("::")[0])
    last = arguments.named_children[-1]
    is_call = last.type == "assignment" and name not in _JULIA_MARKS
    return Found(GROUP, "", (arguments,)) if last.type in _JULIA_DEFINING and not is_call else None


_JULIA_MARKS = frozenset({"@inline", "@noinline", "@eval", "@propagate_inbounds", "@generated", "@deprecate"})
_JULIA_DEFINING = frozenset({"function_definition", "struct_definition", "assignment", "macro_definition"}) | {
    *("abstract_definition", "const_statement", "module_definition", "macrocall_expression", "compound_statement")
}


def _julia_fields(node: "Node", source: bytes) -> "Iterator[Part]":
    block = child_of_type(node, "block")
    for field in block.named_children if block is not None else ():
        name = _julia_field_name(field) if field.type in ("typed_expression", "identifier") else None
        if name is not None:
            yield Part("property", text_of(name, source), field, name)


def _julia_enum_values(node: "Node", source: bytes) -> "Iterator[Part]":
    arguments = child_of_type(node, "macro_argument_list")
    if arguments is None or text_of(node.named_children[0], source) not in ("@enum", "@enumx"):
        return
    values = arguments.named_children[1:]
    if len(values) == 1 and values[0].type == "compound_statement":
        block = child_of_type(values[0], "block")
        values = block.named_children if block is not None else []
    for value in values:
        name = value.named_children[0] if value.type == "assignment" else value
        if name.type == "identifier":
            yield Part("constant", text_of(name, source), value, name)


def _julia_call(node: "Node", source: bytes) -> Found | None:
    return Found(IMPORTS) if text_of(node.named_children[0], source) == "include" else None


JULIA = Language(
    name="julia",
    by_lines=JULIA_LINES,
    grammar=(BUNDLE, "julia"),
    unsafe=nests_expressions,
    suffixes=(".jl",),
    rules={
        **containers("module", "module_definition", bodies=("block",)),
        "struct_definition": _julia_struct,
        **symbols("type", "abstract_definition", "primitive_definition", name=_julia_type_name),
        **dict.fromkeys(("function_definition", "macro_definition"), _julia_function),
        "assignment": _julia_assignment,
        "const_statement": _julia_constant,
        "global_statement": _julia_global,
        "macrocall_expression": _julia_macro_call,
        "call_expression": _julia_call,
        **role(COMMENT, "line_comment", "block_comment", "string_literal", "prefixed_string_literal"),
        **role(IMPORTS, "using_statement", "import_statement", "export_statement", "public_statement"),
        **groups("if_statement", "elseif_clause", "else_clause", "compound_statement", "block", "let_statement"),
        **groups("for_statement", "ERROR"),
    },
    line_comment="#",
    nodes=NodeTypes(
        bodies=frozenset({"block"}),
        clauses=frozenset({"assignment"}),
        loose=frozenset({"abstract_definition", "primitive_definition"}),
        parts={"macrocall_expression": _julia_enum_values, "struct_definition": _julia_fields},
    ),
)


def _matlab_function(node: "Node", source: bytes, owner: str = "") -> Found | None:
    named = node.child_by_field_name("name")
    name = text_of(named, source)
    if named is None or not name:
        return None
    # "function value = get.Lines(obj)" gives the value of a property.
    before = source[max(node.start_byte, named.start_byte - 4) : named.start_byte]
    if before in (b"get.", b"set."):
        return Found("property", name)
    inside = child_of_type(node, "block")
    nested = (inside,) if inside is not None and child_of_type(inside, "function_definition") else ()
    return Found("constructor" if name == owner else "function", name, nested, local=True)


def _matlab_class(node: "Node", source: bytes) -> Found:
    name = text_of(node.child_by_field_name("name"), source)
    method = partial(_matlab_function, owner=name)
    return Found("class", name, (node,), within={"function_definition": method, "function_signature": method})


def _matlab_events(node: "Node", source: bytes) -> "Iterator[Part]":
    for block in node.named_children:
        if block.type == "events":
            for name in block.named_children:
                if name.type == "identifier":
                    yield Part("event", text_of(name, source), name, name)
        elif block.type == "enumeration":
            for value in block.named_children:
                name = child_of_type(value, "identifier") or value
                if value.type == "enum":
                    yield Part("constant", text_of(name, source), value, name)


_CHAIN = re.compile(rb"(?<![\w.])(?:\w++\.){500}")


def _chains_fields(source: bytes) -> bool:
    # 100,000 fields of fields overflow the stack of the grammar's library; 2,000 did not.
    return nests_expressions(source) or _CHAIN.search(source) is not None


MATLAB = Language(
    name="matlab",
    grammar=("tree_sitter_matlab", "language"),
    extra="languages",
    unsafe=_chains_fields,
    rules={
        "class_definition": _matlab_class,
        **dict.fromkeys(("function_definition", "function_signature"), _matlab_function),
        **symbols("property", "property", name=by_field("name")),
        **role(COMMENT, "comment"),
        **role(LEADING, "attributes"),
        **groups("properties", "methods", "ERROR"),
    },
    line_comment="%",
    nodes=NodeTypes(
        bodies=frozenset({"block"}),
        loose=frozenset({"property", "function_signature"}),
        parts={"class_definition": _matlab_events},
    ),
)

ROWS = (R, JULIA, MATLAB)
