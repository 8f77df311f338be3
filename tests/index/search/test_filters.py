"""Filters in the text of a question, and languages and kinds by the names people give them."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from indexed_tree import indexed_tree

from cqm.index.engine import Index
from cqm.index.model.errors import FilterError, QueryError
from cqm.index.model.options import EmbeddingOptions, IndexOptions
from cqm.index.model.query import Confidence, Query, SearchMode

pytestmark = pytest.mark.processes

FILES = {
    "src/retry.py": "class Retry:\n    def retry(self):\n        return again()\n",
    "src/retry.go": "package src\n\nfunc Retry() error {\n\treturn again()\n}\n",
    "tests/test_retry.py": "def test_retry():\n    assert retry()\n",
    "docs/retry.md": "# Retry\n\nTo retry is to try again.\n",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with indexed_tree(tmp_path_factory.mktemp("filters"), FILES) as opened:
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
        ("path:./src retry", {"src/retry.py", "src/retry.go"}),
        ("path:src\\retry.go retry", {"src/retry.go"}),
        ("path:/src retry", {"src/retry.py", "src/retry.go"}),
        ("path:/test_retry retry", {"tests/test_retry.py"}),
        ("path:tree/src retry", {"src/retry.py", "src/retry.go"}),
        ("path:{src,docs}/*.{go,md} retry", {"src/retry.go", "docs/retry.md"}),
        ("path:!test retry", {"src/retry.py", "src/retry.go", "docs/retry.md"}),
        ("path:. retry", {*FILES}),
        ("path:SRC/** retry", {"src/retry.py", "src/retry.go"}),
        ("path:./Src/RETRY.go retry", {"src/retry.go"}),
        ("-path:Test retry", {"src/retry.py", "src/retry.go", "docs/retry.md"}),
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
        ("lang:klingon retry", "`lang:klingon` is taken as words: no language of that name is known. There are"),
        ("lang:pythn retry", "Did you mean python? There are "),
        ("kind:Pod retry", "`kind:Pod` is taken as words: no kind of that name is known. There are"),
        ("-lang:go retry", "`-lang:go` is taken as words: only `-path:` leaves out"),
        ("source:mars retry", "`source:mars` is taken as words: no source of that name is known. There are code"),
        ("knd:function retry", "perhaps `kind:function` is meant"),
        ("retry pth:src", "perhaps `path:src` is meant"),
        ("file:retry.go retry", "perhaps `path:retry.go` is meant"),
        ("ext:go retry", "perhaps `path:*.go` is meant"),
        ("-ext:go retry", "perhaps `-path:*.go` is meant"),
        ("exclude:docs retry", "perhaps `-path:docs` is meant"),
        ("-exclude:docs retry", "perhaps `path:docs` is meant"),
        ("-author:me retry", "`-author:me` is taken as words: expected one of lang, path, "),
        ("author:me retry", "`author:me` is taken as words: expected one of lang, path, "),
        ("retry lang: go", "`lang: go` is taken as words: a filter has no blank, as in `lang:go`"),
        ("symbol: Retry", "`symbol: Retry` is taken as words: a filter has no blank"),
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


@pytest.fixture(scope="module", params=["as it was made", "opened again"])
def opened(index: Index, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """The index in the process that made it, and in one that found it up to date."""
    if request.param == "as it was made":
        yield index
        return
    folder = tmp_path_factory.mktemp("again")
    options = IndexOptions(home=folder / "home", workers=1, embedding=EmbeddingOptions("none"))
    with Index.open(index.root, options) as made:
        made.update()
    with Index.open(index.root, options) as again:
        yield again


@pytest.mark.parametrize("mode", [SearchMode.HYBRID, SearchMode.EXACT])
@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (Query("retry", languages=("klingon",)), "`language klingon`: expected one that the index has"),
        (Query("retry", languages=("pythn", "go")), "`language pythn`: .* Did you mean python. There are python, go"),
        (Query("retry", languages=("rust",)), "`language rust`: .* There are python, go"),
        (Query("retry", kinds=("nosuch",)), "`kind nosuch`: .* There are function"),
        (Query("retry", kinds=("funktion", "class")), "`kind funktion`: .* Did you mean function"),
        (Query("retry", sources=("mars",)), "`source mars`: .* There are code"),
        (Query("lang:rust retry"), "`language rust`: expected one that the index has"),
        (Query("lang:text retry"), "`language text`: expected one that the index has"),
        (Query("lang:rst retry"), "`language restructuredtext`: expected one that the index has"),
        (Query("kind:enum retry"), "`kind enum`: expected one that the index has"),
        (Query("path:nosuch retry"), "No file of the index is at `path:nosuch`. Near are docs/, src/, tests/"),
        (Query("path:scr retry"), "at `path:scr`. Near are src/. Put it in quotes"),
        (Query("retry", include=("Srcs/**",)), "at `Srcs/..`. Near are src/"),
        (Query("retry", include=("/etc/nginx",)), "No file of the index is at `/etc/nginx`"),
    ],
)
def test_a_filter_that_keeps_nothing_is_refused_with_what_there_is_in_every_process(
    opened: Index, asked: Query, told: str, mode: SearchMode
) -> None:
    """Once only in a process that had just written the index."""
    with pytest.raises(FilterError) as refused:
        opened.search(replace(asked, mode=mode))
    assert re.search(told.replace("`.", "`[.]"), str(refused.value))


def test_a_language_that_is_known_may_stand_beside_those_that_the_index_has(index: Index) -> None:
    assert {hit.path for hit in index.search(Query("retry", languages=("rust", "go"))).hits} == {"src/retry.go"}


def test_empty_filters_are_none(index: Index) -> None:
    empty = Query("retry", languages=("",), kinds=(" ",), sources=("",), include=("",), exclude=("",), issues=("",))
    assert {hit.path for hit in index.search(empty).hits} == {*FILES}


def test_filters_that_leave_nothing_together_are_named(index: Index) -> None:
    answer = index.search(Query("path:docs lang:go retry"))
    assert not answer.hits
    assert "nothing is left by path:docs lang:go" in answer.degraded


@pytest.mark.parametrize("mode", [SearchMode.HYBRID, SearchMode.EXACT])
@pytest.mark.parametrize("filters", ["lang:go", "path:src kind:function", "-path:tests source:code"])
def test_filters_that_leave_files_without_the_words_are_not_blamed(
    index: Index, filters: str, mode: SearchMode
) -> None:
    answer = index.search(Query(f"{filters} zygomorphic", mode=mode))
    assert (answer.hits, answer.degraded) == ((), "")


@pytest.mark.parametrize("mode", [SearchMode.HYBRID, SearchMode.EXACT])
def test_a_kind_that_the_other_filters_leave_nothing_of_is_named_with_them(index: Index, mode: SearchMode) -> None:
    answer = index.search(Query("lang:go kind:class retry", mode=mode))
    assert (answer.hits, answer.degraded) == ((), "nothing is left by lang:go kind:class")


@pytest.mark.parametrize("text", ["kind:class", "path:retry.go", "lang:go path:src"])
def test_a_filter_alone_is_refused_with_what_to_add(index: Index, text: str) -> None:
    with pytest.raises(QueryError, match=f"`{text}` only narrows a search: expected a question beside it"):
        index.search(Query(text))


@pytest.mark.parametrize("glob", [r"src\*.go", "src/{retry,other}.go", "tree/src/*.go", "./src/*.go", "!**/*.{py,md}"])
def test_globs_are_read_as_people_mean_them(index: Index, glob: str) -> None:
    assert {hit.path for hit in index.search(Query("retry", include=(glob,))).hits} == {"src/retry.go"}


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


@pytest.mark.parametrize("glob", ["app/[id]", "app/[id]/", "app/[id]/**", "app/[id]/*.ts"])
def test_folders_with_brackets_in_their_names_were_refused_as_globs(tmp_path: Path, glob: str) -> None:
    files = {"app/[id]/page.ts": "export function retry() {}\n", "app/x/page.ts": "export function retryOther() {}\n"}
    with indexed_tree(tmp_path, files) as index:
        assert paths(index, f"path:{glob} retry") == {"app/[id]/page.ts"}
        assert {hit.path for hit in index.search(Query("retry", include=(glob,))).hits} == {"app/[id]/page.ts"}
        assert {hit.path for hit in index.search(Query("retry", exclude=(glob,))).hits} == {"app/x/page.ts"}


def test_brackets_below_an_escaped_folder_are_part_of_a_name_too(tmp_path: Path) -> None:
    files = {"my app/[id]/page.ts": "export function retry() {}\n", "my app/x.ts": "export function retryOther() {}\n"}
    with indexed_tree(tmp_path, files) as index:
        found = index.search(Query("retry", include=(r"my\ app/[id]/**",))).hits
    assert {hit.path for hit in found} == {"my app/[id]/page.ts"}


@pytest.mark.parametrize("globs", [("?" * 20_000,), ("?" * 10,) * 2_000])
def test_globs_that_are_too_much_to_match_are_refused(index: Index, globs: tuple[str, ...]) -> None:
    """Once this was told as a fault of CQM."""
    with pytest.raises(QueryError, match="of 20,000 characters together are too much to match") as refused:
        index.search(Query("retry", include=globs))
    assert "fewer or shorter" in str(refused.value)


@pytest.mark.parametrize("name", ["include", "exclude"])
def test_more_globs_than_anybody_writes_are_refused(index: Index, name: str) -> None:
    with pytest.raises(QueryError, match=rf"{name} has 100,000 globs: expected at most 5,000\..*src/\*\*"):
        index.search(Query("retry", **{name: tuple(f"a{number}/" for number in range(100_000))}))


KINDS = {
    "errors.go": "package x\n\n// ErrorType is of a Binding.\ntype ErrorType uint64\n\n"
    "const (\n\tErrorTypeBind ErrorType = 1\n\tErrorTypeRender ErrorType = 2\n)\n\n"
    "func (e ErrorType) Binding() bool { return e == ErrorTypeBind }\n",
    "binding.go": "package x\n\n// Binding binds.\ntype Binding struct {\n\tName string\n}\n\n"
    "func (b *Binding) Bind(name string) error {\n\tb.Name = name\n\treturn nil\n}\n",
    "client.py": "class Binding:\n    limit = 3\n\n    def bind(self, binding):\n        return Binding(binding)\n",
}


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("kinds")
    (folder / "tree").mkdir()
    for path, text in KINDS.items():
        (folder / "tree" / path).write_text(text)
    options = IndexOptions(home=folder / "home", workers=1, embedding=EmbeddingOptions("none"))
    with Index.open(folder / "tree", options) as opened:
        opened.update()
        yield opened


@pytest.mark.parametrize("mode", [SearchMode.HYBRID, SearchMode.EXACT])
@pytest.mark.parametrize(
    "text", ["Binding", "bind a name", "ErrorTypeBind", "Binding.Bind", "errors.go:7", "errors.go"]
)
@pytest.mark.parametrize("kind", ["type", "struct", "class", "method", "constant"])
def test_results_of_a_kind_are_named_after_a_definition_of_it(
    kinds: Index, kind: str, text: str, mode: SearchMode
) -> None:
    """Once a type's chunk was named after a constant in it."""
    try:
        hits = kinds.search(Query(text, kinds=(kind,), mode=mode)).hits
    except FilterError:
        hits = ()
    assert {hit.kind for hit in hits} <= {kind}


def test_only_a_definition_of_the_kind_is_an_exact_match(kinds: Index) -> None:
    found = kinds.search(Query("kind:struct Binding"))
    assert (found.hits[0].symbol, found.confidence) == ("Binding", Confidence.HIGH)
    other = kinds.search(Query("kind:type Binding"))
    assert [hit.symbol for hit in other.hits] == ["ErrorType"]
    assert "exact" in found.hits[0].parts
    assert "exact" not in other.hits[0].parts


def test_a_folder_with_its_slash_is_no_beginning_of_another_and_kinds_have_other_languages_names(
    tmp_path: Path,
) -> None:
    files = {
        "Rx/error.swift": "protocol Failure {}\n",
        "RxTests/error.swift": "func error() {}\n",
        "a/Rx/error.scala": "object Failure { val error = 1 }\n",
    }
    with indexed_tree(tmp_path, files) as index:
        assert paths(index, "path:Rx/ error") == {"Rx/error.swift", "a/Rx/error.scala"}
        assert paths(index, "path:/Rx/ error") == {"Rx/error.swift"}
        assert paths(index, "path:Rx error") == {"Rx/error.swift", "RxTests/error.swift", "a/Rx/error.scala"}
        assert paths(index, "kind:protocol Failure") == {"Rx/error.swift"}
        assert paths(index, "kind:object Failure") == {"a/Rx/error.scala"}
