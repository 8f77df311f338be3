"""One repository to one snapshot: every engine runs, retries and counts this step."""

import json
import os
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from cqm.chunkers.extras import how_to_run
from cqm.index import Index
from cqm.index.files import checkout
from cqm.index.model.errors import SnapshotError
from cqm.index.model.outcomes import Exported
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
        name, source: from the list.
        file: its snapshot; empty after a failure.
        commit, files, chunks: in it; of a kept one too.
        kept: whether it existed already, of this commit and these options.
        attempts: number of tries; 1 with an engine that does not count them.
        seconds: wall time.
        error: the reason of a failure; empty for none.
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
        work: folder of clones and indexes; the next run goes on with them.
        jobs: repositories at a time.
        retries: further tries after a failure.
        overrides: options of the command line, by dotted name.
    """

    out: Path
    work: Path
    jobs: int
    retries: int
    overrides: Mapping[str, str]

    def options(self, workers: int) -> dict[str, str]:
        """Return the options of each index; `workers` parse where the command line names no number."""
        home = str(self.work.resolve() / "indexes")
        return {"index.shared": "false", "index.home": home, "index.workers": str(workers), **self.overrides}


Export = Callable[[Path, Path, Plan], Exported]
"""Bring the index of a folder up to date and write it to a file."""


def attempt(repository: Repository, plan: Plan, export: Export) -> Made:
    """Try once to make the snapshot of a repository; keep an existing one if nothing has changed.

    Raises:
        CqmError: cloning, indexing or writing failed; another try may help if it is `retryable`.
    """
    began = time.monotonic()
    plan.work.mkdir(parents=True, exist_ok=True, mode=0o700)
    root = checked_out(repository, plan.work)
    file = plan.out.resolve() / f"{repository.name}{SUFFIX}"
    if kept := _kept(repository, root, file, plan):
        return kept
    told = export(root, file, plan)
    held = (told.file, told.commit, told.files, told.chunks)
    return Made(repository.name, repository.source, *held, attempts=1, seconds=time.monotonic() - began)


def _kept(repository: Repository, root: Path, file: Path, plan: Plan) -> Made | None:
    """Return the snapshot of an earlier run if it is whole, of these options and of the commit of our own clone.

    A folder of the user may differ from its commit, so it is always exported; its index is kept, too.
    """
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


def export_by_command(root: Path, file: Path, plan: Plan) -> Exported:
    """Run `cqm export` in a process; return its result.

    Raises:
        BulkError: it failed or was killed.
    """
    given = plan.options(max(1, (os.cpu_count() or 1) // plan.jobs))
    options = [it for name, value in given.items() for it in ("--set", f"{name}={value}")]
    command = [*how_to_run(), "export", str(root), str(file), "--json", *options]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        said = " ".join(line.strip() for line in done.stderr.splitlines()).removeprefix("cqm: ")
        why = said[-_LONGEST:] or f"ended with {done.returncode}"
        raise BulkError(why, retryable=done.returncode != _USAGE)
    return Exported(**json.loads(done.stdout))


def export_here(root: Path, file: Path, plan: Plan) -> Exported:
    """Index and export in this process, for an engine with worker processes: ending one ends its work.

    Raises:
        CqmError: as `Index` and the settings raise it.
    """
    given = plan.options(1)
    with Index.open(root, load_settings(root, overrides=given).index_options(root)) as index:
        index.update()
        return index.export(file)
