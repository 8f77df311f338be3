"""One process owns an index: it writes, and any number of clients use the index through it."""

__all__ = ["address", "connect", "open"]
