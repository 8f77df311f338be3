"""Record in SQLite what the index knows of every file and chunk."""

__all__ = ["coverage", "facts", "manifest", "rows", "schema"]
