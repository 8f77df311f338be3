"""An index on a Qdrant server answers as one in a folder."""

import shutil
import sysconfig
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from qdrant_double import QdrantDouble

from cqm.index.engine import Index
from cqm.index.model.options import CacheOptions, IndexOptions, StoreOptions
from cqm.index.model.query import Query, SearchMode

pytestmark = pytest.mark.processes

STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))
PACKAGES = ("concurrent", "json", "wsgiref")
MODULES = ("configparser.py", "queue.py", "shelve.py", "textwrap.py")
GUIDE = Path(__file__).parents[3] / "chunkers/golden/documents/useQuery.md"

QUERIES = (
    Query("where is a file of settings read"),
    Query("RawConfigParser"),
    Query("_interpolate_some"),
    Query("wait for an item of the queue until a time-out"),
    Query("how are errors in a document reported", mode=SearchMode.SEMANTIC),
    Query("environment variables", mode=SearchMode.LEXICAL),
    Query("def dumps", languages=("python",)),
    Query("serve a request", include=("wsgiref/**",)),
    Query("pool of threads", exclude=("concurrent/**",)),
    Query("futures that are done", kinds=("class",)),
    Query("strings", include=("json/*.py",), mode=SearchMode.HYBRID),
    Query("what is written when a shelf is closed"),
)


Options = Callable[..., IndexOptions]
Paths = Callable[[Index, str], list[str]]
Served = Callable[[], str]


def test_a_repository_has_the_same_chunks_and_the_same_first_results_as_in_a_folder(
    tmp_path: Path, qdrant: QdrantDouble, served: Served
) -> None:
    tree = tmp_path / "tree"
    for package in PACKAGES:
        shutil.copytree(STANDARD_LIBRARY / package, tree / package, ignore=shutil.ignore_patterns("__pycache__"))
    for module in MODULES:
        shutil.copy(STANDARD_LIBRARY / module, tree)
    shutil.copy(GUIDE, tree)
    cache = CacheOptions(folder=tmp_path / "cache")
    here = IndexOptions(tmp_path / "here", cache=cache)
    there = IndexOptions(tmp_path / "there", cache=cache, store=StoreOptions(url=qdrant.url))
    with Index.open(tree, here) as embedded, Index.open(tree, there) as remote:
        assert embedded.update().chunks_written == remote.update().chunks_written
        chunks = embedded._lineage.serving.store.ids()  # type: ignore[attr-defined]
        assert set(chunks) == qdrant.ids(served())
        for query in QUERIES:
            assert_same(remote, embedded, query)
        (tree / "shelve.py").unlink()
        (tree / "new.py").write_text("def entirely_new_function():\n    return RawConfigParser\n")
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
