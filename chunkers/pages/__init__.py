"""HTML and XML to chunks."""

__all__ = ["html", "xml"]
