"""The read path: a question to its page of hits, similar chunks, whole symbols, usages, lines with a text."""

__all__ = [
    "answer_cache",
    "fairness",
    "filters",
    "grep",
    "named",
    "page",
    "search",
    "symbols",
    "usages",
]
