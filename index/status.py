"""What an index holds and how fresh it is, read from its manifest; also while another process is writing it."""

import json
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from cqm.index.collection import read_note
from cqm.index.embedding.routes import Routes
from cqm.index.errors import DamagedIndexError, StoreError
from cqm.index.generation import DAMAGE_FACT, manifest_path, serving_name
from cqm.index.home import index_folder, resolve_root
from cqm.index.manifest import Manifest
from cqm.index.model import FileState, IndexStatus, ModelState
from cqm.index.options import IndexOptions

COMPLETE_FACT = "complete"
UPDATED_FACT = "updated_at"
HEAD_FACT = "git_head"
LACKING_FACT = "lacking"
PROBLEMS_FACT = "problems"
ORDER_FACT = "models"


def problems_of(routes: Routes | None) -> str:
    """What is wrong with models, as it is noted in a manifest."""
    states = routes.states() if routes else ()
    return json.dumps({state.name: state.problem for state in states if state.problem})


def space_fact(route: str) -> str:
    """The name of the fact that tells the space of the preferred model of a route."""
    return f"space.{route}"


def read_status(root: Path, options: IndexOptions) -> IndexStatus:
    """The status of a root's index without opening it: nothing is created, and its owner is not disturbed.

    Raises:
        ScanError: the root does not exist.
        ManifestError: the manifest cannot be read.
    """
    root = resolve_root(root)
    folder = index_folder(root, options)
    name = serving_name(folder)
    if not name:
        return describe(root, folder, None, None)
    try:
        manifest = Manifest.open(manifest_path(folder, name), read_only=True)
        try:
            return describe(root, folder, manifest, None)
        finally:
            manifest.close()
    except DamagedIndexError as error:
        return replace(describe(root, folder, None, None), exists=True, damage=error.message)


Statistics = Mapping[str, Mapping[str, int]]
"""What a manifest holds, counted: "files" by state, "languages", "skipped" by reason, "coverage" by space."""


def count(manifest: Manifest) -> Statistics:
    """Count what a manifest holds: as long as its revision is the same, so is this."""
    return {
        "files": manifest.counts("state"),
        "languages": manifest.counts("language"),
        "skipped": manifest.skipped_by_reason(),
        "coverage": manifest.coverage(),
    }


def describe(
    root: Path, folder: Path, manifest: Manifest | None, pending: int | None, counted: Statistics | None = None
) -> IndexStatus:
    """The status that a manifest tells.

    Parameters:
        manifest: None stands for an index that was never made.
        pending: how many files differ on disk; None when nobody looked.
        counted: what is in the manifest, where that is known; else it is counted now.
    """
    fact = manifest.fact if manifest else lambda _: ""
    counted = counted or (count(manifest) if manifest else {})
    languages = counted.get("languages", {})
    return IndexStatus(
        root=str(root),
        location=str(folder),
        exists=bool(fact(UPDATED_FACT)),
        complete=bool(fact(COMPLETE_FACT)),
        files=counted.get("files", {}),
        chunks=sum(languages.values()),
        languages=languages,
        skipped=counted.get("skipped", {}),
        failed=manifest.problems(FileState.FAILED) if manifest else (),
        space=fact(space_fact("code")),
        updated_at=float(fact(UPDATED_FACT) or 0),
        pending=pending,
        git_head=git_head(root),
        indexed_head=fact(HEAD_FACT),
        size_bytes=size_on_disk(folder),
        coverage=counted.get("coverage", {}),
        lacking=int(fact(LACKING_FACT) or 0),
        models=tuple(ModelState(name, problem=why) for name, why in json.loads(fact(PROBLEMS_FACT) or "{}").items()),
        damage=fact(DAMAGE_FACT),
        server=_server(folder) if manifest else "",
    )


def _server(folder: Path) -> str:
    """Where the generation that serves is, if it is on a server."""
    with suppress(DamagedIndexError, StoreError):
        if note := read_note(folder / serving_name(folder)):
            return str(note)
    return ""


def git_head(root: Path) -> str:
    """The commit that is checked out at a folder; empty outside of git, without git, or before the first commit."""
    folder = root if root.is_dir() else root.parent
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), "rev-parse", "--verify", "--quiet", "HEAD"],
            capture_output=True, text=True, timeout=10, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()


def size_on_disk(folder: Path) -> int:
    """Bytes that the folder takes on disk; its files are sparse, so that blocks are counted and not lengths."""
    total = 0
    for path in folder.rglob("*"):
        try:
            info = path.lstat()
        except FileNotFoundError:
            continue
        total += getattr(info, "st_blocks", 0) * 512 or info.st_size
    return total
