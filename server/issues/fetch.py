"""Fetch issues and pull requests of a repository into a folder, a file each, to be indexed like any other file.

A file is rewritten only when GitHub reports a later change, so a stopped run can simply be repeated.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

from cqm.index.disk.beneath import NotRegularError, read_small
from cqm.server.issues import gh as github
from cqm.server.issues.gh import GitHubError, GoneError, Json

_MOST_BYTES = 64 << 20
"""Largest issue with all its comments."""
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_ELSEWHERE = "Delete it, or name another folder with --out."


@dataclass(frozen=True, slots=True)
class Wanted:
    """Issues and pull requests to fetch.

    Attributes:
        repository: OWNER/NAME.
        state: "open", "closed" or "all".
        limit: most issues, and most pull requests; the newest are taken.
        since: only those changed at or after this moment, in seconds since the epoch; 0 for all.
        pull_requests: whether to fetch them too.
    """

    repository: str
    state: str = "all"
    limit: int = 1000
    since: float = 0.0
    pull_requests: bool = True


@dataclass(frozen=True, slots=True)
class Fetched:
    """Result of a run: files written, files up to date, and a sentence for each failed issue."""

    written: int
    unchanged: int
    failed: tuple[str, ...]


class _Task(NamedTuple):
    number: int
    updated_at: str
    path: Path
    get: Callable[[int], Json]


def fetch(wanted: Wanted, folder: Path) -> Fetched:
    """Fetch a repository's issues to `issues/NUMBER.json` and its pull requests to `pulls/NUMBER.json`.

    Parameters:
        wanted: the issues and pull requests to fetch.
        folder: is made if there is none.

    Raises:
        GitHubError: GitHub can't be reached or asked; files fetched until then are kept.
        OSError: the folder can't be written.
    """
    repository = github.repository_name(wanted.repository)
    for name in ("issues", "pulls"):
        if (folder / name).is_symlink():
            raise GitHubError(f"{folder / name}: expected a folder, not a link to another place.", remedy=_ELSEWHERE)
    tasks = _tasks(wanted, "issue", folder / "issues", partial(github.issue, repository))
    if wanted.pull_requests:
        tasks += _tasks(wanted, "pr", folder / "pulls", partial(github.pull_request, repository))
    due = [task for task in tasks if _updated_at(task.path) != task.updated_at]
    failed = []
    with _progress(len(due)) as advance:
        for task in due:
            try:
                _write(task.path, task.get(task.number))
            except GoneError as error:
                failed.append(f"#{task.number}: {error.message}")
            advance()
    return Fetched(len(due) - len(failed), len(tasks) - len(due), tuple(failed))


def fetched_lines(fetched: Fetched, folder: str) -> list[str]:
    """Summarize a run for people."""
    done = f"{fetched.written} fetched to {folder}, {fetched.unchanged} unchanged"
    return [done, *(f"failed: {problem}" for problem in fetched.failed)]


def _tasks(wanted: Wanted, command: str, folder: Path, get: Callable[[int], Json]) -> list[_Task]:
    found = github.listed(wanted.repository, command, wanted.state, wanted.limit)
    return [
        _Task(item.number, item.updated_at, folder / f"{item.number}.json", get)
        for item in found
        if datetime.fromisoformat(item.updated_at).timestamp() >= wanted.since
    ]


def _updated_at(path: Path) -> str:
    """Read the time of last change from a file; empty when it is missing or damaged."""
    try:
        found = json.loads(read_small(path, _MOST_BYTES))["updatedAt"]
    except (FileNotFoundError, NotRegularError, ValueError, KeyError, TypeError):
        return ""
    return found if isinstance(found, str) else ""


def _write(path: Path, value: Json) -> None:
    """Write a file as a whole or not at all; with lines, so a search can name them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # UTF-8 can't hold lone surrogates only; the backslash form is the same in Python and in JSON.
    data = json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8", "backslashreplace")
    partial_file = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(partial_file, _NEW_FILE, 0o666), "wb") as file:
            file.write(data + b"\n")
        partial_file.replace(path)
    finally:
        partial_file.unlink(missing_ok=True)


@contextmanager
def _progress(total: int) -> Iterator[Callable[[], None]]:
    """Show a bar on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console  # start-up time
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Fetching", total=total)
        yield lambda: bar.advance(task)
