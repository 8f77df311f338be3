"""Questions with known answers, and measures of a search."""

__all__ = ["evaluation", "metrics", "topics"]
