"""From evidence to an order. Pure functions: no store, no manifest."""

__all__ = ["confidence", "evidence", "exact", "file_roles", "project", "question", "rank", "weights"]
