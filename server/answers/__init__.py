"""Answers and status as text, JSON and terminal output."""

__all__ = [
    "as_json",
    "budget",
    "changes",
    "matched_lines",
    "merged",
    "outline",
    "reading",
    "render",
    "status_text",
    "terminal",
    "usages",
]
