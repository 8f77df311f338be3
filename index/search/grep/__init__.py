"""Find the lines of indexed files with a text or matching a pattern, as grep does, by the files' trigrams."""

from cqm.index.search.grep.find import Grepping, find_lines
from cqm.index.search.grep.texts import KnownFiles

__all__ = ["Grepping", "KnownFiles", "find_lines"]
