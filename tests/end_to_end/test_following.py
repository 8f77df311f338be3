"""Whatever happens to the files, the index that follows them comes to what a fresh index of the same tree holds.

The periodic comparison is far away here: events alone have to do it.
"""

import os
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Condition

import pytest
from tiers import thinned

from cqm.index.model.options import EmbeddingOptions, IndexOptions
from cqm.server.config.watch_options import WatchOptions
from cqm.server.watching.followed_index import FollowedIndex
from cqm.server.watching.reports import WatchReport

PATIENCE_SECONDS = 240.0

Follow = Callable[[Path], "Followed"]


class Followed:
    """An index that follows a tree, and a fresh index of the tree to compare it with."""

    def __init__(self, root: Path, home: Path) -> None:
        self.root = root
        self.home = home
        self.index = FollowedIndex.open(root, options(home / "followed"))
        self.reports: list[WatchReport] = []
        self._reported = Condition()
        self.index.follow(WatchOptions(), report=self._take)
        with self._reported:
            assert self._reported.wait_for(lambda: self.reports, PATIENCE_SECONDS)

    def wait(self) -> None:
        """Wait until the index holds what a fresh one holds."""
        fresh = self._fresh()
        with self._reported:
            assert self._reported.wait_for(lambda: stored(self.index) == fresh, PATIENCE_SECONDS), (
                stored(self.index) ^ fresh,
                self.reports,
            )

    def wait_for_head(self) -> None:
        """Wait until the commit that is checked out is the one that was indexed, and nothing is known to differ."""

        def is_there() -> bool:
            return not self.index.status().freshness.is_moved and self.index.backlog().count == 0

        with self._reported:
            assert self._reported.wait_for(is_there, PATIENCE_SECONDS), (self.index.status(), self.index.backlog())

    def close(self) -> None:
        self.index.close()

    def _take(self, report: WatchReport) -> None:
        with self._reported:
            self.reports.append(report)
            self._reported.notify_all()

    def _fresh(self) -> set[tuple[str, str]]:
        shutil.rmtree(self.home / "fresh", ignore_errors=True)
        with FollowedIndex.open(self.root, options(self.home / "fresh")) as index:
            index.update()
            return stored(index)


def options(home: Path) -> IndexOptions:
    return IndexOptions(home=home, embedding=EmbeddingOptions(provider="none"))


def stored(index: FollowedIndex) -> set[tuple[str, str]]:
    """Every point in the store, and the path of every file in the manifest."""
    opened = index._lineage.serving
    return {("point", name) for name in opened.store.ids()} | {("file", path) for path in opened.manifest.paths()}


@contextmanager
def following(root: Path, home: Path) -> Iterator[Followed]:
    followed = Followed(root, home)
    try:
        yield followed
    finally:
        followed.close()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    tree = tmp_path.resolve() / "tree"
    for number in range(30):
        write(tree / f"package_{number % 5}" / f"module_{number}.py", number)
    return tree


def write(path: Path, number: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"def compute_{number}(value):\n    return value * {number}\n")


def git(root: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *identity, "-C", str(root), *arguments], check=True, capture_output=True)


def do_something(root: Path, chosen: random.Random, number: int) -> None:
    """One of the things that happen to files."""
    files = sorted(path for path in root.rglob("*.py") if path.is_file())
    folders = sorted(path for path in root.rglob("*") if path.is_dir())
    file, folder = chosen.choice(files), chosen.choice(folders)
    match chosen.randrange(9):
        case 0:
            write(file, number)
        case 1:
            draft = file.with_name(f".{file.name}.swp")
            write(draft, number)
            draft.replace(file)
        case 2:
            file.rename(file.with_name(f"backup_{number}.py"))
            write(file, number)
        case 3 if len(files) > 10:
            file.unlink()
        case 4 if len(folders) > 3:
            shutil.rmtree(folder)
        case 5:
            folder.rename(root / f"renamed_{number}")
        case 6:
            shutil.copytree(folder, root / f"copied_{number}")
        case 7:
            (folder / ".gitignore").write_text(chosen.choice(["", "module_1*.py\n", "copied_*/\n"]))
        case _:
            write(folder / f"new_{number}" / "deep" / f"module_{number}.py", number)


@pytest.mark.soak
@pytest.mark.parametrize("seed", thinned(range(4), step=2))
def test_the_index_comes_to_what_a_fresh_one_holds(root: Path, tmp_path: Path, seed: int) -> None:
    chosen = random.Random(seed)
    with following(root, tmp_path / "home") as followed:
        for part in range(4):
            for step in range(12):
                do_something(root, chosen, 1000 * seed + 100 * part + step)
            followed.wait()


def test_a_branch_switch_is_followed_to_the_other_branch_and_back(root: Path, tmp_path: Path) -> None:
    git(root, "init")
    git(root, "add", ".")
    git(root, "commit", "-m", "first")
    git(root, "checkout", "-b", "other")
    shutil.rmtree(root / "package_1")
    for number in range(600):
        write(root / f"other_{number % 7}" / f"module_{number}.py", number)
    git(root, "add", ".")
    git(root, "commit", "-m", "second")
    with following(root, tmp_path / "home") as followed:
        git(root, "checkout", "main")
        followed.wait()
        git(root, "checkout", "other")
        followed.wait()


def test_a_switch_of_many_files_is_a_few_updates_that_index_each_file_once(root: Path, tmp_path: Path) -> None:
    count = 800  # More than the 500 that are taken up path by path; 5,000 take a minute.
    for number in range(count):
        write(root / f"many_{number % 50}" / f"module_{number}.py", number)
    commit(root, "first")
    git(root, "checkout", "-b", "other")
    for number in range(count):
        write(root / f"many_{number % 50}" / f"module_{number}.py", number + 1)
    commit(root, "second")
    with following(root, tmp_path / "home") as followed:
        for branch in ("main", "other"):
            told = len(followed.reports)
            git(root, "checkout", branch)
            followed.wait_for_head()
            new = [report for report in followed.reports[told:] if report.summary]
            assert sum(report.summary.modified for report in new if report.summary) == count
            # On a busy machine the last events come when the comparison has begun.
            assert len(new) <= 5
            assert len([report for report in new if not report.paths]) <= 2
        followed.wait()


def test_a_stash_and_a_rebase_are_followed(root: Path, tmp_path: Path) -> None:
    commit(root, "first")
    git(root, "checkout", "-b", "topic")
    for number in range(5):
        write(root / "topic" / f"module_{number}.py", number)
        commit(root, f"topic {number}")
    git(root, "checkout", "main")
    shutil.rmtree(root / "package_1")
    commit(root, "second")
    git(root, "checkout", "topic")
    with following(root, tmp_path / "home") as followed:
        write(root / "topic" / "module_1.py", 77)
        write(root / "untracked" / "module.py", 78)
        followed.wait()
        git(root, "stash", "--include-untracked")
        followed.wait()
        git(root, "rebase", "main")
        followed.wait_for_head()
        followed.wait()
        git(root, "stash", "pop")
        followed.wait()
        failed = [problem for report in followed.reports if report.summary for problem in report.summary.failed]
        assert failed == []


def test_a_commit_alone_is_noticed_without_any_change_of_a_file(root: Path, tmp_path: Path) -> None:
    commit(root, "first")
    with following(root, tmp_path / "home") as followed:
        write(root / "new.py", 1)
        followed.wait()
        commit(root, "second")
        followed.wait_for_head()


def test_files_that_git_tracks_though_they_are_ignored_are_seen_when_their_branch_is_checked_out(
    root: Path, tmp_path: Path
) -> None:
    (root / ".gitignore").write_text("ignored/\n")
    commit(root, "first")
    git(root, "checkout", "-b", "other")
    write(root / "ignored" / "module.py", 1)
    git(root, "add", "--force", "ignored/module.py")
    git(root, "commit", "-m", "second")
    git(root, "checkout", "main")
    with following(root, tmp_path / "home") as followed:
        git(root, "checkout", "other")
        followed.wait_for_head()
        followed.wait()
        assert ("file", "ignored/module.py") in stored(followed.index)


def commit(root: Path, message: str) -> None:
    git(root, "init")
    git(root, "add", ".")
    git(root, "commit", "-m", message)


def test_a_folder_that_an_ignore_file_lets_in_is_followed_from_then_on(root: Path, tmp_path: Path) -> None:
    (root / ".cqmignore").write_text("late/\n")
    write(root / "late" / "module.py", 1)
    with following(root, tmp_path / "home") as followed:
        (root / ".cqmignore").write_text("# nothing\n")
        followed.wait()
        write(root / "late" / "module.py", 2)
        followed.wait()


def test_a_file_name_that_is_no_text_stopped_the_following_of_all_others(root: Path, tmp_path: Path) -> None:
    odd = Path(os.fsdecode(os.fsencode(root) + b"/odd_\xff.py"))
    with following(root, tmp_path / "home") as followed:
        try:
            write(odd, 1)
        except OSError:
            pytest.skip("names are text here")
        write(root / "new.py", 1)
        followed.wait()
        assert [(it.path, it.reason) for it in followed.index.skipped()] == [("odd_\\xff.py", "undecodable")]
        odd.unlink()
        write(root / "new.py", 2)
        followed.wait()
        assert followed.index.skipped() == ()
        assert not [it for it in followed.reports if it.problem]


def test_a_folder_that_was_put_in_the_place_of_a_followed_one_was_not_followed(root: Path, tmp_path: Path) -> None:
    above = root.parent / "above"
    above.mkdir()
    root = root.rename(above / "tree")
    with following(root, tmp_path / "home") as followed:
        copy = shutil.copytree(above, tmp_path / "copy")
        write(copy / "tree" / "new.py", 1)
        # No watched folder tells of this, as of a mount over it.
        above.rename(tmp_path / "away")
        copy.rename(above)
        followed.wait()
        write(root / "newer.py", 2)
        followed.wait()
        shutil.rmtree(root)
        shutil.copytree(tmp_path / "away" / "tree", root)
        followed.wait()
        write(root / "newest.py", 3)
        followed.wait()
