"""Find the package, namespace or module declared by a file, cheaply, from the outermost marks."""

from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from cqm.chunkers.languages.model import text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tree_sitter import Node

    from cqm.chunkers.code.outline import Mark
    from cqm.chunkers.code.source import Source
    from cqm.chunkers.languages.model import Language


class Packages(NamedTuple):
    """The first rows of the packages of a document, and their names with parts joined by "."."""

    rows: list[int]
    names: list[str]

    def at(self, row: int) -> str:
        """Return the package of a row; rows above the first package, such as a licence, belong to it too."""
        return self.names[max(bisect_right(self.rows, row) - 1, 0)] if self.names else ""


def packages_of(marks: "Sequence[Mark]", language: "Language", source: "Source") -> Packages:
    """Find the packages declared by a document's outermost marks."""
    packages = Packages([], [])
    types = language.nodes.packages
    for mark in marks if types else ():
        if mark.node.type in types and (name := _name(mark.node, source.data)):
            if language.joins_packages and packages.names:
                packages.names[-1] += f".{name}"
                continue
            packages.rows.append(mark.first)
            packages.names.append(name)
    return packages


def _name(node: "Node", source: bytes) -> str:
    named = node.child_by_field_name("name") or (node.named_children[-1] if node.named_children else None)
    return "".join(text_of(named, source).split()).replace("\\", ".")
