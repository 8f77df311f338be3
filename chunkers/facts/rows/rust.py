"""Define the row of Rust.

"?" is a branch, as in rust-code-analysis. A "loop" without a condition and the arm "_" are not.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cqm.chunkers.facts.rows.model import Symbol, Syntax, child, operators
from cqm.chunkers.facts.rows.uses import callee
from cqm.chunkers.languages.model import by_field, child_of_type, text_of
from cqm.chunkers.model import Parameter

if TYPE_CHECKING:
    from tree_sitter import Node


def _called(node: "Node", source: bytes) -> str:
    function = node.child_by_field_name("function")
    if function is not None and function.type == "generic_function":
        function = function.child_by_field_name("function")
    return callee(function.start_byte, function.end_byte, source) if function else ""


def _invoked(node: "Node", source: bytes) -> str:
    return by_field("macro")(node, source) + "!"


def _arm(node: "Node", source: bytes) -> int:
    return int(by_field("pattern")(node, source) != "_")


def _chain(node: "Node", _source: bytes) -> int:
    return sum(part.type == "&&" for part in node.children)


def _parameters(node: "Node", source: bytes) -> Iterator[Parameter]:
    group = node.child_by_field_name("parameters")
    for part in group.named_children if group else ():
        if part.type == "parameter":
            yield Parameter(by_field("pattern")(part, source), by_field("type")(part, source))


def _imports(node: "Node", source: bytes) -> Iterator[str]:
    waiting = [node.child_by_field_name("argument")]
    for part in waiting:
        if part is None or part.type == "use_wildcard":
            continue
        if part.type == "use_list":
            waiting.extend(part.named_children)
        elif part.type == "scoped_use_list":
            # "a::b::{self, c}" binds b too.
            group = part.child_by_field_name("list")
            waiting.append(group)
            if child_of_type(group, "self"):
                yield by_field("path")(part, source).rpartition("::")[2]
        elif part.type != "self":
            yield text_of(part.child_by_field_name("alias") or part.child_by_field_name("name") or part, source)


def _crate(node: "Node", source: bytes) -> Iterator[str]:
    yield text_of(node.child_by_field_name("alias") or node.child_by_field_name("name"), source)


def _named(node: "Node", source: bytes) -> Iterator[str]:
    body = node.child_by_field_name("body")
    for part in body.named_children if body else ():
        if part.type in ("field_declaration", "enum_variant"):
            yield by_field("name")(part, source)


def _visibility(symbol: Symbol, source: bytes) -> str:
    node, parent = symbol.mark.node, symbol.parent
    if node.type == "impl_item":
        return ""
    if node.type == "macro_definition":
        return "public" if any("macro_export" in text_of(above.node, source) for above in symbol.above) else "private"
    written = text_of(child_of_type(node, "visibility_modifier"), source)
    if written:
        return "public" if written == "pub" else "private" if "self" in written else "internal"
    around = parent.mark.node if parent else None
    if parent is not None and parent.mark.kind == "trait":
        return _visibility(parent, source)
    # An implementation of a trait is as visible as the trait.
    return "public" if around is not None and around.child_by_field_name("trait") else "private"


RUST = Syntax(
    branches=frozenset({"if_expression", "while_expression", "for_expression", "try_expression"}),
    weighed={"binary_expression": operators("&&", "||"), "let_chain": _chain, "match_arm": _arm},
    bodies=frozenset({"block", "closure_expression"}),
    calls={"call_expression": _called, "macro_invocation": _invoked},
    names=frozenset({"identifier", "type_identifier"}),
    unused={"scoped_identifier": child("name"), "scoped_type_identifier": child("name")},
    imports={"use_declaration": _imports, "extern_crate_declaration": _crate},
    fields={"struct_item": _named, "union_item": _named, "enum_item": _named},
    heads=frozenset({"function_item", "function_signature_item"}),
    parameters=_parameters,
    returns=by_field("return_type"),
    decorators=frozenset({"attribute_item"}),
    visibility=_visibility,
)
