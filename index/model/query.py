"""What the index is asked and answers: queries, hits, symbols, and what it holds of a file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from cqm.chunkers.model import Fact
from cqm.index.model.freshness import NOT_KNOWN, Freshness


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
    PDF_EXTRA = "needs the extra pdf"
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
        text: the question, a symbol's name, an error message, a path; a place such as `src/app.py:40-61`, where that
            file is in the index, asks for what is like the chunks there.
        like: such a place, which has to be in the index; then there is no text.
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
    like: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """One chunk of an answer.

    Attributes:
        path, start_line, end_line, symbol, kind, language, text, content: as in `Chunk`.
        score: the sum of the named parts.
        context: the declarations that it stands in, as the file writes them, a line each.
        position: of the chunk among those of its file; -1 when not known.
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
    context: str = ""
    position: int = -1

    @property
    def shown(self) -> str:
        """What to show to a reader: the content where the text is an encoding of it."""
        return self.content or self.text


@dataclass(frozen=True, slots=True)
class Parent:
    """A small type or section that several results are parts of: whoever shows them may as well show all of it.

    Attributes:
        path, symbol: its file, and its qualified name or heading path.
        first, last: positions of its first and last chunk in the file.
        others: those of its chunks that are no results, in order.
    """

    path: str
    symbol: str
    first: int
    last: int
    others: tuple[Hit, ...]


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
        like: the place that the hits are like, and its names; empty for an ordinary question.
        parents: of which so many parts are among the hits that they may be shown whole; outermost alone.
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
    like: str = ""
    parents: tuple[Parent, ...] = ()


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
