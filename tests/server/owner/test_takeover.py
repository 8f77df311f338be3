"""Owners and clients that are killed: what others do goes on, and nothing is lost."""

import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest

from cqm.index.engine import Index
from cqm.index.model.progress import Progress
from cqm.index.model.query import Query
from cqm.index.status.status import read_status
from cqm.server.errors import SharingError
from cqm.server.owner import connect
from cqm.server.owner.address import read_address

if TYPE_CHECKING:
    from conftest import Place

pytestmark = pytest.mark.processes

FORKED = pytest.mark.usefixtures("forked_programs")
"""The last test looks for what an owner starts, which is no child of one that was forked."""

UPDATING = """
import sys
from pathlib import Path
from cqm.index.model.options import EmbeddingOptions, IndexOptions
from cqm.server.owner.client import RemoteIndex
options = IndexOptions(home=Path(sys.argv[2]), workers=1, embedding=EmbeddingOptions(provider="none"))
with RemoteIndex.open(Path(sys.argv[1]), options, idle_seconds=0) as index:
    index.update(report=lambda progress: print(progress.phase, flush=True))
"""


def chunk_ids(place: "Place", home: Path | None = None) -> set[str]:
    """The ids of all points of an index that nobody has open; brought up to date first in another home."""
    options = replace(place.options, home=home) if home else place.options
    with Index.open(place.root, options) as index:
        if home:
            index.update()
        return set(index._lineage.serving.store.ids())


@FORKED
def test_an_update_goes_on_when_its_owner_is_killed_in_the_middle(large: "Place", tmp_path: Path) -> None:
    killed = set()

    def kill(progress: Progress) -> None:
        if progress.phase == "indexing" and progress.done > 200 * len(killed) and len(killed) < 3:
            killed.add(large.owner)
            os.kill(large.owner, signal.SIGKILL)

    with large.open(idle_seconds=0) as index:
        summary = index.update(report=kill)
        assert index.status(look=True).pending == 0
    assert not summary.cancelled
    assert len(killed) == 3
    large.wait_for_end()
    assert chunk_ids(large) == chunk_ids(large, tmp_path / "fresh")


@FORKED
def test_searches_go_on_when_the_owner_is_killed(place: "Place", background: Any) -> None:
    with place.open() as index:
        index.update()
        enough = Event()

        def search() -> int:
            count = 0
            while not enough.is_set():
                assert index.search(Query("compute_1")).hits[0].path == "module_1.py"
                count += 1
            return count

        searching = [background(search) for _ in range(4)]
        for _ in range(3):
            place.kill()
            assert index.search(Query("compute_2")).hits
        enough.set()
        assert all(searched.result() > 0 for searched in searching)


@FORKED
def test_an_index_deleted_under_its_owner_is_made_anew_by_a_client_that_stayed(place: "Place") -> None:
    """Once its folder was one that others may enter, where no client looks for an owner."""
    with place.open() as index:
        index.update()
        owner = place.owner
        shutil.rmtree(place.folder)
        os.kill(owner, signal.SIGKILL)
        assert index.update().added
        assert index.search(Query("compute_1")).hits
    assert not place.folder.stat().st_mode & 0o077


@FORKED
def test_clients_come_to_an_index_whose_owners_die_as_they_start(place: "Place", background: Any) -> None:
    with place.open() as index:
        index.update()
        killed = {place.owner}
        place.kill()

        def kill_the_next() -> None:
            while (owner := found_owner(place)) in killed:
                os.sched_yield()
            with suppress(ProcessLookupError):
                os.kill(owner, signal.SIGKILL)
            killed.add(owner)

        def come() -> int:
            with place.open() as another:
                return another.search(Query("compute_1")).chunks

        for _ in range(3):
            coming = [background(come) for _ in range(4)]
            kill_the_next()
            assert {each.result() for each in coming} == {3}
            place.kill()
            killed.add(place.owner)


@pytest.mark.timeout(60)
@pytest.mark.skipif(sys.platform == "win32", reason="a program of the shell stands for the owner")
def test_an_owner_that_hangs_at_its_start_is_ended_and_told(
    place: "Place", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hangs = tmp_path / "python"
    # As an owner does, it leaves the work to a child, which holds the pipe too.
    hangs.write_text("#!/bin/sh\nsleep 600 &\n")
    hangs.chmod(0o755)
    with monkeypatch.context() as patched:
        patched.setattr(sys, "executable", str(hangs))
        patched.setattr(connect, "START_SECONDS", 1.0)
        with pytest.raises(SharingError, match=r"did not start within 1 s\. Look for the reason in"):
            place.open()
    with place.open() as index:
        assert index.update().added == 3


@FORKED
def test_a_client_that_is_killed_stops_what_it_alone_wanted(large: "Place") -> None:
    updating = [sys.executable, "-c", UPDATING, str(large.root), str(large.options.home)]
    with subprocess.Popen(updating, stdout=subprocess.PIPE, text=True) as client:
        assert client.stdout
        while client.stdout.readline() != "indexing\n":
            pass
        client.kill()
    # The owner is alone then, and ends.
    large.wait_for_end()
    status = read_status(large.root, large.options)
    assert not status.complete
    assert 0 < status.files["indexed"] < 2000


@FORKED
def test_an_owner_that_is_told_to_end_hands_its_work_on(large: "Place") -> None:
    told = []

    def end(progress: Progress) -> None:
        if progress.phase == "indexing" and not told:
            told.append(large.owner)
            os.kill(large.owner, signal.SIGTERM)

    with large.open() as index:
        assert not index.update(report=end).cancelled
        assert [large.owner] != told
        assert index.status(look=True).pending == 0


def test_the_workers_of_an_owner_that_is_killed_end_too(large: "Place") -> None:
    for number in range(400):
        # Enough to be worth several processes.
        (large.root / f"larger_{number}.py").write_text(f"def compute_{number}(value):\n    return value\n" * 300)
    workers: list[int] = []

    def kill(progress: Progress) -> None:
        if progress.done and not workers:
            [forks] = children(large.owner)
            workers.extend([forks, *children(forks)])
            assert workers
            os.kill(large.owner, signal.SIGKILL)

    with large.open(replace(large.options, workers=2)) as index:
        index.update(report=kill, cancelled=lambda: bool(workers))
    assert len(workers) >= 3
    for worker in workers:
        wait_for_death(worker)


def found_owner(place: "Place") -> int:
    """The number of the last process that told where it listens."""
    address = read_address(place.folder)
    assert address
    return address.pid


def children(pid: int) -> list[int]:
    threads = Path(f"/proc/{pid}/task").iterdir()
    return [int(child) for thread in threads for child in (thread / "children").read_text().split()]


def wait_for_death(pid: int) -> None:
    """Wait for a process that is nobody's child here; pytest's time limit ends what would be for ever."""
    while Path(f"/proc/{pid}").exists():
        os.sched_yield()
