"""Hold the row of SQL, and what makes its dialects readable to one grammar."""

from cqm.chunkers.languages.sql.row import SQL

__all__ = ["ROWS", "SQL", "rows"]

ROWS = (SQL,)
