"""An index on a Qdrant server answers as one in a folder."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from qdrant_double import QdrantDouble

from cqm.index.engine import Index
from cqm.index.model.options import CacheOptions, IndexOptions, StoreOptions
from cqm.index.model.query import Query, SearchMode

REPOSITORY = Path(__file__).parents[3]

QUERIES = (
    Query("where is the store opened"),
    Query("EdgeStore"),
    Query("_settled_points"),
    Query("retry a request after a time-out"),
    Query("how are damaged generations found", mode=SearchMode.SEMANTIC),
    Query("filter by folder", mode=SearchMode.LEXICAL),
    Query("def upsert", languages=("python",)),
    Query("embedding provider", include=("embedding/**",)),
    Query("cache of vectors on disk", exclude=("embedding/**",)),
    Query("Redis password", kinds=("class",)),
    Query("tokens", include=("cache/*.py",), mode=SearchMode.HYBRID),
    Query("what is written when an update is cancelled"),
)


Options = Callable[..., IndexOptions]
Paths = Callable[[Index, str], list[str]]
Served = Callable[[], str]


def test_a_repository_has_the_same_chunks_and_the_same_first_results_as_in_a_folder(
    tmp_path: Path, qdrant: QdrantDouble, served: Served
) -> None:
    tree = tmp_path / "tree"
    for part in ("embedding", "cache", "contextual"):
        shutil.copytree(REPOSITORY / "index" / part, tree / part, ignore=shutil.ignore_patterns("__pycache__"))
    for path in (REPOSITORY / "index").glob("*.py"):
        shutil.copy(path, tree)
    shutil.copy(REPOSITORY / "README.md", tree)
    cache = CacheOptions(folder=tmp_path / "cache")
    here = IndexOptions(tmp_path / "here", cache=cache)
    there = IndexOptions(tmp_path / "there", cache=cache, store=StoreOptions(url=qdrant.url))
    with Index.open(tree, here) as embedded, Index.open(tree, there) as remote:
        assert embedded.update().chunks_written == remote.update().chunks_written
        chunks = embedded._lineage.serving.store.ids()  # type: ignore[attr-defined]
        assert set(chunks) == qdrant.ids(served())
        for query in QUERIES:
            assert_same(remote, embedded, query)
        (tree / "home.py").unlink()
        (tree / "new.py").write_text("def entirely_new_function():\n    return EdgeStore\n")
        assert embedded.update().chunks_deleted == remote.update().chunks_deleted > 0
        assert set(embedded._lineage.serving.store.ids()) == qdrant.ids(served())  # type: ignore[attr-defined]
        for query in (*QUERIES, Query("entirely_new_function")):
            assert_same(remote, embedded, query)


def assert_same(index: Index, other: Index, query: Query) -> None:
    """The same places in the same order; scores but for the last digits, as each store adds up in its own order."""
    first, second = (each.search(replace(query, limit=10)).hits for each in (index, other))
    assert first, query
    shown = [[(hit.path, hit.start_line, hit.end_line, hit.text) for hit in hits] for hits in (first, second)]
    assert shown[0] == shown[1], query
    assert [hit.score for hit in first] == pytest.approx([hit.score for hit in second], abs=1e-4)


def test_an_index_that_is_closed_is_opened_again_as_it_was(
    tree: Path, options: Options, qdrant: QdrantDouble, paths: Paths
) -> None:
    with Index.open(tree, options()) as index:
        index.update()
    with Index.open(tree, options()) as index:
        assert index.status().complete
        assert index.status().damage == ""
        assert paths(index, "gather_3")[0] == "part_3.py"
        before = len(qdrant.requests)
        assert index.update().unchanged == 5
        assert {asked.method for asked in qdrant.requests[before:]} <= {"GET"}
