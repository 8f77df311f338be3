"""Versions of an index: open one, serve from it, build another beside it, switch, compact and remove."""

__all__ = ["compact", "current", "folders", "freezing", "generation", "growing", "query_models", "recipe"]
