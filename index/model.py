"""The data that the index takes and gives: queries, answers, summaries and status."""

from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from enum import StrEnum

from cqm.chunkers.model import Fact
from cqm.index.activity import Building, Running
from cqm.index.freshness import NOT_KNOWN, Freshness


class FileState(StrEnum):
    """What the index holds of a file."""

    INDEXED = "indexed"
    FAILED = "failed"
    SKIPPED = "skipped"


class SkipReason(StrEnum):
    """Why a file that no ignore rule names is left out."""

    BINARY = "binary"
    TOO_LARGE = "too large"
    GENERATED = "generated"
    LOCK_FILE = "lock file"
    VENDORED = "vendored"
    SECRET = "secret"  # noqa: S105 - the name of a reason
    UNDECODABLE = "undecodable"
    ENCRYPTED = "encrypted"
    DAMAGED = "damaged"
    NO_TEXT = "no text"
    PDF_EXTRA = "needs pip install 'cqm[pdf]'"
    NOT_A_FILE = "not a regular file"
    OUTSIDE_ROOT = "link"
    VANISHED = "vanished"


class SearchMode(StrEnum):
    """Which evidence a search uses."""

    HYBRID = "hybrid"
    SEMANTIC = "semantic"
    LEXICAL = "lexical"


@dataclass(frozen=True, slots=True)
class Query:
    """A question to the index.

    Attributes:
        text: the question, a symbol's name, an error message, a path.
        limit: results a page, 1 to 100.
        cursor: `Answer.next_cursor` of the page before; empty for the first page.
        mode: which evidence counts.
        languages, kinds, sources: keep chunks of these languages, kinds or source types (`Metadata.source_type`);
            empty for all.
        include, exclude: globs over paths relative to the root (`src/**`, `*.py`, `docs`); a path must match one of
            include, when there are any, and none of exclude.
        changed_since: keep files changed at or after this time, seconds since the epoch; None for all.
    """

    text: str
    limit: int = 10
    cursor: str = ""
    mode: SearchMode = SearchMode.HYBRID
    languages: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    changed_since: float | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """One chunk of an answer.

    Attributes:
        path, start_line, end_line, symbol, kind, language, text, content: as in `Chunk`.
        score: the sum of the named parts.
        metadata: what else is known of it, by the names of `Metadata` and of its facts; nothing empty.
    """

    path: str
    start_line: int
    end_line: int
    score: float
    symbol: str
    kind: str
    language: str
    text: str
    parts: Mapping[str, float] = field(default_factory=dict)
    content: str = ""
    metadata: Mapping[str, Fact] = field(default_factory=dict)

    @property
    def shown(self) -> str:
        """What to show to a reader: the content where the text is an encoding of it."""
        return self.content or self.text


@dataclass(frozen=True, slots=True)
class Answer:
    """The ranked chunks for a query and what they were searched in.

    Attributes:
        hits: best first.
        next_cursor: pass it in `Query.cursor` for the next page; empty when there is none.
        mode: the evidence that was used, which is less than was asked for when `degraded` says why.
        degraded: why less evidence than asked for was used; empty when all was.
        files, chunks: how many the index holds.
        complete: whether the last update of the index ran to its end.
        failed_files: files whose content the index lacks.
        updated_at: when the last update ended, seconds since the epoch; 0 for never.
        freshness: how far the index is in step with its files, as far as who answers knows.
    """

    hits: tuple[Hit, ...]
    next_cursor: str
    mode: SearchMode
    degraded: str
    files: int
    chunks: int
    complete: bool
    failed_files: int
    updated_at: float
    freshness: Freshness = NOT_KNOWN


@dataclass(frozen=True, slots=True)
class Definition:
    """Where a symbol is defined: its lines, qualified name, kind, signature and doc comment (empty when not known)."""

    path: str
    start_line: int
    end_line: int
    symbol: str
    kind: str
    signature: str = ""
    doc: str = ""


@dataclass(frozen=True, slots=True)
class CallSite:
    """A line that calls a symbol: `symbol` is the one that the line is in, `text` the line itself."""

    path: str
    line: int
    symbol: str
    text: str


@dataclass(frozen=True, slots=True)
class SymbolUses:
    """What the index tells of a symbol.

    Attributes:
        name: that was asked for.
        definitions: of symbols with the name.
        calls: of anything with the last part of the name (types are not resolved), source before tests.
        related: definitions of what the symbol itself calls, where their names are rare enough to tell.
        total_calls: how many calls were found, of which `calls` are the first.
        is_complete: whether all chunks that say the name were looked at; of a very common name, only the best are.
    """

    name: str
    definitions: tuple[Definition, ...]
    calls: tuple[CallSite, ...]
    related: tuple[Definition, ...]
    total_calls: int
    is_complete: bool


@dataclass(frozen=True, slots=True)
class FileProblem:
    """A file that failed or was skipped, and why."""

    path: str
    reason: str


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
