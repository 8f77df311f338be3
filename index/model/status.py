"""What there is to say of an index: its status, its models and the layers of its cache."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from cqm.index.model.freshness import NOT_KNOWN, Freshness
from cqm.index.model.query import FileProblem

UPDATE, UPDATE_OF_PATHS, REBUILD, IMPROVE, COMPACT = "update", "update of paths", "rebuild", "improve", "compact"
"""The tasks of `Running`."""


@dataclass(frozen=True, slots=True)
class Running:
    """A piece of work on an index.

    Attributes:
        task: "update", "update of paths", "rebuild" (into another generation), "improve" or "compact".
        phase, done, total, chunks, rate, remaining_seconds: as in `Progress`.
        started_at, told_at: when it began, and when this was so, seconds since the epoch.
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
    """A generation that is built beside the one that serves.

    Attributes:
        name: of it.
        why: which options or models changed, or that it was asked for; empty when that is not known.
        files: that it holds by now.
        total: that it will hold; 0 while nothing builds it, until the next update goes on with it.
    """

    name: str
    why: str
    files: int
    total: int = 0


@dataclass(frozen=True, slots=True)
class CacheLayer:
    """How a layer of the cache did since it was opened.

    Attributes:
        name: "memory", "redis" or "disk".
        hits, misses: keys asked for, by what became of it.
        stored: values written.
        errors: operations that failed; each counts as a miss.
        entries, size_bytes: what it holds; 0 where that is not told.
        problem: what is wrong now; empty when nothing is.
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
class ModelState:
    """Whether a configured model can be used.

    Attributes:
        name: "provider/model".
        embeds: what it is the first choice for: "code", "prose"; empty for a fallback.
        problem: why it failed when it was asked the last time; empty when it did not.
    """

    name: str
    embeds: tuple[str, ...] = ()
    problem: str = ""


class IndexState(StrEnum):
    """What is to be said of an index in one word; the first that fits."""

    ABSENT = "absent"
    DAMAGED = "damaged"
    UNAVAILABLE = "unavailable"
    RUNNING = "running"
    INCOMPLETE = "incomplete"
    PARTIAL = "partial"
    COMPLETE = "complete"


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """What an index holds and how fresh it is.

    Attributes:
        root, location: the indexed folder or file, and the folder of the index.
        exists: whether anything was ever indexed.
        complete: whether it once held every file.
        files: counted by state.
        chunks: searchable chunks.
        languages: chunks counted by language.
        skipped: files counted by reason.
        failed: the files that failed.
        space: the space of the preferred model, as "provider/model/dimensions"; empty before its first vector.
        coverage: chunks counted by the space of their vector; "" for those without one.
        lacking: as in `UpdateSummary`.
        models: the configured ones, in order; only those with a problem when the index is not open.
        cache: its layers; empty when the index is not open.
        updated_at: end of the last update, seconds since the epoch; 0 for never.
        pending: files that differ from the index on disk now; None when it was not looked at.
        git_head, indexed_head: the commit checked out now and at the last update; empty outside git.
        size_bytes: of the index on disk.
        damage: what was found damaged; empty when nothing was, or when it is rebuilt already.
        unavailable: why the index that was here is whole and not used, with what to do about it; empty when it is used,
            or when another one has taken its place.
        server: the collection that holds the chunks, and the Qdrant server it is on; empty where `location` holds them.
        state: "running" while an update or a rebuild goes on, "incomplete" when the last of all files was cut short,
            "partial" when files failed, else "complete".
        freshness: how far it is in step with its files.
        commits_behind: how many commits git_head has that indexed_head has not; None when that is not known.
        running: what goes on now, in this process or another.
        stopped: the last update of all files, where it was cut short; None when it ran to its end, or runs.
        building: the generation that is built while this one serves; None for none.
        redacted_secrets, redacted_files: how many secrets were redacted, and in how many files.
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
    redacted_secrets: int = 0
    redacted_files: int = 0


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One of all the indexes of a user, as far as it can be told without opening it.

    Attributes:
        root, location: the indexed folder or file, and the folder of the index.
        root_exists: whether the first is still there.
        files, chunks: that can be searched.
        space: as in `IndexStatus`.
        size_bytes: on disk.
        updated_at, used_at: end of the last update, and the last use, seconds since the epoch; 0 for never.
        in_use_by: the process that has it open; empty for none.
        damage: why nothing can be told; empty where something can.
        unavailable: as in `IndexStatus`, as far as it does not depend on the settings.
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
