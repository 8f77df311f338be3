"""The read path: a page of hits for a question, similar chunks, whole symbols, usages, lines with a text.

Every function reading the index raises StoreError or ManifestError if it cannot be read, and WorkerError if no worker
can be started to parse a file. Docstrings in this room and those inside name only further errors.
"""

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
