"""What is checked out is read from git's own files as git itself tells it."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from cqm.index import git as git_itself
from cqm.index.checkout import head, is_busy


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


def test_where_refs_are_no_files_git_is_asked_once_for_each_state_of_them(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = tmp_path / "calls"
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho call >> '{calls}'\ncat '{tmp_path}/commit'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    (repository / ".git/HEAD").write_text("ref: refs/heads/.invalid\n")
    (repository / ".git/reftable").mkdir()
    for number, told in enumerate(("a" * 40, "b" * 40), start=1):
        (tmp_path / "commit").write_text(told)
        (repository / ".git/reftable/tables.list").write_text(f"0x{number}\n" * number)
        assert [head(repository) for _ in range(3)] == [told] * 3
        assert len(calls.read_text().splitlines()) == number


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
