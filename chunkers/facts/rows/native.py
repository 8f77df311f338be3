"""Define the rows of C and C++."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cqm.chunkers.facts.rows.comments import written
from cqm.chunkers.facts.rows.model import Symbol, Syntax, is_elsewhere, operators, unless_default, without
from cqm.chunkers.facts.rows.uses import callee
from cqm.chunkers.languages.model import child_of_type, text_of
from cqm.chunkers.model import Parameter

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_DECLARATORS = 32
_NAMES = frozenset({"identifier", "field_identifier"})
_SIGNS = {"pointer_declarator": "*", "reference_declarator": "&"}


def _called(node: "Node", source: bytes) -> str:
    function = node.child_by_field_name("function") or node.child_by_field_name("type")
    last = function
    # "std::move<int>" is a qualified name; the arguments belong to its last part.
    for _ in range(_MAX_DECLARATORS):
        inner = last.child_by_field_name("name") or last.child_by_field_name("field") if last else None
        if inner is None:
            break
        last = inner
    return callee(function.start_byte, last.end_byte, source) if function and last else ""


def _function(node: "Node") -> "tuple[Node | None, str]":
    """Find the declarator with the parameters, and the signs of pointers and references around it.

    "void (*get(int))(int)" has two such declarators: the inner one is the function's. Its result has no short form.
    """
    signs, found, count = "", None, 0
    declarator = node.child_by_field_name("declarator")
    for _ in range(_MAX_DECLARATORS):
        if declarator is None:
            break
        if declarator.type == "function_declarator":
            found, count = declarator, count + 1
        signs += "" if count else _SIGNS.get(declarator.type, "")
        following = declarator.child_by_field_name("declarator")
        declarator = following or (_last_of(declarator))
    return found, signs if count == 1 else "?"


def _last_of(declarator: "Node") -> "Node | None":
    inside = declarator.named_children if declarator.type.endswith("_declarator") else []
    return inside[-1] if inside and declarator.type != "function_declarator" else None


def _parameters(node: "Node", source: bytes) -> Iterator[Parameter]:
    declarator, _ = _function(node)
    group = declarator.child_by_field_name("parameters") if declarator else None
    for part in group.children if group else ():
        if part.type in ("...", "variadic_parameter"):
            yield Parameter("...")
        elif part.type.endswith("parameter_declaration"):
            parameter = _parameter(part, source)
            if parameter != Parameter("", "void"):
                yield parameter


def _parameter(part: "Node", source: bytes) -> Parameter:
    name = _name(part.child_by_field_name("declarator"))
    default = part.child_by_field_name("default_value")
    kind = without(part, [name, default], source)
    return Parameter(text_of(name, source), kind.removesuffix("=").rstrip(), text_of(default, source).strip())


def _name(declarator: "Node | None") -> "Node | None":
    for _ in range(_MAX_DECLARATORS):
        if declarator is None or declarator.type in _NAMES:
            return declarator
        following = declarator.child_by_field_name("declarator")
        declarator = following or next(
            (part for part in declarator.named_children if part.type in _NAMES or "declarator" in part.type), None
        )
    return None


def _returns(node: "Node", source: bytes) -> str:
    declarator, signs = _function(node)
    trailing = child_of_type(declarator, "trailing_return_type")
    if trailing is not None:
        return text_of(trailing, source).removeprefix("->").strip()
    kind = node.child_by_field_name("type")
    if kind is None or signs == "?":
        return ""
    before = [part for part in node.named_children if part.end_byte <= kind.start_byte]
    words = [text_of(part, source) for part in before if text_of(part, source) in ("const", "volatile")]
    return " ".join([*words, text_of(kind, source), signs]).rstrip()


def _fields(node: "Node", source: bytes) -> Iterator[str]:
    for declarator in node.children_by_field_name("declarator"):
        name = _name(declarator) if declarator.type != "function_declarator" else None
        if name is not None:
            yield text_of(name, source)


def _enumerated(node: "Node", source: bytes) -> Iterator[str]:
    yield text_of(node.child_by_field_name("name"), source)


def _using(node: "Node", source: bytes) -> Iterator[str]:
    if not any(part.type == "namespace" for part in node.children):
        yield text_of(child_of_type(node, "qualified_identifier"), source).rpartition("::")[2]


def _is_static(symbol: Symbol, source: bytes) -> bool:
    node = symbol.mark.node
    return any(part.type == "storage_class_specifier" and text_of(part, source) == "static" for part in node.children)


def _linkage(symbol: Symbol, source: bytes) -> str:
    # A static function belongs to its file.
    return "private" if symbol.parent is None and _is_static(symbol, source) else "public"


def _visibility(symbol: Symbol, source: bytes) -> str:
    parent = symbol.parent.mark.kind if symbol.parent else "namespace"
    if symbol.mark.kind == "namespace":
        return ""
    if is_elsewhere(symbol):
        return ""
    if symbol.section:
        return symbol.section
    if parent == "class":
        return "private"
    return "private" if parent == "namespace" and _is_static(symbol, source) else "public"


_BRANCHES = frozenset({"if_statement", "for_statement", "while_statement", "do_statement", "conditional_expression"})
_HEADS = frozenset({"function_definition", "declaration", "field_declaration"})

C = Syntax(
    branches=_BRANCHES,
    weighed={"binary_expression": operators("&&", "||"), "case_statement": unless_default("default")},
    bodies=frozenset({"compound_statement"}),
    calls={"call_expression": _called},
    fields={"field_declaration": _fields, "enumerator": _enumerated},
    heads=_HEADS,
    parameters=_parameters,
    returns=_returns,
    decorators=frozenset({"attribute_declaration"}),
    comments=written,
    visibility=_linkage,
)

CPP = Syntax(
    branches=_BRANCHES | {"for_range_loop", "catch_clause"},
    weighed={"binary_expression": operators("&&", "||", "and", "or"), "case_statement": unless_default("default")},
    bodies=C.bodies,
    calls={"call_expression": _called, "new_expression": _called},
    names=frozenset({"identifier", "type_identifier", "namespace_identifier"}),
    imports={"using_declaration": _using},
    fields=C.fields,
    heads=_HEADS,
    parameters=_parameters,
    returns=_returns,
    decorators=C.decorators,
    comments=written,
    sections=frozenset({"access_specifier"}),
    visibility=_visibility,
)
