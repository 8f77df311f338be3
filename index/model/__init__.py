"""Vocabulary of indexing and searching: options, queries, answers, status, errors. Data only."""

__all__ = [
    "asked",
    "changes",
    "errors",
    "freshness",
    "options",
    "outcomes",
    "progress",
    "query",
    "secrets",
    "spaces",
    "status",
    "symbols",
    "uses",
]
