"""Write the context of chunks: a member's enclosing type, and the methods of a type's head."""

import re
from itertools import islice
from typing import TYPE_CHECKING

from cqm.chunkers.code.outline import TYPES, Mark, is_loose
from cqm.chunkers.code.signature import signature
from cqm.chunkers.languages.model import GROUP
from cqm.chunkers.model import CLASS_NOTE, FIELDS_NOTE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cqm.chunkers.code.source import Source

_METHODS = frozenset({"method", "constructor", "function"})
_FIELDS = frozenset({"property", "constant", "variable"})

# Kinds taken apart when members become chunks of their own.
_WITH_MEMBERS = TYPES | {"component", "module", "namespace"}

_VALUE = re.compile(r"\s*(?<![<>=!])=(?![=>])")

# Context is shorter than the text it explains.
_MAX_FIELDS = 24
_MAX_METHODS = 200


def ungrouped(marks: "Iterable[Mark]") -> "Iterator[Mark]":
    """Yield marks in order, replacing groups by their members."""
    waiting = list(marks)[::-1]
    while waiting:
        mark = waiting.pop()
        if mark.kind == GROUP:
            waiting.extend(reversed(mark.members))
        else:
            yield mark


def has_members(mark: Mark) -> bool:
    """Tell if a type, module or namespace has members worth chunks of their own."""
    return mark.kind in _WITH_MEMBERS and any(
        member.name and not is_loose(member) for member in ungrouped(mark.members)
    )


def class_line(mark: Mark, package: str) -> str:
    """Return a comment with a type's name and its fully qualified name; empty for other symbols.

    Parameters:
        package: of the document, parts joined by "."; empty for none.
    """
    if mark.kind not in TYPES:
        return ""
    is_qualified = not package or mark.name.startswith(f"{package}.")
    qualified = mark.name if is_qualified else f"{package}.{mark.name}"
    return f"{CLASS_NOTE}{mark.name.rpartition('.')[2]} ({qualified})"


def fields_line(mark: Mark) -> str:
    """Return a comment naming the fields of a type, the first ones of very many; empty without fields."""
    names = [field.name.rpartition(".")[2] for field in _fields(mark)]
    shown = names if len(names) <= _MAX_FIELDS else [*names[:_MAX_FIELDS], "..."]
    return FIELDS_NOTE + ", ".join(shown) if shown else ""


def field_signatures(mark: Mark, source: "Source") -> tuple[str, ...]:
    """Return a type's field declarations without values, a line each; the first ones of very many."""
    lines = (" ".join(signature(field, source).split()) for field in islice(_fields(mark), _MAX_FIELDS))
    return tuple(dict.fromkeys(_VALUE.split(line)[0].rstrip(";, ") for line in lines))


def _fields(mark: Mark) -> "Iterator[Mark]":
    for member in ungrouped(mark.members if mark.kind in TYPES else ()):
        if member.kind in _FIELDS and member.name and member.node.type not in member.nodes.enum_values:
            yield member


def method_signatures(mark: Mark, source: "Source") -> tuple[str, ...]:
    """Return a type's method declarations, a line each; the first ones of very many."""
    methods = (member for member in ungrouped(mark.members) if member.kind in _METHODS)
    lines = (" ".join(signature(method, source).split()) for method in islice(methods, _MAX_METHODS))
    return tuple(dict.fromkeys(line for line in lines if line))
