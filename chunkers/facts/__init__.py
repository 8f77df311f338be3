"""Collect facts of symbols: parameters, result, docs, visibility, complexity, calls, imports, members."""

__all__ = ["collecting", "heads", "layout", "names", "occurrences"]
