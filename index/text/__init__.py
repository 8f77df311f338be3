"""Terms, headers and globs: how text is read for searching."""

__all__ = ["globs", "headers", "terms"]
