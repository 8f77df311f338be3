"""Questions about a relation of a name, such as who implements it, and lines of programs with it."""

__all__ = ["asked", "foreign", "forms"]
