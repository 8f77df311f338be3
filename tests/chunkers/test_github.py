import json
from itertools import pairwise
from typing import Any

import pytest
from gapless import assert_gapless
from hypothesis import given
from hypothesis import strategies as st

from cqm.chunkers.chunking import chunk
from cqm.chunkers.github.encoded import encoded
from cqm.chunkers.model import Chunk, ChunkOptions, Document

pytestmark = pytest.mark.row("D6")

LONG = "The parser reads the header twice, so that the second call finds an empty buffer and gives up without a word. "
SMALL = ChunkOptions(max_tokens=128, min_tokens=16)


def comment(body: str, author: str = "bob", **more: object) -> dict[str, object]:
    """A comment as `gh` writes it."""
    return {
        "id": "IC_1",
        "author": {"login": author},
        "authorAssociation": "NONE",
        "body": body,
        "createdAt": "2024-01-02T10:00:00Z",
        "includesCreatedEdit": False,
        "reactionGroups": [],
        "url": "https://github.com/o/r/issues/12#issuecomment-1",
    } | more


def issue(**more: object) -> dict[str, object]:
    """An issue as `gh issue view --json` writes it, keys in order."""
    members = {
        "assignees": [{"id": "U_2", "login": "carol", "name": "Carol"}],
        "author": {"id": "U_1", "is_bot": False, "login": "alice", "name": ""},
        "body": "It **crashes**.",
        "closedAt": None,
        "comments": [],
        "createdAt": "2024-01-01T09:00:00Z",
        "labels": [{"id": "L", "name": "bug", "description": "", "color": "d73a4a"}],
        "number": 12,
        "state": "OPEN",
        "title": "Crash on start",
        "updatedAt": "2024-01-05T09:00:00Z",
        "url": "https://github.com/o/r/issues/12",
    } | more
    return dict(sorted(members.items()))


def review_comment(**more: object) -> dict[str, object]:
    """A review comment as the REST API writes it, without most of its addresses."""
    return {
        "url": "https://api.github.com/repos/o/r/pulls/comments/1",
        "id": 1,
        "diff_hunk": "@@ -40,3 +40,3 @@ def parse(text):\n-    return head(text)\n+    return tail(text)",
        "path": "src/parser.py",
        "user": {"login": "bob", "id": 2},
        "body": "Why the tail?",
        "created_at": "2024-01-03T08:00:00Z",
        "updated_at": "2024-01-03T08:00:00Z",
        "html_url": "https://github.com/o/r/pull/45#discussion_r1",
        "pull_request_url": "https://api.github.com/repos/o/r/pulls/45",
        "line": 42,
        "original_line": 40,
    } | more


def pull_request(**more: object) -> dict[str, object]:
    """A pull request as the REST API writes it, without most of its addresses."""
    return {
        "url": "https://api.github.com/repos/o/r/pulls/45",
        "html_url": "https://github.com/o/r/pull/45",
        "number": 45,
        "state": "closed",
        "title": "Parse the tail",
        "user": {"login": "alice", "id": 1},
        "body": "Closes #12.",
        "labels": [],
        "created_at": "2024-01-02T08:00:00Z",
        "merged_at": "2024-01-04T08:00:00Z",
        "head": {"ref": "tail", "user": {"login": "alice"}},
        "base": {"ref": "main", "user": {"login": "o"}},
    } | more


def chunks(value: object, options: ChunkOptions = ChunkOptions(), indent: int | None = None) -> tuple[Chunk, ...]:  # noqa: B008 - frozen
    text = value if isinstance(value, str) else json.dumps(value, indent=indent)
    found = chunk(Document("data.json", text), options).chunks
    assert_gapless(text, found)
    return found


def strategies(value: object) -> set[str]:
    return {part.strategy for part in chunks(value)}


def test_an_issue_is_shown_as_markdown_with_its_title_state_author_labels_and_text() -> None:
    (only,) = chunks(issue())
    assert (only.strategy, only.kind, only.symbol) == ("issue", "issue", "#12 Crash on start")
    assert only.content == (
        "# Crash on start\n\nIssue #12 | open | by @alice | opened 2024-01-01\n\nLabels: bug\n\nAssignees: @carol\n\n"
        "It **crashes**.\n"
    )


def test_an_issue_has_its_number_state_labels_assignees_author_dates_and_url_as_metadata() -> None:
    (only,) = chunks(issue(state="CLOSED", closedAt="2024-01-05T09:00:00Z"))
    known = only.metadata
    assert known.title == "Crash on start"
    assert known.url == "https://github.com/o/r/issues/12"
    assert known.created_at == "2024-01-01T09:00:00Z"
    assert dict(known.facts) == {
        "issues": ("12",),
        "number": 12,
        "state": "closed",
        "labels": ("bug",),
        "assignees": ("carol",),
        "author": "alice",
        "updated_at": "2024-01-05T09:00:00Z",
        "closed_at": "2024-01-05T09:00:00Z",
    }


@pytest.mark.parametrize(
    "said",
    [
        comment(LONG),
        comment("Try\n\n```sh\nmake\n```"),
        comment("thanks", author="alice"),
        comment("My solution: wait."),
        comment("解決しました"),
    ],
    ids=["long", "code", "by the author", "solution", "solution in Japanese"],
)
def test_a_comment_that_matters_is_a_chunk_of_its_own(said: dict[str, Any]) -> None:
    first, second = chunks(issue(comments=[said]))
    assert first.kind == "issue"
    assert (second.kind, second.symbol) == ("comment", f"#12 Crash on start > comment by @{said['author']['login']}")
    assert said["body"].strip() in second.content
    assert said["body"].strip() not in first.content
    assert second.metadata.facts["number"] == 12
    assert second.metadata.url == said["url"]


def test_a_short_comment_stays_with_what_stands_before_it() -> None:
    first, second = chunks(issue(comments=[comment("+1"), comment(LONG), comment("me too")]))
    assert "+1" in first.content
    assert "me too" in second.content


def test_short_comments_never_make_a_chunk_too_large() -> None:
    found = chunks(issue(comments=[comment(f"me too {number}") for number in range(100)]), SMALL)
    assert len(found) > 5
    assert all(len(part.content) <= SMALL.max_tokens * 4 for part in found)
    assert all(sum(f"me too {number}\n" in f"{part.content}\n" for part in found) == 1 for number in range(100))


@pytest.mark.parametrize("indent", [None, 2])
def test_indented_json_is_cut_as_json_on_one_line_is(indent: int | None) -> None:
    found = chunks([issue(comments=[comment(LONG)]), issue(number=13, title="Other")], indent=indent)
    assert [part.symbol for part in found] == [
        "#12 Crash on start",
        "#12 Crash on start > comment by @bob",
        "#13 Other",
    ]


def test_json_lines_and_pages_one_after_another_are_read() -> None:
    records = [issue(), issue(number=13, title="Other")]
    lines = "".join(f"{json.dumps(record)}\n" for record in records)
    pages = "".join(json.dumps([record]) for record in records)
    for text in (lines, pages):
        assert [part.symbol for part in chunks(text)] == ["#12 Crash on start", "#13 Other"]


def test_a_long_text_is_divided_where_markdown_is() -> None:
    body = "\n\n".join(f"## Step {number}\n\n{LONG * 3}\n\n```py\nstep({number})\n```" for number in range(5))
    found = chunks(issue(body=body.replace("\n", "\r\n")), SMALL)
    assert len(found) >= 5
    assert {part.symbol for part in found} == {"#12 Crash on start"}
    assert all(part.content.count("```") % 2 == 0 for part in found)
    assert all(len(part.content) <= SMALL.max_tokens * 4 for part in found)
    assert "".join(part.content for part in found[1:]).endswith(body[-200:])


def test_the_spans_of_a_divided_text_hold_what_they_show() -> None:
    body = "\n\n".join(f'Paragraph "{number}" \\ 漢字 \U0001f600 ' + LONG * 2 for number in range(20))
    for escaped in (True, False):
        text = json.dumps(issue(body=body), ensure_ascii=escaped)
        found = chunks(text, SMALL)
        assert len(found) > 5
        for part in found[1:-1]:
            assert json.loads(f'"{part.text}"') == part.content


def test_a_review_comment_is_found_by_its_file_its_line_and_the_code() -> None:
    first, second = chunks({"pull_request": pull_request(), "review_comments": [review_comment()]})
    assert (first.kind, second.kind) == ("pull request", "review comment")
    assert second.content.startswith("src/parser.py:42\n")
    assert "+    return tail(text)" in second.content
    assert "Why the tail?" in second.content
    assert second.symbol == "#45 Parse the tail > src/parser.py:42"
    assert (second.metadata.facts["file"], second.metadata.facts["line"]) == ("src/parser.py", 42)


def test_an_outdated_review_comment_keeps_the_line_that_it_was_written_at() -> None:
    (only,) = chunks([review_comment(line=None)])
    assert (only.symbol, only.metadata.facts["line"]) == ("#45 > src/parser.py:40", 40)


def test_a_pull_request_tells_its_branches_its_files_and_that_it_is_merged() -> None:
    gh = issue(
        number=45,
        title="Parse the tail",
        state="MERGED",
        mergedAt="2024-01-04T08:00:00Z",
        headRefName="tail",
        baseRefName="main",
        files=[{"path": "src/parser.py", "additions": 1, "deletions": 1}],
        url="https://github.com/o/r/pull/45",
    )
    for record in (gh, pull_request()):
        (only,) = chunks(record)
        assert only.kind == "pull request"
        assert "merged | by @alice | tail -> main" in only.content
    assert "Files: src/parser.py" in chunks(gh)[0].content


def test_reviews_tell_what_they_decided() -> None:
    review = {
        "id": "PRR_1",
        "author": {"login": "bob"},
        "authorAssociation": "MEMBER",
        "body": LONG,
        "submittedAt": "2024-01-03T08:00:00Z",
        "state": "CHANGES_REQUESTED",
    }
    approval = review | {"body": "", "state": "APPROVED"}
    first, second = chunks(issue(reviews=[review, approval], headRefName="tail", baseRefName="main"))
    assert first.kind == "pull request"
    assert second.kind == "review"
    assert "Review by @bob (changes requested) on 2024-01-03" in second.content
    assert "Review by @bob (approved)" in second.content


def test_comments_of_the_rest_api_know_their_issue_by_its_number() -> None:
    said = {
        "url": "https://api.github.com/repos/o/r/issues/comments/1",
        "html_url": "https://github.com/o/r/issues/12#issuecomment-1",
        "issue_url": "https://api.github.com/repos/o/r/issues/12",
        "id": 1,
        "user": {"login": "bob"},
        "created_at": "2024-01-02T10:00:00Z",
        "body": LONG,
    }
    (alone,) = chunks([said])
    assert alone.symbol == "#12 > comment by @bob"
    _, beside = chunks({"comments": [said], "issue": issue()})[::-1]
    assert beside.symbol == "#12 Crash on start > comment by @bob"


def test_a_text_that_comes_after_the_comments_is_shown_too() -> None:
    record = issue(comments=[comment(LONG)])
    body = record.pop("body")
    found = chunks(record | {"body": body})
    assert [part.kind for part in found] == ["comment", "issue"]
    assert "It **crashes**." in found[1].content


@pytest.mark.parametrize(
    "value",
    [
        {"name": "package", "title": "A title", "body": "A body", "author": {"name": "x"}, "version": "1.0.0"},
        {"name": "p", "author": "me", "repository": "https://github.com/o/r", "bugs": "https://github.com/o/r/issues"},
        [{"title": "Post", "body": "Text", "author": {"login": "x"}}],
        [{"number": 1, "title": "Chapter", "body": "https://github.com/o/r/issues/1"}],
        {"posts": [{"body": "Text", "comments": [{"body": "Text", "author": {"login": "x"}}]}]},
        {"openapi": "3.0.0", "info": {"title": "API"}, "paths": {"/issues/1": {}}, "body": {"state": "open"}},
        {"settings": {"a": list(range(500))}, "example": {"number": 1, "title": "x", "state": "open", "body": "y"}},
    ],
)
def test_other_json_is_not_taken_for_issues(value: object) -> None:
    assert "issue" not in strategies(value)


@pytest.mark.parametrize("author", [None, {"login": None}, [], 7])
@pytest.mark.parametrize("body", [None, 7, [], "\ud800", "\x00", ""])
def test_odd_values_are_no_trouble(author: object, body: object) -> None:
    found = chunks(issue(author=author, body=body, labels=None, comments=[comment("x", author="y"), None, 7]))
    assert found[0].symbol == "#12 Crash on start"


@given(st.text(max_size=200), st.text(max_size=200), st.booleans())
def test_any_texts_are_cut_without_loss(body: str, said: str, escaped: bool) -> None:
    text = json.dumps([issue(body=body * 5, comments=[comment(said * 5), comment(LONG)])], ensure_ascii=escaped)
    assert chunks(text, SMALL)[0].strategy == "issue"


@given(st.data())
def test_damaged_json_is_cut_without_loss(data: st.DataObject) -> None:
    text = json.dumps([issue(comments=[comment(LONG)]), pull_request()], indent=data.draw(st.sampled_from([None, 2])))
    cut = data.draw(st.integers(0, len(text)))
    again = data.draw(st.integers(0, len(text)))
    chunks(text[:cut] + text[again:])


@given(st.text(), st.booleans(), st.text(max_size=5))
def test_each_character_of_a_json_string_knows_where_it_is_written(value: str, escaped: bool, before: str) -> None:
    source = f"{before}{json.dumps(value, ensure_ascii=escaped)}"
    read = encoded(source, len(before), len(source))
    assert read.text == value
    places = [read.source_of(index) for index in range(len(value) + 1)]
    assert places[-1] == len(source) - 1
    written = [source[start:end] for start, end in pairwise(places)]
    assert [json.loads(f'"{part}"', strict=False) for part in written] == list(value)


@pytest.mark.timeout(60)  # Linear work takes a second at most, what it once was took minutes.
def test_a_string_that_is_never_closed_is_looked_for_once_in_issues() -> None:
    text = json.dumps(issue())[:-1] + ', "' + '\\"' * 100_000
    assert chunk(Document("issue.json", text), SMALL).chunks[0].strategy == "issue"
