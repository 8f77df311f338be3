"""The write path: plan, prepare, vectorize, write; and the backfill of vectors and contexts."""

__all__ = ["backfill", "plan", "updates", "vectorizer"]
