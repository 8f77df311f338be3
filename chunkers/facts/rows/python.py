"""Define the row of Python; branches are those of radon, a lambda's count for the function around it."""

import inspect
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cqm.chunkers.facts.rows.comments import marked
from cqm.chunkers.facts.rows.model import Symbol, Syntax, Told, child, own_name
from cqm.chunkers.facts.rows.uses import callee
from cqm.chunkers.languages.model import by_field, child_of_type, text_of
from cqm.chunkers.model import Parameter

if TYPE_CHECKING:
    from tree_sitter import Node

_RECEIVERS = frozenset({"self", "cls", "mcs", "mcls"})
_SEPARATORS = frozenset({"keyword_separator", "positional_separator", "comment"})


def _call(node: "Node", source: bytes) -> str:
    function = node.child_by_field_name("function")
    return callee(function.start_byte, function.end_byte, source) if function else ""


def _loop(node: "Node", _source: bytes) -> int:
    return 1 + (node.child_by_field_name("alternative") is not None)


def _try(node: "Node", _source: bytes) -> int:
    return int(child_of_type(node, "else_clause") is not None)


def _case(node: "Node", source: bytes) -> int:
    return int(text_of(child_of_type(node, "case_pattern"), source) != "_")


def _parameters(node: "Node", source: bytes) -> Iterator[Parameter]:
    group = node.child_by_field_name("parameters")
    parts = [part for part in group.named_children if part.type not in _SEPARATORS] if group else []
    for index, part in enumerate(parts):
        written = part.child_by_field_name("name")
        if written is None and part.type in ("typed_parameter", "typed_default_parameter") and part.named_children:
            written = part.named_children[0]
        name = text_of(written or part, source)
        if index or name not in _RECEIVERS:
            yield Parameter(name, *(by_field(field)(part, source) for field in ("type", "value")))


def _docstring(node: "Node", source: bytes) -> str:
    body = node.child_by_field_name("body")
    first = next((part for part in body.named_children if part.type != "comment"), None) if body else None
    text = child_of_type(first, "string") if first is not None and first.type == "expression_statement" else first
    if text is None or text.type != "string" or not text.named_children:
        return ""
    opening, closing = text.named_children[0], text.named_children[-1]
    if closing.type != "string_end" or not set(text_of(opening, source).lower()) <= set("ru\"'"):
        return ""
    return inspect.cleandoc(source[opening.end_byte : closing.start_byte].decode("utf-8", "replace"))


def _imports(node: "Node", source: bytes) -> Iterator[str]:
    for part in node.children_by_field_name("name"):
        alias = part.child_by_field_name("alias")
        name = text_of(alias or part, source)
        yield name if alias else name.split(".")[0]


def _assigned(node: "Node", source: bytes) -> Iterator[str]:
    left = node.child_by_field_name("left")
    if left is not None and left.type == "attribute" and by_field("object")(left, source) == "self":
        yield by_field("attribute")(left, source)


def _all(node: "Node", source: bytes) -> Iterator[tuple[str, str]]:
    assignment = child_of_type(node, "assignment", "augmented_assignment")
    if assignment is None or by_field("left")(assignment, source) != "__all__":
        return
    yield "__all__", "exported"
    value = assignment.child_by_field_name("right")
    for part in value.named_children if value else ():
        if part.type == "string":
            yield text_of(part, source).strip("'\""), "exported"


def _visibility(symbol: Symbol, _source: bytes) -> str:
    name = own_name(symbol)
    is_private = name.startswith("_") and not (name.startswith("__") and name.endswith("__"))
    return "private" if is_private else "public"


def _exported(symbol: Symbol, visibility: str, told: Told, parent: bool | None) -> bool:  # noqa: FBT001 - see Syntax
    if symbol.parent is None and "__all__" in told:
        return symbol.mark.name in told
    return visibility == "public" and parent is not False


PYTHON = Syntax(
    branches=frozenset(
        {
            "if_statement",
            "elif_clause",
            "conditional_expression",
            "boolean_operator",
            "except_clause",
            "except_group_clause",
            "for_in_clause",
            "if_clause",
            "assert_statement",
        }
    ),
    weighed={"for_statement": _loop, "while_statement": _loop, "try_statement": _try, "case_clause": _case},
    bodies=frozenset({"block", "lambda"}),
    calls={"call": _call},
    names=frozenset({"identifier"}),
    unused={"attribute": child("attribute"), "keyword_argument": child("name")},
    imports={"import_statement": _imports, "import_from_statement": _imports},
    fields={"assignment": _assigned},
    heads=frozenset({"function_definition", "lambda"}),
    parameters=_parameters,
    returns=by_field("return_type"),
    decorators=frozenset({"decorator"}),
    comments=marked,
    docstring=_docstring,
    told={"expression_statement": _all},
    visibility=_visibility,
    exported=_exported,
)
