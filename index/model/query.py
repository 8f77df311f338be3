"""Queries and answers: hits, symbols, and the states of files."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from cqm.chunkers.model import Fact
from cqm.index.model.errors import QueryError
from cqm.index.model.freshness import NOT_KNOWN, Freshness

_LONGEST_CURSOR = 9
_MAX_LIMIT = 100
_LONGEST_QUESTION = 200_000
"""In characters: an issue is pasted whole, and no question takes more than seconds."""


class FileState(StrEnum):
    """State of a file in the index."""

    INDEXED = "indexed"
    FAILED = "failed"
    SKIPPED = "skipped"


class SkipReason(StrEnum):
    """Reasons to leave out a file beyond ignore rules."""

    BINARY = "binary"
    TOO_LARGE = "too large"
    GENERATED = "generated"
    MINIFIED = "minified"
    BUILD_OUTPUT = "build output"
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
    """Evidence used by a search, or its object: the lines with a text (exact) or a regular expression."""

    HYBRID = "hybrid"
    SEMANTIC = "semantic"
    LEXICAL = "lexical"
    EXACT = "exact"
    REGEX = "regex"

    @property
    def is_of_lines(self) -> bool:
        """Whether it finds all matching lines in place of the best chunks."""
        return self in {SearchMode.EXACT, SearchMode.REGEX}


LINES_A_PAGE = 50
"""Default results a page of the modes for lines."""


class Confidence(StrEnum):
    """Whether an answer fits the question: probably, perhaps, or probably not."""

    HIGH = "high"
    LOW = "low"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Query:
    """A question to the index.

    Attributes:
        text: a question, a symbol's name, an error message, a trace, a path, or a place such as `src/app.py:40-61`.
            Files at places and paths come first; the end of a path is enough.
        like: a place in the index, to find similar chunks; then there is no text.
        limit: results a page, 1 to 100.
        cursor: `Answer.next_cursor` of the page before; empty for the first page.
        mode: the evidence to use.
        languages, kinds, sources: keep chunks of these languages, kinds or source types (`Metadata.source_type`);
            empty for all.
        issues: keep chunks of or about one of these issues: "123", "owner/name#123".
        include, exclude: globs over paths relative to the root (`src/**`, `*.py`, `docs`); a path must match one of
            include, when there are any, and none of exclude.
        changed_since: keep files changed at or after this time, seconds since the epoch; None for all.
        around: lines to show before and after a matching line, 0 to 20, for the modes finding lines; None shows two if
            at most three lines match.
    """

    text: str
    limit: int = 10
    cursor: str = ""
    mode: SearchMode = SearchMode.HYBRID
    languages: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    issues: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    changed_since: float | None = None
    like: str = ""
    around: int | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """One chunk of an answer.

    Attributes:
        path, start_line, end_line, language, text, content: as in `Chunk`.
        symbol, kind: of its definition that fits the question best; without one, as in `Chunk`.
        score: the sum of the named parts.
        context: the enclosing declarations as written in the file, a line each.
        position: of the chunk among those of its file; -1 when unknown.
        metadata: by the names of `Metadata` and of its facts; nothing empty.
        line: with the name of the definition, 1-based; None if no definition is known.
        signature: the declaration, at most 300 characters; may be empty.
        extent: its first and last line in the file; None if no definition is known.
        chance: of the result to answer the question, 0 to 1; it falls from one to the next. None for results like a
            place, and for lines with a text.
        asked_line: its line named in the question, as by a frame of a trace; None if none is named.
        matches: of a text or pattern in the lines shown: line, first character and the one after the last, from 0.
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
    line: int | None = None
    signature: str = ""
    matches: tuple[tuple[int, int, int], ...] = ()
    extent: tuple[int, int] | None = None
    chance: float | None = None
    asked_line: int | None = None

    @property
    def shown(self) -> str:
        """Text for a reader: the content, where the text is an encoding of it."""
        return self.content or self.text


@dataclass(frozen=True, slots=True)
class Parent:
    """A small type or section with several results in it: it may be shown whole.

    Attributes:
        path, symbol: its file, and its qualified name or heading path.
        first, last: positions of its first and last chunk in the file.
        others: its chunks besides the results, in order.
    """

    path: str
    symbol: str
    first: int
    last: int
    others: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class Matched:
    """Counts of a search for a text or pattern, over all pages.

    Attributes:
        matches, lines, files: found.
        searched: number of files kept by the filters.
        unread: of these, files that could not be read.
        is_complete: whether these are all; otherwise the search was ended, or files are unread.
    """

    matches: int
    lines: int
    files: int
    searched: int
    unread: int = 0
    is_complete: bool = True


@dataclass(frozen=True, slots=True)
class Answer:
    """The ranked chunks for a query, and the state of the index.

    Attributes:
        hits: best first.
        next_cursor: pass it in `Query.cursor` for the next page; empty when there is none.
        mode: the evidence used.
        degraded: why the evidence is less than asked for; empty if it is not.
        files, chunks: numbers in the index.
        complete: whether the last update of the index ran to its end.
        failed_files: files missing in the index.
        updated_at: when the last update ended, seconds since the epoch; 0 for never.
        freshness: of the index, as far as known here.
        like: the place to which the hits are similar, and its names; empty for an ordinary question.
        parents: types and sections with enough parts among the hits to be shown whole; the outermost only.
        confidence: whether the hits fit the question; there are hits in any case.
        matched: counts, where lines with a text or pattern were asked for.
        asked_names: keys of the question's possible names, see `name_key`; empty for other questions.
        in_english: the English words used in place of a question in another language; empty for others.
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
    confidence: Confidence = Confidence.HIGH
    matched: Matched | None = None
    asked_names: tuple[str, ...] = ()
    in_english: str = ""


@dataclass(frozen=True, slots=True)
class FileProblem:
    """A failed or skipped file, and the reason."""

    path: str
    reason: str


def check(query: Query) -> None:
    """Check a query by the rules for all of them.

    Raises:
        QueryError: it is not.
    """
    asked = query.text or query.like
    if (length := len(query.text) + len(query.like)) > _LONGEST_QUESTION:
        message = f"The query has {length:,} characters: expected at most {_LONGEST_QUESTION:,}."
        raise QueryError(message, remedy="Leave out what is no part of the question.")
    # Blanks may be searched for.
    if not (asked if query.mode.is_of_lines else asked.strip()):
        raise QueryError("The query is empty.", remedy="Ask a question or name a symbol.")
    if query.text and query.like:
        message = f"`query {query.text}` and `like {query.like}`: expected one of them."
        raise QueryError(message, remedy="Leave one out.")
    if any("\ud800" <= character <= "\udfff" for character in query.text + query.like):
        raise QueryError("The query is no valid Unicode: it has half of a surrogate pair.", remedy="Leave it out.")
    if not 1 <= query.limit <= _MAX_LIMIT:
        raise QueryError(f"`limit {query.limit}`: expected 1 to {_MAX_LIMIT}.")
    page_start(query.cursor)


def page_start(cursor: str) -> int:
    """Return the number of results before a page.

    Parameters:
        cursor: of the page before; empty for the first page.

    Raises:
        QueryError: no page gave it.
    """
    if cursor and not (cursor.isascii() and cursor.isdecimal() and len(cursor) <= _LONGEST_CURSOR):
        shown = cursor if len(cursor) <= 2 * _LONGEST_CURSOR else f"{cursor[:_LONGEST_CURSOR]}..."
        raise QueryError(f"`cursor {shown}`: expected the cursor of the page before.", remedy="Pass it unchanged.")
    return int(cursor or 0)
