"""The walk finds the files that git would list, in the whole tree and below a path."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cqm.index.files.scan import scan
from cqm.index.model.options import ScanOptions

pytestmark = pytest.mark.processes

DEFAULT = ScanOptions()

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


def found(root: Path, below: list[str] | None = None, options: ScanOptions = DEFAULT) -> list[str]:
    return [file.path for file in scan(root, options, below)]


def listed_by_git(top: Path) -> set[str]:
    """Return what git itself lists below a folder, and in the repositories there."""
    said = git(top, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    paths = set()
    for path in filter(None, said.split("\0")):
        if (top / path).is_dir():
            inner = path.rstrip("/")
            is_repository = (top / path / ".git").exists()
            paths |= {f"{inner}/{below}" for below in listed_by_git(top / path)} if is_repository else set()
        elif os.path.lexists(top / path):
            paths.add(path)
    return paths


@given(
    rules=RULES,
    paths=st.lists(PATHS, max_size=12),
    tracked=st.lists(PATHS, max_size=4),
    excluded=st.lists(st.sampled_from(PATTERNS), max_size=2),
    nested=st.sampled_from(["", "", "a/nested", "build/nested", "nested"]),
    nested_rules=RULES,
    top=st.sampled_from(["", "", "a", "build"]),
)
@example({"": ["*"]}, ["a/x.py", "a/y.log"], ["a/x.py"], [], "", {}, "a")
def test_the_walk_finds_what_git_lists(
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
        whole = found(start)
        # git lists of a folder that it ignores only what it tracks; who asks for such a folder wants it.
        is_ignored = ["git", "-C", str(root), "check-ignore", "--quiet", "--no-index", top]
        if not top or subprocess.run(is_ignored, check=False).returncode:
            assert whole == sorted(listed_by_git(start))
        for path in {*paths, *FOLDERS, *(f"{nested}/{path}" for path in paths[:3])} - {""}:
            at_or_below = [file for file in whole if file == path or file.startswith(f"{path}/")]
            assert found(start, [path]) == at_or_below


def test_a_file_in_the_place_of_a_folder_is_not_found_below_an_ignore_file_above_the_root(tmp_path: Path) -> None:
    # Rules above a root that no repository reaches are left out, and the whole tree is walked for any part of it.
    (tmp_path / ".gitignore").write_text("*.log\n")
    root = tmp_path / "root"
    root.mkdir()
    (root / "build").write_text("x\n")
    assert found(root, ["build"]) == ["build"]
    assert found(root, ["build/build"]) == []


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    make_repository(
        tmp_path / "repo",
        {"": ["*.log", "out/"]},
        ["a.py", "b.log", "out/c.py", "out/d.py"],
        [".gitignore", "out/c.py"],
    )
    return tmp_path / "repo"


def test_a_tracked_file_is_found_although_it_is_ignored(repository: Path) -> None:
    assert found(repository) == [".gitignore", "a.py", "out/c.py"]
    assert found(repository, ["out/c.py"]) == ["out/c.py"]
    assert found(repository, ["out"]) == ["out/c.py"]
    assert found(repository, ["out/d.py", "b.log"]) == []


def test_a_deleted_file_that_git_still_tracks_is_not_found(repository: Path) -> None:
    (repository / "out/c.py").unlink()
    assert found(repository) == [".gitignore", "a.py"]


def test_a_file_in_a_merge_conflict_is_found_once(repository: Path) -> None:
    git(repository, "checkout", "--quiet", "-b", "other")
    for branch, text in (("other", "one\n"), ("main", "two\n")):
        git(repository, "checkout", "--quiet", branch)
        (repository / "a.py").write_text(text)
        git(repository, "add", "a.py")
        git(repository, "commit", "--quiet", "--message", branch)
    with pytest.raises(subprocess.CalledProcessError):
        git(repository, "merge", "other")
    assert found(repository).count("a.py") == 1


def test_a_submodule_is_walked_by_its_own_rules(repository: Path, tmp_path: Path) -> None:
    make_repository(tmp_path / "library", {"": ["*.py"]}, ["kept.log", "kept.py", "left.py"], [".gitignore", "kept.py"])
    git(repository, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(tmp_path / "library"), "lib")
    write(repository, "lib/new.py")
    write(repository, "lib/new.md")
    assert [path for path in found(repository) if path.startswith("lib")] == [
        "lib/.gitignore",
        "lib/kept.py",
        "lib/new.md",
    ]
    assert found(repository, ["lib/new.md", "lib/kept.py"]) == ["lib/kept.py", "lib/new.md"]


def test_a_submodule_that_is_not_checked_out_is_empty(repository: Path, tmp_path: Path) -> None:
    make_repository(tmp_path / "library", {}, ["a.py"], ["a.py"])
    git(repository, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(tmp_path / "library"), "lib")
    git(repository, "commit", "--quiet", "--message", "submodule")
    git(tmp_path, "clone", "--quiet", str(repository), "clone")
    assert found(tmp_path / "clone") == [".gitignore", ".gitmodules", "out/c.py"]


def test_a_linked_work_tree_heeds_the_rules_of_its_repository(repository: Path, tmp_path: Path) -> None:
    (repository / ".git/info/exclude").write_text("private.py\n")
    git(repository, "worktree", "add", "--quiet", str(tmp_path / "tree"))
    write(tmp_path / "tree", "private.py")
    write(tmp_path / "tree", "public.py")
    assert found(tmp_path / "tree") == [".gitignore", "out/c.py", "public.py"]


def test_another_checkout_inside_a_repository_is_left_out(repository: Path) -> None:
    git(repository, "worktree", "add", "--quiet", ".trees/feature")
    assert found(repository) == [".gitignore", "a.py", "out/c.py"]
    assert found(repository, [".trees/feature/out/c.py"]) == []
    assert found(repository / ".trees/feature") == [".gitignore", "out/c.py"]


def test_checkouts_beside_a_bare_repository_are_found_from_the_folder_around_them(
    repository: Path, tmp_path: Path
) -> None:
    around = tmp_path / "around"
    around.mkdir()
    git(around, "clone", "--quiet", "--bare", str(repository), ".bare")
    write(around, ".git", "gitdir: ./.bare\n")
    git(around, "worktree", "add", "--quiet", "main_tree")
    assert "main_tree/out/c.py" in found(around)


def test_a_repository_without_a_commit_has_its_own_rules_too(repository: Path) -> None:
    git(repository, "init", "--quiet", "new")
    write(repository, "new/kept.log")
    assert found(repository) == [".gitignore", "a.py", "new/kept.log", "out/c.py"]


def test_a_cqmignore_file_holds_although_git_ignores_it(repository: Path) -> None:
    write(repository, "sub/x.py")
    write(repository, "sub/.gitignore", ".cqmignore\n")
    write(repository, "sub/.cqmignore", "*.py\n!*.log\n")
    write(repository, "sub/back.log")
    assert [path for path in found(repository) if path.startswith("sub")] == ["sub/.gitignore", "sub/back.log"]


def test_cqmignore_leaves_out_tracked_files(repository: Path) -> None:
    write(repository, ".cqmignore", "c.py\n")
    assert found(repository) == [".cqmignore", ".gitignore", "a.py"]
    assert found(repository, ["out/c.py"]) == []


def test_rules_above_the_root_hold_in_a_repository(repository: Path) -> None:
    write(repository, "part/x.py")
    write(repository, "part/y.log")
    assert found(repository / "part") == ["x.py"]


def test_an_ignored_folder_is_read_when_it_is_the_root(repository: Path) -> None:
    assert found(repository / "out") == ["c.py", "d.py"]
    assert found(repository / "out", ["d.py"]) == ["d.py"]


def test_the_global_ignore_file_holds(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))
    write(tmp_path, "config/git/ignore", "a.py\n")
    assert found(repository) == [".gitignore", "out/c.py"]
    assert found(repository, ["a.py"]) == []


def test_git_that_said_nothing_in_time_is_asked_again(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The silence was remembered: ignored files were indexed as long as the process lived."""
    write(tmp_path, "own-ignore", "a.py\n")
    write(tmp_path, ".gitconfig", f"[core]\nexcludesFile = {tmp_path}/own-ignore\n")
    real = shutil.which("git")
    write(tmp_path, "bin/git", f"#!/bin/sh\n[ -e '{tmp_path}/is-slow' ] && exec sleep 60\nexec '{real}' \"$@\"\n")
    (tmp_path / "bin/git").chmod(0o755)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path}/bin{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "is-slow").touch()
    assert found(repository) == [".gitignore", "a.py", "out/c.py"]
    (tmp_path / "is-slow").unlink()
    assert found(repository) == [".gitignore", "out/c.py"]


def test_no_program_named_in_a_repository_is_run(repository: Path, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch '{tmp_path}/was-run'\n")
    program.chmod(0o755)
    git(repository, "config", "core.fsmonitor", str(program))
    git(repository, "ls-files", "--others")
    assert (tmp_path / "was-run").exists(), "git itself runs it, so the test below can fail"
    (tmp_path / "was-run").unlink()
    assert found(repository) == [".gitignore", "a.py", "out/c.py"]
    assert not (tmp_path / "was-run").exists()


def test_a_hook_that_calls_us_does_not_redirect_git(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_repository(tmp_path / "other", {}, ["other.py"], [])
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other/.git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path / "other"))
    assert found(repository) == [".gitignore", "a.py", "out/c.py"]


def test_the_rules_hold_where_git_is_not_installed(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.devnull)
    assert found(repository) == [".gitignore", "a.py", "out/c.py"]


@pytest.mark.parametrize("content", [b"", b"DIRC", b"DIRC" + bytes([0, 0, 0, 2, 255, 255, 255, 255]) + b"x" * 99])
def test_a_damaged_index_file_of_git_leaves_the_rules_to_the_ignore_files(repository: Path, content: bytes) -> None:
    (repository / ".git/index").write_bytes(content)
    assert found(repository) == [".gitignore", "a.py"]


@pytest.mark.parametrize(
    "form",
    [
        ["update-index", "--index-version", "2"],
        ["update-index", "--index-version", "4"],
        ["update-index", "--split-index"],
        ["update-index", "--skip-worktree", "out/c.py"],
    ],
)
def test_what_is_tracked_is_known_in_every_form_of_the_index_file(repository: Path, form: list[str]) -> None:
    for number in range(40):
        write(repository, f"out/deep/file{number}.py")
    git(repository, "add", "--force", "out")
    git(repository, *form)
    git(repository, "add", "--intent-to-add", "--force", "b.log")
    assert found(repository) == sorted(listed_by_git(repository))
    assert "out/deep/file7.py" in found(repository)
    assert "b.log" in found(repository)


def test_what_is_tracked_is_known_in_a_repository_of_sha256(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--object-format=sha256", "new")
    root = tmp_path / "new"
    write(root, ".gitignore", "*\n")
    write(root, "only.py")
    git(root, "add", "--force", "only.py")
    assert found(root) == ["only.py"]


def test_gitignore_can_be_disregarded(repository: Path) -> None:
    options = ScanOptions(use_gitignore=False)
    assert found(repository, options=options) == [".gitignore", "a.py", "b.log", "out/c.py", "out/d.py"]
    assert found(repository, ["b.log"], options) == ["b.log"]
