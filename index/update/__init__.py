"""The write path: plan an update, prepare files, embed chunks, write them; estimate; fill gaps later."""

__all__ = ["backfill", "plan", "run", "vectorizer", "write"]
