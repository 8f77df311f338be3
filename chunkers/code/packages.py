"""Find the package, namespace or module declared by a file, cheaply, from the outermost marks."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from cqm.chunkers.languages.model import text_of

if TYPE_CHECKING:
    from tree_sitter import Node

    from cqm.chunkers.code.outline import Mark
    from cqm.chunkers.code.source import Source

_TYPES: Mapping[str, frozenset[str]] = {
    "java": frozenset({"package_declaration"}),
    "kotlin": frozenset({"package_header"}),
    "scala": frozenset({"package_clause"}),
    "go": frozenset({"package_clause"}),
    "php": frozenset({"namespace_definition"}),
    "csharp": frozenset({"file_scoped_namespace_declaration", "namespace_declaration"}),
}


class Packages(NamedTuple):
    """The first rows of the packages of a document, and their names with parts joined by "."."""

    rows: list[int]
    names: list[str]

    def at(self, row: int) -> str:
        """Return the package of a row; rows above the first package, such as a licence, belong to it too."""
        return self.names[max(bisect_right(self.rows, row) - 1, 0)] if self.names else ""


def packages_of(marks: "Sequence[Mark]", language: str, source: "Source") -> Packages:
    """Find the packages declared by a document's outermost marks."""
    packages = Packages([], [])
    types = _TYPES.get(language, frozenset())
    for mark in marks if types else ():
        if mark.node.type in types and (name := _name(mark.node, source.data)):
            if language == "scala" and packages.names:
                # Successive clauses name one package.
                packages.names[-1] += f".{name}"
                continue
            packages.rows.append(mark.first)
            packages.names.append(name)
    return packages


def _name(node: "Node", source: bytes) -> str:
    named = node.child_by_field_name("name") or (node.named_children[-1] if node.named_children else None)
    return "".join(text_of(named, source).split()).replace("\\", ".")
