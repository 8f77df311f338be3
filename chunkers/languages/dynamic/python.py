"""Names in Python's assignments: several targets, functional forms of types, slots and attributes of an object."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cqm.chunkers.languages.model import Found, Part, child_of_type, first_named, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST_NODES = 5_000
"""Nodes looked at in one constructor; generated ones may have more."""
_MAX_TARGETS, _MAX_CHAINED = 64, 16
_PATTERNS = frozenset({"pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern"})
_FIELDS = frozenset({"namedtuple", "NamedTuple", "TypedDict", "make_dataclass"})
_ENUMS = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"})
_ASSIGNED = re.compile(rb"\bself\.(\w+)[ \t]*(?:[:,]|=(?!=))")
_WORD = re.compile(r"[A-Za-z_]\w*")


def targets_of(left: "Node | None") -> "list[Node]":
    """Return the targets in `(a, b), *c`: names, attributes and subscripts."""
    waiting = [left] if left is not None else []
    found: list[Node] = []
    while waiting and len(found) < _MAX_TARGETS:
        it = waiting.pop(0)
        if it.type in _PATTERNS:
            waiting = [*it.named_children, *waiting]
        else:
            found.append(it)
    return found


def kind_of_value(value: "Node | None", annotation: "Node | None", source: bytes) -> str:
    """Return "class" and "type" for the value of a name which is one; else nothing.

    Parameters:
        annotation: of the name, such as `TypeAlias`.
    """
    if annotation is not None and b"TypeAlias" in source[annotation.start_byte : annotation.end_byte]:
        return "type"
    callee = _callee(value, source)
    # `Flag(3)` is a value; a type has a name and members.
    given = value.child_by_field_name("arguments") if value is not None else None
    is_enum = callee in _ENUMS and given is not None and len(given.named_children) > 1
    return "class" if callee in _FIELDS or is_enum else "type" if callee == "NewType" else ""


def _callee(value: "Node | None", source: bytes) -> str:
    """Return the last word of a called name: "namedtuple" of `collections.namedtuple(...)`."""
    if value is None or value.type != "call":
        return ""
    return text_of(value.child_by_field_name("function"), source).rpartition(".")[2]


def walrus_of(statement: "Node", source: bytes) -> Found | None:
    """Classify the statement `(a := 1)`."""
    inner = first_named(statement)
    while inner is not None and inner.type == "parenthesized_expression":
        inner = first_named(inner)
    if inner is None or inner.type != "named_expression":
        return None
    name = text_of(inner.child_by_field_name("name"), source)
    return Found("constant" if name.isupper() else "variable", name)


def names_of_python(statement: "Node", source: bytes) -> Iterator[Part]:
    """Yield the names after the first one in `a, b = 1, 2` and `a = b = 1`, fields of functional types, and slots."""
    assignment = child_of_type(statement, "assignment")
    left = assignment.child_by_field_name("left") if assignment else None
    if assignment is None or left is None:
        return
    # A name alone is the rule for most statements.
    names = targets_of(left) if left.type in _PATTERNS else []
    for name in [it for it in names if it.type == "identifier"][1:]:
        yield Part("", text_of(name, source), statement, name, is_beside=True)
    value = assignment.child_by_field_name("right")
    if value is not None and value.type == "call":
        yield from _fields(statement, value, source)
    elif source.startswith(b"__slots__", left.start_byte):
        yield from _slots(statement, value, source)
    for _ in range(_MAX_CHAINED):
        if value is None or value.type != "assignment":
            return
        left = value.child_by_field_name("left")
        if left is not None and left.type == "identifier":
            yield Part("", text_of(left, source), statement, left, is_beside=True)
        value = value.child_by_field_name("right")


def _fields(statement: "Node", call: "Node", source: bytes) -> Iterator[Part]:
    """Yield the fields in `namedtuple("P", "a b")` and the members in `Enum("E", ["A"])`."""
    callee = _callee(call, source)
    arguments = call.child_by_field_name("arguments")
    if not (callee in _FIELDS or callee in _ENUMS) or arguments is None:
        return
    kind = "constant" if callee in _ENUMS else "property"
    for argument in arguments.named_children[1:]:
        if argument.type == "keyword_argument":
            name = argument.child_by_field_name("name")
            if callee == "TypedDict" and name is not None and text_of(name, source) != "total":
                yield Part(kind, text_of(name, source), statement, name)
        else:
            for name, text in _listed(argument, source):
                yield Part(kind, text, statement, name)
            break


def _slots(statement: "Node", value: "Node | None", source: bytes) -> Iterator[Part]:
    """Yield the slots of a class, except those assigned in its constructor, which are told there."""
    told = _assigned_by_constructor(statement, source) if value is not None else frozenset[str]()
    for name, text in _listed(value, source) if value is not None else ():
        if text not in told:
            yield Part("property", text, statement, name, is_beside=True)


def _assigned_by_constructor(statement: "Node", source: bytes) -> frozenset[str]:
    """Return the attributes assigned by `__init__` in the class of a statement, found by indentation."""
    column = statement.start_point[1]
    ends = re.compile(rb"^[ \t]{0,%d}\S" % max(column - 1, 0), re.MULTILINE).search(source, statement.end_byte)
    own = source[statement.end_byte : ends.start() if ends else len(source)]
    found = re.search(
        rb"^[ \t]{%d}def __init__\b.*?(?=^[ \t]{%d}[^\s#)]|\Z)" % (column, column), own, re.MULTILINE | re.DOTALL
    )
    return frozenset(name.decode() for name in _ASSIGNED.findall(found[0])) if found else frozenset()


def _listed(value: "Node", source: bytes) -> "Iterator[tuple[Node, str]]":
    """Yield the words in `"a b"`, `["a", ("b", int)]` and `{"a": int}`, each with its string."""
    for it in [value] if value.type == "string" else value.named_children:
        first = first_named(it) if it.type in ("tuple", "list") else it
        named = it.child_by_field_name("key") if it.type == "pair" else first
        if named is not None and named.type == "string":
            text = text_of(child_of_type(named, "string_content"), source)
            words = _WORD.findall(text) if it == value else [text]
            yield from ((named, word) for word in words if word.isidentifier())


def attributes_of_self(symbol: "Node", source: bytes) -> Iterator[Part]:
    """Yield the attributes assigned in a Python constructor."""
    own = symbol.child_by_field_name("name")
    if own is None or source[own.start_byte : own.end_byte] != b"__init__":
        return
    body = symbol.child_by_field_name("body")
    waiting = [body] if body else []
    left = _MOST_NODES
    while waiting and left > 0:
        for node in waiting.pop().named_children:
            left -= 1
            assigned = child_of_type(node, "assignment") if node.type == "expression_statement" else None
            if assigned is None:
                if node.type.endswith(("_statement", "_clause", "block")):
                    waiting.append(node)
                continue
            for it in _assigned(assigned):
                if it.type == "attribute" and text_of(it.child_by_field_name("object"), source) == "self":
                    name = it.child_by_field_name("attribute") or it
                    yield Part("property", text_of(name, source), node, name, is_beside=True)


def _assigned(assignment: "Node | None") -> "Iterator[Node]":
    """Yield the targets in `self.a = self.b, c = ...`."""
    for _ in range(_MAX_CHAINED):
        if assignment is None or assignment.type != "assignment":
            return
        left = assignment.child_by_field_name("left")
        yield from [left] if left is not None and left.type == "attribute" else targets_of(left)
        assignment = assignment.child_by_field_name("right")


def is_inherited_in_python(node: "Node", around: "Node") -> bool | None:
    """Whether a class names its base among its arguments."""
    if around.type != "argument_list" or around.parent is None or around.parent.type != "class_definition":
        return None
    return node.type != "keyword_argument"
