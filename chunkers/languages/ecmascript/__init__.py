"""Hold the rows of JavaScript with JSX, TypeScript and TSX, and the forms of values bound to names."""

from cqm.chunkers.languages.ecmascript.rows import ROWS, USAGE

__all__ = ["ROWS", "USAGE"]
