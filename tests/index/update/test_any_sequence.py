"""Whatever is done to a tree and to the processes that index it, the index becomes what a fresh one of the tree is.

Operations on files, updates, rebuilds, compactions, freezing, changes of an option that make another generation, and
processes that are killed in any of these at any step: hypothesis chooses what comes after what. `tests/bench/kills.py`
does it longer, with the processes of owners and clients.
"""

import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from shutil import rmtree

import mortal
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from cqm.index.engine import Index
from cqm.index.model.query import Query
from cqm.index.store.edge import EdgeStore
from cqm.index.store.layered import LayeredStore

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("forked_programs")]

NAMES = st.sampled_from(["a.py", "b.py", "folder/c.py", "folder/d.py", "folder/within/e.md"])
NUMBERS = st.integers(0, 3)
# As many as most operations on these trees take: some outlive it, as `python tests/bench/mortal.py ... 0` tells.
STEPS = st.integers(1, 40_000)
QUESTIONS = ("run", "Worker value", "heading of a document")


def text_of(name: str, number: int) -> str:
    """Return what is written to a file: several chunks, of which another number changes some."""
    if name.endswith(".md"):
        return f"# Heading\n\nA document, {number}.\n\n## Next\n\nThe same heading of a document.\n"
    return (
        f"class Worker:\n    def run(self):\n        return {number}\n\n    def value(self):\n        return 'same'\n\n"
        f"    def at_{number}(self):\n        return 'another name'\n"
    )


def ids_in(store: object) -> set[str]:
    """All points of a store, those too that nothing knows of."""
    if isinstance(store, LayeredStore):
        held = store._state()
        return held.live | (ids_in(store._base) - held.hidden)
    assert isinstance(store, EdgeStore)
    return set(store.ids())


def contents(index: Index) -> object:
    """All that an index holds and tells of its tree."""
    manifest = index._lineage.serving.manifest
    rows = {row.id: row for path in manifest.paths() for row in manifest.chunks_of(path)}
    # The better part of a score is of all documents together: one that was left behind would show.
    answers = [
        [(hit.path, hit.start_line, round(hit.score, 6)) for hit in index.search(Query(q)).hits] for q in QUESTIONS
    ]
    return ids_in(index._lineage.serving.store), rows, sorted(manifest.names.beginning_with("")), answers


class Killed(RuleBasedStateMachine):
    """A tree, its index, and what happens to them."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp()).resolve()
        self.root, self.home = self.folder / "tree", self.folder / "home"
        self.root.mkdir()
        self.apart = False
        self.acknowledged: set[str] = set()

    def teardown(self) -> None:
        try:
            self.converge()
        finally:
            rmtree(self.folder)

    @rule(name=NAMES, number=NUMBERS)
    def write(self, name: str, number: int) -> None:
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text_of(name, number))

    @rule(name=NAMES)
    def delete(self, name: str) -> None:
        (self.root / name).unlink(missing_ok=True)

    @rule(name=NAMES, other=NAMES)
    def rename(self, name: str, other: str) -> None:
        if (self.root / name).exists():
            (self.root / other).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).replace(self.root / other)

    @precondition(lambda self: (self.root / "folder").exists())
    @rule(number=NUMBERS)
    def move_folder(self, number: int) -> None:
        target = self.root / f"moved_{number}"
        if not target.exists():
            (self.root / "folder").rename(target)

    @rule()
    def change_option(self) -> None:
        self.apart = not self.apart

    @rule(operation=st.sampled_from(sorted(mortal.OPERATIONS)), step=STEPS)
    def kill(self, operation: str, step: int) -> None:
        """Work on the index in a process that dies at a step, or ends before it."""
        apart = "apart" if self.apart else "together"
        command = [sys.executable, mortal.__file__, str(self.root), str(self.home), operation, apart, str(step)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode in {0, -signal.SIGKILL}, done.stderr

    @rule()
    def converge(self) -> None:
        """Bring it up to date, and compare it with an index that never knew anything else."""
        options = mortal.options_of(self.home, apart=self.apart)
        with Index.open(self.root, options) as index:
            before = index.status()
            if before.complete:
                # What a kill left is answered from, as it was committed.
                assert index.search(Query("run")).chunks == before.chunks
            summary = index.update()
            assert not summary.failed
            assert not [note for note in summary.notes if "damaged" in note]
            found = contents(index)
            assert index.update().chunks_written == 0
            assert index.status(look=True).pending == 0
        fresh = mortal.options_of(self.folder / "fresh", apart=self.apart)
        with Index.open(self.root, fresh) as index:
            index.update()
            assert found == contents(index)
        rmtree(self.folder / "fresh")


@pytest.mark.timeout(900)
class TestKilled(Killed.TestCase):  # type: ignore[misc] # made by hypothesis
    settings = settings(
        max_examples=6, stateful_step_count=14, deadline=None, derandomize=True,
        suppress_health_check=[HealthCheck.too_slow], print_blob=True,
    )  # fmt: skip
