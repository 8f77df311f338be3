"""Which generation serves, and what becomes of the others, whatever happens at the same time."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cqm.chunkers.model import ChunkOptions
from cqm.index.disk.size import size_on_disk
from cqm.index.engine import Index
from cqm.index.model.errors import ScanError
from cqm.index.model.options import IndexOptions
from cqm.index.model.progress import Progress
from cqm.index.model.query import Query
from cqm.index.status.status import read_status

pytestmark = pytest.mark.processes


@pytest.fixture
def index(tree: Path, options: IndexOptions) -> Iterator[Index]:
    with Index.open(tree, options) as opened:
        opened.update()
        yield opened


def generations(index: Index) -> set[str]:
    """The folders of generations that there are, obsolete ones included."""
    return {path.name for path in index.folder.iterdir() if path.is_dir()}


def test_closing_while_others_read_left_the_shard_open(index: Index, tree: Path, options: IndexOptions) -> None:
    errors: list[Exception] = []
    started = threading.Barrier(5)

    def read() -> None:
        started.wait()
        for number in range(10_000):
            try:
                index.search(Query(f"gather_{number}"))
                index.status()
            except ScanError:
                return
            except Exception as error:  # noqa: BLE001 - told by the test
                errors.append(error)
                return

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    started.wait()
    index.search(Query("gather_1"))
    index.close()
    for reader in readers:
        reader.join()
    assert errors == []
    with Index.open(tree, options) as again:
        assert again.update().unchanged == 3


def test_a_generation_that_was_set_aside_was_taken_for_one_that_serves(
    index: Index, tree: Path, options: IndexOptions
) -> None:
    [name] = generations(index)
    index.close()
    # As a kill leaves it between setting the damaged one aside and beginning another.
    (index.folder / name).rename(index.folder / f"obsolete-{name}")
    (index.folder / "current").unlink()
    assert not read_status(tree, options).exists
    with Index.open(tree, options) as again:
        assert again.search(Query("gather_2")).hits == ()
        assert again.update().added == 3
    assert generations(index) == {name}


def test_a_rebuild_that_failed_deleted_what_was_half_built_for_other_options(
    index: Index, tree: Path, options: IndexOptions
) -> None:
    index.close()
    other = replace(options, chunk=ChunkOptions(max_tokens=256))
    with Index.open(tree, other) as again:
        with pytest.raises(InterruptedError):
            again.update(report=interrupted)
        building = generations(again)
        assert len(building) == 2
        with pytest.raises(InterruptedError):
            again.update(anew=True, report=interrupted)
    assert generations(again) == building


def interrupted(progress: Progress) -> None:
    """Ends an update once files are stored."""
    if progress.phase == "indexing":
        raise InterruptedError


def test_counting_an_index_failed_while_its_files_came_and_went(index: Index) -> None:
    enough = threading.Event()

    def come_and_go() -> None:
        while not enough.is_set():
            for number in range(50):
                (index.folder / f"passing_{number}").mkdir()
                (index.folder / f"passing_{number}" / "file").touch()
            for number in range(50):
                (index.folder / f"passing_{number}" / "file").unlink()
                (index.folder / f"passing_{number}").rmdir()

    thread = threading.Thread(target=come_and_go)
    thread.start()
    try:
        assert all(size_on_disk(index.folder) > 0 for _ in range(200))
    finally:
        enough.set()
        thread.join()
