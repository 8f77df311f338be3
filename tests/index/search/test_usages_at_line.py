"""Usages asked for by a place: those of the symbol that its line defines or uses."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from indexed_tree import indexed_tree

from cqm.index.engine import Index
from cqm.index.model.errors import QueryError
from cqm.server.answers.symbols.usages import usage_text

pytestmark = pytest.mark.processes

CLIENT = """\
from retries import limit_retries


class Client:
    # Fetches a page.
    @traced
    def fetch(self, url):
        return limit_retries(lambda: self.open(url), "fetch me")

    def open(self, url):
        # open is called by fetch
        note = "fetch"
        return note + url


def both(client: Client, other):
    first = client.fetch("a") + other.fetch("b")

    return first
"""
OTHER = "class Other:\n    def fetch(self):\n        return 1\n"
RETRIES = "def limit_retries(work, most=3):\n    return [work() for _ in range(most)]\n"
BUFFER = (
    "struct buffer {\n  bool operator==(const buffer& other) const { return same(other); }\n"
    "  bool same(const buffer& other) const { return true; }\n};\n\nbool alike(buffer a, buffer b) { return a == b; }\n"
)
FILES = {
    "src/client.py": CLIENT,
    "src/other.py": OTHER,
    "lib/other.py": "x = 1\n",
    "src/retries.py": RETRIES,
    "buffer.cc": BUFFER,
    "retries.py": "def wait():\n    return 1\n",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with indexed_tree(tmp_path_factory.mktemp("at_line"), FILES, "project") as opened:
        yield opened


@pytest.mark.parametrize(
    ("line", "symbol"),
    [
        # A definition, and the class around it.
        ("7", "Client.fetch"),
        ("4", "Client"),
        # What is called comes before what is only named, words in strings are none.
        ("8", "limit_retries"),
        ("1", "limit_retries"),
        # The type of the receiver tells which of two methods is meant.
        ("16", "both"),
        ("17", "Client.fetch"),
        # A column tells the word.
        ("8:43", "Client.open"),
        ("16:18", "Client"),
    ],
)
def test_a_place_stands_for_the_symbol_that_its_line_defines_or_uses(index: Index, line: str, symbol: str) -> None:
    told = index.usages(f"src/client.py:{line}")
    assert told.name == f"{symbol} (src/client.py:{line})"
    assert symbol in {it.symbol for it in told.definitions}


def test_the_usages_of_a_place_are_those_of_its_symbol_page_by_page(index: Index) -> None:
    whole = index.usages("Client.fetch")
    told = index.usages("src/client.py:7")
    assert (told.definitions, told.references, told.totals) == (whole.definitions, whole.references, whole.totals)
    first = index.usages("src/client.py:7", limit=1)
    assert (*first.references, *index.usages("src/client.py:7", 50, first.next_cursor).references) == whole.references


@pytest.mark.parametrize(
    "form", ["client.py:7", "{root}/src/client.py:7", "./src/client.py:7", 'File "client.py", line 7']
)
def test_a_place_is_read_in_the_forms_of_a_search(index: Index, form: str) -> None:
    assert index.usages(form.format(root=index.root)).name == "Client.fetch (src/client.py:7)"


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("src/client.py:99", "expected lines 1 to 19; src/client.py ends there"),
        ("src/client.py:18", "nothing that the index defines is defined or used there. It is in both"),
        ("src/client.py:12", "defined or used there. It is in Client.open: ask for that"),
        ("src/client.py:11", "defined or used there. It is in Client.open: ask for that"),
        ("src/client.py:0", "expected lines 1 to 19"),
        ("src/clint.py:7", "No file of the index is at `src/clint.py`. Did you mean src/client.py"),
        ("other.py:1", "other.py may be any of 2 files: lib/other.py, src/other.py"),
    ],
)
def test_a_place_without_a_symbol_is_refused_with_what_is_there(index: Index, place: str, told: str) -> None:
    with pytest.raises(QueryError) as refused:
        index.usages(place)
    assert told in str(refused.value)


def test_a_column_tells_a_name_that_nothing_in_the_index_defines(index: Index) -> None:
    told = index.usages("src/client.py:6:7")
    assert (told.name, told.definitions) == ("traced (src/client.py:6:7)", ())


def test_a_whole_path_is_its_file_whatever_others_end_so(index: Index) -> None:
    assert index.usages("retries.py:1").name == "wait (retries.py:1)"


def test_a_name_with_a_number_behind_it_is_no_place(index: Index) -> None:
    assert [it.symbol for it in index.usages("Client::fetch").definitions] == ["Client.fetch"]
    assert len(index.usages("fetch/2").definitions) == 2


def test_uses_of_an_operator_are_said_not_to_be_found(index: Index) -> None:
    told = usage_text(index.usages("buffer::operator=="))
    assert "buffer::operator==: 1 definition\nNote: uses of an operator are not found" in told
    at_line = usage_text(index.usages("buffer.cc:2"))
    assert at_line.startswith("buffer.operator== (buffer.cc:2): 1 definition\nNote: uses of an operator")
    assert "Note" not in usage_text(index.usages("fetch"))


def test_the_index_is_asked_by_a_path_of_its_own_root(index: Index, tmp_path: Path) -> None:
    with pytest.raises(QueryError, match="No file of the index"):
        index.usages(f"{tmp_path}/elsewhere.py:7")


def test_a_column_finds_each_of_the_same_words_of_a_line(tmp_path: Path) -> None:
    text = "def up(it):\n    return it\n\n\ndef top(it):\n    return up(up(it))\n"
    with indexed_tree(tmp_path, {"a.py": text}) as opened:
        for column in (12, 15):
            assert [it.symbol for it in opened.usages(f"a.py:6:{column}").definitions] == ["up"]
