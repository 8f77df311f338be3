"""The command line, a command a function."""

__all__ = ["main"]
