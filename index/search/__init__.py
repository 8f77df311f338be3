"""The read path: a question to its page of hits, similar chunks, whole symbols, usages, lines with a text.

Whatever reads the index raises StoreError or ManifestError where it cannot be read, and WorkerError where no worker can
be started to parse a file. Docstrings in this room and those inside name only further errors.
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
