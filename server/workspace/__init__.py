"""Open indexes of a server, each with its job, watch and backfill."""

__all__ = ["jobs", "open_watch", "workspace"]
