"""Find the lines of indexed files that hold a text or match a pattern, as grep does, by the trigrams of the files."""

from cqm.index.search.grep.find import Grepping, find_lines
from cqm.index.search.grep.texts import KnownFiles

__all__ = ["Grepping", "KnownFiles", "find_lines"]
