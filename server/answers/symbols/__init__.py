"""Answers about symbols, files and commits as text: outlines, readings, usages and changes."""

__all__ = ["changes", "outline", "reading", "usages"]
