"""Read the members of a tracker's objects, under the names of GitHub, GitLab, Gitea and their exports."""

import re
from collections.abc import Iterator, Mapping

from cqm.chunkers.structured.spans_of_json import (
    ARRAY,
    LITERAL,
    OBJECT,
    STRING,
    Node,
    member,
    string_of,
    value_of,
)

Fields = Mapping[str, Node]
"""The members of an object by their keys."""

_NUMBER = re.compile(r"/(?:issues|pulls?|discussions|merge_requests)/(\d{1,18})\b")
BODIES = ("body", "description", "note", "bodyText")
"""Members with the text of a record; it may be null, as of a mere approval."""
_NAMES = ("login", "username", "name", "title", "path")


def fields_of(text: str, node: Node) -> dict[str, Node]:
    """Return the members of an object other than null."""
    return {
        child.key: child
        for child in node.children
        if child.kind != LITERAL or not text.startswith("null", child.start, child.end)
    }


def items_of(node: Node | None) -> list[Node]:
    """Return the items of a list, or of a connection of GraphQL: its nodes, or the nodes of its edges."""
    if node is None:
        return []
    if node.kind == ARRAY:
        return list(node.children)
    if (nodes := member(node, "nodes")) is not None:
        return list(nodes.children) if nodes.kind == ARRAY else []
    edges = member(node, "edges")
    return [found for edge in (edges.children if edges else ()) if (found := member(edge, "node"))]


def body_of(fields: Fields) -> Node | None:
    """Return the member with the text of a record; None without one."""
    found = [fields[key] for key in BODIES if key in fields]
    return next((node for node in found if node.kind == STRING), found[0] if found else None)


def text_of(text: str, fields: Fields, *keys: str) -> str:
    """Return the first of the members with a non-empty string."""
    found = (string_of(text, fields[key]) for key in keys if key in fields)
    return next(filter(None, found), "")


def integer_of(text: str, fields: Fields, *keys: str) -> int:
    """Return the first of the members with a whole number, also as a string; 0 without one."""
    values = (value_of(text, fields[key]) for key in keys if key in fields)
    numbers = (
        int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value for value in values
    )
    return next((number for number in numbers if isinstance(number, int) and not isinstance(number, bool)), 0)


def login_of(text: str, fields: Fields) -> str:
    """Return the name of the author; empty if unknown."""
    who = fields.get("author") or fields.get("user")
    if who is None or who.kind == STRING:
        return string_of(text, who)
    return next(filter(None, (string_of(text, member(who, key)) for key in _NAMES[:3])), "")


def url_of(text: str, fields: Fields) -> str:
    """Return the address of a record for people: the REST API's "url" is for programs."""
    return text_of(text, fields, "html_url", "web_url", "webUrl", "url")


def number_of(text: str, fields: Fields) -> int:
    """Return the number of a comment's issue; 0 if unknown."""
    if number := integer_of(text, fields, "noteable_iid"):
        return number
    found = _NUMBER.search(
        text_of(text, fields, "issue_url", "pull_request_url", "html_url", "web_url", "webUrl", "url")
    )
    return int(found[1]) if found else 0


def is_of_tracker(url: str) -> bool:
    """Tell if an address is of an issue, a pull request or a discussion."""
    return bool(_NUMBER.search(url))


def names_in(text: str, items: Node | None) -> tuple[str, ...]:
    """Return the names in a list of labels, people or files."""
    return tuple(filter(None, (_name(text, item) for item in items_of(items))))


def _name(text: str, item: Node) -> str:
    if item.kind == STRING:
        return string_of(text, item)
    within = member(item, "label") or item
    return next(filter(None, (string_of(text, member(within, key)) for key in _NAMES)), "")


def branches_of(text: str, fields: Fields) -> tuple[str, ...]:
    """Return the branches of a pull request, from and to; empty if unknown."""
    ends = (
        ("headRefName", "source_branch", "sourceBranch", "head"),
        ("baseRefName", "target_branch", "targetBranch", "base"),
    )
    names = [text_of(text, fields, *keys[:3]) or string_of(text, member(fields.get(keys[3]), "ref")) for keys in ends]
    return tuple(names) if all(names) else ()


def nested(node: Node, lists: frozenset[str], single: frozenset[str]) -> Iterator[Node]:
    """Yield the objects in the lists of a record, and those in single members, in the order of the text."""
    for child in node.children:
        if child.key in lists:
            yield from (item for item in items_of(child) if item.kind == OBJECT)
        elif child.key in single and child.kind == OBJECT:
            yield child
