"""Define the row of Kotlin."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cqm.chunkers.facts.rows.model import Symbol, Syntax, last_child, modifier, operators, unless_default
from cqm.chunkers.facts.rows.uses import callee
from cqm.chunkers.languages.model import child_of_type, text_of
from cqm.chunkers.model import Parameter

if TYPE_CHECKING:
    from tree_sitter import Node

_SUFFIXES = frozenset({"value_arguments", "annotated_lambda", "type_arguments"})
_PARAMETERS = frozenset({"function_value_parameters", "class_parameters"})


def _called(node: "Node", source: bytes) -> str:
    # "f { ... }" and "f(1) { ... }" are calls; the tree nests the second in another call.
    suffixes = [part for part in node.named_children if part.type in _SUFFIXES]
    first = node.named_children[0] if node.named_children else None
    if first is None or first.type == "call_expression" or not suffixes:
        return ""
    return callee(node.start_byte, suffixes[0].start_byte, source)


def _parameters(node: "Node", source: bytes) -> Iterator[Parameter]:
    constructor = child_of_type(node, "primary_constructor")
    group = child_of_type(constructor or node, *_PARAMETERS)
    parts = group.named_children if group else []
    for index, part in enumerate(parts):
        if part.type not in ("parameter", "class_parameter"):
            continue
        own = [child for child in part.named_children if child.type != "modifiers"]
        following = parts[index + 1] if index + 1 < len(parts) else None
        if len(own) == 2 and following is not None and part.type == "parameter":  # noqa: PLR2004 - a name and its type
            is_default = following.type not in ("parameter", "parameter_modifiers") and "comment" not in following.type
            own.extend([following] if is_default else [])
        yield Parameter(*(text_of(child, source) for child in own[:3]))


def _returns(node: "Node", source: bytes) -> str:
    parts = node.named_children
    at = next((index for index, part in enumerate(parts) if part.type == "function_value_parameters"), len(parts))
    following = parts[at + 1] if at + 1 < len(parts) else None
    return text_of(following, source) if following is not None and following.type.endswith("_type") else ""


def _imports(node: "Node", source: bytes) -> Iterator[str]:
    if not text_of(node, source).rstrip().endswith("*"):
        last = node.named_children[-1] if node.named_children else None
        yield text_of(last, source).rpartition(".")[2]


def _promoted(node: "Node", source: bytes) -> Iterator[str]:
    if any(part.type in ("val", "var") for part in node.children):
        yield text_of(child_of_type(node, "identifier"), source)


def _visibility(symbol: Symbol, source: bytes) -> str:
    return modifier(symbol.mark.node, source, "modifiers") or "public"


KOTLIN = Syntax(
    branches=frozenset({"if_expression", "for_statement", "while_statement", "do_while_statement", "catch_block"}),
    weighed={"binary_expression": operators("&&", "||", "?:"), "when_entry": unless_default("else")},
    bodies=frozenset({"function_body", "block", "lambda_literal", "anonymous_function"}),
    calls={"call_expression": _called},
    names=frozenset({"identifier"}),
    unused={"navigation_expression": last_child},
    imports={"import": _imports},
    fields={"class_parameter": _promoted},
    heads=frozenset({"function_declaration", "secondary_constructor", "class_declaration"}),
    parameters=_parameters,
    returns=_returns,
    decorators=frozenset({"annotation"}),
    visibility=_visibility,
)
