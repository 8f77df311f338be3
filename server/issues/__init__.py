"""Fetch issues and pull requests of GitHub into files."""

__all__ = ["fetch"]
