"""Split code and prose into search terms, write chunk headers and definitions, and match path globs."""

__all__ = ["declarations", "globs", "headers", "places", "stored_definitions", "terms"]
