"""Pipes, devices, links, folders and huge files stand where small files of rules and of git are expected."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from race import race
from tests.security.conftest import Victim, git

Deliver = Callable[[Path, str], Victim]

WORDS_ONLY = {"CQM_EMBEDDING_PROVIDER": "none", "CQM_INDEX_SHARED": "0"}
HUGE = 900 << 20
"""Bytes; the file is sparse, so that only reading it costs."""
SECONDS = 240.0
"""A bound for a process that would hang, not a measurement."""


def pipe(path: Path) -> None:
    os.mkfifo(path)


def endless_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def terminal(path: Path) -> None:
    path.symlink_to("/dev/tty")


def link_to_itself(path: Path) -> None:
    path.symlink_to(path.name)


def link_outside(path: Path) -> None:
    path.symlink_to("/etc/passwd")


def folder(path: Path) -> None:
    path.mkdir()


def huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(HUGE)


def costly_globs(path: Path) -> None:
    path.write_text("".join(f"{'*a' * 40}{number}\n{'**/a' * 40}/{number}\n" for number in range(4000)))


def listening_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        here = Path.cwd()
        os.chdir(path.parent)
        listening.bind(path.name)
        os.chdir(here)


KINDS = (pipe, endless_device, terminal, link_to_itself, link_outside, folder, huge, costly_globs, listening_socket)
GIT_FILES = (
    ".git/HEAD",
    ".git/index",
    ".git/config",
    ".git/packed-refs",
    ".git/commondir",
    ".git/info/exclude",
    ".git/refs/heads/main",
    ".git/objects/info/alternates",
    ".git/shallow",
    "sub/.git",
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="such files are made on Linux")


@pytest.fixture
def repository(stranger: Path) -> Path:
    """The stranger's folder as a repository of one commit."""
    who = ["-c", "user.name=s", "-c", "user.email=s@example.invalid", "-c", "init.defaultBranch=main"]
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "first"]):
        subprocess.run(["git", *who, "-C", str(stranger), *arguments], check=True)
    (stranger / "sub").mkdir()
    return stranger


def put(place: Path, kind: Callable[[Path], None]) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.exists():
        place.unlink()
    kind(place)


def answers(victim: Victim) -> None:
    """Index and search, and ask for the status."""
    for arguments, wanted in ((("search", "innocent_marker"), "innocent.py"), (("status",), "git_head")):
        done = victim.run(*arguments, "--json", seconds=SECONDS, **WORDS_ONLY)
        assert done.returncode in {0, 1}, done.stderr
        assert wanted in done.stdout
        assert "root:" not in done.stdout


@pytest.mark.parametrize("kind", KINDS)
def test_what_stands_in_the_place_of_an_ignore_file_is_passed_over(
    stranger: Path, victim_of: Deliver, kind: Callable[[Path], None]
) -> None:
    for name in (".gitignore", ".cqmignore", "a/.gitignore", "a/.cqmignore", "a/b/.gitignore"):
        put(stranger / name, kind)
    (stranger / "a" / "b" / "other.py").write_text("def other():\n    return 1\n")
    answers(victim_of(stranger, "cp -r"))


def test_a_link_to_a_device_as_an_ignore_file_travels_by_every_way(
    stranger: Path, delivered: Callable[[Path], Victim]
) -> None:
    for name in (".gitignore", ".cqmignore", "a/.cqmignore"):
        put(stranger / name, endless_device)
    answers(delivered(stranger))


@pytest.mark.parametrize("kind", KINDS)
def test_what_stands_in_the_place_of_files_of_git_is_passed_over(
    repository: Path, victim_of: Deliver, kind: Callable[[Path], None]
) -> None:
    # HEAD last: without it there is no repository, so that nothing else would be looked at.
    for name in GIT_FILES[1:]:
        put(repository / name, kind)
    victim = victim_of(repository, "cp -r")
    answers(victim)
    put(victim.project / ".git/HEAD", kind)
    assert victim.run("status", "--json", seconds=SECONDS, **WORDS_ONLY).returncode == 0


def test_ignore_files_above_a_root_are_read_as_safely(stranger: Path, victim_of: Deliver) -> None:
    (stranger / "packages" / "app").mkdir(parents=True)
    (stranger / "packages" / "app" / "innocent.py").write_bytes((stranger / "innocent.py").read_bytes())
    put(stranger / ".cqmignore", endless_device)
    put(stranger / "packages" / ".cqmignore", pipe)
    put(stranger / ".gitignore", pipe)
    answers(victim_of(stranger, "cp -r").within("packages/app"))


def test_settings_of_git_that_name_files_are_not_followed(repository: Path, victim_of: Deliver, tmp_path: Path) -> None:
    pipe(tmp_path / "pipe")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "foreign.py").write_text("def foreign_marker():\n    return 1\n")
    (tmp_path / "everything").write_text("*\n")
    for setting in (
        f"[include]\n path = {tmp_path}/pipe\n",
        f"[core]\n excludesFile = {tmp_path}/pipe\n attributesFile = {tmp_path}/pipe\n",
        f"[core]\n excludesFile = {tmp_path}/everything\n worktree = {outside}\n",
    ):
        (repository / ".git/config").write_text(f"[core]\n repositoryformatversion = 0\n{setting}")
    (repository / ".git/objects/info/alternates").write_text(f"{tmp_path}/pipe\n/dev\n")
    victim = victim_of(repository, "cp -r")
    answers(victim)
    assert "foreign.py" not in victim.run("search", "foreign_marker", "--json", **WORDS_ONLY).stdout


@pytest.mark.parametrize(
    "head",
    ["ref: ../../../../../../../etc/passwd", "ref: /etc/passwd", "ref: refs/../../../../etc/passwd", "root:x:0:0"],
)
def test_no_name_of_a_ref_leads_out_of_the_repository(repository: Path, victim_of: Deliver, head: str) -> None:
    (repository / ".git/HEAD").write_text(f"{head}\n")
    victim = victim_of(repository, "archive")
    told = victim.json("status", **WORDS_ONLY)
    assert "root:" not in str(told)


@pytest.mark.parametrize("place", [".git", "commondir"])
def test_a_git_folder_elsewhere_tells_nothing_but_the_id_of_a_commit(
    repository: Path, victim_of: Deliver, tmp_path: Path, place: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "refs/heads").mkdir(parents=True)
    for name in ("HEAD", "refs/heads/main", "packed-refs", "index"):
        (elsewhere / name).write_text("the secret of elsewhere\n")
    if place == ".git":
        subprocess.run(["rm", "-r", str(repository / ".git")], check=True)
        (repository / ".git").write_text(f"gitdir: {elsewhere}\n")
    else:
        (repository / ".git/commondir").write_text(f"{elsewhere}\n")
    victim = victim_of(repository, "cp -r")
    answers(victim)
    done = victim.run("status", "--json", **WORDS_ONLY)
    assert "the secret" not in done.stdout + done.stderr


@pytest.mark.parametrize("way", ["git file", "git link", "commondir", "links in it"])
def test_commits_of_another_repository_are_never_shown(
    repository: Path, victim_of: Deliver, tmp_path: Path, way: str
) -> None:
    private, shipped = tmp_path / "private", repository / ".git"
    subprocess.run(["cp", "-a", str(repository), str(private)], check=True)
    git(private, "commit", "--quiet", "--allow-empty", "--message", "a private matter")
    if way == "commondir":
        (shipped / "commondir").write_text(f"{private}/.git\n")
    elif way == "links in it":
        subprocess.run(["rm", "-r", str(shipped / "refs" / "heads")], check=True)
        (shipped / "refs" / "heads").symlink_to(private / ".git/refs/heads")
        (shipped / "objects" / "info" / "alternates").write_text(f"{private}/.git/objects\n")
    else:
        subprocess.run(["rm", "-r", str(shipped)], check=True)
        if way == "git link":
            shipped.symlink_to(private / ".git")
        else:
            shipped.write_text(f"gitdir: {private}/.git\n")
    victim = victim_of(repository, "cp -r")
    for what in ((), ("HEAD",), ("private matter",)):
        done = victim.run("changes", *what, "--json", **WORDS_ONLY)
        assert done.returncode == 2, done.stdout
        assert "matter" not in done.stdout + done.stderr.replace("`private matter`", "")


def test_commits_of_worktrees_and_submodules_are_shown(stranger: Path, victim_of: Deliver, tmp_path: Path) -> None:
    victim = victim_of(stranger, "git clone")
    git(victim.project, "worktree", "add", "--quiet", str(tmp_path / "worktree"))
    local = ("-c", "protocol.file.allow=always")
    git(victim.project, *local, "submodule", "--quiet", "add", str(tmp_path / "published.git"), "module")
    git(tmp_path, "clone", "--quiet", "--separate-git-dir", "apart.git", "published.git", "apart")
    apart = replace(victim, project=tmp_path / "apart")
    told = apart.run("changes", **WORDS_ONLY)
    assert told.returncode == 2
    assert f"git config core.worktree {apart.project}" in told.stderr
    git(tmp_path / "apart.git", "config", "core.worktree", str(apart.project))
    for one in (victim, replace(victim, project=tmp_path / "worktree"), victim.within("module"), apart):
        assert "published" in one.run("changes", **WORDS_ONLY).stdout


def test_a_folder_that_is_exchanged_for_a_link_is_never_read_through(tmp_path: Path) -> None:
    outcome = race(tmp_path.resolve(), 3000)
    assert outcome.leaks == ()
    assert outcome.turned
    assert outcome.read


@pytest.mark.parametrize("kind", [pipe, endless_device])
def test_a_preview_of_what_is_no_file_is_refused(
    stranger: Path, victim_of: Deliver, kind: Callable[[Path], None]
) -> None:
    kind(stranger / "app.py")
    done = victim_of(stranger, "cp -r").run("preview", "app.py", seconds=SECONDS)
    assert done.returncode == 2
    assert "expected a regular file" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("preview", "link.py"),
        ("preview", "out/secret.py"),
        ("outline", "out"),
        ("read", "planted", "--path", "out"),
        ("search", "planted", "--path", "out"),
        ("index", "out"),
        ("report", "out"),
        ("eval", "questions.jsonl", "out"),
    ],
)
def test_no_command_follows_a_link_of_the_project_out_of_it(
    repository: Path, tmp_path: Path, victim_of: Deliver, arguments: tuple[str, ...]
) -> None:
    outside = tmp_path / "precious"
    outside.mkdir()
    (outside / "secret.py").write_text("def planted():\n    return 1\n")
    (repository / "link.py").symlink_to(outside / "secret.py")
    (repository / "out").symlink_to(outside)
    (repository / "questions.jsonl").write_text('{"id": "1", "query": "planted", "targets": []}\n')
    done = victim_of(repository, "cp -r").run(*arguments, seconds=SECONDS, **WORDS_ONLY)
    assert done.returncode == 2
    assert "a link leads out of the project" in done.stderr
    assert "return 1" not in done.stdout


@pytest.mark.parametrize("arguments", [("preview", "link.py"), ("preview", "out/secret.py"), ("report", "out")])
def test_no_command_follows_a_link_out_of_a_tree_that_nothing_marks_as_a_project(
    tmp_path: Path, victim_of: Deliver, arguments: tuple[str, ...]
) -> None:
    outside, unpacked = tmp_path / "precious", tmp_path / "unpacked"
    outside.mkdir()
    unpacked.mkdir()
    (outside / "secret.py").write_text("def planted():\n    return 1\n")
    (unpacked / "link.py").symlink_to(outside / "secret.py")
    (unpacked / "out").symlink_to(outside)
    victim = victim_of(unpacked, "cp -r")
    command, name = arguments
    absolute = [(command, str(victim.project / name))] if name == "link.py" else []
    for given in (arguments, *absolute):
        done = victim.run(*given, seconds=SECONDS, **WORDS_ONLY)
        assert done.returncode == 2
        assert "a link leads out of" in done.stderr
        assert "return 1" not in done.stdout


def test_a_folder_that_is_a_link_may_be_given_from_elsewhere(
    repository: Path, tmp_path: Path, victim_of: Deliver
) -> None:
    victim = victim_of(repository, "cp -r")
    link = tmp_path / "current"
    link.symlink_to(victim.project)
    assert victim.run("outline", str(link), seconds=SECONDS, **WORDS_ONLY).returncode == 0


def test_a_link_within_the_project_is_followed(repository: Path, victim_of: Deliver) -> None:
    (repository / "link.py").symlink_to("innocent.py")
    assert victim_of(repository, "cp -r").run("preview", "link.py", seconds=SECONDS, **WORDS_ONLY).returncode == 0


@pytest.mark.parametrize("kind", [pipe, endless_device, listening_socket])
def test_a_preview_of_what_is_no_regular_file_says_so(
    stranger: Path, victim_of: Deliver, kind: Callable[[Path], None]
) -> None:
    victim = victim_of(stranger, "cp -r")
    put(victim.project / "odd.py", kind)
    done = victim.run("preview", "odd.py", seconds=SECONDS, **WORDS_ONLY)
    assert (done.returncode, "expected a regular file" in done.stderr) == (2, True), done.stderr
