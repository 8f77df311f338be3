"""What the index tells of a symbol: definitions, calls, related symbols."""

from collections.abc import Callable
from pathlib import Path

import pytest

from cqm.index.engine import Index
from cqm.index.model.errors import QueryError
from cqm.index.model.options import IndexOptions
from cqm.index.model.query import SymbolUses

pytestmark = pytest.mark.processes

CLIENT = '''\
"""A client."""

from retries import limit_retries


class Client:
    def fetch(self, url):
        """Fetch a page.

        Slowly.
        """
        # fetch( in a comment is no call
        return limit_retries(lambda: self.open(url))

    def open(self, url):
        note = "limit_retries(x) in a string"
        return note + url

    def both(self):
        return self.fetch("a") + self.fetch("b")
'''
RETRIES = "def limit_retries(work, most=3):\n    return [work() for _ in range(most)]\n"
TEST = "from client import Client\n\n\ndef test_fetch():\n    assert Client().fetch('x')\n"
RUBY = (
    "def halt(code)\n  raise code\nend\n\n"
    "def valid?(code)\n  halt code\nend\n\n"
    "def answer\n  halt 404 if valid? 3\nend\n"
)

LONG = "".join(f"        value_{number} = self.rows[{number}] + self.columns[{number}]\n" for number in range(20))
TYPES = "".join(
    f"class {name}:\n    def first(self):\n{LONG}\n    def get(self):\n{LONG}        return self.first()\n\n\n"
    for name in ("Alpha", "Beta")
)
C = "int helper(int a) { return a; }\n\nvoid store(int *p) {\n  *p = helper(3);\n  /* helper(4) */\n}\n"
GERMAN = "def größe(wert):\n    return wert\n\n\ndef mess(wert):\n    return größe(wert)\n"

Ask = Callable[[str], SymbolUses]


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    root = tmp_path / "project"
    files = {"src/client.py": CLIENT, "src/retries.py": RETRIES, "tests/test_client.py": TEST, "app.rb": RUBY}
    files |= {"types.py": TYPES, "store.c": C, "messen.py": GERMAN}
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)

    def uses(name: str) -> SymbolUses:
        with Index.open(root, IndexOptions(home=tmp_path / "home", workers=1)) as index:
            index.update()
            return index.usages(name)

    return uses


@pytest.mark.row("C2")
def test_a_symbol_is_told_with_its_lines_signature_and_documentation(ask: Ask) -> None:
    (definition,) = ask("Client.fetch").definitions
    assert (definition.path, definition.start_line, definition.end_line) == ("src/client.py", 7, 13)
    assert (definition.symbol, definition.kind) == ("Client.fetch", "method")
    assert definition.signature == "def fetch(self, url):"
    assert definition.doc == "Fetch a page.\n\nSlowly."


@pytest.mark.row("C2")
def test_every_line_that_calls_it_is_told_with_the_symbol_around_it_and_tests_come_last(ask: Ask) -> None:
    found = ask("fetch")
    assert [(site.path, site.line, site.symbol) for site in found.calls] == [
        ("src/client.py", 20, "Client.both"),
        ("tests/test_client.py", 5, "test_fetch"),
    ]
    assert found.calls[0].text == 'return self.fetch("a") + self.fetch("b")'


def test_a_name_in_a_comment_a_string_or_an_import_is_no_call(ask: Ask) -> None:
    assert [(site.path, site.line) for site in ask("limit_retries").calls] == [("src/client.py", 13)]


def test_a_call_without_brackets_is_one(ask: Ask) -> None:
    assert [(site.line, site.symbol) for site in ask("halt").calls] == [(6, "valid?"), (10, "answer")]


def test_a_name_with_a_mark_or_beyond_ascii_is_found(ask: Ask) -> None:
    assert [(it.path, it.symbol) for it in ask("valid?").definitions] == [("app.rb", "valid?")]
    assert [(it.path, it.line) for it in ask("valid?").calls] == [("app.rb", 10)]
    assert [(it.path, it.symbol) for it in ask("größe").definitions] == [("messen.py", "größe")]
    assert [(it.path, it.symbol) for it in ask("größe").calls] == [("messen.py", "mess")]


def test_of_a_qualified_name_only_that_types_member_is_defined(ask: Ask) -> None:
    assert [it.symbol for it in ask("Beta.get").definitions] == ["Beta.get"]
    assert [it.symbol for it in ask("Beta::get").definitions] == ["Beta.get"]
    assert {it.symbol for it in ask("get").definitions} == {"Alpha.get", "Beta.get"}


def test_a_type_cut_over_several_chunks_is_defined_from_its_first_line_to_its_last(ask: Ask) -> None:
    (definition,) = ask("Beta").definitions
    assert definition.kind == "class"
    lines = TYPES.split("\n")
    assert lines[definition.start_line - 1] == "class Beta:"
    assert lines[definition.end_line - 1] == "        return self.first()"


def test_a_dereference_is_no_comment(ask: Ask) -> None:
    assert [(site.line, site.symbol) for site in ask("helper").calls] == [(4, "store")]


@pytest.mark.row("C2")
def test_what_it_calls_itself_is_related(ask: Ask) -> None:
    assert {(each.path, each.symbol) for each in ask("fetch").related} == {
        ("src/retries.py", "limit_retries"),
        ("src/client.py", "Client.open"),
    }


def test_an_unknown_name_has_neither_definitions_nor_calls(ask: Ask) -> None:
    found = ask("nowhere_to_be_seen")
    assert (found.definitions, found.calls, found.related, found.total_calls) == ((), (), (), 0)


@pytest.mark.parametrize("name", ["", "  ", "a b", "(", "12"])
def test_what_is_no_name_is_refused(ask: Ask, name: str) -> None:
    with pytest.raises(QueryError, match="expected a symbol such as"):
        ask(name)
