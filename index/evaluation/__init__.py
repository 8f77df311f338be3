"""Questions with known answers, and measures of a search that is asked them."""

__all__ = ["evaluation", "metrics", "topics"]
