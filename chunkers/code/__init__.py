"""Cut programs into chunks, one symbol a piece, by their syntax trees."""

__all__ = ["enclosing", "layout", "outline", "packages", "pieces", "program", "signature", "source", "syntax"]
