"""Progress, usage, cost, estimate and summary of an update."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from operator import add, attrgetter, sub

from cqm.index.model.query import FileProblem


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of an update.

    Attributes:
        phase: "scanning", "importing", "indexing", "improving" or "done".
        done, total: files; total is 0 while scanning.
        path: the file last finished.
        chunks: chunks written so far.
        rate: files a second since the phase began; 0 while unknown.
        remaining_seconds: rest of the phase, by the bytes left; None while unknown.
    """

    phase: str
    done: int = 0
    total: int = 0
    path: str = ""
    chunks: int = 0
    rate: float = 0.0
    remaining_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Use of a service, as counted by it, or else by our estimate.

    Attributes:
        requests: answered ones.
        texts: embedded, written or judged.
        tokens, output_tokens: taken in and given out.
        usd: the cost; 0 where no price is known.
        seconds: waited for answers, of all requests together.
    """

    requests: int = 0
    texts: int = 0
    tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0
    seconds: float = 0.0

    def __add__(self, other: "Usage") -> "Usage":
        """Add another use."""
        return Usage(*map(add, _numbers(self), _numbers(other)))

    def __sub__(self, before: "Usage") -> "Usage":
        """Take away an earlier count."""
        return Usage(*map(sub, _numbers(self), _numbers(before)))


# `astuple` copies values, and each question is counted.
_numbers = attrgetter(*(it.name for it in fields(Usage)))


@dataclass(frozen=True, slots=True)
class ModelState:
    """State of a configured model.

    Attributes:
        name: "provider/model".
        embeds: routes with it as first choice: "code", "prose", "late"; empty for a fallback.
        problem: the reason its last request failed; empty if it did not.
    """

    name: str
    embeds: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class UpdateSummary:
    """Outcome of an update.

    Attributes:
        added, modified, deleted, unchanged: files.
        failed: files that could not be indexed; the next update tries them again.
        skipped: files left out, counted by reason; over the whole root, not only the paths of this update.
        chunks_written, chunks_deleted, chunks_kept: chunks of the touched files.
        embedded: texts with a new vector.
        cached: of these, vectors taken from the cache.
        lacking: chunks of the whole index still without a vector of the preferred model or a written context.
        usage: of each model by name, including searches made meanwhile.
        models: the configured ones, in order.
        bytes_read: of the chunked files.
        seconds: wall time.
        cancelled: whether the caller stopped it early; the index is consistent then too.
        dropped: whether a rebuild was dropped because it would have lost something; the index is as before.
        stages: wall time in seconds by stage: "importing" a snapshot, "scanning" the tree, "parsing" (waiting for
            workers to read and cut), "embedding" (comparing with the index and asking models), "writing".
        notes: sentences for the user: a damaged index is rebuilt, a rebuild was dropped and why, other indexes were
            deleted to make room.
    """

    added: int = 0
    modified: int = 0
    deleted: int = 0
    unchanged: int = 0
    failed: tuple[FileProblem, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)
    chunks_written: int = 0
    chunks_deleted: int = 0
    chunks_kept: int = 0
    embedded: int = 0
    cached: int = 0
    lacking: int = 0
    usage: Mapping[str, Usage] = field(default_factory=dict)
    models: tuple[ModelState, ...] = ()
    bytes_read: int = 0
    seconds: float = 0.0
    cancelled: bool = False
    dropped: bool = False
    notes: tuple[str, ...] = ()
    stages: Mapping[str, float] = field(default_factory=dict)
