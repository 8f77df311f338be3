"""The SQLite file of a generation: its schema, rows, facts and coverage."""

__all__ = ["coverage", "facts", "manifest", "rows", "schema"]
