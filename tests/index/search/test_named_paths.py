"""Paths and names of files as questions: the files come first, and a file that is not there is told."""

from collections.abc import Iterator

import pytest
from indexed_tree import indexed_tree

from cqm.index.engine import Index
from cqm.index.model.errors import NotIndexedError, QueryError
from cqm.index.model.query import Answer, Confidence, Query
from cqm.index.model.symbols import ReadQuery

pytestmark = pytest.mark.processes

GO = "package {package}\n\n// {name} writes {format}.\nfunc {name}(data []byte) int {{\n\treturn len(data)\n}}\n"
FILES = {
    "Makefile": "GO ?= go\n\nbuild:\n\t$(GO) build ./...\n",
    "go.mod": "module example.com/shop\n\ngo 1.21\n",
    "run.go": GO.format(package="shop", name="Run", format="orders"),
    "binding/xml.go": GO.format(package="binding", name="BindXML", format="XML"),
    "binding/json.go": GO.format(package="binding", name="BindJSON", format="JSON"),
    "binding/testdata/deep/xml.go": GO.format(package="deep", name="DeepXML", format="deep XML"),
    "render/xml.go": GO.format(package="render", name="RenderXML", format="XML"),
    "tests/xml.go": GO.format(package="tests", name="TestXML", format="XML of tests"),
    ".github/workflows/ci.yml": "on: push\njobs:\n  build:\n    runs-on: ubuntu-latest\n",
    "test/fast/Unit tests/compute checksum": "#!/bin/sh\n\ncompute() { echo checksum; }\n",
    "bin/deploy": "#!/bin/sh\n\ndeploy_all() { echo all; }\n",
    "include/fmt/format.h": "int format(int value) {\n  return value + 1;\n}\n",
    "lua/mini/pick.lua": "local M = {}\nfunction M.pick(it)\n  return it\nend\nreturn M\n",
    "Source/Core/Session.swift": "class Session {\n    func request() -> Int {\n        return 1\n    }\n}\n",
    "notes/All 'old' ones that say 'no'": "Nothing is left of the old ones.\n",
    "lib/empty.go": "",
    "client.py": "class Response:\n    def json(self):\n        return self.text\n",
    "routes.py": "def routes(app):\n    app.get('/users/:id', show)\n    app.accept('application/json')\n",
    "notes/wire.md": "# Wire\n\nPackets go over TCP/IP and/or by post.\n",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with indexed_tree(tmp_path_factory.mktemp("paths"), FILES, "shop") as opened:
        yield opened


def ask(index: Index, text: str) -> Answer:
    return index.search(Query(text))


@pytest.mark.parametrize("path", [path for path, text in FILES.items() if text])
def test_a_path_of_the_index_is_answered_by_its_file_whatever_its_form(index: Index, path: str) -> None:
    for text in (path, f"./{path}", f"`{path}`", f"@{path}", path.replace("/", "\\")):
        answer = ask(index, text)
        assert (answer.hits[0].path, answer.confidence) == (path, Confidence.HIGH), text
        assert "no symbol" not in answer.degraded


def test_all_files_of_a_name_come_first_nearest_the_root_then_by_their_roles(index: Index) -> None:
    answer = ask(index, "xml.go")
    paths = [hit.path for hit in answer.hits[:4]]
    assert paths == ["binding/xml.go", "render/xml.go", "tests/xml.go", "binding/testdata/deep/xml.go"]
    assert answer.confidence is Confidence.HIGH


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("deep/xml.go", "binding/testdata/deep/xml.go"),
        ("workflows/ci.yml", ".github/workflows/ci.yml"),
        ("fast/Unit tests/compute checksum", "test/fast/Unit tests/compute checksum"),
        ("deploy", "bin/deploy"),
        ("/home/alice/shop/render/xml.go", "render/xml.go"),
        ("C:\\work\\shop\\run.go", "run.go"),
        ("notes/All 'old' ones that say 'no'", "notes/All 'old' ones that say 'no'"),
        ("b/run.go", "run.go"),
        ("shop/run.go", "run.go"),
    ],
)
def test_the_end_of_a_path_is_enough(index: Index, text: str, path: str) -> None:
    answer = ask(index, text)
    assert (answer.hits[0].path, answer.confidence) == (path, Confidence.HIGH)


@pytest.mark.parametrize("text", ["nosuch.go", "binding/nosuch.go", "src/go", "nosuch/run.go", "nosuch.go:3"])
def test_a_path_of_no_file_is_not_surely_answered_by_a_symbol(index: Index, text: str) -> None:
    assert ask(index, text).confidence is not Confidence.HIGH


def test_a_file_that_is_not_there_is_told_with_the_nearest(index: Index) -> None:
    answer = ask(index, "binding/jsn.go")
    assert answer.degraded == "no file of the index is called binding/jsn.go: the nearest follow"
    assert (answer.hits[0].path, answer.confidence) == ("binding/json.go", Confidence.LOW)


def test_a_file_without_lines_in_the_index_is_told(index: Index) -> None:
    answer = ask(index, "empty.go")
    assert answer.degraded == "lib/empty.go is empty or left out of the index"
    assert answer.confidence is not Confidence.HIGH


@pytest.mark.parametrize("text", ["lib/empty.go:3", "lib/empty.go#L3-L5", "lib/empty.go:3:7: undefined: run"])
def test_a_place_in_a_file_without_lines_in_the_index_is_told(index: Index, text: str) -> None:
    """Once other files answered it, surely and without a word."""
    answer = ask(index, text)
    assert answer.degraded == "lib/empty.go is empty or left out of the index"
    assert " " in text or answer.confidence is not Confidence.HIGH


@pytest.mark.parametrize("text", ["what is in src/run.go", "explain shop/binding/xml.go", "how GET/POST is handled"])
def test_a_sentence_with_a_path_is_no_path(index: Index, text: str) -> None:
    assert "no file" not in ask(index, text).degraded


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("application/json", "routes.py"),
        ("`application/json`", "routes.py"),
        ("/users/:id", "routes.py"),
        ("/users", "routes.py"),
        ("GET /users/:id", "routes.py"),
        ("and/or", "notes/wire.md"),
        ("tcp/ip", "notes/wire.md"),
    ],
)
def test_words_with_a_slash_that_name_nothing_are_words_and_found_as_written(
    index: Index, text: str, path: str
) -> None:
    """Once they were a missing file, and no answer was sure."""
    answer = ask(index, text)
    assert (answer.hits[0].path, answer.confidence, answer.degraded) == (path, Confidence.HIGH, "")


@pytest.mark.parametrize("text", ["audio/ogg", "/baskets/:id", "either/neither"])
def test_words_with_a_slash_that_no_file_says_are_no_sure_answer(index: Index, text: str) -> None:
    answer = ask(index, text)
    assert (answer.confidence is Confidence.HIGH, answer.degraded) == (False, "")


@pytest.mark.parametrize("text", ["./notes/json", "../json", "binding/users", "lua/mini/users", "binding\\users"])
def test_a_path_without_an_ending_in_a_folder_of_the_index_is_a_missing_file(index: Index, text: str) -> None:
    assert ask(index, text).confidence is not Confidence.HIGH


def test_a_member_of_a_name_like_a_file_is_a_symbol(index: Index) -> None:
    for text in ("Response.json", "response.json", "resp.json", "r.JSON"):
        answer = ask(index, text)
        assert (answer.hits[0].path, answer.confidence) == ("client.py", Confidence.HIGH)
    assert index.read(ReadQuery("Response.json")).symbol == "Response.json"


@pytest.mark.parametrize("text", ["nosuch.go", "binding/nosuch.go", "src/go"])
def test_reading_a_file_that_is_not_there_is_refused(index: Index, text: str) -> None:
    with pytest.raises(NotIndexedError, match=text):
        index.read(ReadQuery(text))


@pytest.mark.parametrize(
    "text",
    [
        "run.go:4:2",
        "@run.go:4",
        "@run.go#L4",
        "./run.go: 4: bad",
        "run.go around line 4",
        "line 4 of run.go",
        "run.go@4",
    ],
)
def test_a_place_in_any_notation_is_read(index: Index, text: str) -> None:
    reading = index.read(ReadQuery(text))
    assert (reading.path, reading.symbol) == ("run.go", "Run")


def test_braces_in_a_glob_are_alternatives(index: Index) -> None:
    paths = {"binding/json.go", "binding/xml.go"}
    glob = "binding/{xml,json}.go"
    assert {hit.path for hit in ask(index, glob).hits[:2]} == paths
    assert {hit.path for hit in index.search(Query("writes", include=(glob,))).hits} == paths
    assert {hit.path for hit in ask(index, f"path:{glob} writes").hits} == paths
    assert paths.isdisjoint(hit.path for hit in index.search(Query("writes", exclude=("{binding,render}/**",))).hits)
    with pytest.raises(QueryError, match="more than 256 globs"):
        index.search(Query("writes", include=("{a,b}" * 9,)))


ROOT, INNER = ("run.go", 5), ("binding/xml.go", 5)


@pytest.mark.parametrize(
    "text",
    [
        "{root}:9: undefined: a\n{inner}:2: undefined: b",
        "./{root}:9: undefined: a\n./{inner}:2: undefined: b",
        "# example.com/shop\nvet: ./{root}:9: undefined: a\n./{inner}:2: b",
        "{root}:13: error: no member\n    x\n    ^~\n{inner}:5: note: declared here",
        "error[E0308]: bad\n --> {root}:5\n  |\nnote: x\n --> {inner}:5",
    ],
)
def test_the_first_message_of_a_compiler_comes_first_in_the_root_or_in_a_folder(index: Index, text: str) -> None:
    for first, second in ((ROOT, INNER), (INNER, ROOT)):
        places = [f"{path}:{line}" for path, line in (first, second)]
        hits = ask(index, text.format(root=places[0], inner=places[1])).hits
        assert [hit.path for hit in hits[:2]] == [first[0], second[0]]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("/usr/include/fmt/format.h:2:5: error: bad", "include/fmt/format.h"),
        ("Error: ...ni/pick.lua:3: attempt to index nil", "lua/mini/pick.lua"),
        ("Shop/Session.swift:3: Fatal error: bad", "Source/Core/Session.swift"),
        ("at /root/.cargo/git/checkouts/shop-0a1b2c3d4e5f6a7b/1a2b3c4/binding/xml.go:5:5", "binding/xml.go"),
        ("/usr/local/bundle/bundler/gems/shop-abc123def456/binding/xml.go:5:in `run'", "binding/xml.go"),
        (
            "ROUTINE ======= shop.RenderXML in /build/render/xml.go\n  10ms  10ms (flat, cum)  1 of Total",
            "render/xml.go",
        ),
        ("#0 0x1 abort (libc.so.6 + 0x22)\n#1 0x2 BindJSON (shop + 0x1a)", "binding/json.go"),
        ("  7f12ab34 BindJSON+0x1a (/usr/bin/shop)\n  7f12ab35 main+0x1 (/usr/bin/shop)", "binding/json.go"),
    ],
)
def test_a_trace_names_files_as_tools_and_package_managers_do(index: Index, text: str, path: str) -> None:
    assert ask(index, text).hits[0].path == path


def test_headers_of_the_system_are_no_files_of_the_project(index: Index) -> None:
    hits = ask(index, "/usr/include/format.h:2:5: error: bad").hits
    assert hits
    assert all("exact" not in hit.parts for hit in hits)
