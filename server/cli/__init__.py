"""The commands of `cqm`."""

__all__ = ["main"]
