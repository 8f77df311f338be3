"""Cut programs into chunks, one symbol a piece, by their syntax trees."""

__all__ = ["definitions", "enclosing", "outline", "packages", "pieces", "program", "signature", "source", "syntax"]
