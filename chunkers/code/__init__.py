"""Programs to chunks: a symbol a piece, from the syntax tree of their language."""

__all__ = ["enclosing", "outline", "packages", "pieces", "program", "signature", "source", "syntax"]
