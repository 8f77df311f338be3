"""What an update does, costs and comes to: progress, usage, estimates and summaries."""

from collections.abc import Mapping
from dataclasses import astuple, dataclass, field

from cqm.index.model.query import FileProblem
from cqm.index.model.status import ModelState


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an update is.

    Attributes:
        phase: "scanning", "indexing", "improving" or "done".
        done, total: files; total is 0 while scanning.
        path: the file last finished.
        chunks: chunks written so far.
        rate: files a second since the phase began; 0 while that is not known.
        remaining_seconds: how long the phase will take still, by the bytes that are left; None while not known.
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
    """What a service was used for: what it counted where it tells, else our estimate.

    Attributes:
        requests: answered ones.
        texts: embedded, written or judged.
        tokens, output_tokens: taken in and given out.
        usd: what that cost; 0 where no price is known.
        seconds: of waiting for answers, of all requests together.
    """

    requests: int = 0
    texts: int = 0
    tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0
    seconds: float = 0.0

    def __add__(self, other: "Usage") -> "Usage":
        """Both together."""
        return Usage(*(mine + its for mine, its in zip(astuple(self), astuple(other), strict=True)))

    def __sub__(self, before: "Usage") -> "Usage":
        """What came after an earlier count."""
        return Usage(*(mine - its for mine, its in zip(astuple(self), astuple(before), strict=True)))


@dataclass(frozen=True, slots=True)
class Cost:
    """What a model would be asked for.

    Attributes:
        name: "provider/model".
        texts, tokens, output_tokens: how many, estimated.
        usd: their price; None where it is not known.
    """

    name: str
    texts: int
    tokens: int
    output_tokens: int = 0
    usd: float | None = None


@dataclass(frozen=True, slots=True)
class Estimate:
    """What an update would do, without doing it.

    Attributes:
        files: to read.
        chunks: of these, new or changed.
        embedding: what each model would be asked for at most: what the cache has costs nothing.
        contexts: what the model that writes contexts would be asked for; None without one.
    """

    files: int
    chunks: int
    embedding: tuple[Cost, ...] = ()
    contexts: Cost | None = None


@dataclass(frozen=True, slots=True)
class UpdateSummary:
    """What an update did.

    Attributes:
        added, modified, deleted, unchanged: files.
        failed: files that could not be indexed; they are retried by the next update.
        skipped: files left out, counted by reason; over the whole root, not only the paths of this update.
        chunks_written, chunks_deleted, chunks_kept: chunks of the files that were touched.
        embedded: texts that got a vector.
        cached: of these, how many had theirs from the cache.
        lacking: chunks of the whole index that wait for a vector of the preferred model, or for a written context.
        usage: what each model was used for, by name, searches of the time included.
        models: the configured ones, in order.
        bytes_read: of the files that were chunked.
        seconds: wall time.
        cancelled: whether it stopped early at the caller's request; the index is consistent then too.
        dropped: whether a rebuild was dropped because it would have lost something: the index is what it was before.
        notes: what else its user should know, a sentence each: that the index was damaged and is rebuilt, that a
            rebuild was dropped and why, which other indexes were deleted to make room.
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


@dataclass(frozen=True, slots=True)
class Improved:
    """What became of chunks that waited for a model.

    Attributes:
        files: that were gone over.
        embedded: chunks that got a vector of their preferred model.
        lacking: chunks that wait still.
        usage: what each model was used for, by name.
        seconds: wall time.
    """

    files: int = 0
    embedded: int = 0
    lacking: int = 0
    usage: Mapping[str, Usage] = field(default_factory=dict)
    seconds: float = 0.0
