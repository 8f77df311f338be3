"""Define the row of Ruby; a file binds no names of other files, so there are no used imports."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cqm.chunkers.facts.rows.comments import written
from cqm.chunkers.facts.rows.model import Symbol, Syntax, operators
from cqm.chunkers.facts.rows.uses import callee
from cqm.chunkers.languages.model import by_field, text_of
from cqm.chunkers.model import Parameter

if TYPE_CHECKING:
    from tree_sitter import Node

_SIGNS = {"splat_parameter": "*", "hash_splat_parameter": "**", "block_parameter": "&"}
_TELLING = {
    "private": "private",
    "protected": "protected",
    "public": "public",
    "private_class_method": "private",
    "private_constant": "private",
}
_ACCESSORS = frozenset({"attr_reader", "attr_writer", "attr_accessor", "attr"})


def _called(node: "Node", source: bytes) -> str:
    method = node.child_by_field_name("method")
    return callee(node.start_byte, method.end_byte, source) if method else ""


def _parameters(node: "Node", source: bytes) -> Iterator[Parameter]:
    group = node.child_by_field_name("parameters")
    for part in group.named_children if group else ():
        name = by_field("name")(part, source)
        colon = ":" if part.type == "keyword_parameter" else ""
        if part.type != "comment":
            written_name = _SIGNS.get(part.type, "") + name + colon if part.child_count else text_of(part, source)
            yield Parameter(written_name, default=by_field("value")(part, source))


def _arguments(node: "Node") -> "list[Node]":
    arguments = node.child_by_field_name("arguments")
    return arguments.named_children if arguments else []


def _told(node: "Node", source: bytes) -> Iterator[tuple[str, str]]:
    # "private :a, :b" and "private def a".
    word = _TELLING.get(by_field("method")(node, source), "")
    for part in _arguments(node) if word else ():
        if part.type in ("method", "singleton_method"):
            yield by_field("name")(part, source), word
        elif part.type in ("simple_symbol", "string"):
            yield text_of(part, source).strip(":'\""), word


def _accessors(node: "Node", source: bytes) -> Iterator[str]:
    if by_field("method")(node, source) in _ACCESSORS:
        yield from (text_of(part, source).strip(":'\"") for part in _arguments(node))


def _assigned(node: "Node", source: bytes) -> Iterator[str]:
    left = node.child_by_field_name("left")
    if left is not None and left.type == "instance_variable":
        yield text_of(left, source).lstrip("@")


def _visibility(symbol: Symbol, _source: bytes) -> str:
    # A section only affects the methods of objects.
    return symbol.section if symbol.section and symbol.mark.node.type == "method" else "public"


RUBY = Syntax(
    branches=frozenset(
        {
            "if",
            "elsif",
            "unless",
            "if_modifier",
            "unless_modifier",
            "while",
            "until",
            "while_modifier",
            "until_modifier",
            "for",
            "when",
            "in_clause",
            "rescue",
            "rescue_modifier",
            "conditional",
        }
    ),
    weighed={"binary": operators("&&", "||", "and", "or")},
    bodies=frozenset({"method", "singleton_method", "block", "do_block"}),
    calls={"call": _called},
    fields={"call": _accessors, "assignment": _assigned, "operator_assignment": _assigned},
    heads=frozenset({"method", "singleton_method"}),
    parameters=_parameters,
    comments=written,
    sections=frozenset({"identifier"}),
    told={"call": _told},
    visibility=_visibility,
)
