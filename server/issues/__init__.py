"""GitHub issues and pull requests to files."""

__all__ = ["fetch"]
