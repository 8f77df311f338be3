"""Cut HTML and XML into chunks, however broken the markup is."""

__all__ = ["html", "xml"]
