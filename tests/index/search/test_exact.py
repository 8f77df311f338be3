"""A symbol asked for by its name: every definition of it comes before what only mentions it, in any language."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cqm.index.engine import Index
from cqm.index.model.options import CacheOptions, EmbeddingOptions, IndexOptions
from cqm.index.model.query import Answer, Query, SearchMode

pytestmark = pytest.mark.processes

# The definition of `name`, and what calls it, which is longer and says it many times.
SOURCES = {
    "client.py": "class HttpClient:\n    def {name}(self, path):\n        return self.base + path\n",
    "client.ts": "export class HttpClient {{\n  {name}(p: string): string {{\n    return this.base + p;\n  }}\n}}\n",
    "client.js": "class HttpClient {{\n  {name}(path) {{\n    return this.base + path;\n  }}\n}}\n",
    "HttpClient.java": "package net.far;\nclass HttpClient {{\n  String {name}(String p) {{\n    return p;\n  }}\n}}\n",
    "HttpClient.cs": "class HttpClient {{\n  string {name}(string p) {{\n    return Base + p;\n  }}\n}}\n",
    "Client.kt": "class HttpClient {{\n  fun {name}(p: String): String {{\n    return base + p\n  }}\n}}\n",
    "Client.swift": "class HttpClient {{\n  func {name}(p: String) -> String {{\n    return base + p\n  }}\n}}\n",
    "Client.php": "<?php\nclass HttpClient {{\n  function {name}($p) {{\n    return $this->base . $p;\n  }}\n}}\n",
    "client.rb": "class HttpClient\n  def {name}(p)\n    @base + p\n  end\nend\n",
    "client.go": "package net\n\nfunc (c *HttpClient) {name}(p string) string {{\n\treturn c.base + p\n}}\n",
    "client.rs": "impl HttpClient {{\n    fn {name}(&self, p: &str) -> String {{\n        p.to_string()\n    }}\n}}\n",
    "client.cpp": "std::string HttpClient::{name}(std::string p) {{\n  return base + p;\n}}\n",
    "client.scala": "class HttpClient {{\n  def {name}(p: String): String = {{\n    base + p\n  }}\n}}\n",
    "client.lua": "local HttpClient = {{}}\nfunction HttpClient.{name}(p)\n  return base .. p\nend\n",
}
"""Files that define a method in a class, by their names."""
ROW = "# // {name}, calls {name}, tests {name}\n"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """Each language's method has a name of its own, in two spellings, and is mentioned far more often elsewhere."""
    folder = tmp_path_factory.mktemp("exact")
    tree = folder / "tree"
    (tree / "tests").mkdir(parents=True)
    for number, (file, source) in enumerate(SOURCES.items()):
        name = f"get_url_{number}"
        (tree / file).write_text(source.format(name=name))
        for caller in range(4):
            (tree / f"{name}_{caller}_{file}").write_text(ROW.format(name=name) * 20)
        (tree / "tests" / f"test_{file}").write_text((ROW + "{name}(1)\n").format(name=name) * 60)
    callers = [f"def caller_{n}():\n    '''fetch_all fetch_all'''\n    return fetch_all({n})" for n in range(300)]
    (tree / "fetch_all.py").write_text("\n\n".join(callers))
    for folder_name in ("first", "second"):
        (tree / folder_name).mkdir()
        (tree / folder_name / "plain.py").write_text(f"def fetch_all(path):\n    return {folder_name}(path)\n")
    (tree / "notes.md").write_text("# fetch_all\n\nfetch_all fetch_all\n")
    (tree / "names.json").write_text('{"fetch_all": "fetch_all fetch_all"}\n')
    options = replace(
        IndexOptions(home=folder / "home", workers=1), embedding=replace(IndexOptions().embedding, provider="none")
    )
    with Index.open(tree, options) as opened:
        opened.update()
        yield opened


def ask(index: Index, text: str, **changes: object) -> Answer:
    return index.search(replace(Query(text, mode=SearchMode.LEXICAL), **changes))  # type: ignore[arg-type]


@pytest.mark.parametrize("file", [*SOURCES])
@pytest.mark.parametrize("form", ["{name}", "HttpClient.{name}", "`{name}()`", "HttpClient::{name}"])
def test_the_definition_is_first_however_often_others_mention_it(index: Index, file: str, form: str) -> None:
    number = [*SOURCES].index(file)
    name = f"get_url_{number}"
    found = ask(index, form.format(name=name)).hits
    assert found[0].path == file
    assert f"{name}(" in found[0].text
    assert found[0].parts["exact"] > 0
    assert sum(found[0].parts.values()) == pytest.approx(found[0].score)


def test_all_definitions_of_a_name_come_before_what_mentions_it(index: Index) -> None:
    first, second, third, *_ = ask(index, "fetch_all").hits
    assert {first.path, second.path} == {"first/plain.py", "second/plain.py"}
    assert "exact" not in third.parts
    assert first.score >= second.score > third.score


def test_a_module_before_a_name_tells_which_definition_is_meant(index: Index) -> None:
    first, second, *_ = ask(index, "second.plain.fetch_all").hits
    assert first.path == "second/plain.py"
    assert "exact" not in second.parts
    assert ask(index, "net.far.HttpClient.get_url_3").hits[0].path == "HttpClient.java"


def test_a_name_in_another_spelling_is_found_where_none_is_written_so(index: Index) -> None:
    assert ask(index, "getUrl5").hits[0].path == "Client.kt"
    assert ask(index, "HTTPCLIENT.GET_URL_5").hits[0].path == "Client.kt"


def test_filters_hold_for_definitions_too(index: Index) -> None:
    found = ask(index, "fetch_all", exclude=("first", "second"), limit=100).hits
    assert found
    assert not {hit.path for hit in found} & {"first/plain.py", "second/plain.py"}
    assert {hit.language for hit in ask(index, "fetch_all", languages=("json",)).hits} == {"json"}


def test_pages_fit_together_with_the_definitions_on_the_first(index: Index) -> None:
    first = ask(index, "fetch_all", limit=1)
    second = ask(index, "fetch_all", limit=3, cursor=first.next_cursor)
    assert [*first.hits, *second.hits] == [*ask(index, "fetch_all", limit=4).hits]


def test_a_question_in_words_lifts_no_definition(index: Index) -> None:
    assert not any("exact" in hit.parts for hit in ask(index, "where are all of them fetched").hits)
    assert not any("exact" in hit.parts for hit in ask(index, "no_such_name").hits)


def test_a_type_comes_before_members_of_its_name_as_no_test_s_title_does_and_the_file_so_named_before_others(
    tmp_path: Path,
) -> None:
    files = {
        "binding/validator.go": "package binding\n\nfunc (v *validator) Engine() any {\n\treturn v.x // Engine\n}\n",
        "gin.go": "package gin\n\ntype Engine struct {\n\ttrees map[string]int\n}\n",
        "Codec.Json.cs": "public partial class Codec {\n  public string Json(int x) { return x.ToString(); }\n}\n",
        "Codec.cs": "public partial class Codec {\n  public byte[] Bytes(int value) { return new byte[value]; }\n}\n",
        "src/box.ts": "export interface Box<T> {\n  /** Gives what is in it. */\n  unwrapped(): T;\n}\n",
        "tests/box.test.ts": 'test("unwrapped", () => {\n  expect(box(1).unwrapped()).toBe(1); // unwrapped\n});\n',
    }
    for path, text in files.items():
        (tmp_path / "tree" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tree" / path).write_text(text)
    with Index.open(tmp_path / "tree", IndexOptions(home=tmp_path / "home")) as index:
        index.update()
        assert [hit.path for hit in ask(index, "Engine").hits][:2] == ["gin.go", "binding/validator.go"]
        assert ask(index, "validator.Engine").hits[0].path == "binding/validator.go"
        assert [hit.path for hit in ask(index, "Codec").hits][:2] == ["Codec.cs", "Codec.Json.cs"]
        assert [hit.path for hit in ask(index, "unwrapped").hits][:2] == ["src/box.ts", "tests/box.test.ts"]


def test_pages_of_a_name_with_many_definitions_and_many_callers_fit_together(tmp_path: Path) -> None:
    """Deep pages found definitions that they put before what earlier pages had shown."""
    for number in range(160):
        path = tmp_path / "tree" / f"d{number}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"def flush(buffer_{number}):\n    return buffer_{number}.write({number})\n")
        path.with_name(f"c{number}.py").write_text(
            f"def caller_{number}(it):\n    return it.flush(it.flush, {number})\n"
        )
    with Index.open(tmp_path / "tree", IndexOptions(home=tmp_path / "home")) as index:
        index.update()
        for asked in (Query("flush"), Query("", like="d3.py:2")):
            whole = pages(index, asked, 100)
            assert len(whole) == len({*whole}) > 150
            assert pages(index, asked, 37) == whole


def test_the_same_files_indexed_in_another_order_give_the_same_answers(tmp_path: Path) -> None:
    """Of more equal results than a search gives, the store's choice depends on the order in which they were written."""
    tree = tmp_path / "tree"
    for number in range(160):
        path = tree / f"part{number % 5}" / f"d{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"def flush(buffer_{number}):\n    return buffer_{number}.write({number})\n")
    options = IndexOptions(home=tmp_path / "home", workers=1, cache=CacheOptions(enabled=False))
    with (
        Index.open(tree, options) as index,
        Index.open(tree, replace(options, home=tmp_path / "other")) as other,
    ):
        index.update()
        for folder in ("part4", "part1", "part3", "part0", "part2"):
            other.update([tree / folder])
        for text in ("flush", "d7", "part3", "how is a buffer written", "write buffer"):
            for asked in (Query(text, limit=30), Query(text, limit=30, include=("part1/**", "part3/**"))):
                first, second = index.search(asked).hits, other.search(asked).hits
                assert [hit.path for hit in first] == [hit.path for hit in second], asked
                assert [hit.score for hit in first] == pytest.approx([hit.score for hit in second], abs=1e-5)


def pages(index: Index, asked: Query, limit: int) -> list[str]:
    """The paths of all results, page by page."""
    found, cursor = list[str](), ""
    while True:
        answer = index.search(replace(asked, limit=limit, cursor=cursor))
        found += [hit.path for hit in answer.hits]
        if not (cursor := answer.next_cursor):
            return found


def test_the_few_chunks_that_say_a_word_come_before_what_is_only_alike_in_meaning(tmp_path: Path) -> None:
    """A word that one test alone said was not on the first page: tests are held down, and vectors found something."""
    tree = tmp_path / "tree"
    (tree / "tests").mkdir(parents=True)
    for number in range(30):
        (tree / f"part_{number}.py").write_text(f"def gather_{number}(value):\n    return value + {number}\n")
        (tree / "tests" / f"test_{number}.py").write_text(f"def test_{number}():\n    assert {number}  # often said\n")
    (tree / "tests" / "test_7.py").write_text("def test_7():\n    assert 7  # zqvugfwgmjalnf, E0308\n")
    with Index.open(tree, IndexOptions(home=tmp_path / "home", workers=1)) as index:
        index.update()
        for word in ("zqvugfwgmjalnf", "`zqvugfwgmjalnf`", "E0308"):
            hits = index.search(Query(word)).hits
            assert hits[0].path == "tests/test_7.py", word
            assert hits[0].score > hits[1].score
            assert "exact" in hits[0].parts
        assert "exact" not in index.search(Query("said")).hits[0].parts
        assert "exact" not in index.search(Query("zqvugfwgmjalnf", mode=SearchMode.SEMANTIC)).hits[0].parts


@pytest.mark.parametrize("text", ["_", "`__`", "`", "``", "٣"])
def test_a_question_of_marks_alone_is_answered(index: Index, text: str) -> None:
    """A text without a word had no term to look for."""
    assert isinstance(index.search(Query(text)), Answer)


def test_a_file_of_a_name_comes_before_a_field_of_that_name(tmp_path: Path) -> None:
    files = {
        "command.go": "package a\n\ntype Command struct {\n\tArgs ArgsOf\n}\n",
        "args.go": "package a\n\nfunc ExactArgs(n int) ArgsOf {\n\treturn of(n)\n}\n",
        "flags.go": "package a\n\nfunc flagsOf(args ArgsOf) int {\n\treturn len(args)\n}\n",
    }
    for path, text in files.items():
        (tmp_path / path).write_text(text)
    with Index.open(tmp_path, IndexOptions(home=tmp_path / "home", embedding=EmbeddingOptions("none"))) as index:
        index.update()
        assert [hit.path for hit in index.search(Query("Args")).hits[:2]] == ["args.go", "command.go"]
        assert index.search(Query("Command.Args")).hits[0].path == "command.go"


def test_a_class_of_a_style_sheet_comes_before_a_file_or_a_method_of_its_name(tmp_path: Path) -> None:
    files = {
        "app.css": ".filters,\n.filters:hover {\n  margin: 0;\n}\n\n.page {\n  top: 1px;\n}\n",
        "filters.html": "<div>x</div>\n",
        "filters.js": "export const x = 1;\n",
        "base.rb": "class Base\n  def page\n    1\n  end\nend\n",
    }
    for path, text in files.items():
        (tmp_path / path).write_text(text)
    with Index.open(tmp_path, IndexOptions(home=tmp_path / "home", embedding=EmbeddingOptions("none"))) as index:
        index.update()
        for asked in (".filters", "`.filters`", ".page"):
            assert index.search(Query(asked)).hits[0].path == "app.css", asked
        assert index.search(Query("page")).hits[0].path == "base.rb"
