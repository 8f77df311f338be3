"""Contents and freshness of an index, read from its manifest, even while another process writes it."""

import json
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

from cqm.index.disk.locations import folder_of, index_folder, resolve_root
from cqm.index.disk.size import size_on_disk
from cqm.index.files import checkout, git
from cqm.index.generations.folders import building_name, manifest_path, serving_name
from cqm.index.generations.generation import Generation, generation_name, recipe_of, require_available
from cqm.index.manifest.facts import (
    COMPARED_FACT,
    COMPLETE_FACT,
    DAMAGE_FACT,
    HEAD_FACT,
    LACKING_FACT,
    LAST_FACT,
    PROBLEMS_FACT,
    SPACE_FACT,
    UNAVAILABLE_FACT,
    UPDATED_FACT,
    WHY_FACT,
)
from cqm.index.manifest.manifest import Manifest
from cqm.index.model.errors import DamagedIndexError, ManifestError, StoreError, UnavailableError
from cqm.index.model.freshness import Freshness, FreshState, judged
from cqm.index.model.options import IndexOptions
from cqm.index.model.progress import ModelState
from cqm.index.model.query import FileState
from cqm.index.model.status import (
    EXPORT,
    IMPROVE,
    REBUILD,
    Building,
    IndexState,
    IndexStatus,
    LastUpdate,
    Running,
)
from cqm.index.status.running import read_running
from cqm.index.store.collection import server_of


def read_status(root: Path, options: IndexOptions) -> IndexStatus:
    """Return the status of a root's index without opening it: creates nothing and doesn't disturb its owner.

    Raises:
        ScanError: the root does not exist.
        ManifestError: the manifest cannot be read.
    """
    root = resolve_root(root)
    folder = index_folder(root, options)
    running, stopped = read_running(folder)
    name = serving_name(folder)
    if not name:
        return going_on(describe(root, folder, None, None), running, stopped)
    try:
        require_available(folder / name, options.store)
        with closing(Manifest.open(manifest_path(folder, name), read_only=True)) as manifest:
            found = describe(root, folder, manifest, None)
    except UnavailableError as error:
        found = replace(describe(root, folder, None, None), exists=True, unavailable=str(error))
    except DamagedIndexError as error:
        found = replace(describe(root, folder, None, None), exists=True, damage=error.message)
    return going_on(found, running, stopped, read_building(folder, name, running, options))


def read_sizes(root: Path, options: IndexOptions) -> list[tuple[str, int, str]]:
    """Return path, bytes and language of each indexed file, without opening the index; empty where none is complete.

    Raises:
        ScanError: the root does not exist.
        ManifestError: the manifest cannot be read.
    """
    folder = index_folder(resolve_root(root), options)
    name = serving_name(folder)
    if not name:
        return []
    with closing(Manifest.open(manifest_path(folder, name), read_only=True)) as manifest:
        return [(path, size, language) for path, size, language in manifest.sizes()]


def building_beside(
    folder: Path, serving: str, building: Generation | None, running: Sequence[Running], options: IndexOptions
) -> Building | None:
    """Return the generation built beside the serving one of an open index.

    Parameters:
        serving: name of the serving generation.
        building: the generation built by this process, if any.
    """
    if building is None:
        return read_building(folder, serving, running, options)
    try:
        return describe_building(building.name, building.manifest, running)
    except ManifestError:
        # It was closed a moment ago.
        return None


def read_building(folder: Path, serving: str, running: Sequence[Running], options: IndexOptions) -> Building | None:
    """Return the generation being built by another process, or continued by the next update with these options."""
    name = building_name(folder, serving)
    is_built = any(run.task == REBUILD for run in running)
    # A name with "-" was for replacing a generation of the same options: nobody continues it.
    if not name or ("-" in name and not is_built):
        return None
    try:
        require_available(folder / name, options.store)
        with closing(Manifest.open(manifest_path(folder, name), read_only=True)) as manifest:
            is_wanted = is_built or recipe_of(manifest) == generation_name(options)
            return describe_building(name, manifest, running) if is_wanted else None
    except (DamagedIndexError, ManifestError, StoreError):
        # It is just being begun or deleted. The process continuing it reports damage.
        return None


def describe_building(name: str, manifest: Manifest, running: Sequence[Running]) -> Building | None:
    """Describe the building of a generation; None if it is complete, and so serves or will at once."""
    if manifest.fact(COMPLETE_FACT):
        return None
    counts = manifest.counts("state")
    files = counts.get(FileState.INDEXED, 0) + counts.get(FileState.FAILED, 0)
    left = next((run.total - run.done for run in running if run.task == REBUILD and run.total), None)
    return Building(name, manifest.fact(WHY_FACT), files, 0 if left is None else files + left)


def going_on(
    status: IndexStatus, running: Sequence[Running], stopped: Running | None, building: Building | None = None
) -> IndexStatus:
    """Return a status with the work in progress and the resulting state."""
    told = replace(status, running=tuple(running), stopped=stopped, building=building)
    return replace(told, state=_state(told))


def _state(status: IndexStatus) -> IndexState:
    is_updating = any(run.task not in {IMPROVE, EXPORT} for run in status.running)
    rows = (
        (bool(status.damage) and not is_updating, IndexState.DAMAGED),
        (bool(status.unavailable) and not is_updating, IndexState.UNAVAILABLE),
        (is_updating, IndexState.RUNNING),
        (not status.exists and not status.stopped, IndexState.ABSENT),
        (not status.complete or status.stopped is not None, IndexState.INCOMPLETE),
        (bool(status.failed), IndexState.PARTIAL),
    )
    return next((state for holds, state in rows if holds), IndexState.COMPLETE)


Statistics = Mapping[str, Mapping[str, int]]
"""Counts of a manifest: "files" by state, "languages", "skipped" by reason, "coverage" by space ..."""


def count(manifest: Manifest) -> Statistics:
    """Count a manifest's contents; the counts stay valid for the same revision."""
    redacted = manifest.secrets()
    return {
        "files": manifest.counts("state"),
        "languages": manifest.counts("language"),
        "skipped": manifest.skipped_by_reason(),
        "coverage": manifest.coverage(),
        "generated": {"files": len(manifest.generated())},
        "redacted": {"files": len(redacted), "secrets": sum(file.count for file in redacted)},
    }


def describe(
    root: Path, folder: Path, manifest: Manifest | None, pending: int | None, counted: Statistics | None = None
) -> IndexStatus:
    """Return the status recorded in a manifest.

    Parameters:
        manifest: None for an index never made.
        pending: number of files changed on disk; None if unknown.
        counted: the manifest's counts, if known; otherwise they are made now.
    """
    fact = manifest.fact if manifest else lambda _: ""
    counted = counted or (count(manifest) if manifest else {})
    languages, redacted = counted.get("languages", {}), counted.get("redacted", {})
    fresh = freshness(root, manifest, pending)
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
        space=fact(f"{SPACE_FACT}code"),
        updated_at=float(fact(UPDATED_FACT) or 0),
        pending=pending,
        git_head=fresh.git_head or "",
        indexed_head=fresh.indexed_head,
        size_bytes=size_on_disk(folder),
        coverage=counted.get("coverage", {}),
        lacking=int(fact(LACKING_FACT) or 0),
        models=tuple(ModelState(name, problem=why) for name, why in json.loads(fact(PROBLEMS_FACT) or "{}").items()),
        damage=fact(DAMAGE_FACT),
        unavailable=fact(UNAVAILABLE_FACT),
        server=server_of(folder / serving_name(folder)) if manifest else "",
        freshness=fresh,
        generated_files=counted.get("generated", {}).get("files", 0),
        redacted_secrets=redacted.get("secrets", 0),
        redacted_files=redacted.get("files", 0),
        last_update=_last_update(fact(LAST_FACT)),
        commits_behind=_commits_behind(root, fresh),
    )


def _commits_behind(root: Path, fresh: Freshness) -> int | None:
    """Count the commits of HEAD missing in the index; None if unknown."""
    # Files compared just now are those of the commit checked out.
    if not fresh.is_moved or fresh.state is FreshState.FRESH:
        return 0 if fresh.git_head else None
    if not fresh.indexed_head:
        return None
    return git.commits_between(folder_of(root), fresh.indexed_head, fresh.git_head or "")


def _last_update(noted: str) -> LastUpdate | None:
    """Read a note of `LAST_FACT`; None for none, or one of another release."""
    with suppress(ValueError, TypeError):
        return LastUpdate(**json.loads(noted)) if noted else None
    return None


def freshness(root: Path, manifest: Manifest | None, pending: int | None = None) -> Freshness:
    """Return the freshness recorded in a manifest, with the commit checked out now."""
    fact = manifest.fact if manifest else lambda _: ""
    compared_at = float(fact(COMPARED_FACT) or 0)
    head = checkout.head(folder_of(root))
    return judged(Freshness(compared_at=compared_at, git_head=head, indexed_head=fact(HEAD_FACT)), pending)
