"""Find errors harming a program's outline in its syntax tree."""

from typing import TYPE_CHECKING

from cqm.chunkers.languages.model import GROUP

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from cqm.chunkers.languages.model import Language

_BLOCKS = ("block", "body", "compound_statement")
_LISTS = ("parameters", "parameter_list", "arguments", "argument_list")


def is_spoilt(root: "Node", language: "Language", source: bytes) -> bool:
    """Tell if an error lies outside of the bodies of functions and the values of variables."""
    return next(errors_of(root, language, source), None) is not None


def errors_of(root: "Node", language: "Language", source: bytes, *, is_inside: bool = False) -> "Iterator[Node]":
    """Yield the nodes with errors harming the outline; a body without its end may have its neighbours in it.

    Parameters:
        root: of the tree, or of a part of it.
        is_inside: whether the root is in a body, or in a list of parameters.
    """
    waiting = [(root, is_inside)]
    while waiting:
        node, is_inside = waiting.pop()
        if (node.is_missing and (not is_inside or node.type == "}")) or (node.is_error and not is_inside):
            yield node
        elif node.has_error:
            children = [child for child in node.children if child.has_error]
            waiting += zip(children, insides(node, children, language, source, is_inside=is_inside), strict=True)


def insides(
    node: "Node", children: "list[Node]", language: "Language", source: bytes, *, is_inside: bool
) -> list[bool]:
    """Tell of each child of a node if it is in a body or in a list of parameters, where errors do no harm."""
    if is_inside or node.type.endswith(_LISTS):
        return [True] * len(children)
    rule = language.rules.get(node.type)
    found = rule(node, source) if rule else None
    is_leaf = found is not None and found.kind != GROUP and bool(found.name) and not found.bodies
    return [_is_body(child, node, language) for child in children] if is_leaf else [False] * len(children)


def _is_body(child: "Node", node: "Node", language: "Language") -> bool:
    if child.type in language.nodes.bodies or child.type.endswith(_BLOCKS):
        return True
    return child in (node.child_by_field_name("body"), node.child_by_field_name("value"))
