"""The disk of an index is full, may not be written, or loses what was on it, in real processes."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from cqm.chunkers.errors import CqmError
from cqm.index.engine import Index
from cqm.index.model.errors import ManifestError, StoreError
from cqm.index.model.options import CacheOptions, EmbeddingOptions, IndexOptions
from cqm.index.model.query import Query

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("forked_programs")]

NOBODY = 65534
MOUNTED = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c")
PREPARED = """
import os, resource, shutil, sys
# Where files are limited, Python leaves a module's compiled form cut short, and nobody can load it any more.
sys.dont_write_bytecode = True
from pathlib import Path
from cqm.chunkers.errors import CqmError
from cqm.index.engine import Index
from cqm.index.model.query import Query
from cqm.index.model.options import CacheOptions, EmbeddingOptions, IndexOptions, ScanOptions
from cqm.index.workers.forking import source_of_workers
tree, home = map(Path, sys.argv[1:3])
options = IndexOptions(home, embedding=EmbeddingOptions("none"), workers=1, cache=CacheOptions(enabled=False))

def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))

def attempt(name, action):
    try:
        action()
    except CqmError as error:
        print(name, "failed:", error)
    else:
        print(name, "succeeded")
"""


def run(script: str, *arguments: object, before: tuple[str, ...] = ()) -> str:
    """Return what a program prints that opens an index."""
    command = [*before, sys.executable, "-c", PREPARED + script, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def write(tree: Path, names: range) -> None:
    tree.mkdir(exist_ok=True)
    for number in names:
        parts = (f"def compute_{number}_{part}(value):\n    return value + {part}" for part in range(20))
        (tree / f"module_{number}.py").write_text("\n\n\n".join(parts))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    write(tmp_path / "tree", range(4))
    return tmp_path / "tree"


@pytest.fixture
def options(tmp_path: Path) -> IndexOptions:
    return IndexOptions(
        tmp_path / "home", embedding=EmbeddingOptions("none"), workers=1, cache=CacheOptions(enabled=False)
    )


def held(tree: Path, options: IndexOptions) -> set[str]:
    """The points of an index after an update."""
    with Index.open(tree, options) as index:
        index.update()
        assert index.search(Query("compute_3_3")).hits[0].path == "module_3.py"
        return {*index._lineage.serving.store.ids()}


def fresh(tree: Path, options: IndexOptions, tmp_path: Path) -> set[str]:
    return held(tree, replace(options, home=tmp_path / "fresh"))


def mounting(folder: Path, size: str) -> tuple[str, ...]:
    """Return what a command begins with to run where a small disk is mounted at a folder."""
    folder.mkdir()
    mount = f'mount -t tmpfs -o size={size} none "{folder}" && exec "$0" "$@"'
    if subprocess.run([*MOUNTED, mount, "true"], capture_output=True, check=False).returncode:
        pytest.skip("a file system cannot be mounted without privileges here")
    return (*MOUNTED, mount)


@pytest.mark.fault("disk full")
def test_a_disk_without_room_is_told_before_anything_is_written(tree: Path, tmp_path: Path) -> None:
    script = 'attempt("opening", lambda: Index.open(tree, options))'
    said = run(script, tree, tmp_path / "disk", before=mounting(tmp_path / "disk", "9m"))
    assert "opening failed: The disk of" in said
    assert "is full: 9 MB are free, 48 are needed. Free space" in said


@pytest.mark.fault("disk full")
def test_a_bus_error_killed_the_process_when_the_disk_became_full(tree: Path, tmp_path: Path) -> None:
    script = """
home.joinpath("filling").write_bytes(bytes(4_000_000))
index = Index.open(tree, options)
index.update()
home.joinpath("filling").write_bytes(bytes(4_000_000 + shutil.disk_usage(home).free - 20_000_000))
(tree / "late.py").write_text("def late(value):\\n    return value\\n")
attempt("update", index.update)
attempt("compacting", index.compact)
print(index.search(Query("compute_3_3")).hits[0].path, len(index.search(Query("late")).hits))
home.joinpath("filling").unlink()
attempt("second update", index.update)
print(index.search(Query("late")).hits[0].path)
index.close()
"""
    # On this kind of disk the holes of files take room as soon as a shard is loaded: some 270 MB.
    said = run(script, tree, tmp_path / "disk", before=mounting(tmp_path / "disk", "340m"))
    assert "update failed: The disk of" in said
    assert "compacting failed: The disk of" in said
    assert "module_3.py" in said
    assert said.endswith("second update succeeded\nlate.py\n")


@pytest.mark.fault("disk full")
@pytest.mark.parametrize(
    ("kilobytes", "says"), [(10_000, "opening failed: The store in"), (10, "opening failed: The manifest")]
)
def test_an_index_that_cannot_be_made_is_told_and_made_when_it_can(
    tree: Path, options: IndexOptions, tmp_path: Path, kilobytes: int, says: str
) -> None:
    said = run(f'limit({kilobytes}_000); attempt("opening", lambda: Index.open(tree, options))', tree, options.home)
    assert says in said
    assert "Check free space" in said or "`ulimit -f" in said
    assert held(tree, options) == fresh(tree, options, tmp_path)


@pytest.mark.fault("disk full")
def test_a_commit_a_flush_a_rebuild_and_compacting_that_find_no_room_lose_nothing(
    tree: Path, options: IndexOptions, tmp_path: Path
) -> None:
    script = """
index = Index.open(tree, options)
index.update()
for number in range(40):
    (tree / f"late_{number}.py").write_text(f"def late_{number}(value):\\n    return value\\n")
limit(20_000)
attempt("update", index.update)
attempt("flush", index._lineage.serving.store.flush)
attempt("rebuild", lambda: index.update(anew=True))
attempt("compacting", index.compact)
print(index.search(Query("compute_3_3")).hits[0].path)
attempt("closing", index.close)
"""
    said = run(script, tree, options.home)
    for name in ("update", "rebuild", "compacting"):
        assert f"{name} failed: " in said
    assert "Check free space and permissions." in said
    assert "module_3.py" in said
    assert held(tree, options) == fresh(tree, options, tmp_path)


def as_nobody(script: str, tree: Path) -> str:
    """Return what a program prints that runs as a user to whom permissions apply, which they don't to root."""
    home = tree.parent / "home"
    if os.geteuid() == 0:
        for folder in (*tree.parents, *home.parents):
            if folder.stat().st_mode & 0o005 != 0o005:
                pytest.skip(f"{folder} is closed to other users")
    become = """
# What is imported late may be closed to that user.
with Index.open(tree, IndexOptions(home / "warm", embedding=options.embedding)) as index:
    index.update()
    index.search(Query("compute_3_3"))
# Python itself may be closed to that user, too.
source, another = source_of_workers(), source_of_workers()
if os.geteuid() == 0:
    os.setegid(65534)
    os.seteuid(65534)
"""
    return run(become + script, tree, home)


@pytest.fixture
def open_tree() -> Iterator[Path]:
    """A tree that another user may read, in a folder where that user may have an index.

    Not below pytest's own folder: each pytest that starts, also one that a test starts, closes that to other users.
    """
    if os.name != "posix":
        pytest.skip("permissions are others here")
    with TemporaryDirectory() as made:
        place = Path(made)
        place.chmod(0o755)
        write(place / "tree", range(4))
        (place / "home").mkdir()
        if os.geteuid() == 0:
            for path in (place / "home", place / "tree", *(place / "tree").iterdir()):
                os.chown(path, NOBODY, NOBODY)
        yield place / "tree"


@pytest.mark.fault("read-only index")
def test_a_manifest_that_is_full_in_the_middle_of_a_commit_is_told_as_that(tree: Path, options: IndexOptions) -> None:
    """SQLite had taken the commit back by itself, so that to do so again hid what was wrong."""
    with Index.open(tree, options) as index:
        index.update()
        database = index._lineage.serving.manifest._db
        (pages,) = database.execute("PRAGMA page_count").fetchone()
        database.execute(f"PRAGMA max_page_count={pages + 1}")
        for number in range(200):
            (tree / f"further_{number}.py").write_text(f"def further_{number}(value):\n    return value\n")
        with pytest.raises(ManifestError, match="database or disk is full"):
            index.update()
        database.execute("PRAGMA max_page_count=1000000")
        assert index.update().failed == ()
        assert index.status().chunks >= 200


def test_an_index_that_may_not_be_written_is_told_with_its_folder(open_tree: Path) -> None:
    script = """
with Index.open(tree, options, source) as index:
    index.update()
    folder = index.folder
folder.chmod(0o500)
attempt("opening", lambda: Index.open(tree, options))
folder.chmod(0o700)
place = folder / (folder / "current").read_text()
place.chmod(0o500)
attempt("second opening", lambda: Index.open(tree, options))
place.chmod(0o700)
with Index.open(tree, options, another) as index:
    print(index.status().damage, index.update().chunks_written, index.search(Query("compute_3_3")).hits[0].path)
home.chmod(0o500)
attempt("another", lambda: Index.open(tree / "module_3.py", options))
"""
    said = as_nobody(script, open_tree).splitlines()
    assert said[0].startswith("opening failed: ")
    assert said[1].startswith("second opening failed: ")
    assert said[2] == " 0 module_3.py"
    assert said[3].startswith("another failed: The index folder ")
    assert all("ermission" in said[line] for line in (0, 1, 3))


@pytest.mark.fault("index deleted")
@pytest.mark.parametrize("deleted", ["", "lock"])
def test_an_index_that_is_deleted_while_it_is_open_answers_and_says_so_when_it_is_to_be_written(
    tree: Path, options: IndexOptions, tmp_path: Path, deleted: str
) -> None:
    index = Index.open(tree, options)
    index.update()
    if deleted:
        (index.folder / deleted).unlink()
    else:
        shutil.rmtree(index.folder)
    assert index.search(Query("compute_3_3")).hits[0].path == "module_3.py"
    (tree / "late.py").write_text("def late(value):\n    return value\n")
    for write_to in (index.update, index.compact):
        with pytest.raises(StoreError, match="was deleted or replaced while it was open") as caught:
            write_to()
        assert caught.value.remedy
    index.close()
    assert held(tree, options) == fresh(tree, options, tmp_path)


@pytest.mark.fault("index deleted")
def test_a_second_process_took_an_index_whose_lock_was_deleted_and_the_first_one_went_on_writing(
    tree: Path, options: IndexOptions, tmp_path: Path
) -> None:
    index = Index.open(tree, options)
    index.update()
    (index.folder / "lock").unlink()
    assert "opening succeeded" in run(
        'attempt("opening", lambda: Index.open(tree, options).update())', tree, options.home
    )
    with pytest.raises(StoreError, match="was deleted or replaced"):
        index.update()
    index.close()
    assert held(tree, options) == fresh(tree, options, tmp_path)


def test_an_index_may_be_used_and_closed_by_another_thread_than_opened_it(tree: Path, options: IndexOptions) -> None:
    with ThreadPoolExecutor(1) as other:
        index = other.submit(Index.open, tree, options).result()
        index.update()
        index.close()
        assert other.submit(held, tree, options).result()
    assert held(tree, options)


@pytest.mark.fault("damaged shard")
def test_a_part_of_an_index_that_is_deleted_while_it_is_open_is_missed_at_the_latest_by_the_next_opening(
    tree: Path, options: IndexOptions, tmp_path: Path
) -> None:
    index = Index.open(tree, options)
    index.update()
    shutil.rmtree(index._lineage.serving.place / "shard")
    with pytest.raises(CqmError, match="cannot be"):
        index.close()
    with Index.open(tree, options) as index:
        assert index.status().damage
    assert held(tree, options) == fresh(tree, options, tmp_path)


@pytest.mark.fault("1 GB file")
@pytest.mark.parametrize("size", [10**9, 10**12])
def test_a_huge_file_is_refused_by_its_size_alone(tree: Path, options: IndexOptions, size: int) -> None:
    with (tree / "huge.py").open("wb") as file:
        try:
            file.truncate(size)
        except OSError:
            pytest.skip("this file system has no files of that size")
    with Index.open(tree, options) as index:
        summary = index.update()
        assert summary.skipped == {"too large": 1}
        assert summary.bytes_read < 100_000
        # Asked for by its name, it is refused as well.
        assert index.update(["huge.py"]).bytes_read == 0
        assert [problem.path for problem in index.skipped()] == ["huge.py"]


@pytest.mark.fault("1 GB file")
def test_the_part_of_a_huge_file_that_is_kept_in_memory_is_bounded(tree: Path, tmp_path: Path) -> None:
    """Also where a scan found it small: it is read up to the limit of `ScanOptions.max_file_bytes`."""
    script = """
from cqm.index.files.scan import read_file
(tree / "module_0.py").open("wb").truncate(10**9)
resource.setrlimit(resource.RLIMIT_AS, (700_000_000, 700_000_000))
print(read_file(tree, "module_0.py", ScanOptions()).skip)
"""
    # Of a process of its own: one that is forked begins with the memory of the one forked from.
    assert run(script, tree, tmp_path, before=("env",)) == "too large\n"
