"""Outline files and folders; read the lines of a symbol or place, and those changed by a commit."""

from cqm.index.search.symbols.changes import Histories, find_changes
from cqm.index.search.symbols.fresh import FreshFiles
from cqm.index.search.symbols.outline import outline
from cqm.index.search.symbols.read import Reader

__all__ = ["FreshFiles", "Histories", "Reader", "find_changes", "outline"]
