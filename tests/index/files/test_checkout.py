"""The commit that is checked out, read from git's own files as git itself tells it."""

import base64
import os
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cqm.index.files import git as git_itself
from cqm.index.files.checkout import head, is_busy

pytestmark = pytest.mark.processes


def git(folder: Path, *arguments: str, fails: bool = False) -> str:
    settings = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
    command = ["git", *settings, "-c", "protocol.file.allow=always", "-C", str(folder), *arguments]
    return subprocess.run(command, check=not fails, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    (root / "sub").mkdir(parents=True)
    git(root, "init", "--quiet")
    commit(root, "one")
    commit(root, "two")
    return root


def commit(root: Path, text: str) -> None:
    (root / "a.py").write_text(f"{text}\n")
    git(root, "add", "a.py")
    git(root, "commit", "--quiet", "--message", text)


def branch(root: Path) -> Path:
    return root


def below(root: Path) -> Path:
    return root / "sub"


def detached(root: Path) -> Path:
    git(root, "checkout", "--quiet", "--detach", "HEAD~1")
    return root


def packed(root: Path) -> Path:
    git(root, "branch", "a/main")
    git(root, "pack-refs", "--all")
    assert not (root / ".git/refs/heads/main").exists()
    return root


def packed_and_newer(root: Path) -> Path:
    packed(root)
    commit(root, "three")
    return root


def work_tree(root: Path) -> Path:
    git(root, "worktree", "add", "--quiet", "-b", "other", "../tree", "HEAD~1")
    git(root, "pack-refs", "--all")
    return root.parent / "tree"


def submodule(root: Path) -> Path:
    git(root, "submodule", "--quiet", "add", str(root), "lib")
    git(root / "lib", "checkout", "--quiet", "HEAD~1")
    return root / "lib"


def in_a_rebase(root: Path) -> Path:
    git(root, "checkout", "--quiet", "-b", "topic", "HEAD~1")
    commit(root, "in the way")
    git(root, "rebase", "main", fails=True)
    assert (root / ".git/rebase-merge").exists()
    return root


def in_a_bisection(root: Path) -> Path:
    commit(root, "three")
    git(root, "bisect", "start", "HEAD", "HEAD~2")
    return root


def symbolic(root: Path) -> Path:
    git(root, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
    git(root, "symbolic-ref", "HEAD", "refs/heads/alias")
    return root


SHAPES = (
    branch, below, detached, packed, packed_and_newer, work_tree, submodule, in_a_rebase, in_a_bisection, symbolic,
)  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_the_commit_is_what_git_says(repository: Path, shape: Callable[[Path], Path]) -> None:
    folder = shape(repository)
    told = git(folder, "rev-parse", "HEAD")
    assert len(told) == 40
    assert head(folder) == told


def test_every_move_is_seen_at_once(repository: Path) -> None:
    for number in range(3):
        git(repository, "checkout", "--quiet", "--detach", "main~1")
        assert head(repository) == git(repository, "rev-parse", "HEAD")
        git(repository, "checkout", "--quiet", "main")
        assert head(repository) == git(repository, "rev-parse", "HEAD")
        git(repository, "pack-refs", "--all")
        commit(repository, f"more {number}")
        assert head(repository) == git(repository, "rev-parse", "HEAD")


def test_outside_of_git_and_before_the_first_commit_there_is_none(tmp_path: Path) -> None:
    assert head(tmp_path) == ""
    git(tmp_path, "init", "--quiet", "new")
    assert head(tmp_path / "new") == ""
    (tmp_path / "fake" / ".git").mkdir(parents=True)
    assert head(tmp_path / "fake") == ""


@pytest.mark.parametrize("content", ["broken", "", "ref: refs/heads/loop"])
def test_what_cannot_be_told_is_not_guessed(repository: Path, content: str) -> None:
    (repository / ".git/refs/heads/loop").write_text("ref: refs/heads/loop\n")
    (repository / ".git/HEAD").write_text(content)
    assert head(repository) is None


# Written by dulwich 1.2.21: HEAD is refs/heads/main, which is 40 times "b", and branch000 to branch002 are 1 to 3.
TABLE = (
    "c$^Dzbqir+5MY1;W*A+>z_5uy*~8V*g@L~)HLX}bBQ-IlSU)#0GmoJ`5lJMeC^0WN!@$6R0SjOh<}}16&LqrfgiV~8TM=x-ZY+R-L56|Bn1Lw>"
    "hl{b9hYeIHbi4xq!AvF4"
)
# The same: refs/heads/main is 40 times "c".
NEWER = "c$^Dzbqir+5MY1;CMeBZ#K7RrP+63kR;-_qnwV0opPQJO$8ZJ<U|^78U<|@x3<Htid&Tm<02F5&nE"


def test_where_refs_are_tables_the_newest_one_counts(repository: Path) -> None:
    (repository / ".git/HEAD").write_text("ref: refs/heads/.invalid\n")
    tables = repository / ".git/reftable"
    tables.mkdir()
    for name, table in (("0x1-0x1-a.ref", TABLE), ("0x2-0x2-b.ref", NEWER)):
        (tables / name).write_bytes(zlib.decompress(base64.b85decode(table)))
    (tables / "tables.list").write_text("0x1-0x1-a.ref\n")
    assert head(repository) == "b" * 40
    (tables / "tables.list").write_text("0x1-0x1-a.ref\n0x2-0x2-b.ref\n")
    assert head(repository) == "c" * 40


@pytest.mark.parametrize("names", ["../../outside.ref", "0x3-0x3-c.ref", "0x1-0x1-a.ref\n" * 999, ""])
def test_a_damaged_list_of_tables_is_not_followed(repository: Path, names: str) -> None:
    (repository / ".git/HEAD").write_text("ref: refs/heads/.invalid\n")
    tables = repository / ".git/reftable"
    tables.mkdir()
    (repository.parent / "outside.ref").write_bytes(zlib.decompress(base64.b85decode(TABLE)))
    (tables / "tables.list").write_text(names)
    assert head(repository) in {None, ""}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(0, 200), junk=st.binary(max_size=9))
def test_a_damaged_table_gives_no_id_that_is_not_in_it(repository: Path, cut: int, junk: bytes) -> None:
    table = zlib.decompress(base64.b85decode(TABLE))
    tables = repository / ".git/reftable"
    tables.mkdir(exist_ok=True)
    (repository / ".git/HEAD").write_text("ref: refs/heads/.invalid\n")
    (tables / "0x1-0x1-a.ref").write_bytes(table[:cut] + junk + table[cut + len(junk) :])
    (tables / "tables.list").unlink(missing_ok=True)
    (tables / "tables.list").write_text("0x1-0x1-a.ref\n")
    told = head(repository)
    assert told is None or told == "" or len(told) == 40


def test_git_is_busy_while_it_holds_its_lock_unless_it_left_it_behind_long_ago(repository: Path) -> None:
    lock = repository / ".git/index.lock"
    assert not is_busy(repository)
    lock.touch()
    assert is_busy(repository)
    os.utime(lock, (1_700_000_000, 1_700_000_000))
    assert not is_busy(repository)


def test_commits_are_counted_from_the_one_to_the_other(repository: Path) -> None:
    commit(repository, "three")
    first, last = git(repository, "rev-parse", "HEAD~2"), git(repository, "rev-parse", "HEAD")
    assert git_itself.commits_between(repository, first, last) == 2
    assert git_itself.commits_between(repository, last, first) == 0
    assert git_itself.commits_between(repository, "f" * 40, last) is None
    assert git_itself.commits_between(repository, "--output=x", last) is None


def test_commits_are_counted_in_a_shallow_clone_and_in_a_linked_work_tree(repository: Path, tmp_path: Path) -> None:
    commit(repository, "three")
    git(tmp_path, "clone", "--quiet", "--depth", "2", f"file://{repository}", "shallow")
    git(repository, "worktree", "add", "--quiet", "--detach", str(tmp_path / "tree"))
    first, last = git(repository, "rev-parse", "HEAD~1"), git(repository, "rev-parse", "HEAD")
    assert git_itself.commits_between(tmp_path / "shallow", first, last) == 1
    assert git_itself.commits_between(tmp_path / "tree", first, last) == 1
