"""Write records of GitHub as Markdown, for reading and search."""

from collections.abc import Iterator

from cqm.chunkers.github.records import ITEMS, REVIEW_COMMENT, Record
from cqm.chunkers.model import Fact

_MOST_FILES = 30
"""Files named in a pull request's head; more would add nothing about its subject."""

_HUNK_LINES = 16
"""Lines from the end of a diff hunk, the subject of a review comment."""


def name_of(record: Record) -> str:
    """Return a record's issue or pull request as people refer to it: "#12 Title"."""
    number = f"{record.sign}{record.number}" if record.number else ""
    return " ".join(filter(None, (number, " ".join(record.title.split()))))


def symbol_of(record: Record) -> str:
    """Return the issue, followed by the comment's author or place in the code."""
    if record.kind in ITEMS:
        return name_of(record)
    return " > ".join(filter(None, (name_of(record), place_of(record) or f"{record.kind} by {_at(record.author)}")))


def place_of(record: Record) -> str:
    """Return file and line of a review comment, "src/a.py:42"; empty for other records."""
    return f"{record.file}:{record.line}" if record.line and record.file else record.file


def heading_of(record: Record) -> str:
    """Return the Markdown above a record's own text, with a blank line at its end."""
    if record.kind in ITEMS:
        return _joined(f"# {' '.join(record.title.split())}", _about(record), *_lists(record))
    return _joined(place_of(record), _said(record), _diff(record))


def facts_of(record: Record) -> dict[str, Fact]:
    """Return the facts of a record beside its text, as far as GitHub names them."""
    facts: dict[str, Fact] = {
        "number": record.number,
        "title": record.title,
        "state": record.state,
        "labels": record.labels,
        "assignees": record.assignees,
        "author": record.author,
        "created_at": record.created_at,
        "updated_at": record.updated_at,
        "closed_at": record.closed_at,
        "url": record.url,
        "file": record.file,
        "line": record.line,
        "category": record.category,
        "answered": record.answered,
    }
    return {name: fact for name, fact in facts.items() if fact}


def _about(record: Record) -> str:
    parts = (
        f"{record.kind.capitalize()} {record.sign}{record.number}",
        record.state,
        record.category,
        "answered" if record.answered else "",
        f"by {_at(record.author)}",
        " -> ".join(record.branches),
        f"opened {record.created_at[:10]}" if record.created_at else "",
        f"closed {record.closed_at[:10]}" if record.closed_at else "",
    )
    return " | ".join(filter(None, parts))


def _lists(record: Record) -> Iterator[str]:
    if record.labels:
        yield f"Labels: {', '.join(record.labels)}"
    if record.assignees:
        yield f"Assignees: {', '.join(map(_at, record.assignees))}"
    if record.files:
        others = len(record.files) - _MOST_FILES
        shown = ", ".join(record.files[:_MOST_FILES])
        yield f"Files: {shown} and {others} more" if others > 0 else f"Files: {shown}"


def _said(record: Record) -> str:
    decided = f" ({record.state.replace('_', ' ')})" if record.state else ""
    when = f" on {record.created_at[:10]}" if record.created_at else ""
    about = f", {name_of(record)}" if name_of(record) else ""
    return f"{record.kind.capitalize()} by {_at(record.author)}{decided}{when}{about}"


def _diff(record: Record) -> str:
    if record.kind != REVIEW_COMMENT or not record.hunk:
        return ""
    lines = record.hunk.replace("\r\n", "\n").split("\n")
    return "\n".join(["```diff", *lines[-_HUNK_LINES:], "```"])


def _at(login: str) -> str:
    # GitHub shows a deleted account as "ghost".
    return f"@{login or 'ghost'}"


def _joined(*parts: str) -> str:
    return "".join(f"{part}\n\n" for part in parts if part.strip("# "))
