"""The state of one index, and a list of all indexes of a user."""

__all__ = ["catalogue", "running", "status"]
