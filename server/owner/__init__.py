"""One process owns all indexes of a user: it writes, and any number of clients use them through it."""

__all__ = ["address", "connect", "open"]
