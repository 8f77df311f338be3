"""Reading a symbol, a place or a file: all of it, as the file is now, in pages; or the reason why not."""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cqm.chunkers.tokens import estimate
from cqm.index.engine import Index
from cqm.index.model.errors import NotIndexedError, QueryError
from cqm.index.model.options import IndexOptions, ScanOptions
from cqm.index.model.symbols import FileLine, OutlineQuery, Reading, ReadQuery

pytestmark = pytest.mark.processes

CLIENT = '''\
"""A client."""

import os
from retries import (
    limit_retries,
)


class Client:
    """Speaks to a server."""

    # Fetches a page.
    @cached(
        seconds=3,
    )
    def fetch(self, url):
        """Fetch."""
        return limit_retries(lambda: os.open(url))

    def close(self):
        pass


def close():
    return Client().close()
'''
GO = """\
package flags

// Command runs.
type Command struct {
	Args string
}

// ParseFlags reads flags.
// Slowly.
func (c *Command) ParseFlags(args []string) error {
	return nil
}

func parse() {}
"""
OVERLOADS = """\
export function get(key: string): string;
export function get(key: number): number;
// Both.
export function get(key: any): any {
  return key;
}
"""
RUST = """\
pub struct Stack(u8);

impl Stack {
    /// New.
    #[inline]
    pub fn new() -> Stack {
        Stack(0)
    }
}
"""
LONG = "def long():\n" + "".join(f"    value_{number} = {number}\n" for number in range(400))
TOLD = "package told\n\n" + "// Told at length.\n" * 400 + "func Told() {\n\treturn\n}\n"
KEY = 'TOKEN = "ghp_' + "abcDEF1234567890abcDEF1234567890abcd" + '"\nAFTER = 1\n'
FILES = {
    "src/client.py": CLIENT,
    "src/flags.go": GO,
    "src/get.ts": OVERLOADS,
    "src/stack.rs": RUST,
    "src/queue.ts": "export class Queue {\n  #next() {\n    return 1;\n  }\n}\n",
    "templates/_helpers.tpl": '{{- define "my-chart.name" -}}\n{{ .Chart.Name }}\n{{- end }}\n',
    "src/long.py": LONG,
    "src/told.go": TOLD,
    "src/keys.py": KEY,
    "src/a.py": "def twice(one):\n    return one\n",
    "src/b.py": "class Other:\n    pass\n\n\ndef twice(two):\n    return two\n",
    "src/lib.h": "int helper(int a);\n",
    "src/lib.c": '#include "lib.h"\n\n/* Helps. */\nint helper(int a) {\n  return a;\n}\n',
    "tests/test_client.py": "def parse():\n    pass\n",
    "other/client.py": "class Server:\n    pass\n",
    "wide.txt": "many words " * 3_000 + "\nend\n",
    "wide.json": '{"key": "' + "x" * 30_000 + '"}',
    "empty.py": "",
    "ignored/secret.py": "def hidden(): pass\n",
    ".gitignore": "ignored/\n",
    ".env": "PASSWORD=hunter2\n",
    "yarn.lock": "a\n",
}


def make(root: Path) -> None:
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, newline="")
    (root / "utf16.py").write_bytes("def größe():\n    return 'ß'\n".encode("utf-16"))
    (root / "latin.py").write_bytes("def name():\n    return 'Grüße'\n".encode("latin-1"))
    (root / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    (root / "big.txt").write_text("line\n" * 60_000)
    (root / "link.py").symlink_to(root / "src" / "a.py")
    (root / ".git").mkdir()


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("reading")
    make(folder / "tree")
    options = IndexOptions(home=folder / "home", workers=1, scan=ScanOptions(max_file_bytes=200_000))
    options = replace(options, embedding=replace(options.embedding, provider="none"))
    with Index.open(folder / "tree", options) as opened:
        opened.update()
        yield opened


Read = Callable[..., Reading]


@pytest.fixture
def read(index: Index) -> Read:
    return lambda what, **further: index.read(ReadQuery(what, **further))


def lines(path: str, first: int, last: int) -> str:
    return "\n".join(FILES[path].split("\n")[first - 1 : last])


@pytest.mark.parametrize(
    ("what", "path", "first", "last", "symbol"),
    [
        ("Client.fetch", "src/client.py", 12, 18, "Client.fetch"),
        ("Client::fetch", "src/client.py", 12, 18, "Client.fetch"),
        ("fetch()", "src/client.py", 12, 18, "Client.fetch"),
        ("Client", "src/client.py", 9, 21, "Client"),
        ("(*Command).ParseFlags", "src/flags.go", 8, 12, "Command.ParseFlags"),
        ("flags.Command.ParseFlags", "src/flags.go", 8, 12, "Command.ParseFlags"),
        ("parse_flags", "src/flags.go", 8, 12, "Command.ParseFlags"),
        ("Command.Args", "src/flags.go", 5, 5, "Command.Args"),
        ("Stack::new", "src/stack.rs", 4, 8, "Stack.new"),
        ("get", "src/get.ts", 1, 6, "get"),
        ("Queue.#next", "src/queue.ts", 2, 4, "Queue.#next"),
        ("Queue#next", "src/queue.ts", 2, 4, "Queue.#next"),
        ("my-chart.name", "templates/_helpers.tpl", 1, 3, "my-chart.name"),
        # A whole name before the end of another, a definition before its prototype, source before tests.
        ("close", "src/client.py", 24, 25, "close"),
        ("helper", "src/lib.c", 3, 6, "helper"),
        ("parse", "src/flags.go", 14, 14, "parse"),
    ],
)
def test_a_symbol_is_read_whole_in_any_notation_with_its_comments_and_decorators(
    read: Read, what: str, path: str, first: int, last: int, symbol: str
) -> None:
    found = read(what)
    assert (found.path, found.symbol) == (path, symbol)
    assert (found.start_line, found.end_line, found.first_line, found.last_line) == (first, last, first, last)
    assert found.text == lines(path, first, last)
    assert not found.next_cursor


def test_a_symbol_without_room_for_its_long_comment_begins_at_its_declaration_and_tells_where_the_comment_is(
    index: Index,
) -> None:
    found = index.read(ReadQuery("Told", tokens=500))
    assert (found.start_line, found.text) == (403, "func Told() {\n\treturn\n}")
    assert found.notes == ("Its comment is left out: read lines 3-402.",)
    assert index.read(ReadQuery("src/told.go:3-402", tokens=500)).text.startswith("// Told at length.\n")
    assert index.read(ReadQuery("Told", tokens=6000)).start_line == 3


def test_declarations_around_a_symbol_and_its_imports_are_told(read: Read) -> None:
    found = read("Client.fetch")
    assert found.heads == (FileLine(9, "class Client"),)
    assert [it.line for it in found.imports] == [3, 4, 5, 6]
    assert found.line == 16
    assert read("Stack::new").heads == (FileLine(3, "impl Stack"),)


def test_an_ambiguous_symbol_lists_its_definitions_and_a_file_decides(read: Read) -> None:
    found = read("twice")
    assert not found.path
    assert [(it.path, it.line, it.signature) for it in found.definitions] == [
        ("src/a.py", 1, "def twice(one)"),
        ("src/b.py", 5, "def twice(two)"),
    ]
    assert read("twice", base="src/b.py").text == "def twice(two):\n    return two"
    assert [it.symbol for it in read("close").definitions] == ["Client.close"]


@pytest.mark.parametrize(
    ("what", "path", "first", "last"),
    [
        ("src/client.py:3-6", "src/client.py", 3, 6),
        ("./src/client.py:6-3", "src/client.py", 3, 6),
        ("src/client.py#L3-L6", "src/client.py", 3, 6),
        ("src/client.py:20-9999", "src/client.py", 20, 25),
        # The end of a path is enough, and a line is shown with its symbol.
        ("long.py:3-4", "src/long.py", 3, 4),
        ("src/client.py:18", "src/client.py", 12, 18),
        ('File "/app/src/client.py", line 18, in fetch', "src/client.py", 12, 18),
        ("flags.go", "src/flags.go", 1, 14),
        ("latin.py", "latin.py", 1, 2),
    ],
)
def test_lines_and_files_are_read_by_their_place(read: Read, what: str, path: str, first: int, last: int) -> None:
    found = read(what)
    assert (found.path, found.start_line, found.end_line) == (path, first, last)
    if path in FILES:
        assert found.text == lines(path, first, last)


def test_a_line_of_a_symbol_that_is_too_long_is_shown_with_its_surroundings(read: Read) -> None:
    found = read("src/long.py:200", tokens=400)
    assert found.start_line < 200 < found.end_line
    assert estimate(found.text) <= 400
    assert found.symbol == "long"
    assert found.heads == (FileLine(1, "def long()"),)


def test_a_path_counts_from_the_base_first_and_lines_alone_are_of_the_base(read: Read, index: Index) -> None:
    assert read("client.py", base="other").path == "other/client.py"
    assert read(f"{index.root}/other/client.py:1-1").text == "class Server:"
    assert read("3-4", base="src/client.py").text == lines("src/client.py", 3, 4)
    with pytest.raises(QueryError, match=r"may be any of 2 files: other/client.py, src/client.py"):
        read("client.py")


@pytest.mark.parametrize("what", ["src/long.py", "long", "wide.txt"])
def test_pages_put_together_are_all_that_was_asked_for(read: Read, what: str) -> None:
    page = read(what, tokens=300)
    parts = [page]
    while page.next_cursor:
        page = read(what, tokens=300, cursor=page.next_cursor)
        parts.append(page)
    assert len(parts) > 5
    assert all(estimate(it.text) <= 300 for it in parts)
    whole = ""
    for it in parts:
        whole += ("" if it.column or not whole else "\n") + it.text
    assert whole == FILES[parts[0].path].removesuffix("\n")


def test_a_cursor_of_a_changed_file_is_told(read: Read) -> None:
    cursor = read("src/long.py", tokens=300).next_cursor
    line, _, _ = cursor.partition("@")
    assert "changed after the page before" in read("src/long.py", tokens=300, cursor=f"{line}@00000000").notes[0]
    with pytest.raises(QueryError, match="expected the cursor of the page before"):
        read("src/long.py", cursor="12")


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        ("ignored/secret.py", "an ignore rule leaves it out"),
        (".env", "secret"),
        (".git/config", "does not exist"),
        ("yarn.lock", "lock file"),
        ("wide.json", "minified"),
        ("logo.png", "binary"),
        ("big.txt", "too large"),
        ("link.py", "link"),
        ("src/", "is a folder"),
        ("src/nosuch.py", "does not exist"),
        ("nosuch/", "does not exist"),
        ("../outside.py", "is outside of"),
        ("/etc/passwd", "is outside of"),
    ],
)
def test_what_is_no_file_of_the_index_is_refused_with_the_reason(read: Read, what: str, reason: str) -> None:
    with pytest.raises(NotIndexedError, match=reason) as refusal:
        read(what)
    assert "hunter2" not in str(refusal.value)


def test_an_unknown_name_is_told_with_the_nearest(read: Read) -> None:
    with pytest.raises(QueryError, match=r"Did you mean Client\?"):
        read("Clint")
    with pytest.raises(QueryError, match=r"Did you mean Client\.fetch\?"):
        read("Server.fetch")
    with pytest.raises(NotIndexedError, match=r"Did you mean src/stack\.rs"):
        read("src/stak.rs")
    for what in ("", " ", "two words", "x" * 5000, "src/client.py:99", "src/client.py:0"):
        with pytest.raises(QueryError):
            read(what)


def test_secrets_are_shown_as_in_results(read: Read) -> None:
    found = read("src/keys.py")
    assert "ghp_" not in found.text
    assert found.redacted == 1
    assert found.text.endswith("AFTER = 1")
    assert read("src/keys.py:2-2").redacted == 0


def test_an_empty_file_has_no_lines(read: Read) -> None:
    found = read("empty.py")
    assert (found.path, found.total_lines, found.text) == ("empty.py", 0, "")


def test_files_are_read_as_they_are_now_however_the_index_has_them(tmp_path: Path, options: IndexOptions) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    (root / "a.py").write_text("def first():\n    return 1\n")
    (root / "gone.py").write_text("def gone():\n    return 1\n")
    options = replace(options, chunk=replace(options.chunk, max_parse_bytes=300))
    with Index.open(root, options) as index:
        index.update()
        (root / "a.py").write_text("x = 0\n\n\ndef first():\n    return 2\n")
        (root / "new.py").write_text("def new():\n    return 3\n")
        (root / "gone.py").unlink()
        found = index.read(ReadQuery("first"))
        assert (found.start_line, found.text) == (4, "def first():\n    return 2")
        assert "changed after it was indexed" in found.notes[0]
        assert index.read(ReadQuery("new.py")).total_lines == 2
        for what in ("gone", "gone.py:1"):
            with pytest.raises(NotIndexedError, match=r"gone.py does not exist"):
                index.read(ReadQuery(what))
        (root / "a.py").write_text("y = 1\n")
        with pytest.raises(QueryError, match=r"a.py changed and no longer defines `first`"):
            index.read(ReadQuery("first"))
        # A file that no parser reads has lines all the same.
        (root / "a.py").write_text("def first():\n    return 2\n" + "# a\n" * 100)
        assert index.read(ReadQuery("a.py:2-2")).text == "    return 2"
        if os.geteuid():
            (root / "a.py").chmod(0)
            with pytest.raises(Exception, match="cannot be read"):
                index.read(ReadQuery("a.py"))


def test_an_index_of_one_file_reads_and_outlines_that(tmp_path: Path, options: IndexOptions) -> None:
    (tmp_path / "alone.py").write_text("def alone():\n    return 1\n")
    with Index.open(tmp_path / "alone.py", options) as index:
        index.update()
        assert index.read(ReadQuery("alone")).text == "def alone():\n    return 1"
        assert index.read(ReadQuery("alone.py:2-2")).text == "    return 1"
        assert [it.symbol for it in index.outline(OutlineQuery()).files[0].symbols] == ["alone"]


def test_a_page_of_a_large_dump_says_why_lines_are_blank(tmp_path: Path) -> None:
    root = tmp_path / "dump"
    root.mkdir()
    rows = "".join(f"({number}, 'a name of a customer'),\n" for number in range(40_000))
    text = f"CREATE TABLE a (b int);\nINSERT INTO a VALUES\n{rows}(0, '');\nCREATE VIEW c AS SELECT 1;\n"
    (root / "all.sql").write_text(text)
    with Index.open(root, IndexOptions(home=tmp_path / "home", workers=1)) as index:
        index.update()
        told = "Rows of data are left out"
        assert told in "".join(index.read(ReadQuery("all.sql:1-9")).notes)
        assert told in "".join(index.read(ReadQuery("all.sql:500-509")).notes)
        assert told not in "".join(index.read(ReadQuery("all.sql:1")).notes)
