"""Read issues, requests, discussions, comments and reviews from the JSON of GitHub, GitLab and Gitea, from any tool."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from cqm.chunkers.github.members import (
    BODIES,
    Fields,
    body_of,
    branches_of,
    fields_of,
    integer_of,
    is_of_tracker,
    login_of,
    names_in,
    nested,
    number_of,
    text_of,
    url_of,
)
from cqm.chunkers.structured.spans_of_json import ARRAY, OBJECT, STRING, Node, member, parse, value_of

ISSUE = "issue"
PULL_REQUEST = "pull request"
MERGE_REQUEST = "merge request"
DISCUSSION = "discussion"
COMMENT = "comment"
ANSWER = "answer"
REVIEW = "review"
REVIEW_COMMENT = "review comment"
ITEMS = frozenset({ISSUE, PULL_REQUEST, MERGE_REQUEST, DISCUSSION})
"""Kinds with a title, which comments are about."""

_HEAD = 1 << 16
_MOST_DEPTH = 9
"""Deepest level of records: pages of pages, an object with a list, or an answer of GraphQL (data, organization,
repositories, nodes, repository, issues, nodes)."""

_TEXTS = re.compile(r'"(?:title|body|bodyText|note|description)"\s*:')
_SIGNS = re.compile(
    r'"login"\s*:|/(?:issues|pulls?|discussions|merge_requests)/\d|"state"\s*:\s*"(?:OPEN|CLOSED|MERGED|open|closed)"'
    r'|"(?:iid|noteable_type|noteable_iid)"\s*:'
)
_LEAST_SHARE = 3
"""Records fill at least one part in this many of a file about them."""

# "latestReviews" repeats some of "reviews". The names after "replies" are common for the REST API's separate lists.
_LISTS = frozenset(
    {
        *("comments", "reviews", "notes", "discussions", "reviewThreads", "replies"),
        *("review_comments", "reviewComments", "pull_request_comments"),
    }
)
_SINGLE = frozenset({"answer"})

_STATES = {
    **{state: state for state in ("open", "closed", "merged", "locked")},
    "opened": "open",
}
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
_MERGE_REQUEST_KEYS = frozenset({"source_branch", "sourceBranch", "target_branch", "targetBranch"})
_DISCUSSION_KEYS = frozenset({"category", "answer", "answerChosenAt", "isAnswered", "answer_html_url"})
_PLACE_KEYS = frozenset({"diff_hunk", "diffHunk", "in_reply_to_id", "line", "original_line", "position"})
_AUTHOR_KEYS = frozenset({"author", "user", "authorAssociation", "author_id"})


@dataclass(frozen=True, slots=True)
class Record:
    """An issue, a pull or merge request, a discussion, a comment or a review.

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
        category: of a discussion.
        answered: of a discussion: whether it has an answer.
        sign: before its number: "#", or "!" for GitLab's merge requests.
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
    category: str = ""
    answered: bool = False
    sign: str = "#"


class _Found(NamedTuple):
    """An object of a record: its kind, whether it is inside its issue's object, and the thread around it."""

    node: Node
    kind: str
    within: bool
    thread: Node | None


def is_about_issues(text: str) -> bool:
    """Tell if a JSON text consists of issues, pull requests or comments on them.

    Only a text with words of GitHub's JSON at its beginning is read as a whole.
    """
    head = text[:_HEAD]
    if not (_TEXTS.search(head) and _SIGNS.search(head)):
        return False
    values = parse(text).values
    filled = sum(found.node.end - found.node.start for found in _walk(text, values) if not found.within)
    return filled * _LEAST_SHARE >= len(text.strip())


def records_of(text: str) -> list[Record]:
    """Return all records of a JSON text, in order; comments take the issue around them or the one with their number."""
    records: list[Record] = []
    around: Record | None = None
    for found in _walk(text, parse(text).values):
        record = _record(text, found, around if found.within else None)
        if found.kind in ITEMS:
            around = record
        records.append(record)
    return _related(records)


def _walk(text: str, values: Sequence[Node]) -> Iterator[_Found]:
    """Yield the objects of records."""
    waiting: list[tuple[Node, int, bool, Node | None]] = [(node, 0, False, None) for node in reversed(values)]
    while waiting:
        node, depth, within, thread = waiting.pop()
        kind = _kind(text, node, thread, is_within=within) if node.kind == OBJECT else ""
        if kind:
            yield _Found(node, kind, within, thread)
        if kind in ITEMS or within:
            # An object without a text of its own, such as a thread of a review, has the place of its comments.
            own = list(nested(node, _LISTS, _SINGLE))
            waiting.extend((item, _MOST_DEPTH, True, None if kind else node) for item in reversed(own))
        elif not kind and depth < _MOST_DEPTH:
            inner = [child for child in node.children if child.kind in (OBJECT, ARRAY)]
            waiting.extend((child, depth + 1, False, node) for child in reversed(inner))


def _kind(text: str, node: Node, thread: Node | None, *, is_within: bool) -> str:
    fields = fields_of(text, node)
    if not is_within and _is_item(text, fields):
        return _kind_of_item(text, fields)
    keys = {child.key for child in node.children}
    if keys.isdisjoint(BODIES) or ("title" in fields and not is_within):
        return ""
    is_known = is_within and not _AUTHOR_KEYS.isdisjoint(keys)
    if not (is_known or number_of(text, fields)):
        return ""
    if _is_placed(fields) or (is_within and thread is not None and member(thread, "path") is not None):
        return REVIEW_COMMENT
    if node.key == "answer" or ("isAnswer" in fields and value_of(text, fields["isAnswer"]) is True):
        return ANSWER
    return REVIEW if "state" in fields else COMMENT


def _is_placed(fields: Fields) -> bool:
    position = fields.get("position")
    if position is not None and position.kind == OBJECT:
        return True
    return "path" in fields and not _PLACE_KEYS.isdisjoint(fields)


def _is_item(text: str, fields: Fields) -> bool:
    title = fields.get("title")
    if title is None or title.kind != STRING or not integer_of(text, fields, "number", "iid"):
        return False
    is_stated = text_of(text, fields, "state").lower() in _STATES
    is_told = body_of(fields) is not None and bool(login_of(text, fields))
    return is_stated or is_of_tracker(url_of(text, fields)) or is_told


def _kind_of_item(text: str, fields: Fields) -> str:
    url = url_of(text, fields)
    if not _MERGE_REQUEST_KEYS.isdisjoint(fields) or "/merge_requests/" in url:
        return MERGE_REQUEST
    if "/discussions/" in url or not _DISCUSSION_KEYS.isdisjoint(fields):
        return DISCUSSION
    is_pull = not _PULL_REQUEST_KEYS.isdisjoint(fields) or "/pull/" in url
    return PULL_REQUEST if is_pull else ISSUE


def _record(text: str, found: _Found, issue: Record | None) -> Record:
    node, kind = found.node, found.kind
    fields = fields_of(text, node)
    body = body_of(fields)
    author = login_of(text, fields)
    is_item = kind in ITEMS
    place = _place(text, fields, found.thread) if kind == REVIEW_COMMENT else ("", 0)
    state = text_of(text, fields, "state").lower()
    return Record(
        kind,
        node.start,
        (body.start, body.end) if body and body.kind == STRING else None,
        body.entry if body else node.start,
        _follows(node, body),
        issue.number if issue else integer_of(text, fields, "number", "iid") or number_of(text, fields),
        issue.title if issue else text_of(text, fields, "title"),
        author,
        issue_author=author if is_item else issue.author if issue else "",
        state="merged" if text_of(text, fields, "mergedAt", "merged_at") else _STATES.get(state, state),
        labels=names_in(text, fields.get("labels") or fields.get("label_links")),
        assignees=names_in(text, fields.get("assignees")),
        created_at=text_of(text, fields, "createdAt", "created_at", "submittedAt", "submitted_at"),
        updated_at=text_of(text, fields, "updatedAt", "updated_at"),
        closed_at=text_of(text, fields, "closedAt", "closed_at"),
        url=url_of(text, fields),
        file=place[0],
        line=place[1],
        hunk=text_of(text, fields, "diff_hunk", "diffHunk"),
        branches=branches_of(text, fields),
        files=names_in(text, fields.get("files")) if is_item else (),
        within=issue is not None,
        category=_name_of(text, fields.get("category")) if kind == DISCUSSION else "",
        answered=kind == DISCUSSION
        and bool(text_of(text, fields, "answerChosenAt", "answer_html_url") or "answer" in fields),
        sign=issue.sign if issue else "!" if kind == MERGE_REQUEST else "#",
    )


def _name_of(text: str, node: Node | None) -> str:
    return text_of(text, fields_of(text, node), "name") if node and node.kind == OBJECT else ""


def _place(text: str, fields: Fields, thread: Node | None) -> tuple[str, int]:
    """Return file and line of a review comment: its own, those of GitLab's position, or those of its thread."""
    position = fields.get("position")
    around = (
        fields_of(text, position) if position and position.kind == OBJECT else fields_of(text, thread) if thread else {}
    )
    file = text_of(text, fields, "path") or text_of(text, around, "new_path", "newPath", "path", "old_path", "oldPath")
    lines = ("line", "original_line", "originalLine")
    line = integer_of(text, fields, *lines) or integer_of(
        text, around, "new_line", "newLine", "old_line", "oldLine", *lines
    )
    return file, line


def _follows(node: Node, body: Node | None) -> bool:
    """Tell if members with other records precede the text of an issue."""
    lists = (child for child in node.children if child.kind in (ARRAY, OBJECT) and child.key in _LISTS | _SINGLE)
    return body is not None and any(child.children and child.start < body.start for child in lists)


def _related(records: Sequence[Record]) -> list[Record]:
    """Add the titles of their issues to records which only have a number, or nothing."""
    issues = [record for record in records if record.kind in ITEMS]
    by_number = {record.number: record for record in issues}
    related = []
    for record in records:
        issue = by_number.get(record.number) or (issues[0] if len(issues) == 1 and not record.number else None)
        if issue is not None and not record.within and record.kind not in ITEMS:
            record = replace(record, number=issue.number, title=issue.title, sign=issue.sign)  # noqa: PLW2901
            record = replace(record, issue_author=issue.author)  # noqa: PLW2901
        related.append(record)
    return related
