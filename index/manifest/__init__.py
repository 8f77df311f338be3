"""Record every file and chunk of the index in SQLite."""

__all__ = ["facts", "manifest", "names", "rows", "schema"]
