"""Find lines by data in them: texts of resources, columns of tables, statements of SQL, format strings of logs."""

__all__ = ["asked"]
