"""Status of an index: its files, models, cache and running work."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from cqm.index.model.freshness import NOT_KNOWN, Freshness
from cqm.index.model.progress import ModelState
from cqm.index.model.query import FileProblem

# The tasks of `Running`.
UPDATE, UPDATE_OF_PATHS, REBUILD, IMPROVE = "update", "update of paths", "rebuild", "improve"
COMPACT, EXPORT = "compact", "export"


@dataclass(frozen=True, slots=True)
class Running:
    """A piece of work on an index.

    Attributes:
        task: "update", "update of paths", "rebuild" (into another generation), "improve", "compact" or
            "export".
        phase, done, total, chunks, rate, remaining_seconds: as in `Progress`.
        started_at, told_at: times of its begin and of this report, seconds since the epoch.
    """

    task: str
    phase: str = "scanning"
    done: int = 0
    total: int = 0
    chunks: int = 0
    rate: float = 0.0
    remaining_seconds: float | None = None
    started_at: float = 0.0
    told_at: float = 0.0


@dataclass(frozen=True, slots=True)
class Building:
    """A generation being built beside the serving one.

    Attributes:
        why: the changed options or models, or the user's request; empty when unknown.
        files: their number in it by now.
        total: their number at the end; 0 while nothing builds it, until the next update goes on with it.
    """

    name: str
    why: str
    files: int
    total: int = 0


@dataclass(frozen=True, slots=True)
class CacheLayer:
    """Counts of a layer of the cache since it was opened.

    Attributes:
        name: "memory", "redis" or "disk".
        hits, misses: keys found and not found.
        stored: values written.
        errors: failed operations; each counts as a miss.
        entries, size_bytes: its content; 0 where unknown.
        problem: its present fault; empty for none.
    """

    name: str
    hits: int = 0
    misses: int = 0
    stored: int = 0
    errors: int = 0
    entries: int = 0
    size_bytes: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class LastUpdate:
    """The last update of all files with new text.

    Attributes:
        at: its end, seconds since the epoch.
        seconds: wall time.
        files: new or changed.
        chunks: written.
        stages: as in `UpdateSummary`.
    """

    at: float
    seconds: float
    files: int
    chunks: int
    stages: Mapping[str, float]


class IndexState(StrEnum):
    """An index in one word; the first fitting one."""

    ABSENT = "absent"
    DAMAGED = "damaged"
    UNAVAILABLE = "unavailable"
    RUNNING = "running"
    INCOMPLETE = "incomplete"
    PARTIAL = "partial"
    COMPLETE = "complete"


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """Content and freshness of an index.

    Attributes:
        root, location: the indexed folder or file, and the folder of the index.
        exists: whether anything was ever indexed.
        complete: whether it once held every file.
        files: counted by state.
        chunks: searchable chunks.
        languages: chunks counted by language.
        skipped: files counted by reason.
        failed: the failed files.
        space: the space of the preferred model, as "provider/model/dimensions"; empty before its first vector.
        coverage: chunks counted by the space of their vector; "" for those without one.
        lacking: as in `UpdateSummary`.
        models: the configured ones, in order; only those with a problem when the index is not open.
        cache: its layers; empty when the index is not open.
        updated_at: end of the last update, seconds since the epoch; 0 for never.
        pending: files differing from the index now; None when nobody looked.
        git_head, indexed_head: the commit checked out now and at the last update; empty outside git.
        size_bytes: of the index on disk.
        damage: the damage found; empty for none, or when it is rebuilt already.
        unavailable: why an undamaged index is not used, with a remedy; empty when it is used or was replaced.
        server: the Qdrant collection and server of the chunks; empty where `location` holds them.
        state: "running" while an update or a rebuild goes on, "incomplete" when the last of all files was cut short,
            "partial" when files failed, else "complete".
        freshness: compared with its files.
        commits_behind: number of commits of git_head missing in indexed_head; None when unknown.
        running: present work on it, in this process or another.
        stopped: the last update of all files, if it was cut short; None when it ended, or runs.
        building: the generation built while this one serves; None for none.
        last_update: its time and counts; None before the first.
        generated_files: number of indexed files written by a tool.
        redacted_secrets, redacted_files: numbers of redacted secrets and of files with one.
    """

    root: str
    location: str
    exists: bool
    complete: bool
    files: Mapping[str, int]
    chunks: int
    languages: Mapping[str, int]
    skipped: Mapping[str, int]
    failed: tuple[FileProblem, ...]
    space: str
    updated_at: float
    pending: int | None
    git_head: str
    indexed_head: str
    size_bytes: int
    coverage: Mapping[str, int] = field(default_factory=dict)
    lacking: int = 0
    models: tuple[ModelState, ...] = ()
    cache: tuple[CacheLayer, ...] = ()
    damage: str = ""
    unavailable: str = ""
    server: str = ""
    state: IndexState = IndexState.ABSENT
    freshness: Freshness = NOT_KNOWN
    commits_behind: int | None = None
    running: tuple[Running, ...] = ()
    stopped: Running | None = None
    building: Building | None = None
    generated_files: int = 0
    redacted_secrets: int = 0
    redacted_files: int = 0
    last_update: LastUpdate | None = None


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One of a user's indexes, described without opening it.

    Attributes:
        root, location: the indexed folder or file, and the folder of the index.
        root_exists: whether the first is still there.
        files, chunks: numbers of searchable ones.
        space: as in `IndexStatus`.
        size_bytes: on disk.
        updated_at, used_at: end of the last update, and the last use, seconds since the epoch; 0 for never.
        in_use_by: the process with it open; empty for none.
        damage: why it cannot be described; empty where it can.
        unavailable: as in `IndexStatus`, but independent of the settings.
        server: as in `IndexStatus`.
    """

    root: str
    location: str
    root_exists: bool
    files: int = 0
    chunks: int = 0
    space: str = ""
    size_bytes: int = 0
    updated_at: float = 0.0
    used_at: float = 0.0
    in_use_by: str = ""
    damage: str = ""
    unavailable: str = ""
    server: str = ""
