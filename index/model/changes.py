"""Lines changed by commits, as they are now: question and reply."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ChangesQuery:
    """A request for commits, and for the lines of the first one.

    Attributes:
        what: words of a commit's message, its id, a branch or tag, or two of these as `A..B`; empty for the newest.
        path: file or folder changed by the commits, relative to the root; empty for all.
        limit: commits a page, 1 to 100.
        cursor: `Changes.next_cursor` of the page before; empty for the first page.
    """

    what: str = ""
    path: str = ""
    limit: int = 10
    cursor: str = ""


@dataclass(frozen=True, slots=True)
class ChangedBy:
    """A commit: its id, the time of it in seconds since 1970, and the first line of its message, without secrets."""

    id: str
    at: float
    subject: str


@dataclass(frozen=True, slots=True)
class ChangedLines:
    """Lines changed by a commit, as they are now, with the few unchanged ones between them.

    Attributes:
        symbol, kind: of the innermost symbol around them; may be empty.
        start_line, end_line: now, 1-based.
        text: with secrets redacted.
        role: of the file unless it is plain source: "test", "documentation", ...
    """

    path: str
    symbol: str
    kind: str
    start_line: int
    end_line: int
    text: str
    role: str = ""


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file changed by a commit: its path without secrets, and the numbers of lines added and removed."""

    path: str
    added: int
    removed: int


@dataclass(frozen=True, slots=True)
class Changes:
    """Commits, and the lines of the first one.

    Attributes:
        what: as asked for.
        commits: those shown on this page, the likeliest or else the newest first.
        is_found: whether the first is meant; its lines are `parts`.
        parts: of the first commit: of source before tests and documents, those of the most changed files first.
        gone: number of its lines no longer in any file.
        files: changed by it, also deleted or unindexed ones; the first 200 in the order of `parts`.
        changed: number of all files changed by it.
        others: number of further files it changed: not in the index now, not readable, or beyond the 20 most changed.
        next_cursor: pass it in `ChangesQuery.cursor` for the next commits; empty at the end.
        is_shallow: whether the clone is shallow, and older commits are not in it.
        is_edge: whether the clone ends with the first commit: its changes are unknown then.
    """

    what: str
    commits: tuple[ChangedBy, ...]
    is_found: bool = False
    parts: tuple[ChangedLines, ...] = ()
    gone: int = 0
    others: int = 0
    files: tuple[ChangedFile, ...] = ()
    changed: int = 0
    next_cursor: str = ""
    is_shallow: bool = False
    is_edge: bool = False
