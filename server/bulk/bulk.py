"""Run `cqm export` for many repositories: a process each, some at a time, tried again, and not done twice."""

import json
import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from cqm.chunkers.errors import CqmError
from cqm.chunkers.extras import how_to_run
from cqm.index.files import checkout
from cqm.index.model.errors import SnapshotError
from cqm.index.model.progress import Exported
from cqm.index.snapshots.restore import opened_snapshot
from cqm.server.bulk.listed import Repository, checked_out
from cqm.server.config.settings import load_settings
from cqm.server.errors import BulkError, SettingsError

SUFFIX = ".cqm"
_USAGE = 2
"""Exit code of `cqm` for options and settings: another try would end the same."""
_LONGEST = 500


@dataclass(frozen=True, slots=True)
class Made:
    """The outcome of a repository.

    Attributes:
        name, source: of the list.
        file: its snapshot; empty where that failed.
        commit, files, chunks: in it; of a kept one too.
        kept: whether it was there already, of this commit and these options.
        attempts: processes that were started for it.
        seconds: wall time.
        error: why it failed; empty where it did not.
    """

    name: str
    source: str
    file: str = ""
    commit: str = ""
    files: int = 0
    chunks: int = 0
    kept: bool = False
    attempts: int = 0
    seconds: float = 0.0
    error: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """Choices for making snapshots.

    Attributes:
        out: folder of the snapshots.
        work: folder of clones and indexes, which the next run goes on with.
        jobs: repositories at a time.
        retries: further tries of one that fails.
        overrides: options of the command line, by dotted name.
    """

    out: Path
    work: Path
    jobs: int
    retries: int
    overrides: Mapping[str, str]


def make_snapshots(repositories: Sequence[Repository], plan: Plan, report: Callable[[Made], None]) -> list[Made]:
    """Make a snapshot of each repository; one that fails leaves the others.

    Parameters:
        report: called with each as it is done.
    """
    plan.out.mkdir(parents=True, exist_ok=True)
    plan.work.mkdir(parents=True, exist_ok=True, mode=0o700)
    made = []
    with ThreadPoolExecutor(plan.jobs) as threads:
        try:
            for future in as_completed([threads.submit(_make, it, plan) for it in repositories]):
                made.append(future.result())
                report(made[-1])
        except BaseException:
            threads.shutdown(cancel_futures=True)
            raise
    order = {it.name: place for place, it in enumerate(repositories)}
    return sorted(made, key=lambda it: order[it.name])


def _make(repository: Repository, plan: Plan) -> Made:
    began, attempts, error = time.monotonic(), 0, ""
    for _ in range(plan.retries + 1):
        try:
            root = checked_out(repository, plan.work)
            if kept := _kept(repository, root, plan):
                return kept
            attempts += 1
            told = _export(root, plan.out.resolve() / f"{repository.name}{SUFFIX}", plan)
        except CqmError as failure:
            error = str(failure)
            if not failure.retryable:
                break
            continue
        held = (told.file, told.commit, told.files, told.chunks)
        seconds = time.monotonic() - began
        return Made(repository.name, repository.source, *held, attempts=attempts, seconds=seconds)
    seconds = time.monotonic() - began
    return Made(repository.name, repository.source, attempts=attempts, seconds=seconds, error=error)


def _kept(repository: Repository, root: Path, plan: Plan) -> Made | None:
    """Return the snapshot of an earlier run if it is whole, of these options and of the commit of our own clone.

    A folder of the user may differ from its commit, so it is always exported; its index is kept, too.
    """
    file = plan.out.resolve() / f"{repository.name}{SUFFIX}"
    head = checkout.head(root)
    if not repository.is_elsewhere or not head or not file.is_file():
        return None
    try:
        options = load_settings(root, overrides=plan.overrides).index_options(root)
        with opened_snapshot(file, options) as opened:
            found = opened.snapshot
    except (SnapshotError, SettingsError):
        return None
    if found.commit != head:
        return None
    return Made(repository.name, repository.source, str(file), head, found.files, found.chunks, kept=True)


def _export(root: Path, file: Path, plan: Plan) -> Exported:
    """Run `cqm export` in a process; give what it tells.

    Raises:
        BulkError: it failed or was killed.
    """
    ours = {
        "index.shared": "false",
        "index.home": str(plan.work.resolve() / "indexes"),
        "index.workers": str(max(1, (os.cpu_count() or 1) // plan.jobs)),
    }
    options = [it for name, value in {**ours, **plan.overrides}.items() for it in ("--set", f"{name}={value}")]
    command = [*how_to_run(), "export", str(root), str(file), "--json", *options]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        why = done.stderr.strip()[-_LONGEST:] or f"ended with {done.returncode}"
        raise BulkError(why, retryable=done.returncode != _USAGE)
    return Exported(**json.loads(done.stdout))
