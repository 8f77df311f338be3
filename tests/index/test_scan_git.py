"""The same files are found by git and by the walk, in the whole tree and below a path."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cqm.index.options import ScanOptions
from cqm.index.scan import scan

# Any pattern of `exclude` makes the walk do what git does otherwise.
BY_GIT = ScanOptions()
BY_WALK = ScanOptions(exclude=("matches-nothing",))

FOLDERS = ["", "a", "b", "a/b", "a/src", "build", "build/a", ".dot", "a/b/build"]
NAMES = ["x.py", "y.log", "keep.log", "z.md", "build", ".hidden", "ä b.txt"]
PATTERNS = [
    "*.log",
    "!keep.log",
    "build",
    "build/",
    "/build",
    "/a/b",
    "a/**",
    "**/b",
    "*.py",
    "!x.py",
    "a/*",
    "!a/src",
    "*",
    "!*/",
    "!*.md",
    "# comment",
    "",
    ".hidden",
    "x.p[xy]",
    "\\!x.py",
    "z.md   ",
    "ä*",
]

PATHS = st.builds(lambda folder, name: f"{folder}/{name}".lstrip("/"), st.sampled_from(FOLDERS), st.sampled_from(NAMES))
RULES = st.dictionaries(st.sampled_from(FOLDERS), st.lists(st.sampled_from(PATTERNS), max_size=4), max_size=3)


@pytest.fixture(autouse=True, scope="module")
def no_settings_of_the_user() -> Iterator[None]:
    with TemporaryDirectory() as home, pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", home)
        patch.setenv("XDG_CONFIG_HOME", home)
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        yield


def git(folder: Path, *arguments: str) -> str:
    settings = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
    command = ["git", *settings, "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def write(root: Path, path: str, text: str = "text\n") -> None:
    file = root / path
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    except (FileExistsError, NotADirectoryError, IsADirectoryError):
        # "build" is a file's name and a folder's.
        pass


def make_repository(root: Path, rules: dict[str, list[str]], paths: list[str], tracked: list[str]) -> None:
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "--quiet")
    for path in paths:
        write(root, path)
    for folder, patterns in rules.items():
        write(root, f"{folder}/.gitignore".lstrip("/"), "\n".join(patterns))
    there = [path for path in tracked if (root / path).is_file()]
    if there:
        git(root, "add", "--force", "--", *there)
    git(root, "commit", "--quiet", "--allow-empty", "--message", "first")


def found(root: Path, options: ScanOptions, below: list[str] | None = None) -> list[str]:
    return [file.path for file in scan(root, options, below)]


@settings(max_examples=40)
@given(
    rules=RULES,
    paths=st.lists(PATHS, max_size=12),
    tracked=st.lists(PATHS, max_size=4),
    excluded=st.lists(st.sampled_from(PATTERNS), max_size=2),
    nested=st.sampled_from(["", "", "a/nested", "build/nested", "nested"]),
    nested_rules=RULES,
    top=st.sampled_from(["", "", "a", "build"]),
)
def test_git_and_the_walk_find_the_same_files(
    rules: dict[str, list[str]],
    paths: list[str],
    tracked: list[str],
    excluded: list[str],
    nested: str,
    nested_rules: dict[str, list[str]],
    top: str,
) -> None:
    with TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "repo"
        make_repository(root, rules, paths, tracked)
        (root / ".git/info/exclude").write_text("\n".join(excluded))
        if nested and not any(part.is_file() for part in [root / nested, *(root / nested).parents]):
            make_repository(root / nested, nested_rules, paths, tracked)
        start = root / top
        if not start.is_dir():
            return
        by_git = found(start, BY_GIT)
        assert found(start, BY_WALK) == by_git
        for path in {*paths, *FOLDERS, *(f"{nested}/{path}" for path in paths[:3])} - {""}:
            at_or_below = [file for file in by_git if file == path or file.startswith(f"{path}/")]
            assert found(start, BY_GIT, [path]) == at_or_below


def test_a_file_in_the_place_of_a_folder_is_not_found_below_an_ignore_file_above_the_root(tmp_path: Path) -> None:
    # Rules above a root that no repository reaches are left out, and the whole tree is walked for any part of it.
    (tmp_path / ".gitignore").write_text("*.log\n")
    root = tmp_path / "root"
    root.mkdir()
    (root / "build").write_text("x\n")
    assert found(root, BY_GIT, ["build"]) == ["build"]
    assert found(root, BY_GIT, ["build/build"]) == []


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    make_repository(
        tmp_path / "repo",
        {"": ["*.log", "out/"]},
        ["a.py", "b.log", "out/c.py", "out/d.py"],
        [".gitignore", "out/c.py"],
    )
    return tmp_path / "repo"


@pytest.mark.parametrize("options", [BY_GIT, BY_WALK])
def test_a_tracked_file_is_found_although_it_is_ignored(repository: Path, options: ScanOptions) -> None:
    assert found(repository, options) == [".gitignore", "a.py", "out/c.py"]
    assert found(repository, options, ["out/c.py"]) == ["out/c.py"]
    assert found(repository, options, ["out"]) == ["out/c.py"]
    assert found(repository, options, ["out/d.py", "b.log"]) == []


@pytest.mark.parametrize("options", [BY_GIT, BY_WALK])
def test_a_deleted_file_that_git_still_tracks_is_not_found(repository: Path, options: ScanOptions) -> None:
    (repository / "out/c.py").unlink()
    assert found(repository, options) == [".gitignore", "a.py"]


@pytest.mark.parametrize("options", [BY_GIT, BY_WALK])
def test_a_file_in_a_merge_conflict_is_found_once(repository: Path, options: ScanOptions) -> None:
    git(repository, "checkout", "--quiet", "-b", "other")
    for branch, text in (("other", "one\n"), ("main", "two\n")):
        git(repository, "checkout", "--quiet", branch)
        (repository / "a.py").write_text(text)
        git(repository, "add", "a.py")
        git(repository, "commit", "--quiet", "--message", branch)
    with pytest.raises(subprocess.CalledProcessError):
        git(repository, "merge", "other")
    assert found(repository, options).count("a.py") == 1


@pytest.mark.parametrize("options", [BY_GIT, BY_WALK])
def test_a_submodule_is_walked_by_its_own_rules(repository: Path, tmp_path: Path, options: ScanOptions) -> None:
    make_repository(tmp_path / "library", {"": ["*.py"]}, ["kept.log", "kept.py", "left.py"], [".gitignore", "kept.py"])
    git(repository, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(tmp_path / "library"), "lib")
    write(repository, "lib/new.py")
    write(repository, "lib/new.md")
    assert [path for path in found(repository, options) if path.startswith("lib")] == [
        "lib/.gitignore",
        "lib/kept.py",
        "lib/new.md",
    ]
    assert found(repository, options, ["lib/new.md", "lib/kept.py"]) == ["lib/kept.py", "lib/new.md"]


@pytest.mark.parametrize("options", [BY_GIT, BY_WALK])
def test_a_submodule_that_is_not_checked_out_is_empty(repository: Path, tmp_path: Path, options: ScanOptions) -> None:
    make_repository(tmp_path / "library", {}, ["a.py"], ["a.py"])
    git(repository, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(tmp_path / "library"), "lib")
    git(repository, "commit", "--quiet", "--message", "submodule")
    git(tmp_path, "clone", "--quiet", str(repository), "clone")
    assert found(tmp_path / "clone", options) == [".gitignore", ".gitmodules", "out/c.py"]


@pytest.mark.parametrize("options", [BY_GIT, BY_WALK])
def test_a_linked_work_tree_heeds_the_rules_of_its_repository(
    repository: Path, tmp_path: Path, options: ScanOptions
) -> None:
    (repository / ".git/info/exclude").write_text("private.py\n")
    git(repository, "worktree", "add", "--quiet", str(tmp_path / "tree"))
    write(tmp_path / "tree", "private.py")
    write(tmp_path / "tree", "public.py")
    assert found(tmp_path / "tree", options) == [".gitignore", "out/c.py", "public.py"]


@pytest.mark.parametrize("options", [BY_GIT, BY_WALK])
def test_a_repository_without_a_commit_has_its_own_rules_too(repository: Path, options: ScanOptions) -> None:
    git(repository, "init", "--quiet", "new")
    write(repository, "new/kept.log")
    assert found(repository, options) == [".gitignore", "a.py", "new/kept.log", "out/c.py"]


@pytest.mark.parametrize("options", [BY_GIT, BY_WALK])
def test_a_cqmignore_file_holds_although_git_ignores_it(repository: Path, options: ScanOptions) -> None:
    write(repository, "sub/x.py")
    write(repository, "sub/.gitignore", ".cqmignore\n")
    write(repository, "sub/.cqmignore", "*.py\n!*.log\n")
    write(repository, "sub/back.log")
    assert [path for path in found(repository, options) if path.startswith("sub")] == ["sub/.gitignore", "sub/back.log"]


@pytest.mark.parametrize("options", [BY_GIT, BY_WALK])
def test_cqmignore_leaves_out_tracked_files(repository: Path, options: ScanOptions) -> None:
    write(repository, ".cqmignore", "c.py\n")
    assert found(repository, options) == [".cqmignore", ".gitignore", "a.py"]
    assert found(repository, options, ["out/c.py"]) == []


@pytest.mark.parametrize("options", [BY_GIT, BY_WALK])
def test_rules_above_the_root_hold_in_a_repository(repository: Path, options: ScanOptions) -> None:
    write(repository, "part/x.py")
    write(repository, "part/y.log")
    assert found(repository / "part", options) == ["x.py"]


@pytest.mark.parametrize("options", [BY_GIT, BY_WALK])
def test_an_ignored_folder_is_read_when_it_is_the_root(repository: Path, options: ScanOptions) -> None:
    assert found(repository / "out", options) == ["c.py", "d.py"]
    assert found(repository / "out", options, ["d.py"]) == ["d.py"]


@pytest.mark.parametrize("options", [BY_GIT, BY_WALK])
def test_the_global_ignore_file_holds(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: ScanOptions
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))
    write(tmp_path, "config/git/ignore", "a.py\n")
    assert found(repository, options) == [".gitignore", "out/c.py"]
    assert found(repository, options, ["a.py"]) == []


def test_no_program_named_in_a_repository_is_run(repository: Path, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch '{tmp_path}/was-run'\n")
    program.chmod(0o755)
    git(repository, "config", "core.fsmonitor", str(program))
    git(repository, "ls-files", "--others")
    assert (tmp_path / "was-run").exists(), "git itself runs it, so the test below can fail"
    (tmp_path / "was-run").unlink()
    assert found(repository, BY_GIT) == [".gitignore", "a.py", "out/c.py"]
    assert not (tmp_path / "was-run").exists()


@pytest.mark.parametrize("options", [BY_GIT, BY_WALK])
def test_a_hook_that_calls_us_does_not_redirect_git(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: ScanOptions
) -> None:
    make_repository(tmp_path / "other", {}, ["other.py"], [])
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other/.git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path / "other"))
    assert found(repository, options) == [".gitignore", "a.py", "out/c.py"]


def test_without_git_the_walk_heeds_its_rules(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.devnull)
    assert found(repository, BY_GIT) == [".gitignore", "a.py"]


def test_a_repository_that_git_refuses_is_walked(repository: Path) -> None:
    (repository / ".git/HEAD").write_text("broken")
    assert found(repository, BY_GIT) == [".gitignore", "a.py"]


@pytest.mark.parametrize("options", [BY_GIT, BY_WALK])
def test_gitignore_can_be_disregarded(repository: Path, options: ScanOptions) -> None:
    options = ScanOptions(exclude=options.exclude, use_gitignore=False)
    assert found(repository, options) == [".gitignore", "a.py", "b.log", "out/c.py", "out/d.py"]
    assert found(repository, options, ["b.log"]) == ["b.log"]
