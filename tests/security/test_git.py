"""git is never run on what a stranger's repository says: neither its settings nor its programs."""

import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Victim

Delivered = Callable[[Path], "Victim"]
Deliver = Callable[[Path, str], "Victim"]

WORDS_ONLY = {"CQM_EMBEDDING_PROVIDER": "none", "CQM_INDEX_SHARED": "0"}


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    """A program that says so when it is run."""
    program = tmp_path / "canary.sh"
    program.write_text(f"#!/bin/sh\necho \"$0 $*\" >> '{tmp_path}/was-run'\nexit 1\n")
    program.chmod(0o755)
    return program


@pytest.fixture(autouse=True)
def nothing_ran(tmp_path: Path) -> Iterator[None]:
    yield
    assert not (tmp_path / "was-run").exists(), (tmp_path / "was-run").read_text()


def answers(victim: "Victim", **changes: str) -> None:
    """The innocent file is indexed and found, and `status` ends by itself."""
    changes = WORDS_ONLY | changes
    # A copy of it in another folder may stand for it.
    assert any(path.endswith("innocent.py") for path in victim.paths("innocent_marker", **changes))
    assert victim.run("status", "--json", **changes).returncode == 0


def settings_that_run(program: Path) -> str:
    """Every setting of git's that names a program, as the config file of a repository."""
    ext = f"ext::{program}"
    return f"""
[core]
    repositoryformatversion = 1
    bare = false
    fsmonitor = {program}
    hooksPath = {program.parent}
    sshCommand = {program}
    gitProxy = {program}
    askPass = {program}
    editor = {program}
    pager = {program}
    alternateRefsCommand = {program}
    attributesFile = {program.parent}/attributes
[extensions]
    partialClone = origin
[remote "origin"]
    url = {ext}
    uploadpack = {program}
    receivepack = {program}
    vcs = ext
    promisor = true
    partialclonefilter = blob:none
    proxy = {program}
[remote "other"]
    url = {program.parent}
    uploadpack = {program}
    promisor = true
[url "{ext}"]
    insteadOf = https://
[credential]
    helper = !{program}
[filter "canary"]
    clean = {program}
    smudge = {program}
    process = {program}
    required = true
[diff]
    external = {program}
[diff "canary"]
    textconv = {program}
    command = {program}
[merge "canary"]
    driver = {program}
[uploadpack]
    packObjectsHook = {program}
[gpg]
    program = {program}
[gpg "ssh"]
    program = {program}
[log]
    showSignature = true
[pager]
    rev-list = {program}
    ls-files = {program}
    config = {program}
    version = {program}
[alias]
    ls-files = !{program}
    rev-list = !{program}
    rev-parse = !{program}
    version = !{program}
[submodule "sub"]
    update = !{program}
    url = {ext}
[sequence]
    editor = {program}
[protocol]
    allow = always
[protocol "ext"]
    allow = always
[trace2]
    eventTarget = {program.parent}/was-run
    normalTarget = {program.parent}/was-run
[includeIf "gitdir:/"]
    path = {program.parent}/included
[include]
    path = {program.parent}/included
"""


def make_hostile_git(folder: Path, program: Path) -> None:
    """A repository whose every setting runs a program, and which lacks objects that git would fetch with it."""
    git(folder, "init", "--quiet", "-b", "main")
    (folder / ".gitignore").write_text("*.log\n")
    (folder / ".gitattributes").write_text("* filter=canary diff=canary merge=canary\n")
    git(folder, "add", "-A")
    git(folder, "commit", "--quiet", "--message", "first")
    first = git(folder, "rev-parse", "HEAD")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "second")
    blob = git(folder, "rev-parse", "HEAD:.gitignore")
    git(folder, "update-index", "--skip-worktree", ".gitignore")
    (folder / ".gitignore").unlink()
    (folder / ".git/objects" / blob[:2] / blob[2:]).unlink()
    for id_of in (first, git(folder, "rev-parse", "HEAD")):
        (folder / ".git/objects" / id_of[:2] / id_of[2:]).unlink()
    (program.parent / "included").write_text(f"[core]\n fsmonitor = {program}\n")
    (folder / ".git/config").write_text(settings_that_run(program))
    for hook in ("post-index-change", "fsmonitor-watchman", "post-checkout", "reference-transaction"):
        shutil.copy(program, folder / ".git/hooks" / hook)


def git(folder: Path, *arguments: str) -> str:
    who = ["-c", "user.name=s", "-c", "user.email=s@example.invalid"]
    return subprocess.run(
        ["git", *who, "-C", str(folder), *arguments], check=True, capture_output=True, text=True
    ).stdout.strip()


def test_no_setting_of_a_copied_repository_runs_a_program(stranger: Path, victim_of: Deliver, canary: Path) -> None:
    make_hostile_git(stranger, canary)
    answers(victim_of(stranger, "cp -r"))


def test_an_archive_brings_the_same_files_as_a_copy(
    stranger: Path, victim_of: Deliver, canary: Path, tmp_path: Path
) -> None:
    """So attacks are tried on a clone and on a copy, and hold for an archive."""
    make_hostile_git(stranger, canary)
    (stranger / "link").symlink_to("/etc/passwd")
    os.mkfifo(stranger / "pipe")
    brought = []
    for way in ("cp -r", "archive"):
        project = victim_of(stranger, way).project.rename(tmp_path / way)
        files = {path.relative_to(project): path.lstat() for path in project.rglob("*")}
        brought.append({name: (it.st_mode, it.st_size * stat.S_ISREG(it.st_mode)) for name, it in files.items()})
    assert brought[0] == brought[1]
    assert len(brought[0]) > 5


def test_no_setting_of_a_repository_within_runs_a_program(stranger: Path, victim_of: Deliver, canary: Path) -> None:
    inner = stranger / "lib" / "inner"
    inner.mkdir(parents=True)
    shutil.copy(stranger / "innocent.py", inner)
    make_hostile_git(inner, canary)
    victim = victim_of(stranger, "cp -r")
    answers(victim)
    answers(victim.within("lib/inner"))


def test_no_setting_of_a_repository_that_came_as_files_of_a_clone_runs_a_program(
    stranger: Path, delivered: Delivered, canary: Path
) -> None:
    app = stranger / "packages" / "app"
    app.mkdir(parents=True)
    make_hostile_git(app, canary)
    for name in ("HEAD", "config", "index", "objects", "refs"):
        shutil.move(app / ".git" / name, app / name)
    shutil.rmtree(app / ".git")
    (app / "config").write_text(settings_that_run(canary).replace("bare = false", "bare = false\n    worktree = ."))
    (app / "refs" / "keep").touch()
    shutil.copy(stranger / "innocent.py", app)
    (app / "cqm.yml").write_text("search: {limit: 5}\n")
    victim = delivered(stranger)
    assert (victim.project / "packages/app/HEAD").exists()
    answers(victim)
    answers(victim.within("packages/app"))


def test_a_program_of_the_project_is_never_taken_for_git(stranger: Path, victim_of: Deliver, canary: Path) -> None:
    (stranger / "bin").mkdir()
    for folder in (stranger, stranger / "bin"):
        for name in ("git", "gh", "git.exe"):
            shutil.copy(canary, folder / name)
    victim = victim_of(stranger, "git clone")
    path = os.pathsep.join([".", "", "bin", str(victim.project), f"{victim.project}/bin", os.environ["PATH"]])
    answers(victim, PATH=path)
    victim.run("issues", "fetch", "o/r", "--out", "tracker", PATH=path)


def test_no_variable_redirects_git(stranger: Path, victim_of: Deliver, canary: Path, tmp_path: Path) -> None:
    make_hostile_git(stranger, canary)
    victim = victim_of(stranger, "cp -r")
    answers(
        victim,
        GIT_DIR=str(victim.project / ".git"),
        GIT_EXTERNAL_DIFF=str(canary),
        GIT_SSH_COMMAND=str(canary),
        GIT_PAGER=str(canary),
        GIT_TRACE=str(tmp_path / "was-run"),
        GIT_TRACE2_EVENT=str(tmp_path / "was-run"),
        GIT_CONFIG_COUNT="1",
        GIT_CONFIG_KEY_0="core.fsmonitor",
        GIT_CONFIG_VALUE_0=str(canary),
        GIT_CONFIG_PARAMETERS=f"'core.fsmonitor={canary}'",
        GIT_EXEC_PATH=str(canary.parent),
    )


def test_all_that_git_is_asked_for_is_on_this_list(
    stranger: Path, victim_of: Deliver, canary: Path, tmp_path: Path
) -> None:
    make_hostile_git(stranger, canary)
    victim = victim_of(stranger, "cp -r")
    asked = tmp_path / "asked"
    recorder = tmp_path / "bin" / "git"
    recorder.parent.mkdir()
    real = shutil.which("git")
    recorder.write_text(
        f"#!/bin/sh\npwd >> '{asked}'\nfor each; do :; done\n"
        f'while [ "$1" = -c ] || [ "$1" = --no-pager ]; do [ "$1" = -c ] && shift; shift; done\n'
        f"echo \"$*\" >> '{asked}'\nexec '{real}' \"$@\"\n"
    )
    recorder.chmod(recorder.stat().st_mode | stat.S_IXUSR)
    path = f"{recorder.parent}{os.pathsep}{os.environ['PATH']}"
    answers(victim, PATH=path)
    victim.run("doctor", **WORDS_ONLY, PATH=path)
    assert set(asked.read_text().splitlines()) == {"/", "config --type=path --get core.excludesFile", "version"}


def test_an_id_that_is_none_never_becomes_an_option_of_git(stranger: Path, victim_of: Deliver, tmp_path: Path) -> None:
    victim = victim_of(stranger, "git clone")
    answers(victim)
    for manifest in victim.home.rglob("manifest*"):
        data = manifest.read_bytes()
        head = git(victim.project, "rev-parse", "HEAD").encode()
        option = f"--output={tmp_path}/w".encode()[:40].ljust(40, b"x")
        manifest.write_bytes(data.replace(head, option))
    git(victim.project, "commit", "--quiet", "--allow-empty", "--message", "moved")
    assert victim.run("status", "--json", **WORDS_ONLY).returncode == 0
    assert not list(tmp_path.glob("w*"))


def test_a_clone_of_what_the_user_lists_runs_nothing_of_the_repository(
    stranger: Path, victim_of: Deliver, canary: Path, tmp_path: Path
) -> None:
    """`cqm bulk` is the one command that clones: with the user's own settings, of which the repository chooses none."""
    for name in ("ssh", "git", "git-upload-pack", "git-lfs"):
        shutil.copy(canary, stranger / name)
    (stranger / ".gitattributes").write_text("* filter=canary diff=canary merge=canary\n")
    (stranger / ".gitmodules").write_text(
        '[submodule "s"]\n path = s\n url = https://127.0.0.1:1/s.git\n update = !x\n'
    )
    victim = victim_of(stranger, "git clone")
    source = tmp_path / "published.git"
    (source / "config").write_text(settings_that_run(canary).replace("bare = false", "bare = true"))
    templates = tmp_path / "templates"
    for folder in (source / "hooks", templates / "hooks"):
        folder.mkdir(parents=True, exist_ok=True)
        for hook in ("post-checkout", "post-upload-pack", "pre-auto-gc", "reference-transaction", "upload-pack"):
            shutil.copy(canary, folder / hook)
    (victim.home / ".gitconfig").write_text(
        f'[init]\n templateDir = {templates}\n[filter "canary"]\n clean = {canary}\n smudge = {canary}\n'
        f" process = {canary}\n required = true\n[protocol]\n allow = always\n[submodule]\n recurse = true\n"
        f"[core]\n fsmonitor = {canary}\n askPass = {canary}\n"
    )
    listed = victim.home / "repos.txt"
    redirections = {
        "GIT_TEMPLATE_DIR": str(templates),
        "GIT_ALLOW_PROTOCOL": "ext:file",
        "GIT_ASKPASS": str(canary),
        "SSH_ASKPASS": str(canary),
        "GIT_PROXY_COMMAND": str(canary),
        "GIT_EXEC_PATH": str(canary.parent),
        "GIT_TRACE2": str(tmp_path / "was-run"),
        "PATH": os.pathsep.join([".", "", os.environ["PATH"]]),
    }
    for address in (f"file://{source}", f"file://{source}", "ssh://127.0.0.1:1/again.git", "git://127.0.0.1:1/x.git"):
        listed.write_text(f"{address} theirs\n")
        done = victim.run("bulk", str(listed), str(victim.home / "out"), "--retries", "0", **WORDS_ONLY, **redirections)
        assert ("1 snapshot" in done.stdout) == (address == f"file://{source}"), done.stderr
    clone = victim.home / "out/.work/clones/theirs"
    assert (clone / "innocent.py").exists()
    assert not (clone / ".git/hooks").exists()
    assert "transport 'git' not allowed" in done.stderr


@pytest.mark.parametrize("address", ["ext::{}%S_x", "ssh://-oProxyCommand={}/x", "--upload-pack={}", "-u{}@host:x"])
def test_an_address_of_a_list_runs_no_program(stranger: Path, victim_of: Deliver, canary: Path, address: str) -> None:
    victim = victim_of(stranger, "cp -r")
    (victim.home / "repos.txt").write_text(f"{address.format(canary)} theirs\n")
    done = victim.run("bulk", str(victim.home / "repos.txt"), str(victim.home / "out"), "--retries", "0", **WORDS_ONLY)
    assert done.returncode == 1
