"""Report the state of an index and of work in progress; list and delete all of a user's indexes."""

__all__ = ["catalogue", "running", "status"]
