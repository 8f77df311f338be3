"""Bytes to chunks: pure functions without files, network, database or clock.

    from cqm.chunkers import ChunkOptions, Document, chunk

    report = chunk(Document("shop.py", "def total(items): return sum(items)"), ChunkOptions(max_tokens=256))
    [part.symbol for part in report.chunks]  # ["total"]

Names of `__all__` are the public interface: they keep their meaning within a major version.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cqm.chunkers.chunking import chunk
    from cqm.chunkers.errors import CqmError
    from cqm.chunkers.model import Chunk, ChunkOptions, ChunkReport, Document

__all__ = ["Chunk", "ChunkOptions", "ChunkReport", "CqmError", "Document", "chunk"]

_HOMES = {"chunk": "chunking", "CqmError": "errors"}


def __getattr__(name: str) -> object:
    """Import a public name when it is first asked for: a command which chunks nothing does not load parsers."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'model')}"), name)
