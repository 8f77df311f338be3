"""Read text unreadable to a grammar: blank it to get the rest's tree, and tell its declarations by lines."""

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
