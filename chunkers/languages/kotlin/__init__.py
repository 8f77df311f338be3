"""Hold the row of Kotlin, and masks for text unreadable to its grammar."""

from cqm.chunkers.languages.kotlin.rows import ROWS

__all__ = ["ROWS"]
