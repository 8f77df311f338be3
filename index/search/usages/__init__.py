"""Find the definitions and all references of a symbol, by the index's words and the syntax of the files around them."""

from cqm.index.search.usages.find import RecentNames, find_usages

__all__ = ["RecentNames", "find_usages", "lines", "resolve"]
