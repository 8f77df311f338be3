"""Find lines by what data say: texts of resources, columns of tables, statements of SQL, format strings of logs."""

__all__ = ["asked"]
