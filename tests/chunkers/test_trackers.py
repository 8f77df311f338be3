"""Issues of GraphQL, GitLab, Gitea and exports."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import Chunk, Document

pytestmark = pytest.mark.row("D6")

LONG = "The parser reads the header twice, so that the second call finds an empty buffer and gives up without a word. "


def chunks(value: object, path: str = "data.json") -> tuple[Chunk, ...]:
    text = value if isinstance(value, str) else json.dumps(value, indent=1)
    found = chunk(
        Document(path, text),
    ).chunks
    assert "".join("".join(part.text for part in found).split()) == "".join(text.split())
    assert {part.strategy for part in found} == {"issue"}
    assert {part.metadata.source_type for part in found} == {"issue"}
    return found


def told(found: tuple[Chunk, ...]) -> list[tuple[str, str]]:
    return [(part.kind, part.symbol) for part in found]


def nodes(*items: object) -> dict[str, Any]:
    return {"totalCount": len(items), "nodes": [*items]}


def graphql(number: int = 12, **more: object) -> dict[str, Any]:
    return {
        "number": number,
        "title": "Crash on start",
        "body": "It **crashes**.",
        "state": "OPEN",
        "url": f"https://github.com/o/r/issues/{number}",
        "createdAt": "2024-01-01T09:00:00Z",
        "author": {"login": "alice"},
        "labels": nodes({"name": "bug"}, {"name": "parser"}),
        "assignees": nodes({"login": "carol"}),
        "comments": nodes(said(LONG, "bob"), said("Me too.", "dave")),
    } | more


def said(body: str, login: str, **more: object) -> dict[str, Any]:
    return {"author": {"login": login}, "body": body, "createdAt": "2024-01-02T10:00:00Z"} | more


def test_an_answer_of_graphql_keeps_comments_labels_and_people() -> None:
    first, second = chunks({"data": {"repository": {"issue": graphql()}}})
    assert told((first, second)) == [
        ("issue", "#12 Crash on start"),
        ("comment", "#12 Crash on start > comment by @bob"),
    ]
    facts = first.metadata.facts
    assert (facts["labels"], facts["assignees"], facts["state"]) == (("bug", "parser"), ("carol",), "open")
    assert (facts["author"], first.metadata.created_at) == ("alice", "2024-01-01T09:00:00Z")
    assert first.metadata.url == "https://github.com/o/r/issues/12"
    assert LONG.strip() in second.content
    assert "Comment by @dave on 2024-01-02, #12 Crash on start\n\nMe too." in second.content


def test_lists_and_edges_of_graphql_are_read() -> None:
    by_nodes = {"data": {"repository": {"issues": nodes(graphql(1), graphql(2))}}}
    by_edges = {"data": {"search": {"edges": [{"cursor": "x", "node": graphql(1)}, {"node": graphql(2)}]}}}
    repositories = {"data": {"organization": {"repositories": nodes({"issues": nodes(graphql(1), graphql(2))})}}}
    for value in (by_nodes, by_edges, repositories, [by_nodes]):
        assert [part.symbol for part in chunks(value) if part.kind == "issue"] == [
            "#1 Crash on start",
            "#2 Crash on start",
        ]


def test_threads_of_a_review_keep_their_place_in_the_code() -> None:
    thread = {"path": "src/a.py", "line": 42, "isResolved": True, "comments": nodes(said("Why " + LONG, "bob"))}
    review = {"state": "APPROVED", "submittedAt": "2024-01-03T08:00:00Z", "author": {"login": "eve"}, "body": LONG}
    request = graphql(45, state="MERGED", headRefName="tail", baseRefName="main", reviewThreads=nodes(thread))
    request |= {"reviews": nodes(review), "comments": nodes()}
    found = chunks({"data": {"repository": {"pullRequest": request}}})
    assert told(found) == [
        ("pull request", "#45 Crash on start"),
        ("review comment", "#45 Crash on start > src/a.py:42"),
        ("review", "#45 Crash on start > review by @eve"),
    ]
    assert (found[1].metadata.facts["file"], found[1].metadata.facts["line"]) == ("src/a.py", 42)


def test_a_discussion_has_its_answer_and_replies() -> None:
    discussion = {
        "number": 7,
        "title": "How to start",
        "body": "How do I start it?",
        "url": "https://github.com/o/r/discussions/7",
        "author": {"login": "alice"},
        "category": {"name": "Q&A"},
        "answerChosenAt": "2024-02-01T00:00:00Z",
        "labels": nodes(),
        "comments": nodes(
            said("With run.", "bob", isAnswer=True, replies=nodes(said("Thanks: " + LONG, "alice"))), said("Hm.", "x")
        ),
    }
    found = chunks({"data": {"repository": {"discussions": nodes(discussion)}}})
    assert told(found) == [
        ("discussion", "#7 How to start"),
        ("answer", "#7 How to start > answer by @bob"),
        ("comment", "#7 How to start > comment by @alice"),
    ]
    assert (found[0].metadata.facts["category"], found[0].metadata.facts["answered"]) == ("Q&A", True)
    assert "Discussion #7 | Q&A | answered | by @alice" in found[0].content


def gitlab(**more: object) -> dict[str, Any]:
    return {
        "id": 901,
        "iid": 5,
        "project_id": 3,
        "title": "Crash on start",
        "description": "It **crashes**.",
        "state": "opened",
        "created_at": "2024-01-01T09:00:00.000Z",
        "closed_at": None,
        "labels": ["bug", "P1"],
        "assignees": [{"id": 2, "username": "carol", "name": "Carol"}],
        "author": {"id": 1, "username": "alice", "name": "Alice"},
        "web_url": "https://gitlab.com/g/p/-/issues/5",
        "milestone": {"id": 1, "iid": 1, "title": "v1", "description": "", "state": "active"},
    } | more


def note(body: str, **more: object) -> dict[str, Any]:
    return {
        "id": 11,
        "type": None,
        "body": body,
        "author": {"id": 4, "username": "bob"},
        "created_at": "2024-01-02T10:00:00.000Z",
        "system": False,
        "noteable_id": 901,
        "noteable_type": "Issue",
        "noteable_iid": 5,
    } | more


def test_issues_and_notes_of_gitlab_are_read() -> None:
    (issue,) = chunks([gitlab()])
    assert (issue.symbol, issue.metadata.facts["state"], issue.metadata.facts["labels"]) == (
        "#5 Crash on start",
        "open",
        ("bug", "P1"),
    )
    assert (issue.metadata.facts["author"], issue.metadata.url) == ("alice", "https://gitlab.com/g/p/-/issues/5")
    notes = chunks([note(LONG), note("changed the description", system=True)])
    assert told(notes) == [("comment", "#5 > comment by @bob")]
    both = chunks({"issue": gitlab(), "discussions": [{"id": "a", "individual_note": False, "notes": [note(LONG)]}]})
    assert told(both)[1] == ("comment", "#5 Crash on start > comment by @bob")


def test_a_merge_request_of_gitlab_has_branches_and_comments_on_lines() -> None:
    position = {"new_path": "src/a.rb", "old_path": "src/a.rb", "new_line": 9, "old_line": None}
    request = gitlab(
        source_branch="tail", target_branch="main", state="merged", web_url="https://gitlab.com/g/p/-/merge_requests/5"
    )
    request["notes"] = [note("Why?", type="DiffNote", noteable_type="MergeRequest", position=position)]
    found = chunks(request)
    assert told(found) == [("merge request", "!5 Crash on start"), ("review comment", "!5 Crash on start > src/a.rb:9")]
    assert "Merge request !5 | merged | by @alice | tail -> main" in found[0].content


def test_lines_of_a_project_export_of_gitlab_are_read() -> None:
    exported = {
        "title": "Crash on start",
        "author_id": 1,
        "project_id": 3,
        "created_at": "2024-01-01T09:00:00Z",
        "description": "It **crashes**.",
        "iid": 5,
        "state": "opened",
        "label_links": [{"target_type": "Issue", "label": {"title": "bug", "color": "#fff"}}],
        "notes": [{"note": LONG, "noteable_type": "Issue", "author_id": 2, "author": {"name": "Bob"}, "system": False}],
    }
    text = "".join(json.dumps(exported | {"iid": number}) + "\n" for number in (5, 6))
    found = chunks(text, "tree/project/issues.ndjson")
    assert told(found)[:2] == [
        ("issue", "#5 Crash on start"),
        ("comment", "#5 Crash on start > comment by @Bob"),
    ]
    assert found[0].metadata.facts["labels"] == ("bug",)
    assert len(found) == 4


@pytest.mark.parametrize(("path", "kind"), [("issues", "issue"), ("pulls", "pull request")])
def test_an_issue_of_gitea_is_no_pull_request_for_a_member_that_is_null(path: str, kind: str) -> None:
    value = {
        "id": 9,
        "url": f"https://codeberg.org/api/v1/repos/o/r/{path}/3",
        "html_url": f"https://codeberg.org/o/r/{path}/3",
        "number": 3,
        "user": {"id": 1, "login": "alice", "username": "alice"},
        "title": "Crash on start",
        "body": "It crashes.",
        "labels": [{"id": 1, "name": "bug"}],
        "state": "open",
        "comments": 1,
        "pull_request": None if kind == "issue" else {"merged": False},
    }
    (found,) = chunks([value])
    assert (found.kind, found.symbol) == (kind, "#3 Crash on start")
    remark = {
        "id": 1,
        "html_url": f"https://codeberg.org/o/r/{path}/3#issuecomment-1",
        "issue_url": f"https://codeberg.org/o/r/{path}/3",
        "user": {"login": "bob"},
        "body": LONG,
        "created_at": "2024-01-02T10:00:00Z",
    }
    assert told(chunks([remark])) == [("comment", "#3 > comment by @bob")]


@pytest.mark.parametrize(
    "value",
    [
        {"name": "x", "description": "A package", "author": {"name": "a"}, "version": "1.0.0", "iid": 1},
        {"data": {"nodes": [{"title": "Post", "body": "Words", "number": "twelve"}]}},
        [{"title": "Chapter", "number": 3, "body": "Words of a book."}],
        {"items": [{"username": "a", "description": "x", "note": "y"}]},
    ],
)
def test_other_data_is_none_of_a_tracker(value: object) -> None:
    assert {part.strategy for part in chunk(Document("a.json", json.dumps(value))).chunks} == {"data"}


MEMBERS = st.sampled_from(
    [
        "number",
        "iid",
        "title",
        "body",
        "note",
        "state",
        "author",
        "comments",
        "nodes",
        "notes",
        "edges",
        "position",
        "url",
    ]
)
VALUES = st.recursive(
    st.sampled_from([None, True, 5, "5", "open", "words", "https://github.com/o/r/issues/5"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(MEMBERS, inner, max_size=6),
    max_leaves=25,
)


@given(VALUES)
def test_no_character_is_lost_of_whatever_looks_like_an_issue(value: object) -> None:
    text = json.dumps({"issue": value, "seed": graphql()}, indent=1)
    found = chunk(Document("a.json", text)).chunks
    assert "".join("".join(part.text for part in found).split()) == "".join(text.split())
