"""Names declared inside a symbol without a piece of their own: fields, variants, methods of interfaces, further names.

A rule for a type of symbol node yields them; the row of a language lists its rules as `NodeTypes.parts`.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from cqm.chunkers.languages.model import Part, PartRule, child_of_type, first_named, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST_NODES = 5_000
"""Nodes looked at in one symbol; generated ones may have more."""


def inside(kinds: Mapping[str, str], *holders: str, marked_by: frozenset[str] = frozenset()) -> PartRule:
    """Return a rule for nodes in a symbol's body, named by their field "name" or first identifier.

    Parameters:
        kinds: of a part, by the type of its node.
        holders: types of nodes to enter; a part of such a type has parts of its own.
        marked_by: types of a part's children; it needs one of them, such as "val" for a parameter as a property.
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
                        inner = f"{outer}{text_of(name, source).removeprefix(_RAW)}"
                        yield Part(kind, inner, child, name)
                    inner += "."
                if child.type in holders:
                    waiting.append((child, inner))

    return parts


_RAW = "r#"
"""Makes a name of a word of Rust, such as `r#match`."""


def further_names(field: str = "name", *types: str) -> PartRule:
    """Return a rule for the second name of a declaration and those after it: `var X, Y int`.

    Parameters:
        field: of the names; empty for children by type.
        types: of the names; none for any.
    """

    def parts(symbol: "Node", source: bytes) -> Iterator[Part]:
        names = symbol.children_by_field_name(field) if field else symbol.named_children
        # Some grammars count the commas between names to the field.
        for name in [it for it in names if it.is_named and (not types or it.type in types)][1:]:
            shown = child_of_type(name, "name", "variable_name") or name
            yield Part("", text_of(shown, source).lstrip("$"), symbol, name, is_beside=True)

    return parts


def promoted(*types: str, marked_by: frozenset[str] = frozenset()) -> PartRule:
    """Return a rule for parameters of a constructor which are fields of its type.

    Parameters:
        marked_by: types of a child which makes a parameter a field; none if its own type does.
    """

    def parts(symbol: "Node", source: bytes) -> Iterator[Part]:
        parameters = symbol.child_by_field_name("parameters")
        for it in parameters.named_children if parameters else ():
            if it.type in types and (not marked_by or any(child.type in marked_by for child in it.children)):
                name = it.child_by_field_name("name") or it.child_by_field_name("pattern") or it
                yield Part("property", text_of(name, source).lstrip("$"), it, name, is_beside=True)

    return parts


def _names(part: "Node") -> "list[Node]":
    named = part.children_by_field_name("name")
    if named:
        return list(named)
    first = child_of_type(part, "identifier", "simple_identifier") or child_of_type(part, "name", "enum_value")
    declarator = child_of_type(part, "variable_declarator") if part.type == "spread_parameter" else None
    if declarator is not None:
        # "String... names" of Java.
        return _names(declarator)
    if first is None and part.type == "field_declaration":
        return _embedded(part)
    return [first] if first else []


def _embedded(field: "Node") -> "list[Node]":
    """Return the name of a Go field with only a type: "sync.Mutex", "*List[T]"."""
    it = field.child_by_field_name("type")
    for _ in range(_MOST_WRAPPED):
        if it is None or it.type == "type_identifier":
            break
        it = it.child_by_field_name("name") or it.child_by_field_name("type")
    return [it] if it is not None and it.type == "type_identifier" else []


_MOST_WRAPPED = 4


def names_of_lua(node: "Node", source: bytes) -> Iterator[Part]:
    """Yield the names in `local a, b = 1, 2` and `M.a, M.b = 1, 2` after the first one."""
    targets = child_of_type(child_of_type(node, "assignment_statement") or node, "variable_list")
    for name in targets.named_children[1:] if targets else ():
        if name.type in ("identifier", "dot_index_expression"):
            yield Part("variable", text_of(name, source), node, name, is_beside=True)


def names_of_bash(node: "Node", source: bytes) -> Iterator[Part]:
    """Yield the names in `export A=1 B=2` after the first one."""
    for it in [child for child in node.named_children if child.type == "variable_assignment"][1:]:
        name = it.child_by_field_name("name")
        if name is not None:
            yield Part("", text_of(name, source), node, name, is_beside=True)


def targets_of_scala(node: "Node") -> list["Node"]:
    """Return the names declared in "val (a, b) = pair" and "val a, b = 1"."""
    pattern = node.child_by_field_name("pattern")
    waiting = [pattern] if pattern else node.children_by_field_name("name")
    found: list[Node] = []
    while waiting and len(found) < _MAX_TARGETS:
        it = waiting.pop(0)
        if it.type in ("tuple_pattern", "identifiers"):
            waiting = [*it.named_children, *waiting]
        elif it.type in ("identifier", "operator_identifier"):
            found.append(it)
    return found


_MAX_TARGETS = 64


def names_of_scala(node: "Node", source: bytes) -> Iterator[Part]:
    """Yield the names in `val (a, b) = pair` after the first one."""
    for name in targets_of_scala(node)[1:]:
        yield Part("", text_of(name, source), node, name, is_beside=True)


def fields_of_scala(node: "Node", source: bytes) -> Iterator[Part]:
    """Yield the parameters of a class which are its members: all of a case class, others with "val" or "var"."""
    is_case = node.type == "full_enum_case" or any(child.type == "case" for child in node.children)
    for parameters in node.children_by_field_name("class_parameters"):
        for it in parameters.named_children:
            name = it.child_by_field_name("name") if it.type == "class_parameter" else None
            if name is not None and (is_case or any(child.type in ("val", "var") for child in it.children)):
                yield Part("property", text_of(name, source), it, name)


def cases_of_scala(node: "Node", source: bytes) -> Iterator[Part]:
    """Yield the cases of an enum, each with its parameters as members."""
    yield from fields_of_scala(node, source)
    body = child_of_type(node, "enum_body")
    for cases in body.named_children if body else ():
        for it in cases.named_children if cases.type == "enum_case_definitions" else ():
            name = it.child_by_field_name("name")
            if name is None:
                continue
            own = text_of(name, source)
            yield Part("constant", own, it, name)
            for part in fields_of_scala(it, source) if it.type == "full_enum_case" else ():
                yield part._replace(name=f"{own}.{part.name}")


def names_of_csharp(node: "Node", source: bytes) -> Iterator[Part]:
    """Yield the names in `int a, b = 2;` after the first one."""
    declaration = child_of_type(node, "variable_declaration")
    declarators = [it for it in declaration.named_children if it.type == "variable_declarator"] if declaration else []
    for declarator in declarators[1:]:
        name = declarator.child_by_field_name("name")
        if name is not None:
            yield Part("", text_of(name, source), node, name, is_beside=True)


def targets_of_swift(node: "Node") -> list["Node"]:
    """Return the names declared in "let x, y: Int" and "let (a, (b, c)) = pair"."""
    waiting = node.children_by_field_name("name")
    found: list[Node] = []
    while waiting and len(found) < _MAX_TARGETS:
        it = waiting.pop(0)
        inner = [child for child in it.named_children if child.type == "pattern"] if it.type == "pattern" else []
        if inner:
            waiting = [*inner, *waiting]
        else:
            found.append(it)
    return found


def names_of_swift(node: "Node", source: bytes) -> Iterator[Part]:
    """Yield the names in `let x, y: Int` after the first one."""
    for name in targets_of_swift(node)[1:]:
        yield Part("", text_of(name, source), node, name, is_beside=True)


def names_in_patterns(declaration: "Node", source: bytes) -> Iterator[Part]:
    """Yield the names in `const {a: b, ...c} = d, [e] = f`; those such as a in `{a}` are marks of their own."""
    for declarator in declaration.named_children:
        pattern = declarator.child_by_field_name("name") if declarator.type == "variable_declarator" else None
        waiting = [(pattern, True)] if pattern is not None and pattern.type in _PATTERNS else []
        left = _MOST_IN_PATTERN
        while waiting and left > 0:
            node, is_top = waiting.pop()
            for child in node.named_children:
                left -= 1
                target = _target_of(child)
                if target is None:
                    continue
                if target.type in _PATTERNS:
                    waiting.append((target, False))
                elif target.type == "identifier" or (target.type == _SHORTHAND and not (is_top and target == child)):
                    yield Part("variable", text_of(target, source), declarator, target)


def _target_of(part: "Node") -> "Node | None":
    """Return the name or pattern in a part of a pattern, without key, default and dots."""
    target = part.child_by_field_name("value") if part.type == "pair_pattern" else part
    if target is not None and target.type in ("assignment_pattern", "object_assignment_pattern"):
        return target.child_by_field_name("left")
    return first_named(target) if target is not None and target.type == "rest_pattern" else target


_PATTERNS = frozenset({"object_pattern", "array_pattern"})
_SHORTHAND = "shorthand_property_identifier_pattern"
_MOST_IN_PATTERN = 1_000
