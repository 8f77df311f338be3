"""The read path: a question to its page of hits, similar chunks, whole symbols, usages, lines with a text."""

__all__ = [
    "answer_cache",
    "defining",
    "fairness",
    "filters",
    "grep",
    "named_places",
    "search",
    "symbols",
    "tree_paths",
    "usages",
]
