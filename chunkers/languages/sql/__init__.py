"""Hold the row of SQL, and rewriting of its dialects for one grammar."""

from cqm.chunkers.languages.sql.row import SQL

__all__ = ["ROWS", "SQL", "rows"]

ROWS = (SQL,)
