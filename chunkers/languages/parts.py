"""Names declared inside a symbol without a piece of their own: fields, variants, methods of interfaces, further names.

A rule for a type of symbol node yields them; the row of a language lists its rules as `NodeTypes.parts`.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from cqm.chunkers.languages.model import Part, PartRule, child_of_type, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST_NODES = 5_000
"""Nodes looked at in one symbol; generated ones may have more."""


def inside(kinds: Mapping[str, str], *holders: str, marked_by: frozenset[str] = frozenset()) -> PartRule:
    """Return a rule for nodes which a symbol's body has, named by their field "name" or first identifier.

    Parameters:
        kinds: of a part, by the type of its node.
        holders: types of nodes to enter; a part which is one has parts of its own.
        marked_by: types of a part's children of which it needs one, such as "val" for a parameter that is a property.
    """

    def parts(symbol: "Node", source: bytes) -> Iterator[Part]:
        waiting = [(symbol, "")]
        left = _MOST_NODES
        while waiting and left > 0:
            node, outer = waiting.pop()
            for child in node.named_children:
                left -= 1
                inner = outer
                if kind := kinds.get(child.type):
                    if marked_by and marked_by.isdisjoint(it.type for it in child.children):
                        continue
                    for name in _names(child):
                        inner = f"{outer}{text_of(name, source)}"
                        yield Part(kind, inner, child, name)
                    inner += "."
                if child.type in holders:
                    waiting.append((child, inner))

    return parts


def further_names(field: str = "name", *types: str) -> PartRule:
    """Return a rule for the second name of a declaration and those after it: `var X, Y int`.

    Parameters:
        field: of the names; empty for children by type.
        types: of the names; none for any.
    """

    def parts(symbol: "Node", source: bytes) -> Iterator[Part]:
        names = symbol.children_by_field_name(field) if field else symbol.named_children
        for name in [it for it in names if not types or it.type in types][1:]:
            shown = child_of_type(name, "name", "variable_name") or name
            yield Part("", text_of(shown, source).lstrip("$"), symbol, name, is_beside=True)

    return parts


def promoted(*types: str, marked_by: str = "") -> PartRule:
    """Return a rule for parameters of a constructor which are fields of its type.

    Parameters:
        types: of the parameters.
        marked_by: type of the child which makes a parameter a field; empty if its own type does.
    """

    def parts(symbol: "Node", source: bytes) -> Iterator[Part]:
        parameters = symbol.child_by_field_name("parameters")
        for it in parameters.named_children if parameters else ():
            if it.type in types and (not marked_by or child_of_type(it, marked_by)):
                name = it.child_by_field_name("name") or it.child_by_field_name("pattern") or it
                yield Part("property", text_of(name, source).lstrip("$"), it, name, is_beside=True)

    return parts


def attributes_of_self(symbol: "Node", source: bytes) -> Iterator[Part]:
    """Yield the attributes that a constructor in Python assigns."""
    if text_of(symbol.child_by_field_name("name"), source) != "__init__":
        return
    body = symbol.child_by_field_name("body")
    waiting = [body] if body else []
    left = _MOST_NODES
    while waiting and left > 0:
        for node in waiting.pop().named_children:
            left -= 1
            assigned = child_of_type(node, "assignment") if node.type == "expression_statement" else None
            target = assigned.child_by_field_name("left") if assigned else None
            if target is None:
                if node.type.endswith(("_statement", "_clause", "block")):
                    waiting.append(node)
                continue
            for it in [target] if target.type == "attribute" else target.named_children:
                if it.type == "attribute" and text_of(it.child_by_field_name("object"), source) == "self":
                    name = it.child_by_field_name("attribute") or it
                    yield Part("property", text_of(name, source), node, name, is_beside=True)


_RUBY_MACROS = {
    **dict.fromkeys(("attr_accessor", "attr_reader", "attr_writer", "cattr_accessor", "mattr_accessor"), "property"),
    **dict.fromkeys(("scope", "alias_method", "define_method", "delegate"), "method"),
    **dict.fromkeys(("has_many", "has_one", "belongs_to", "attribute"), "property"),
}
_ONE_NAME = frozenset({"scope", "alias_method", "define_method", "has_many", "has_one", "belongs_to", "attribute"})


def declared_by_calls(symbol: "Node", source: bytes) -> Iterator[Part]:
    """Yield the attributes, scopes and aliases which calls in the body of a Ruby class declare."""
    body = symbol.child_by_field_name("body")
    for call in body.named_children if body else ():
        if call.type == "alias":
            name = call.child_by_field_name("name")
            if name is not None:
                yield Part("method", text_of(name, source).lstrip(":"), call, name)
        arguments = call.child_by_field_name("arguments") if call.type == "call" else None
        macro = text_of(call.child_by_field_name("method"), source) if arguments else ""
        if arguments is None or macro not in _RUBY_MACROS:
            continue
        names = [it for it in arguments.named_children if it.type == "simple_symbol"]
        for name in names[:1] if macro in _ONE_NAME else names:
            yield Part(_RUBY_MACROS[macro], text_of(name, source).lstrip(":"), call, name)


def _names(part: "Node") -> "list[Node]":
    named = part.children_by_field_name("name")
    if named:
        return list(named)
    first = child_of_type(part, "identifier", "simple_identifier")
    return [first] if first else []
