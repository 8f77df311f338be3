"""Vocabulary of chunking: documents, options, chunks, reports and patterns. Data only.

Options alone are loaded at once: a client of an index needs them, and makes no chunk.
"""

from typing import TYPE_CHECKING

from cqm.chunkers.model.options import ChunkOptions, Fact, Option, option, option_of
from cqm.chunkers.model.patterns import later

if TYPE_CHECKING:
    from cqm.chunkers.model.chunks import (
        CHUNKER_VERSION,
        CLASS_NOTE,
        FIELDS_NOTE,
        LATE,
        Chunk,
        ChunkReport,
        ChunkStatistics,
        Cut,
        Definition,
        Document,
        Extent,
        Layout,
        Metadata,
        Parameter,
        Piece,
        SymbolFacts,
        maker,
    )

__all__ = [
    "CHUNKER_VERSION",
    "CLASS_NOTE",
    "FIELDS_NOTE",
    "LATE",
    "Chunk",
    "ChunkOptions",
    "ChunkReport",
    "ChunkStatistics",
    "Cut",
    "Definition",
    "Document",
    "Extent",
    "Fact",
    "Layout",
    "Metadata",
    "Option",
    "Parameter",
    "Piece",
    "SymbolFacts",
    "later",
    "maker",
    "option",
    "option_of",
]


def __getattr__(name: str) -> object:
    """Import the parts of chunks on first use."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.chunks"), name)
