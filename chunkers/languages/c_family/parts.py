"""Yield the names of a C declaration beside its first one: further declarators, fields and enumerators."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cqm.chunkers.languages.c_family.names import (
    SPECIFIERS,
    declares_function,
    innermost,
    is_attribute,
    spelled,
    type_name,
)
from cqm.chunkers.languages.model import Part, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST_FIELDS = 20_000


def declared(symbol: "Node", source: bytes) -> Iterator[Part]:
    """Yield further names of a declaration, the type declared in it, and the type's fields and enumerators."""
    declarators = [innermost(it) for it in symbol.children_by_field_name("declarator")]
    if declarators and is_attribute(symbol, spelled(declarators[0], source)):
        declarators = []
    for name in declarators[1:]:
        if name is not None:
            yield Part("", spelled(name, source), symbol, name, is_beside=True)
    specifier = symbol if symbol.type in SPECIFIERS else symbol.child_by_field_name("type")
    if specifier is None or specifier.type not in SPECIFIERS:
        return
    body, tag = specifier.child_by_field_name("body"), specifier.child_by_field_name("name")
    if body is None:
        return
    own = type_name(specifier, source)
    # "typedef struct node {...} node" declares one name.
    is_new = bool(own) and specifier is not symbol and own not in {spelled(it, source) for it in declarators}
    if is_new and declarators and tag is not None:
        yield Part(SPECIFIERS[specifier.type], own, specifier, tag, is_beside=True)
    if specifier.type == "enum_specifier":
        yield from _enumerators(body, "", source)
    elif declarators and symbol.type != "type_definition":
        for part in _fields(body, source):
            yield part._replace(name=f"{own}.{part.name}", is_beside=True) if is_new else part


def _fields(body: "Node", source: bytes) -> Iterator[Part]:
    """Yield the members of a struct declared together with a variable or field, inner ones with their outer's name."""
    waiting = [(body, "")]
    left = _MOST_FIELDS
    while waiting and left > 0:
        holder, outer = waiting.pop()
        for it in holder.named_children:
            left -= 1
            if it.type.startswith("preproc_"):
                waiting.append((it, outer))
            if it.type in ("function_definition", "declaration"):
                name = innermost(it.child_by_field_name("declarator"))
                if name is not None:
                    yield Part("method", outer + spelled(name, source), it, name)
            if it.type != "field_declaration":
                continue
            names = [name for name in map(innermost, it.children_by_field_name("declarator")) if name is not None]
            kind = "method" if declares_function(it.child_by_field_name("declarator")) else "property"
            for name in names:
                yield Part(kind, outer + spelled(name, source), it, name)
            specifier = it.child_by_field_name("type")
            inner = specifier.child_by_field_name("body") if specifier and specifier.type in SPECIFIERS else None
            around = f"{outer}{spelled(names[0], source)}." if names else outer
            if inner is not None and inner.type == "enumerator_list":
                yield from _enumerators(inner, around, source)
            elif inner is not None:
                waiting.append((inner, around))


def _enumerators(body: "Node", outer: str, source: bytes) -> Iterator[Part]:
    """Yield the constants of an enum; of a macro such as `OPTION(NAME, 4)` its first argument."""
    open_brackets, is_first = 0, True
    waiting = [*body.named_children][::-1]
    left = _MOST_FIELDS
    while waiting and left > 0:
        it = waiting.pop()
        left -= 1
        if it.type.startswith("preproc_"):
            waiting += it.named_children[::-1]
        elif it.type == "ERROR":
            text = text_of(it, source)
            is_first = is_first or not open_brackets
            open_brackets = max(0, open_brackets + text.count("(") - text.count(")"))
        elif it.type == "enumerator" and (is_first or not open_brackets):
            name = it.child_by_field_name("name")
            is_first = not open_brackets
            if name is not None and not text_of(it, source).endswith('"'):
                yield Part("constant", outer + text_of(name, source), it, name)
