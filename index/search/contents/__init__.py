"""Find lines by what data say: texts of resources, columns, statements, format strings; and by what tools print."""

__all__ = ["asked", "commits", "joined_names"]
