"""Files and folders that vanish, change, lie about their time or become something else, while they are indexed."""

import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cqm.index.engine import Index
from cqm.index.model.errors import ScanError
from cqm.index.model.options import CacheOptions, EmbeddingOptions, IndexOptions
from cqm.index.model.progress import Progress
from cqm.index.model.query import Query

pytestmark = pytest.mark.processes

YEAR_NS = 365 * 24 * 3600 * 10**9
BATCH = 100
"""Files beside those that change: more than are prepared together."""


def text(name: str) -> str:
    return f"def {name}(value):\n    return value\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "late").mkdir(parents=True)
    for number in range(BATCH):
        (root / f"early_{number}.py").write_text(text(f"early_{number}"))
    for name in ("kept", "other"):
        (root / "late" / f"{name}.py").write_text(text(name))
    return root


@pytest.fixture
def options(tmp_path: Path) -> IndexOptions:
    none = EmbeddingOptions("none")
    return IndexOptions(tmp_path / "home", embedding=none, workers=1, cache=CacheOptions(enabled=False))


@pytest.fixture
def index(tree: Path, options: IndexOptions) -> Iterator[Index]:
    with Index.open(tree, options) as opened:
        yield opened


Hold = Callable[[Index], None]


@pytest.fixture
def equals_a_fresh_one(tree: Path, options: IndexOptions, tmp_path: Path) -> Hold:
    """Compares what an index holds with a fresh index of the tree."""

    def compare(index: Index) -> None:
        with Index.open(tree, replace(options, home=tmp_path / "fresh")) as fresh:
            fresh.update()
            assert {*index._lineage.serving.store.ids()} == {*fresh._lineage.serving.store.ids()}
            assert index._lineage.serving.manifest.paths() == fresh._lineage.serving.manifest.paths()

    return compare


def between_scan_and_reading(action: Callable[[], object]) -> Callable[[Progress], None]:
    def report(progress: Progress) -> None:
        if progress.phase == "indexing" and progress.done == 0:
            action()

    return report


def found(index: Index, name: str) -> list[str]:
    return [hit.path for hit in index.search(Query(name)).hits if hit.symbol == name]


@pytest.mark.fault("file vanishes")
def test_a_file_that_vanishes_before_it_is_read_is_gone(index: Index, tree: Path, equals_a_fresh_one: Hold) -> None:
    summary = index.update(report=between_scan_and_reading((tree / "late" / "other.py").unlink))
    assert summary.failed == ()
    assert found(index, "other") == []
    equals_a_fresh_one(index)


@pytest.mark.fault("folder becomes a file")
def test_a_folder_that_becomes_a_file_before_its_files_are_read(
    index: Index, tree: Path, equals_a_fresh_one: Hold
) -> None:
    def swap() -> None:
        shutil.rmtree(tree / "late")
        (tree / "late").write_text("It was a folder.\n")

    index.update()
    (tree / "late" / "kept.py").write_text(text("changed"))
    for path in tree.rglob("*.py"):
        path.write_text(f"{path.read_text()}\n")
    summary = index.update(report=between_scan_and_reading(swap))
    assert [problem.path for problem in summary.failed] == ["late/kept.py", "late/other.py"]
    assert found(index, "kept") == ["late/kept.py"]
    index.update()
    assert found(index, "kept") == []
    equals_a_fresh_one(index)


@pytest.mark.fault("file changes while it is read")
def test_a_file_that_changes_between_the_scan_and_its_reading_is_stored_as_it_was_read(
    index: Index, tree: Path, equals_a_fresh_one: Hold
) -> None:
    index.update(report=between_scan_and_reading(lambda: (tree / "late" / "kept.py").write_text(text("grown") * 50)))
    assert found(index, "kept") == []
    assert found(index, "grown")
    equals_a_fresh_one(index)


@pytest.mark.fault("file changes while it is read")
def test_a_file_that_grows_all_the_time_is_as_it_is_at_last_after_one_more_update(
    index: Index, tree: Path, equals_a_fresh_one: Hold
) -> None:
    grown, ended = tree / "late" / "kept.py", threading.Event()

    def grow() -> None:
        with grown.open("a") as file:
            number = 0
            while not ended.is_set():
                number += 1
                file.write(text(f"grown_{number % 1000}"))
                file.flush()
                if number % 1000 == 0:
                    file.truncate(0)

    growing = threading.Thread(target=grow)
    growing.start()
    try:
        for _ in range(5):
            assert index.update(["late/kept.py"]).failed == ()
    finally:
        ended.set()
        growing.join()
    index.update()
    equals_a_fresh_one(index)


@pytest.mark.fault("clock jumps")
@pytest.mark.parametrize("jump_ns", [-30 * YEAR_NS, -YEAR_NS, YEAR_NS, 100 * YEAR_NS])
def test_a_change_is_found_whatever_the_clock_says(
    index: Index, tree: Path, jump_ns: int, equals_a_fresh_one: Hold
) -> None:
    changed = tree / "late" / "kept.py"
    first, second = text("aaaa"), text("bbbb")
    then = time.time_ns() + jump_ns
    changed.write_text(first)
    os.utime(changed, ns=(then, then))
    index.update()
    # With a clock that jumped, an older file may have been written later.
    for stamp in (then - 10**9, then + 10**9, time.time_ns()):
        changed.write_text(second)
        os.utime(changed, ns=(stamp, stamp))
        index.update()
        assert found(index, second[4:8])
        first, second = second, first
    equals_a_fresh_one(index)


@pytest.mark.fault("clock jumps")
def test_a_change_of_the_same_size_and_time_is_found_while_the_time_lies_in_the_future(
    index: Index, tree: Path
) -> None:
    future = time.time_ns() + YEAR_NS
    for name in ("aaaa", "bbbb"):
        (tree / "late" / "kept.py").write_text(text(name))
        os.utime(tree / "late" / "kept.py", ns=(future, future))
        index.update()
        assert found(index, name)


@pytest.mark.fault("root gone")
def test_an_index_whose_root_is_gone_keeps_all_and_goes_on_when_it_is_back(
    index: Index, tree: Path, equals_a_fresh_one: Hold
) -> None:
    index.update()
    tree.rename(tree.with_name("away"))
    for paths in (None, ["late/kept.py"]):
        with pytest.raises(ScanError, match="tree") as caught:
            index.update(paths)
        assert caught.value.remedy
        assert found(index, "kept") == ["late/kept.py"]
    tree.with_name("away").rename(tree)
    assert index.update().chunks_written == 0
    equals_a_fresh_one(index)


@pytest.mark.fault("root gone")
def test_a_root_that_is_gone_in_the_middle_of_an_update_costs_no_file(
    index: Index, tree: Path, equals_a_fresh_one: Hold
) -> None:
    index.update()
    for path in tree.rglob("*.py"):
        path.write_text(f"{path.read_text()}\n")
    with pytest.raises(ScanError, match="is gone"):
        index.update(report=between_scan_and_reading(lambda: tree.rename(tree.with_name("away"))))
    assert found(index, "kept") == ["late/kept.py"]
    tree.with_name("away").rename(tree)
    index.update()
    equals_a_fresh_one(index)


@pytest.mark.fault("root gone")
def test_files_of_a_folder_that_was_put_in_the_place_of_the_root_could_not_be_read(
    index: Index, tree: Path, equals_a_fresh_one: Hold
) -> None:
    index.update()
    tree.rename(tree.with_name("away"))
    shutil.copytree(tree.with_name("away"), tree)
    (tree / "late" / "new.py").write_text(text("another"))
    assert index.update().failed == ()
    assert found(index, "another") == ["late/new.py"]
    equals_a_fresh_one(index)


@pytest.mark.fault("killed")
@pytest.mark.skipif(sys.platform != "linux", reason="children are found in /proc")
def test_a_file_stayed_failed_when_the_process_that_forks_its_worker_was_killed(
    index: Index, tree: Path, equals_a_fresh_one: Hold
) -> None:
    # Parsed while the batches before it are stored.
    (tree / "late" / "long.py").write_text("".join(text(f"long_{number}") for number in range(8000)))
    killed: list[int] = []

    def kill_once(progress: Progress) -> None:
        if progress.done and not killed:
            killed.extend(processes_that_fork())
            for process in killed:
                os.kill(process, signal.SIGKILL)

    assert index.update(report=kill_once).failed == ()
    assert killed
    equals_a_fresh_one(index)


def processes_that_fork() -> list[int]:
    children = [it for file in Path("/proc/self/task").glob("*/children") for it in file.read_text().split()]
    return [int(it) for it in children if b"cqm.index.workers" in Path(f"/proc/{it}/cmdline").read_bytes()]


@pytest.mark.fault("disk not mounted")
@pytest.mark.parametrize("paths", [None, ["late", "early_1.py"]])
def test_an_empty_folder_in_the_place_of_the_root_emptied_the_index(
    index: Index, tree: Path, paths: list[str] | None
) -> None:
    index.update()
    tree.rename(tree.with_name("unmounted"))
    tree.mkdir()
    with pytest.raises(ScanError, match="is another folder than was indexed, and empty") as caught:
        index.update(paths)
    assert "--force" in caught.value.remedy
    assert found(index, "kept") == ["late/kept.py"]
    # It is mounted again.
    tree.rmdir()
    tree.with_name("unmounted").rename(tree)
    assert index.update().chunks_written == 0


@pytest.mark.fault("disk not mounted")
def test_an_empty_folder_is_indexed_when_it_is_meant_and_when_it_was_emptied(index: Index, tree: Path) -> None:
    index.update()
    shutil.rmtree(tree)
    tree.mkdir()
    assert index.update(anew=True).notes == ()
    assert index.status().chunks == 0
    (tree / "one.py").write_text(text("one"))
    index.update()
    (tree / "one.py").unlink()
    assert index.update().deleted == 1


@pytest.mark.fault("disk not mounted")
def test_a_file_in_the_place_of_the_root_emptied_the_index(index: Index, tree: Path) -> None:
    index.update()
    tree.rename(tree.with_name("away"))
    tree.write_text(text("a_file"))
    with pytest.raises(ScanError, match="was a folder when it was indexed"):
        index.update()
    assert found(index, "kept") == ["late/kept.py"]


@pytest.mark.fault("odd files")
def test_links_pipes_devices_and_odd_names_are_told_with_their_reasons(index: Index, tree: Path) -> None:
    if os.name != "posix":
        pytest.skip("there is nothing of the kind here")
    (tree / "loop").symlink_to("loop")
    (tree / "up").symlink_to("..")
    os.mkfifo(tree / "pipe.py")
    expected = {"loop": "link", "up": "link", "pipe.py": "not a regular file"}
    try:
        os.mknod(tree / "device.py", 0o020600, os.makedev(1, 5))
        expected["device.py"] = "not a regular file"
    except PermissionError:
        pass
    try:
        Path(os.fsdecode(os.fsencode(tree) + b"/odd_\xff.py")).write_text(text("odd"))
        expected["odd_\\xff.py"] = "undecodable"
    except OSError:
        pass
    assert index.update().failed == ()
    assert {problem.path: problem.reason for problem in index.skipped()} == expected


@pytest.mark.fault("many files")
def test_many_small_files_are_indexed_and_an_update_of_one_reads_one(tmp_path: Path, options: IndexOptions) -> None:
    """`tests/bench/many_files.py` does it with up to a million."""
    tree = tmp_path / "many"
    for number in range(2000):
        path = tree / f"{number % 50}" / f"file_{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"NUMBER_{number} = {number}\n")
    with Index.open(tree, options) as index:
        assert index.update().added == 2000
        (tree / "7" / "file_7.py").write_text("NUMBER_7 = 'seven'\n")
        assert index.update(["7/file_7.py"]).modified == 1
        assert index.search(Query("NUMBER_1999")).hits[0].path == "49/file_1999.py"
