"""Questions in other languages than English: tell the language, say them in English."""

__all__ = ["english", "languages"]
