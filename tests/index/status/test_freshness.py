"""Freshness: how far an index says it is in step with its files, and the price at which an update finds that out."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from scripted_server import ScriptedServer

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import ChunkOptions, Document
from cqm.index.engine import Index
from cqm.index.files.scan import scan
from cqm.index.model.freshness import FreshState
from cqm.index.model.options import CacheOptions, EmbeddingOptions, IndexOptions
from cqm.index.model.progress import Progress
from cqm.index.model.query import Query
from cqm.index.model.status import IndexState
from cqm.index.status.status import read_status
from cqm.index.text.headers import dense_text, text_elsewhere

pytestmark = pytest.mark.processes

OLD = 1_700_000_000
MODULE = "def {name}(value):\n    total = 0\n" + "    total += value  # {name} adds\n" * 40 + "    return total\n"


def git(folder: Path, *arguments: str) -> str:
    settings = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
    command = ["git", *settings, "-c", "protocol.file.allow=always", "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "src").mkdir(parents=True)
    for number in range(4):
        (root / "src" / f"part_{number}.py").write_text(MODULE.format(name=f"gather_{number}"))
    return root


@pytest.fixture
def options(tmp_path: Path) -> IndexOptions:
    return IndexOptions(home=tmp_path / "home", workers=1, embedding=EmbeddingOptions("none"))


@pytest.fixture
def index(tree: Path, options: IndexOptions) -> Iterator[Index]:
    with Index.open(tree, options) as opened:
        yield opened


def commit(root: Path, message: str) -> str:
    git(root, "init", "--quiet")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", message)
    return git(root, "rev-parse", "HEAD")


def settle(index: Index, root: Path) -> None:
    """Let an index hold files that were read long after they were written, as after a day."""
    index.update()
    database = index._lineage.serving.manifest._db
    database.execute("UPDATE file SET read_at_ns = read_at_ns + 60000000000")


# What an index says of its freshness.


def test_an_index_is_never_called_fresh_by_itself(index: Index) -> None:
    assert index.search(Query("gather_1")).freshness.state is FreshState.STALE
    index.update()
    fresh = index.search(Query("gather_1")).freshness
    assert (fresh.state, fresh.pending) == (FreshState.UNKNOWN, None)
    assert fresh.compared_at > OLD


def test_an_index_that_was_just_looked_at_is_fresh_until_a_file_changes(index: Index, tree: Path) -> None:
    index.update()
    assert index.status(look=True).freshness.state is FreshState.FRESH
    (tree / "src" / "part_1.py").write_text("x = 1\n")
    (tree / "new.py").write_text("x = 1\n")
    (tree / "src" / "part_2.py").unlink()
    seen = index.status(look=True)
    assert (seen.freshness.state, seen.freshness.pending, seen.pending) == (FreshState.STALE, 3, 3)
    assert index.status().freshness.state is FreshState.UNKNOWN


def test_files_whose_times_alone_changed_do_not_count_as_differing(index: Index, tree: Path) -> None:
    settle(index, tree)
    for path in (tree / "src").iterdir():
        path.touch()
        path.chmod(0o755)
    assert index.status(look=True).freshness.state is FreshState.FRESH


def test_another_commit_makes_an_index_stale_by_so_many_commits_also_for_other_processes(
    index: Index, tree: Path, options: IndexOptions
) -> None:
    first = commit(tree, "one")
    index.update()
    assert index.search(Query("gather_1")).freshness.indexed_head == first
    for number in range(3):
        (tree / "new.py").write_text(f"x = {number}\n")
        last = commit(tree, str(number))
    answered = index.search(Query("gather_1")).freshness
    assert (answered.state, answered.git_head, answered.indexed_head) == (FreshState.STALE, last, first)
    for status in (index.status(), read_status(tree, options)):
        assert (status.freshness.state, status.commits_behind) == (FreshState.STALE, 3)
    index.update()
    assert (index.status(look=True).freshness.state, index.status().commits_behind) == (FreshState.FRESH, 0)
    # A commit that changes no file leaves the index as fresh as it was, as a look at the files tells.
    git(tree, "commit", "--allow-empty", "-qm", "nothing")
    looked = index.status(look=True)
    assert (looked.freshness.state, looked.commits_behind) == (FreshState.FRESH, 0)
    assert index.status().freshness.state is FreshState.STALE


def test_a_commit_made_while_the_files_were_compared_is_not_the_indexed_one(index: Index, tree: Path) -> None:
    first = commit(tree, "one")

    def report(progress: Progress) -> None:
        if progress.phase == "indexing" and git(tree, "rev-parse", "HEAD") == first:
            (tree / "new.py").write_text("x = 1\n")
            commit(tree, "while it was compared")

    index.update(report=report)
    assert index.search(Query("gather_1")).freshness.indexed_head == first
    assert index.search(Query("gather_1")).freshness.state is FreshState.STALE


def test_an_answer_from_the_cache_is_not_as_fresh_as_it_was(index: Index, tree: Path) -> None:
    first = commit(tree, "one")
    index.update()
    index.search(Query("gather_1"))
    (tree / "new.py").write_text("x = 1\n")
    last = commit(tree, "two")
    again = index.search(Query("gather_1")).freshness
    assert (again.indexed_head, again.git_head, again.state) == (first, last, FreshState.STALE)


def test_where_git_cannot_be_read_the_commit_is_unknown(index: Index, tree: Path) -> None:
    commit(tree, "one")
    index.update()
    (tree / ".git/HEAD").write_text("broken")
    fresh = index.status().freshness
    assert (fresh.git_head, fresh.state) == (None, FreshState.UNKNOWN)


# What an update finds out.


def test_a_settled_tree_is_not_read(index: Index, tree: Path) -> None:
    settle(index, tree)
    before = index._lineage.serving.manifest.files()
    index.update()
    assert index._lineage.serving.manifest.files() == before


@pytest.mark.skipif(os.name == "nt", reason="Windows tells when a file was made, not when it changed")
@pytest.mark.parametrize("way", ["in place", "by a copy with its time", "moved over"])
def test_an_edit_of_the_same_size_whose_time_was_put_back_is_seen(
    index: Index, tree: Path, tmp_path: Path, way: str
) -> None:
    file = tree / "src" / "part_1.py"
    os.utime(file, (OLD, OLD))
    settle(index, tree)
    draft = file if way == "in place" else tmp_path / "draft.py"
    draft.write_text(MODULE.format(name="gather_9"))
    os.utime(draft, (OLD, OLD))
    if way == "by a copy with its time":
        shutil.copy2(draft, file)
    elif way == "moved over":
        draft.replace(file)
    assert (file.stat().st_size, file.stat().st_mtime) == (len(MODULE.format(name="gather_1")), OLD)
    assert index.update().modified == 1
    assert index.search(Query("gather_9")).hits[0].symbol == "gather_9"


def test_an_edit_right_after_the_reading_with_the_same_size_and_all_times_is_seen(index: Index, tree: Path) -> None:
    file = tree / "src" / "part_1.py"
    index.update()
    file.write_text(MODULE.format(name="gather_9"))
    found = next(iter(scan(tree, index.options.scan, below=["src/part_1.py"])))
    # As if the clock of the disk had not gone on between the reading and the edit.
    index._lineage.serving.manifest._db.execute(
        "UPDATE file SET mtime_ns = ?, ctime_ns = ? WHERE path = 'src/part_1.py'", (found.mtime_ns, found.ctime_ns)
    )
    assert index.status(look=True).pending == 1
    assert index.update().modified == 1


def test_a_file_from_the_future_is_read_at_every_comparison(index: Index, tree: Path) -> None:
    file = tree / "src" / "part_1.py"
    os.utime(file, (4e9, 4e9))
    settle(index, tree)
    index._lineage.serving.manifest._db.execute("UPDATE file SET hash = 'not looked at' WHERE path = 'src/part_1.py'")
    assert index.update().modified == 1


def test_a_clock_that_jumped_back_hides_no_edit(index: Index, tree: Path) -> None:
    index.update()
    database = index._lineage.serving.manifest._db
    # All was read by a clock that was a day ahead.
    database.execute("UPDATE file SET read_at_ns = read_at_ns + 86400000000000")
    (tree / "src" / "part_1.py").write_text(MODULE.format(name="gather_9"))
    assert index.update().modified == 1


def test_a_file_that_vanishes_before_it_is_read_counts_as_deleted(index: Index, tree: Path) -> None:
    index.update()
    (tree / "src" / "part_1.py").write_text("x = 1\n")
    (tree / "src" / "part_2.py").write_text("x = 1\n")
    (tree / "new.py").write_text("x = 1\n")

    def report(progress: object) -> None:
        for name in ("src/part_1.py", "new.py"):
            (tree / name).unlink(missing_ok=True)

    summary = index.update(report=report)
    assert (summary.failed, summary.skipped, summary.modified) == ((), {}, 1)
    assert set(index._lineage.serving.manifest.files()) == {f"src/part_{number}.py" for number in (0, 2, 3)}
    assert index.status(look=True).freshness.state is FreshState.FRESH


def test_an_index_of_before_change_times_were_noted_reads_its_files_once(tree: Path, options: IndexOptions) -> None:
    with Index.open(tree, options) as index:
        settle(index, tree)
        place = index._lineage.serving.place
        index._lineage.serving.manifest._db.execute("ALTER TABLE file DROP COLUMN ctime_ns")
    (place / "seal.json").unlink()
    with Index.open(tree, options) as index:
        assert (index.update().unchanged, index.status().state) == (4, IndexState.COMPLETE)
        assert all(row.ctime_ns for row in index._lineage.serving.manifest.files().values())


# What moves, and work trees.


@pytest.fixture
def served(server: ScriptedServer, tmp_path: Path) -> Callable[..., IndexOptions]:
    def made(*, cache: bool = True, place: str = "prefix") -> IndexOptions:
        embedding = EmbeddingOptions("openai", "tiny", f"{server.url}/v1", concurrency=1)
        options = IndexOptions(tmp_path / "home", workers=1, embedding=embedding, cache=CacheOptions(enabled=cache))
        return replace(options, context=replace(options.context, place=place))

    return made


def texts(server: ScriptedServer) -> int:
    return sum("def gather" in text for request in server.embeddings for text in request.texts)


@pytest.mark.parametrize("place", ["prefix", "suffix", "both"])
def test_a_moved_folder_is_not_embedded_again(
    tree: Path, server: ScriptedServer, served: Callable[..., IndexOptions], place: str
) -> None:
    with Index.open(tree, served(place=place)) as index:
        index.update()
        asked = texts(server)
        (tree / "src").rename(tree / "lib")
        summary = index.update()
        assert (summary.added, summary.deleted, summary.failed, summary.lacking) == (4, 4, (), 0)
        assert texts(server) == asked == 4
        assert index.search(Query("gather_1")).hits[0].path == "lib/part_1.py"
        (tree / "lib" / "part_1.py").rename(tree / "other.py")
        assert index.update(["lib/part_1.py", "other.py"]).cached == 1
        assert texts(server) == asked


def test_without_a_cache_a_moved_file_is_embedded_again(
    tree: Path, server: ScriptedServer, served: Callable[..., IndexOptions]
) -> None:
    with Index.open(tree, served(cache=False)) as index:
        index.update()
        (tree / "src" / "part_1.py").rename(tree / "other.py")
        index.update()
        assert texts(server) == 5


def test_a_moved_file_that_was_edited_too_is_embedded_again(
    tree: Path, server: ScriptedServer, served: Callable[..., IndexOptions]
) -> None:
    with Index.open(tree, served()) as index:
        index.update()
        (tree / "src" / "part_1.py").unlink()
        (tree / "other.py").write_text(MODULE.format(name="gather_9"))
        index.update()
        assert texts(server) == 5


@pytest.mark.parametrize("place", ["prefix", "suffix", "both"])
def test_what_would_be_embedded_elsewhere_is_what_is_embedded_there(place: str) -> None:
    text = 'class A:\n    """Doc."""\n\n    def b(self):\n        return 1\n\n\n' * 30 + "# Ende: ü\n"
    for path, other in (("a.py", "src/deep/b.py"), ("src/a.py", "z.py")):
        here = chunk(Document(path, text), ChunkOptions()).chunks
        there = chunk(Document(other, text), ChunkOptions()).chunks
        assert len(here) > 1
        for one, two in zip(here, there, strict=True):
            length = len(one.content or one.text)
            assert text_elsewhere(dense_text(one, place), length, (path, other), place) == dense_text(two, place)


def test_a_second_work_tree_asks_the_model_for_nothing(
    tree: Path, tmp_path: Path, server: ScriptedServer, served: Callable[..., IndexOptions]
) -> None:
    commit(tree, "one")
    git(tree, "worktree", "add", "--quiet", "-b", "other", str(tmp_path / "second"))
    for root in (tree, tmp_path / "second"):
        with Index.open(root, served()) as index:
            assert index.update().failed == ()
            assert index.search(Query("gather_1")).hits[0].path == "src/part_1.py"
    assert texts(server) == 4


def test_a_branch_switch_there_and_back_asks_only_for_what_is_new(
    tree: Path, server: ScriptedServer, served: Callable[..., IndexOptions]
) -> None:
    commit(tree, "one")
    git(tree, "checkout", "--quiet", "-b", "other")
    (tree / "src" / "part_1.py").write_text(MODULE.format(name="gather_9"))
    commit(tree, "two")
    with Index.open(tree, served()) as index:
        index.update()
        for branch, asked in (("main", 5), ("other", 5), ("main", 5)):
            git(tree, "checkout", "--quiet", branch)
            assert index.update().modified == 1
            assert texts(server) == asked


def test_a_submodule_and_a_repository_within_are_in_the_index_and_move_with_their_own_heads(
    index: Index, tree: Path, tmp_path: Path
) -> None:
    library = tmp_path / "library"
    library.mkdir()
    (library / "lib.py").write_text(MODULE.format(name="from_library"))
    commit(library, "one")
    (library / "lib.py").write_text(MODULE.format(name="of_version_two"))
    commit(library, "two")
    commit(tree, "one")
    git(tree, "submodule", "--quiet", "add", str(library), "lib")
    git(tree, "clone", "--quiet", str(library), "nested")
    (tree / "nested" / "own.py").write_text(MODULE.format(name="of_the_nested_one"))
    index.update()
    assert index.search(Query("of_version_two")).hits[0].path == "lib/lib.py"
    assert index.search(Query("of_the_nested_one")).hits[0].path == "nested/own.py"
    git(tree / "lib", "checkout", "--quiet", "HEAD~1")
    assert index.status(look=True).pending == 1
    assert index.update().modified == 1
    assert index.search(Query("from_library")).hits[0].path == "lib/lib.py"
