"""One process owns an index and writes it; any number of clients ask it over a socket."""

__all__ = ["connect", "open"]
