"""Keep an index in step with its files: watch them, index changes, and backfill."""

__all__ = ["events", "followed_index", "questions", "reports"]
