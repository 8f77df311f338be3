"""Outline files and folders, and read the lines of a symbol or place, by the definitions in the index."""

from cqm.index.search.symbols.fresh import FreshFiles
from cqm.index.search.symbols.outline import outline
from cqm.index.search.symbols.read import Reader

__all__ = ["FreshFiles", "Reader", "outline"]
