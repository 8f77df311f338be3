"""Filters in the text of a question, and languages and kinds by the names people give them."""

from collections.abc import Iterator

import pytest

from cqm.index.engine import Index
from cqm.index.model.errors import QueryError
from cqm.index.model.options import EmbeddingOptions, IndexOptions
from cqm.index.model.query import Query

pytestmark = pytest.mark.processes

FILES = {
    "src/retry.py": "class Retry:\n    def retry(self):\n        return again()\n",
    "src/retry.go": "package src\n\nfunc Retry() error {\n\treturn again()\n}\n",
    "tests/test_retry.py": "def test_retry():\n    assert retry()\n",
    "docs/retry.md": "# Retry\n\nTo retry is to try again.\n",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("filters")
    for path, text in FILES.items():
        (folder / "tree" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "tree" / path).write_text(text)
    options = IndexOptions(home=folder / "home", workers=1, embedding=EmbeddingOptions("none"))
    with Index.open(folder / "tree", options) as opened:
        opened.update()
        yield opened


def paths(index: Index, text: str) -> set[str]:
    return {hit.path for hit in index.search(Query(text)).hits}


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("retry", {*FILES}),
        ("lang:go retry", {"src/retry.go"}),
        ("retry language:golang", {"src/retry.go"}),
        ("lang:py retry", {"src/retry.py", "tests/test_retry.py"}),
        ("lang:py lang:go retry", {"src/retry.py", "tests/test_retry.py", "src/retry.go"}),
        ("path:src/** retry", {"src/retry.py", "src/retry.go"}),
        ("path:src retry", {"src/retry.py", "src/retry.go"}),
        ("-path:test retry", {"src/retry.py", "src/retry.go", "docs/retry.md"}),
        ('path:"src/retry.p" retry', {"src/retry.py"}),
        ("kind:func retry lang:go", {"src/retry.go"}),
        ("source:documentation retry", {"docs/retry.md"}),
    ],
)
def test_a_question_holds_filters(index: Index, question: str, found: set[str]) -> None:
    assert paths(index, question) == found


def test_a_symbol_asked_for_is_its_name(index: Index) -> None:
    (first, *_) = index.search(Query("sym:Retry lang:go")).hits
    assert (first.symbol, first.line) == ("Retry", 3)


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("lang:klingon retry", "`lang:klingon` is taken as words: no such language is known"),
        ("kind:Pod retry", "`kind:Pod` is taken as words: expected one of class"),
        ("-lang:go retry", "`-lang:go` is taken as words: only `-path:` leaves out"),
        ("source:mars retry", "`source:mars` is taken as words: expected one of code"),
    ],
)
def test_a_filter_that_is_not_known_is_taken_as_words_and_told(index: Index, question: str, told: str) -> None:
    answer = index.search(Query(question))
    assert told in answer.degraded
    assert {hit.path for hit in answer.hits} == {*FILES}


@pytest.mark.parametrize(
    "question", ["retry: lang go", "src/retry.py:2", "retry std::lang::go", "error:\nlang:go retry"]
)
def test_other_colons_are_no_filters(index: Index, question: str) -> None:
    answer = index.search(Query(question))
    assert answer.degraded == ""
    assert len({hit.language for hit in answer.hits}) > 1


def test_a_language_or_kind_is_named_as_people_name_it(index: Index) -> None:
    assert {hit.path for hit in index.search(Query("retry", languages=("golang",))).hits} == {"src/retry.go"}
    assert {hit.kind for hit in index.search(Query("retry", kinds=("func",))).hits} == {"function"}


@pytest.mark.parametrize(("column", "value"), [("language", "klingon"), ("language", "rust"), ("kind", "nosuch")])
def test_a_language_or_kind_that_the_index_lacks_is_refused_with_those_it_has(
    index: Index, column: str, value: str
) -> None:
    query = Query("retry", languages=(value,)) if column == "language" else Query("retry", kinds=(value,))
    with pytest.raises(QueryError, match=f"`{column} {value}`: expected one that the index has") as refused:
        index.search(query)
    assert ("python" if column == "language" else "function") in str(refused.value)


@pytest.mark.parametrize("glob", ["./src/**", "{root}/src/**", "/src/**", "src/**"])
def test_globs_may_begin_with_the_root_or_the_folder_itself(index: Index, glob: str) -> None:
    wanted = glob.format(root=index.root)
    assert {hit.path for hit in index.search(Query("retry", include=(wanted,))).hits} == {
        "src/retry.py",
        "src/retry.go",
    }
    assert {hit.path for hit in index.search(Query("retry", exclude=(wanted,))).hits} == {
        "tests/test_retry.py",
        "docs/retry.md",
    }


@pytest.mark.parametrize("globs", [("?" * 20_000,), ("?" * 10,) * 2_000])
def test_globs_that_are_too_much_to_match_are_refused(index: Index, globs: tuple[str, ...]) -> None:
    """Once this was told as a fault of CQM."""
    with pytest.raises(QueryError, match="of 20,000 characters together are too much to match") as refused:
        index.search(Query("retry", include=globs))
    assert "fewer or shorter" in str(refused.value)
