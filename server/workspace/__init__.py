"""Open indexes of a server, each with its indexing job."""

__all__ = ["jobs", "workspace"]
