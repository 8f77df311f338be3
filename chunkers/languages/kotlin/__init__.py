"""Hold the row of Kotlin, and what its grammar can't read."""

from cqm.chunkers.languages.kotlin.rows import ROWS

__all__ = ["ROWS"]
