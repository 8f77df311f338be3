"""Versions of an index: open, serve, build beside, switch, compact, remove."""

__all__ = ["compact", "current", "generation", "query_models"]
