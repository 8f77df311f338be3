"""Split code and prose into search terms, write chunk headers, and match path globs."""

__all__ = ["globs", "headers", "places", "terms"]
