"""Chunks that refer to an issue, by its number."""

import json
from collections.abc import Iterator

import pytest
from indexed_tree import indexed_tree

from cqm.index.engine import Index
from cqm.index.model.errors import QueryError
from cqm.index.model.query import Query, SearchMode

pytestmark = pytest.mark.processes

ISSUE = {"number": 123, "title": "Endless retry", "state": "OPEN", "body": "It retries.", "author": {"login": "a"}}
FILES = {
    "src/retry.py": "def retry():\n    return 'retries'\n",
    "src/pause.rs": "// Fixes #123: a pause that retries.\nfn pause() {}\n",
    "src/other.rs": "// As rust-lang/rust#77 has it: retries.\nfn other() {}\n",
    "issues/123.json": json.dumps(ISSUE),
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with indexed_tree(tmp_path_factory.mktemp("issues"), FILES) as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("issue:123 retries", {"src/pause.rs", "issues/123.json"}),
        ("issue:#123 retries lang:rust", {"src/pause.rs"}),
        ("issue:123", {"src/pause.rs", "issues/123.json"}),
        ("issue:rust-lang/rust#77 retries", {"src/other.rs"}),
        ("issue:9 retries", set()),
        ("issue:none retries", {*FILES}),
    ],
)
def test_a_question_asks_for_what_refers_to_an_issue(index: Index, question: str, found: set[str]) -> None:
    assert {hit.path for hit in index.search(Query(question)).hits} == found


def test_a_result_tells_the_issues_it_refers_to(index: Index) -> None:
    (hit,) = index.search(Query("retries", languages=("rust",), issues=("123",))).hits
    assert hit.metadata["issues"] == ("123",)


def test_lines_are_not_asked_for_by_issue(index: Index) -> None:
    with pytest.raises(QueryError, match="issue 123"):
        index.search(Query("retries", issues=("123",), mode=SearchMode.EXACT))
