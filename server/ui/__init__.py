"""A page in the browser for people: search, files, previews, and the health of the index."""

__all__ = ["serve", "views"]
