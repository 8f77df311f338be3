"""Read text that a grammar can't: blank it so that the rest has its tree, and tell its declarations by lines."""

__all__ = [
    "branches",
    "by_lines",
    "conflicts",
    "errors",
    "hazards",
    "mending",
    "reading",
    "segments",
    "shown",
    "torn_rows",
]
