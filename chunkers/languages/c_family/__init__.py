"""Hold the rows of C, C++ and Objective-C, and the macros unreadable to their grammars."""

from cqm.chunkers.languages.c_family.rows import CPP, ROWS, C

__all__ = ["CPP", "ROWS", "C"]
