"""Answers and status as text, JSON and terminal output."""

__all__ = ["as_json", "budget", "merged", "render", "status_text", "terminal", "times", "usages"]
