"""An open index with its job, its watch and its backfill."""

__all__ = ["jobs", "open_watch", "workspace"]
