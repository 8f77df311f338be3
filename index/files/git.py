"""The git command line. Only this module starts git, and never with a repository's own settings.

A repository's settings can name programs, files to read and servers to ask. So git never runs inside of one. Tracked,
ignored and checked-out paths are read from files (`git_folder`, `git_index`, `ignore_file`, `checkout`). git answers
only:
- the user's ignore file for all repositories: asked outside of any repository;
- the number of commits between two, lists of commits and their changed lines: asked in an empty repository of ours that
  borrows the other's objects;
- its version, for `cqm doctor`.

It clones only repositories listed by the user, for `cqm bulk`: see `clone_newest`.

Without git, or if it refuses, hangs or dies, there is no answer.
"""

import errno
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from cqm.index.files.bounded import run_bounded
from cqm.index.files.git_folder import GitFolder, git_folder_of

_COMMIT = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
_SECONDS = 5.0
_MOST_MEMORY = 2 << 30
"""Bytes of address space: git maps the packs it reads."""
_MOST_OUTPUT = 64 << 10
_PASSED = (
    "HOME",
    "PATH",
    "USERPROFILE",
    "SYSTEMROOT",
    "XDG_CONFIG_HOME",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
)
"""Variables passed to git: the places of the user's own settings. Others may redirect it or name a program."""

_PASSED_TO_CLONE = (
    *("ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "all_proxy", "https_proxy", "http_proxy", "no_proxy"),
    *("CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "SSL_CERT_DIR", "SSL_CERT_FILE"),
    *("GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "SSH_AUTH_SOCK"),
    *("DBUS_SESSION_BUS_ADDRESS", "GH_CONFIG_DIR", "GH_TOKEN", "GITHUB_TOKEN", "KRB5CCNAME", "XDG_RUNTIME_DIR"),
    *("APPDATA", "LOCALAPPDATA", "LOGNAME", "PROGRAMDATA", "TEMP", "TMP", "TMPDIR", "USER", "USERNAME"),
)
"""Further ones passed to a clone: of the network, and of the user's own ssh and credential helpers."""

_SET = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_CEILING_DIRECTORIES": os.sep,
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}

# None of these should run for our questions. All are off, in case a release of git decides otherwise.
_OFF = {
    "core.alternateRefsCommand": "",
    "core.askPass": "",
    "core.attributesFile": os.devnull,
    "core.fsmonitor": "false",
    "core.gitProxy": "",
    "core.hooksPath": os.devnull,
    "core.packedGitLimit": "256m",
    "core.packedGitWindowSize": "32m",
    "core.pager": "",
    "core.sshCommand": "false",
    "credential.helper": "",
    "diff.external": "",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "protocol.allow": "never",
    "safe.bareRepository": "explicit",
}


# A clone needs a network and the user's own credentials; all else is off there too.
_OFF_TO_CLONE = {
    name: value for name, value in _OFF.items() if name not in {"core.sshCommand", "credential.helper"}
} | {
    # The user's own ignore rules and line ends are kept; LFS's filter would be called by its name in their settings.
    "core.protectHFS": "true",
    "core.protectNTFS": "true",
    "fetch.recurseSubmodules": "false",
    "init.templateDir": "",
    "submodule.recurse": "false",
    "transfer.bundleURI": "false",
}
_SET_TO_CLONE = _SET | {
    # No program named by an address (`ext::`), nothing unencrypted.
    "GIT_ALLOW_PROTOCOL": "https:ssh:file",
    # A server silent for minutes is given up.
    "GIT_HTTP_LOW_SPEED_LIMIT": "1",
    "GIT_HTTP_LOW_SPEED_TIME": "300",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "SSH_ASKPASS_REQUIRE": "never",
}
_NO_FILTERS = "* -filter -ident\n"
"""Attributes of a clone of ours, which count more than those of its files: no program cleans or expands them."""


def program(name: str, project: Path) -> str | None:
    """Find a program in PATH; None if it is in none of its folders.

    Only absolute folders outside of the project count. The working folder never does, neither as "." or "" in PATH nor
    as the place where Windows looks first.

    Parameters:
        name: without a folder.
        project: may be written by a stranger.
    """
    real_project = os.path.realpath(project)
    for folder in filter(None, _path_outside(project).split(os.pathsep)):
        # On Windows `which` looks into the working folder first, unless the name has a folder.
        found = shutil.which(os.path.join(folder, name))  # noqa: PTH118
        if found and not Path(os.path.realpath(found)).is_relative_to(real_project):
            return found
    return None


def user_ignore_file(project: Path) -> Path | None:
    """Return the user's ignore file for all repositories; it need not exist.

    Settings for some repositories only (`includeIf`) don't count.

    Parameters:
        project: programs inside it don't count as git.
    """
    git = program("git", project)
    try:
        named = _named_ignore_file(git, *map(os.environ.get, _PASSED))
    except OSError:
        # Asked again the next time.
        named = ""
    if named:
        return Path(named) if os.path.isabs(named) else None  # noqa: PTH117
    base = os.environ.get("XDG_CONFIG_HOME", "")
    home = os.path.expanduser("~")  # noqa: PTH111 - Path.home() raises where there is none
    return Path(base or os.path.join(home, ".config"), "git", "ignore")  # noqa: PTH118


def version(project: Path) -> str | None:
    """Return git's version text; None if git is not installed or doesn't answer."""
    said = _said(program("git", project), ["version"], {"GIT_DIR": os.devnull})
    return said.decode("utf-8", "replace").strip() if said else None


def commits_between(folder: Path, old: str, new: str) -> int | None:
    """Count the commits contained in the second and not in the first.

    Parameters:
        folder: in a work tree.
        old, new: ids of commits.

    Returns:
        None if git doesn't know them, or one is no id.
    """
    try:
        return _commits_between(folder, old, new)
    except OSError:
        # Asked again the next time.
        return None


@lru_cache(maxsize=64)
def _commits_between(folder: Path, old: str, new: str) -> int | None:
    """Return the same as `commits_between`.

    Raises:
        OSError: see `_answer`.
    """
    place = git_folder_of(folder)
    if place is None or not all(map(_COMMIT.fullmatch, (old, new))):
        return None
    said = _answer_of(place, new, ["rev-list", "--count", "--end-of-options", f"{old}..{new}", "--"], _MOST_OUTPUT)
    return int(said) if said is not None and said.strip().isdigit() else None


def clone_newest(address: str, clone: Path, seconds: float) -> str:
    """Clone the newest commit of a repository, or bring a clone of ours to it. It has no history and no submodules.

    Nothing in the repository is run: no hook, template, filter or fetch of something else.

    Parameters:
        address: as the user listed it: `https:`, `ssh:`, `file:` or `USER@HOST:PATH`.
        clone: a folder of ours, made if missing.
        seconds: longest time of each of git's commands.

    Returns:
        Why git failed; empty if it didn't.

    Raises:
        TimeoutError: git was killed.
        OSError: it cannot be started, or the disk refuses.
    """
    clone = Path(os.path.realpath(clone))
    git = program("git", clone)
    if git is None:
        return "git is not in PATH"
    shallow = ["--quiet", "--depth=1", "--no-tags"]
    if (clone / ".git").is_dir():
        arguments = ["-C", str(clone), "fetch", *shallow, "--no-recurse-submodules", "--", address, "HEAD"]
        newest = "FETCH_HEAD"
    else:
        clone.parent.mkdir(parents=True, exist_ok=True)
        arguments = ["clone", *shallow, "--no-checkout", "--template=", "--", address, str(clone)]
        newest = "HEAD"
    if failure := _failure_of([git, *arguments], clone, seconds):
        return failure
    (clone / ".git/info").mkdir(exist_ok=True)
    (clone / ".git/info/attributes").write_text(_NO_FILTERS, encoding="ascii")
    checkout = ["-C", str(clone), "checkout", "--quiet", "--force", "--detach", newest, "--"]
    return _failure_of([git, *checkout], clone, seconds)


def _failure_of(command: Sequence[str], clone: Path, seconds: float) -> str:
    git, *arguments = command
    off = [part for name, value in _OFF_TO_CLONE.items() for part in ("-c", f"{name}={value}")]
    passed = {name: os.environ[name] for name in (*_PASSED, *_PASSED_TO_CLONE) if name in os.environ}
    # git works in the clone, and finds `ssh` and helpers by PATH.
    environment = passed | _SET_TO_CLONE | {"PATH": _path_outside(clone)}
    try:
        done = run_bounded([git, "--no-pager", *off, *arguments], seconds, cwd=Path(os.sep), env=environment)
    except subprocess.TimeoutExpired as error:
        raise TimeoutError from error
    return "" if done.returncode == 0 else done.stderr.decode("utf-8", "replace").strip() or f"code {done.returncode}"


def _path_outside(project: Path) -> str:
    """Return the absolute folders of PATH outside of a folder."""
    entries = os.environ.get("PATH", os.defpath).split(os.pathsep)
    real = os.path.realpath(project)
    kept = [it for it in entries if os.path.isabs(it) and not Path(os.path.realpath(it)).is_relative_to(real)]  # noqa: PTH117
    return os.pathsep.join(kept)


def said_of(place: GitFolder, commit: str, arguments: Sequence[str], most_bytes: int) -> bytes | None:
    """Ask git about the objects of a repository, in an empty one of ours without its refs and settings.

    Parameters:
        commit: any whole id of a commit, to tell the form of ids.
        arguments: of a command only reading objects.
        most_bytes: longest output.

    Returns:
        None unless git succeeds in time, within that output.
    """
    try:
        return _answer_of(place, commit, arguments, most_bytes)
    except OSError:
        return None


def _answer_of(place: GitFolder, commit: str, arguments: Sequence[str], most_bytes: int) -> bytes | None:
    form = "sha1" if len(commit) == 40 else "sha256"  # noqa: PLR2004 - hex digits
    with tempfile.TemporaryDirectory(prefix="cqm-git-") as ours:
        _make_empty_repository(Path(ours), form)
        own = {"GIT_DIR": ours, "GIT_OBJECT_DIRECTORY": str(place.common / "objects")}
        shallow = place.common / "shallow"
        if shallow.is_file() and not shallow.is_symlink():
            own["GIT_SHALLOW_FILE"] = str(shallow)
        return _answer(program("git", place.top), arguments, own, most_bytes)


def _make_empty_repository(place: Path, form: str) -> None:
    (place / "objects").mkdir()
    (place / "refs").mkdir()
    (place / "HEAD").write_text("ref: refs/heads/none\n", encoding="ascii")
    config = f"[core]\nrepositoryformatversion = 1\nbare = true\n[extensions]\nobjectFormat = {form}\n"
    (place / "config").write_text(config, encoding="ascii")


@lru_cache(maxsize=8)
def _named_ignore_file(git: str | None, *_passed: str | None) -> str:
    """Return the ignore file named in the user's settings; "" for none.

    Raises:
        OSError: see `_answer`.
    """
    # With an invalid GIT_DIR, git looks for no repository at all.
    said = _answer(git, ["config", "--type=path", "--get", "core.excludesFile"], {"GIT_DIR": os.devnull})
    return os.fsdecode(said or b"").rstrip("\n")


def _said(git: str | None, arguments: Sequence[str], own: Mapping[str, str]) -> bytes | None:
    """Run git as `_answer` does; return None unless it succeeds."""
    try:
        return _answer(git, arguments, own)
    except OSError:
        return None


def _answer(
    git: str | None, arguments: Sequence[str], own: Mapping[str, str], most_bytes: int = _MOST_OUTPUT
) -> bytes | None:
    """Run git in the disk's root folder; return None if there is none, or it refuses.

    Raises:
        OSError: it cannot be started, is ended, or says nothing in time, or too much: it may answer the next time.
    """
    if git is None:
        return None
    off = [part for name, value in _OFF.items() for part in ("-c", f"{name}={value}")]
    environment = {name: os.environ[name] for name in _PASSED if name in os.environ} | _SET | dict(own)
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            [git, "--no-pager", *off, *arguments],
            env=environment,
            cwd=os.sep,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.DEVNULL,
        )
        _limit(process.pid, most_bytes)
        try:
            code = process.wait(_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise TimeoutError from error
        finally:
            process.kill()
            process.wait()
        output.seek(0)
        said = output.read(most_bytes + 1)
    if code < 0 or len(said) > most_bytes:
        raise OSError(errno.EIO, "git was ended, or said too much")
    return said if code == 0 else None


def _limit(pid: int, most_bytes: int) -> None:
    """Limit a process's memory and output, if the system can do so from outside."""
    if sys.platform == "linux":
        import resource

        try:
            resource.prlimit(pid, resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
        except ProcessLookupError:
            # It has already ended.
            return
