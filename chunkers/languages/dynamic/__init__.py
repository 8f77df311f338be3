"""Hold the rows of Python and Ruby, and the names declared there by calls and assignments."""

from cqm.chunkers.languages.dynamic.rows import ROWS

__all__ = ["ROWS"]
