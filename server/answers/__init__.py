"""Answers and status as text, JSON and terminal output."""

__all__ = [
    "as_json",
    "budget",
    "header",
    "matched_lines",
    "merged",
    "names",
    "render",
    "status_text",
    "terminal",
]
