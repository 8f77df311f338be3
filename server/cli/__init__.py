"""The commands of `cqm`."""

__all__ = [
    "commands",
    "eval",
    "indexes",
    "main",
    "options",
    "preview",
    "report",
    "savings",
    "search",
    "symbols",
    "table",
]
