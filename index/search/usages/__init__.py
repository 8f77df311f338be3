"""Find the definitions and all references of a symbol, by the index's words and the syntax of the files around them."""

from cqm.index.search.usages.find import find_usages

__all__ = ["find_usages", "lines", "resolve"]
