"""Remains of a failed or killed update are mended by the next ones."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cqm.index.engine import Index
from cqm.index.model.errors import ManifestError
from cqm.index.model.options import IndexOptions, ScanOptions
from cqm.index.model.query import Query

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("forked_programs")]

DYING = """
import os, sys
from pathlib import Path
from cqm.index.engine import Index
from cqm.index.model.options import IndexOptions, ScanOptions
scan = ScanOptions(max_file_bytes=int(sys.argv[3]))
index = Index.open(Path(sys.argv[1]), IndexOptions(home=Path(sys.argv[2]), workers=1, scan=scan))
index._lineage.serving.store._flush_lock.acquire()
index.update()
os._exit(9)
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    (root / "kept.py").write_text("def kept():\n    return 1\n")
    (root / "changed.py").write_text("def before():\n    return 2\n")
    for path in root.iterdir():
        os.utime(path, (1_700_000_000, 1_700_000_000))
    return root


@pytest.fixture
def index(tree: Path, tmp_path: Path) -> Iterator[Index]:
    with Index.open(tree, IndexOptions(home=tmp_path / "home", workers=1)) as opened:
        opened.update()
        yield opened


def found(index: Index, query: str) -> list[str]:
    return [hit.symbol for hit in index.search(Query(query)).hits if hit.symbol == query]


def test_a_chunk_lost_for_ever_when_a_commit_failed_and_the_file_was_put_back(index: Index, tree: Path) -> None:
    old = (tree / "changed.py").read_text()
    (tree / "changed.py").write_text("def after():\n    return 3\n")
    database = index._lineage.serving.manifest._db
    database.execute("CREATE TRIGGER full BEFORE INSERT ON chunk BEGIN SELECT RAISE(FAIL, 'disk full'); END")
    with pytest.raises(ManifestError, match="disk full"):
        index.update()
    database.execute("DROP TRIGGER full")
    (tree / "changed.py").write_text(old)
    index.update()
    assert found(index, "before") == ["before"]
    assert found(index, "after") == []
    assert index._lineage.serving.manifest.pending() == ()


def test_a_path_left_pending_for_ever_when_its_file_was_skipped_before_the_process_died(
    tree: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    options = IndexOptions(home=home, workers=1, scan=ScanOptions(max_file_bytes=60))
    with Index.open(tree, options) as index:
        index.update()
    (tree / "changed.py").write_text("def before():\n    return 2\n" * 3)
    assert subprocess.run([sys.executable, "-c", DYING, str(tree), str(home), "60"], check=False).returncode == 9
    with Index.open(tree, options) as index:
        assert index._lineage.serving.manifest.pending() == ("changed.py",)
        index.update()
        assert index._lineage.serving.manifest.pending() == ()
        assert found(index, "before") == []


def test_orphans_of_a_path_that_was_settled_before_they_were_mended(index: Index, tree: Path) -> None:
    (tree / "changed.py").write_text("def after():\n    return 3\n")
    database = index._lineage.serving.manifest._db
    database.execute("CREATE TRIGGER full BEFORE INSERT ON chunk BEGIN SELECT RAISE(FAIL, 'disk full'); END")
    with pytest.raises(ManifestError, match="disk full"):
        index.update()
    database.execute("DROP TRIGGER full")
    # Nothing can be read of it now; what the failed update left behind is still to be mended when it can.
    (tree / "changed.py").unlink()
    os.mkfifo(tree / "changed.py")
    index.update()
    (tree / "changed.py").unlink()
    (tree / "changed.py").write_text("def last():\n    return 4\n")
    index.update()
    store = index._lineage.serving.store
    assert len(store.ids_of_path("changed.py")) == 2
    assert found(index, "last") == ["last"]


def test_what_was_committed_after_the_last_flush_is_settled_by_one_of_its_own(index: Index) -> None:
    store = index._lineage.serving.store
    store.flush()
    assert store._flush_timer is None
    # Whatever an update has written, and here it writes nothing, a flush is to come when it ends.
    with store._flush_lock:
        assert index.update().chunks_written == 0
        assert store._flush_timer is not None
    store.flush()
    assert index._lineage.serving.manifest._db.execute("SELECT * FROM unsettled").fetchall() == []


@pytest.mark.fault("power cut")
def test_counts_of_before_a_power_cut_were_taken_for_those_of_after_it(tree: Path, tmp_path: Path) -> None:
    # They are kept by the number of commits, and what a cut took back is counted again.
    options, cut = IndexOptions(home=tmp_path / "home", workers=1), tmp_path / "cut"
    with Index.open(tree, options) as index:
        index.update()
        index._lineage.serving.store.flush()
        shutil.copytree(index.folder, cut)
        (tree / "new.py").write_text("def new():\n    return 3\n")
        index.update(["new.py"])
        assert index.status().chunks == 3
        folder = index.folder
    shutil.rmtree(folder)
    shutil.copytree(cut, folder)
    (tree / "new.py").write_text("\n")
    with Index.open(tree, options) as index:
        index.update(["new.py"])
        assert index.status().chunks == 2
