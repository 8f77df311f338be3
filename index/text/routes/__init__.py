"""Routes: those named in questions, the patterns declared in programs, and how well one fits the other."""

__all__ = ["asked", "declared", "folders", "forms", "pattern", "requests", "services"]
