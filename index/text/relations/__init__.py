"""Questions about a relation of a name, such as who implements it, and the lines of programs that have it."""

__all__ = ["asked", "foreign", "forms"]
