"""Tell what a text is of and about by its content: its language, the issues it refers to."""

__all__ = ["guess", "links"]
