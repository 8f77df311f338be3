"""Tell the language of a text by its content, and the issues it refers to."""

__all__ = ["guess", "links"]
