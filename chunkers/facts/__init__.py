"""The metadata of symbols: parameters, result, documentation, visibility, complexity, calls, imports, members."""

__all__ = ["collecting"]
