"""Tell the language of a text where its name does not."""

__all__ = ["guess"]
