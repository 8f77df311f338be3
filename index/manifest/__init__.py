"""Record every file and chunk of the index in SQLite."""

__all__ = ["coverage", "facts", "manifest", "rows", "schema"]
