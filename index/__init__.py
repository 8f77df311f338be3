"""Chunks to a searchable index on disk.

    from cqm.index import Index, Query

    with Index.open(Path("shop")) as index:
        index.update()
        hits = index.search(Query("where are prices rounded?")).hits

Names of `__all__` are the public interface: they keep their meaning within a major version.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cqm.index.engine import Index
    from cqm.index.model.options import EmbeddingOptions, IndexOptions
    from cqm.index.model.query import Answer, Hit, Query

__all__ = ["Answer", "EmbeddingOptions", "Hit", "Index", "IndexOptions", "Query"]

_HOMES = {"Index": "engine", "EmbeddingOptions": "model.options", "IndexOptions": "model.options"}


def __getattr__(name: str) -> object:
    """Import a public name when it is first asked for: a vocabulary module does not load the store."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'model.query')}"), name)
