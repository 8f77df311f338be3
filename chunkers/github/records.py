"""Read issues, pull requests, comments and reviews from GitHub's JSON, from any tool."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from cqm.chunkers.structured.spans_of_json import (
    ARRAY,
    LITERAL,
    OBJECT,
    STRING,
    Node,
    member,
    parse,
    string_of,
    value_of,
)

ISSUE = "issue"
PULL_REQUEST = "pull request"
COMMENT = "comment"
REVIEW = "review"
REVIEW_COMMENT = "review comment"

_HEAD = 1 << 16
_MOST_DEPTH = 4
"""Deepest level of records in combined files: pages of pages, or an object with a list."""

_TEXTS = re.compile(r'"(?:title|body)"\s*:')
_SIGNS = re.compile(r'"login"\s*:|/(?:issues|pulls?)/\d|"state"\s*:\s*"(?:OPEN|CLOSED|MERGED|open|closed)"')
_LEAST_SHARE = 3
"""Records fill at least one part in so many of a file about them."""

# "latestReviews" repeats some of "reviews". The last three are common names for the REST API's separate lists.
_LISTS = frozenset({"comments", "reviews", "review_comments", "reviewComments", "pull_request_comments"})

_NUMBER = re.compile(r"/(?:issues|pulls?)/(\d{1,18})\b")
_STATES = frozenset({"open", "closed", "merged"})
_PULL_REQUEST_KEYS = frozenset(
    {
        "baseRefName",
        "headRefName",
        "isDraft",
        "mergedAt",
        "merged_at",
        "pull_request",
        "reviewDecision",
        "reviews",
        "head",
    }
)
_PLACE_KEYS = frozenset({"diff_hunk", "diffHunk", "in_reply_to_id", "line", "original_line", "position"})

Fields = Mapping[str, Node]
"""The members of an object by their keys."""


@dataclass(frozen=True, slots=True)
class Record:
    """An issue, a pull request, a comment or a review.

    Attributes:
        kind: one of the constants above.
        start: of its object, in characters.
        body: the span of its text with the quotes; None without text.
        body_entry: start of the member with the text.
        body_follows: whether this member comes after comments in the same object.
        number, title: of its issue or pull request; 0 and empty if unknown.
        issue_author: the author of this issue or pull request.
        state: in lower case; of a review, its decision.
        file, line, hunk: of a review comment: the place, in the older version if the reviewed one lacks it, and the
            diff.
        branches: of a pull request: from and to; empty otherwise.
        files: paths changed by a pull request.
        within: whether it is inside the object of its issue.
    """

    kind: str
    start: int
    body: tuple[int, int] | None
    body_entry: int
    body_follows: bool
    number: int
    title: str
    author: str
    issue_author: str = ""
    state: str = ""
    labels: tuple[str, ...] = ()
    assignees: tuple[str, ...] = ()
    created_at: str = ""
    updated_at: str = ""
    closed_at: str = ""
    url: str = ""
    file: str = ""
    line: int = 0
    hunk: str = ""
    branches: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    within: bool = False


def is_about_issues(text: str) -> bool:
    """Tell if a JSON text consists of issues, pull requests or comments on them.

    Only a text with words of GitHub's JSON at its beginning is read as a whole.
    """
    head = text[:_HEAD]
    if not (_TEXTS.search(head) and _SIGNS.search(head)):
        return False
    values = parse(text).values
    filled = sum(node.end - node.start for node, kind, within in _walk(text, values) if not within and kind)
    return filled * _LEAST_SHARE >= len(text.strip())


def records_of(text: str) -> list[Record]:
    """Return all records of a JSON text, in order; comments take the issue around them or the one with their number."""
    found: list[Record] = []
    around: Record | None = None
    for node, kind, within in _walk(text, parse(text).values):
        record = _record(text, node, kind, around if within else None)
        if kind in (ISSUE, PULL_REQUEST):
            around = record
        found.append(record)
    return _related(found)


def _walk(text: str, values: Sequence[Node]) -> Iterator[tuple[Node, str, bool]]:
    """Yield the record objects, with their kinds and whether they are inside an issue's object."""
    waiting = [(node, 0, False) for node in reversed(values)]
    while waiting:
        node, depth, within = waiting.pop()
        kind = _kind(text, node, is_within=within) if node.kind == OBJECT else ""
        if kind:
            yield node, kind, within
        if kind in (ISSUE, PULL_REQUEST):
            lists = [child for child in node.children if child.kind == ARRAY and child.key in _LISTS]
            items = [item for child in lists for item in child.children if item.kind == OBJECT]
            waiting.extend((item, _MOST_DEPTH, True) for item in reversed(items))
        elif not kind and depth < _MOST_DEPTH:
            inner = [child for child in node.children if child.kind in (OBJECT, ARRAY)]
            waiting.extend((child, depth + 1, False) for child in reversed(inner))


def _kind(text: str, node: Node, *, is_within: bool) -> str:
    fields = {child.key: child for child in node.children}
    if not is_within and _is_issue(text, fields):
        is_pull = not _PULL_REQUEST_KEYS.isdisjoint(fields) or "/pull/" in _url(text, fields)
        return PULL_REQUEST if is_pull else ISSUE
    if "body" not in fields:
        return ""
    is_known = is_within and (_login(text, fields) or "authorAssociation" in fields)
    if "path" in fields and not _PLACE_KEYS.isdisjoint(fields):
        return REVIEW_COMMENT if is_known or _number(text, fields) else ""
    if not (is_known or _number(text, fields)):
        return ""
    return REVIEW if "state" in fields else COMMENT


def _is_issue(text: str, fields: Fields) -> bool:
    number, title = fields.get("number"), fields.get("title")
    if number is None or title is None or number.kind != LITERAL or title.kind != STRING:
        return False
    is_stated = _text(text, fields, "state").lower() in _STATES
    return is_stated or bool(_NUMBER.search(_url(text, fields))) or ("body" in fields and bool(_login(text, fields)))


def _record(text: str, node: Node, kind: str, issue: Record | None) -> Record:
    fields = {child.key: child for child in node.children}
    body = fields.get("body")
    author = _login(text, fields)
    is_issue = kind in (ISSUE, PULL_REQUEST)
    return Record(
        kind,
        node.start,
        (body.start, body.end) if body and body.kind == STRING else None,
        body.entry if body else node.start,
        _follows(node, body),
        issue.number if issue else _integer(text, fields, "number") or _number(text, fields),
        issue.title if issue else _text(text, fields, "title"),
        author,
        issue_author=author if is_issue else issue.author if issue else "",
        state="merged" if _text(text, fields, "mergedAt", "merged_at") else _text(text, fields, "state").lower(),
        labels=_names(text, fields.get("labels"), "name"),
        assignees=_names(text, fields.get("assignees"), "login"),
        created_at=_text(text, fields, "createdAt", "created_at", "submittedAt", "submitted_at"),
        updated_at=_text(text, fields, "updatedAt", "updated_at"),
        closed_at=_text(text, fields, "closedAt", "closed_at"),
        url=_url(text, fields),
        file=_text(text, fields, "path") if kind == REVIEW_COMMENT else "",
        line=_integer(text, fields, "line", "original_line", "originalLine"),
        hunk=_text(text, fields, "diff_hunk", "diffHunk"),
        branches=_branches(text, fields),
        files=_names(text, fields.get("files"), "path") if is_issue else (),
        within=issue is not None,
    )


def _follows(node: Node, body: Node | None) -> bool:
    """Tell if members with other records precede the text of an issue."""
    lists = (child for child in node.children if child.kind == ARRAY and child.key in _LISTS)
    return body is not None and any(child.children and child.start < body.start for child in lists)


def _related(records: Sequence[Record]) -> list[Record]:
    """Add the titles of their issues to records which only have a number, or nothing."""
    issues = [record for record in records if record.kind in (ISSUE, PULL_REQUEST)]
    by_number = {record.number: record for record in issues}
    related = []
    for record in records:
        issue = by_number.get(record.number) or (issues[0] if len(issues) == 1 and not record.number else None)
        if issue is not None and not record.within and record.kind not in (ISSUE, PULL_REQUEST):
            record = replace(record, number=issue.number, title=issue.title, issue_author=issue.author)  # noqa: PLW2901
        related.append(record)
    return related


def _text(text: str, fields: Fields, *keys: str) -> str:
    """Return the first of the members with a non-empty string."""
    found = (string_of(text, fields[key]) for key in keys if key in fields)
    return next(filter(None, found), "")


def _integer(text: str, fields: Fields, *keys: str) -> int:
    values = (value_of(text, fields[key]) for key in keys if key in fields)
    return next((value for value in values if isinstance(value, int) and not isinstance(value, bool)), 0)


def _login(text: str, fields: Fields) -> str:
    who = fields.get("author") or fields.get("user")
    return string_of(text, who if who is None or who.kind == STRING else member(who, "login"))


def _url(text: str, fields: Fields) -> str:
    # The REST API's "url" is for programs.
    return _text(text, fields, "html_url", "url")


def _number(text: str, fields: Fields) -> int:
    url = _text(text, fields, "issue_url", "pull_request_url", "html_url", "url")
    found = _NUMBER.search(url)
    return int(found[1]) if found else 0


def _names(text: str, items: Node | None, key: str) -> tuple[str, ...]:
    if items is None or items.kind != ARRAY:
        return ()
    names = (string_of(text, item if item.kind == STRING else member(item, key)) for item in items.children)
    return tuple(filter(None, names))


def _branches(text: str, fields: Fields) -> tuple[str, ...]:
    ends = (("headRefName", "head"), ("baseRefName", "base"))
    names = [_text(text, fields, name) or string_of(text, member(fields.get(key), "ref")) for name, key in ends]
    return tuple(names) if all(names) else ()
