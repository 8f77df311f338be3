"""Machines with clones of one tree, and a base of it on a double of a Qdrant server."""

from collections.abc import Callable
from pathlib import Path

import pytest
from carried_tree import make_clone, make_tree, publish
from qdrant_double import QdrantDouble

from cqm.index.model.options import CacheOptions, IndexOptions, StoreOptions


@pytest.fixture
def machine(tmp_path: Path, qdrant: QdrantDouble) -> Callable[..., IndexOptions]:
    """Options of a machine by its name, with bases on the double."""

    def of(name: str, **store: object) -> IndexOptions:
        # A moved file has the vectors of its former path where the cache knows these, in any index: here, it does not.
        chosen = StoreOptions(**{"url": qdrant.url, "only_bases": True, "retry_seconds": 0.0, **store})  # type: ignore[arg-type]
        return IndexOptions(tmp_path / name, workers=1, cache=CacheOptions(enabled=False), store=chosen)

    return of


@pytest.fixture
def published(tmp_path: Path, machine: Callable[..., IndexOptions]) -> Path:
    """The tree of which the base `shop` was made, on another machine."""
    tree = make_tree(tmp_path / "tree")
    publish(tree, machine("ci"))
    return tree


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    return make_clone(tmp_path / "clone")
