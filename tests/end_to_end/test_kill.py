"""An indexing process that is killed at a random moment loses nothing and leaves nothing wrong."""

import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from cqm.index.engine import Index
from cqm.index.model.options import IndexOptions
from cqm.index.model.query import Query

pytestmark = pytest.mark.usefixtures("forked_programs")

INDEXING = """
import sys
from pathlib import Path
from cqm.index.engine import Index
from cqm.index.model.options import IndexOptions
print("started", flush=True)
with Index.open(Path(sys.argv[1]), IndexOptions(home=Path(sys.argv[2]), workers=1)) as index:
    index.update(report=lambda progress: print(progress.done, flush=True))
"""

DYING_UNFLUSHED = """
import os, sys
from pathlib import Path
from cqm.index.engine import Index
from cqm.index.model.options import IndexOptions
index = Index.open(Path(sys.argv[1]), IndexOptions(home=Path(sys.argv[2]), workers=1))
index._lineage.serving.store._flush_lock.acquire()
index.update()
os._exit(9)
"""


def write_tree(root: Path, version: int) -> None:
    """A tree whose every version differs from the one before in some files, lacks one and has a new one."""
    chosen = random.Random(version)
    for number in range(250):
        text = "\n\n".join(
            f'def compute_{number}_{part}(value):\n    """Compute part {part}."""\n    return value * {part} + {number}'
            for part in range(6)
        )
        if chosen.random() < 0.5:
            text = f"VERSION = {version}\n\n{text.replace('value', f'value_{version}')}"
        (root / f"module_{number}.py").write_text(text)
    (root / f"module_{version}.py").unlink()
    (root / f"extra_{version}.py").write_text(f"def extra_{version}():\n    return {version}\n")


def stored_ids(index: Index) -> set[str]:
    """The ids of all points in the store."""
    return set(index._lineage.serving.store.ids())


def run_and_kill(tree: Path, home: Path, after_batches: int) -> bool:
    """Start indexing and kill it after some batches were reported; tells whether it was still running."""
    process = subprocess.Popen(
        [sys.executable, "-c", INDEXING, str(tree), str(home)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    for _ in range(after_batches + 1):
        process.stdout.readline()
    # A random part of a batch's time, so that the kill falls between any two steps of it.
    threading.Event().wait(random.random() * 0.15)
    running = process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    return running


@pytest.mark.fault("killed")
@pytest.mark.timeout(1200)
def test_an_index_killed_again_and_again_converges_to_what_a_fresh_index_of_the_tree_holds(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    killed_while_running = 0
    # `tests/bench/kills.py` kills every operation any number of times.
    for version in range(12):
        write_tree(tree, version)
        killed_while_running += run_and_kill(tree, tmp_path / "home", after_batches=version % 4)
        if version % 6 == 5:
            with Index.open(tree, IndexOptions(home=tmp_path / "home", workers=1)) as index:
                index.update()
                converged, hits = stored_ids(index), index.search(Query("compute_7_3 extra_5")).hits
            with Index.open(tree, IndexOptions(home=tmp_path / f"fresh_{version}", workers=1)) as fresh:
                fresh.update()
                assert converged == stored_ids(fresh)
                expected = fresh.search(Query("compute_7_3 extra_5")).hits
                # With the scores: a kill must not leave the weights of words off.
                assert [(hit.path, hit.score) for hit in hits] == [(hit.path, hit.score) for hit in expected]
    assert killed_while_running >= 6


@pytest.mark.fault("killed")
def test_what_was_committed_but_not_flushed_when_a_process_died_is_written_again(tmp_path: Path) -> None:
    # The store's log may replay a deletion over a later insertion: points of unflushed files are not to be trusted.
    tree, options = tmp_path / "tree", IndexOptions(home=tmp_path / "home", workers=1)
    tree.mkdir()
    (tree / "settled.py").write_text("def settled():\n    return 1\n")
    with Index.open(tree, options) as index:
        index.update()
    (tree / "written.py").write_text("def written():\n    return 2\n")
    dying = [sys.executable, "-c", DYING_UNFLUSHED, str(tree), str(tmp_path / "home")]
    assert subprocess.run(dying, check=False).returncode == 9
    with Index.open(tree, options) as index:
        mended = index.update()
    assert (mended.modified, mended.chunks_written) == (1, 1)
    with Index.open(tree, options) as index:
        assert index.update().chunks_written == 0
