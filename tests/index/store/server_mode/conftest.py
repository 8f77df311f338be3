"""A small tree, and options of an index of it on a double of a Qdrant server."""

from collections.abc import Callable
from pathlib import Path

import pytest
from qdrant_double import QdrantDouble

from cqm.index.engine import Index
from cqm.index.model.options import CacheOptions, EmbeddingOptions, IndexOptions, StoreOptions
from cqm.index.model.query import Query


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    for number in range(5):
        (root / f"part_{number}.py").write_text(f"def gather_{number}(value):\n    return value + {number}\n")
    return root


@pytest.fixture
def options(tmp_path: Path, qdrant: QdrantDouble) -> Callable[..., IndexOptions]:
    """Options of an index on the double without vectors or cached answers; of the store as given."""

    def made(**store: object) -> IndexOptions:
        chosen = StoreOptions(**{"url": qdrant.url, "retry_seconds": 8.0, **store})  # type: ignore[arg-type]
        cache = CacheOptions(memory_mb=0)
        return IndexOptions(tmp_path / "home", workers=1, embedding=EmbeddingOptions("none"), cache=cache, store=chosen)

    return made


@pytest.fixture
def paths() -> Callable[[Index, str], list[str]]:
    """The paths of a search's results, best first."""
    return lambda index, text: [hit.path for hit in index.search(Query(text)).hits]


@pytest.fixture
def served(qdrant: QdrantDouble) -> Callable[[], str]:
    """Gives the collection that the only alias stands for."""

    def named() -> str:
        [name] = qdrant.aliases.values()
        return name

    return named
