"""The lines of a file on a page, and links to those before and after."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from cqm.server.ui.markup import url

_LAST = 9_999_999
"""No file has more lines."""


@dataclass(frozen=True, slots=True)
class ShownLines:
    """Lines on a page: numbers of the first and the last, of all of the file, and most of a page."""

    first: int
    last: int
    total: int
    most: int

    @classmethod
    def of(cls, text: str, first: int, most: int) -> Self:
        """Choose the lines from one on, or the last one where the file ends before."""
        total = text.removesuffix("\n").count("\n") + 1
        first = min(first, total)
        return cls(first, min(first + most - 1, total), total, most)

    def links(self, page: str, given: Mapping[str, str]) -> str:
        """Write links to the lines before and after; empty where all are shown."""
        links = [
            f"<a href='{url(page, **given, first=max(1, self.first - self.most))}'>Lines before</a>"
            if self.first > 1
            else "",
            f"<a href='{url(page, **given, first=self.last + 1)}'>Lines after</a>" if self.last < self.total else "",
        ]
        return " ".join(filter(None, links))


def number_of(text: str, otherwise: int) -> int:
    """Read a line number of an address."""
    is_number = text.isascii() and text.isdecimal() and len(text) <= len(str(_LAST))
    return max(1, min(int(text), _LAST)) if is_number else otherwise
