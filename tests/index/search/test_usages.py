"""Answers about a symbol: definitions, calls, related symbols."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cqm.index.engine import Index
from cqm.index.model.errors import QueryError
from cqm.index.model.options import IndexOptions
from cqm.index.model.uses import ReferenceGroup, SymbolUses

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

GO = """\
package flags

/************************************/
/*********** FLOW CONTROL ***********/
/************************************/

// Directive tells a shell.
type Directive int

const NoFiles Directive = 4

type Args func(cmd *Command, args []string) error

type Command struct {
	Args Args
	rest []string
}

/************************************/
/*********** FLOW CONTROL ***********/
/************************************/

// ParseFlags reads flags.
func (c *Command) ParseFlags(args []string) (Directive, error) {
	if len(args) == 0 {
		return NoFiles, nil
	}
	return counted(c.rest), c.Args(c, args)
}

type Parser interface {
	ParseFlags(args []string) error
	Close() error
}

type other struct{}

func (o *other) ParseFlags(args []string) error { return nil }

func counted(list []string) Directive {
	if NoFiles != 0 {
		list = nil
	}
	return Directive(len(list))
}

func run(cmd *Command, p Parser, o *other) {
	cmd.ParseFlags(nil)
	p.ParseFlags(nil)
	o.ParseFlags(nil)
	factory().ParseFlags(nil)
}
"""
GO_TEST = """\
package flags

func TestNoFiles(t *testing.T) {
	cmd := &Command{}
	if got, _ := cmd.ParseFlags(nil); got != NoFiles {
		t.Fatal("NoFiles")
	}
}
"""
GUIDE = """\
# Command

Give `NoFiles` to hide files.

## NoFiles

    return NoFiles(x), nil

## Command

A command.
"""
ERRORS = """\
from flask import Mixin


class KeyMissing(KeyError, Mixin):
    pass


def wrapped(error: KeyMissing) -> "KeyMissing":
    try:
        raise error
    except KeyMissing:
        handlers = {KeyMissing: 1}
    return handlers


class Deeper(KeyMissing):
    pass
"""
IMPORTING = "from src.errors import KeyMissing\n\n__all__ = ['KeyMissing']\n"
CHAIN = """\
def inner():
    return 1


def middle():
    return inner() + outer(0)


def outer(depth):
    return middle()


def main():
    return outer(1)
"""
SHAPES = """\
class Shape:
    def area(self):
        return 0


class Square(Shape):
    def twice(self, shape: Shape):
        return 2 * shape.area()

    def area(self):
        return 1


class Tile(Square):
    def area(self):
        return 2


class Garden:
    def area(self):
        return 3


def show(square: Square, unknown):
    garden = Garden()
    print(
        square.area(),
        garden.area(),
        unknown.area(),
    )
"""
VUE = "<script>\nimport { shown } from './a'\nconst x = shown(1)\n// shown is a name\n</script>\n"
FILES = {
    "src/client.py": CLIENT,
    "src/retries.py": RETRIES,
    "tests/test_client.py": TEST,
    "app.rb": RUBY,
    "types.py": TYPES,
    "store.c": C,
    "messen.py": GERMAN,
    "flags/flags.go": GO,
    "flags/flags_test.go": GO_TEST,
    "docs/guide.md": GUIDE,
    "src/errors.py": ERRORS,
    "src/api.py": IMPORTING,
    "src/chain.py": CHAIN,
    "src/shapes.py": SHAPES,
    "src/app.vue": VUE,
}

Ask = Callable[..., SymbolUses]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    root = tmp_path_factory.mktemp("usages") / "project"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    with Index.open(root, IndexOptions(home=root.parent / "home", workers=1)) as opened:
        opened.update()
        yield opened


@pytest.fixture
def ask(index: Index) -> Ask:
    return index.usages


def told(uses: SymbolUses, group: str) -> list[tuple[str, int, str]]:
    """Path, line and kind of the references of a group."""
    return [(it.path, it.line, it.kind) for it in uses.references if it.group == group]


def lines_with(name: str) -> set[tuple[str, int]]:
    """The lines that a search for the word finds."""
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    return {
        (path, number)
        for path, text in FILES.items()
        for number, line in enumerate(text.split("\n"), 1)
        if word.search(line)
    }


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


NAMES = sorted({name for text in FILES.values() for name in re.findall(r"[A-Za-z_]\w+", text)})


def test_the_lines_told_are_those_that_a_search_for_the_word_finds(ask: Ask) -> None:
    for name in NAMES[::4]:
        uses = ask(name, 1000)
        at = {(it.path, it.line) for it in (*uses.definitions, *uses.references)}
        assert at == lines_with(name), name
        assert sum(uses.totals.values()) == len(at), name
        assert uses.is_complete


def test_a_constant_used_as_a_value_is_not_told_as_calls_in_documents(ask: Ask) -> None:
    uses = ask("NoFiles")
    assert uses.calls == ()
    assert told(uses, "uses") == [("flags/flags.go", 26, "value"), ("flags/flags.go", 41, "value")]
    assert told(uses, "tests") == [("flags/flags_test.go", 5, "value"), ("flags/flags_test.go", 6, "string")]
    assert told(uses, "documentation") == [("docs/guide.md", line, "document") for line in (3, 5, 7)]
    assert uses.totals == {"definitions": 1, "namesakes": 0, "uses": 2, "tests": 2, "documentation": 3}


def test_a_type_that_nothing_calls_has_its_uses_as_a_type(ask: Ask) -> None:
    uses = ask("Directive")
    assert told(uses, "uses") == [("flags/flags.go", line, "type") for line in (10, 24, 40)]
    assert told(uses, "calls") == [("flags/flags.go", 44, "call")]
    assert [(it.symbol, it.kind) for it in ask("Args").definitions] == [("Args", "type"), ("Command.Args", "property")]


def test_a_heading_is_no_definition(ask: Ask) -> None:
    assert [(it.path, it.kind, it.line) for it in ask("Command").definitions] == [("flags/flags.go", "struct", 14)]


def test_imports_subclasses_handlers_and_strings_are_uses(ask: Ask) -> None:
    assert told(ask("KeyMissing"), "uses") == [
        ("src/api.py", 1, "import"),
        ("src/api.py", 3, "string"),
        ("src/errors.py", 8, "type"),
        ("src/errors.py", 11, "value"),
        ("src/errors.py", 12, "value"),
        ("src/errors.py", 16, "subclass"),
    ]
    assert told(ask("Mixin"), "uses") == [("src/errors.py", 1, "import"), ("src/errors.py", 4, "subclass")]


@pytest.mark.parametrize(
    "name", ["Command.ParseFlags", "(*Command).ParseFlags", "Command::ParseFlags()", "flags.Command.ParseFlags"]
)
def test_a_name_is_understood_in_any_notation_and_others_of_its_last_part_are_told_apart(ask: Ask, name: str) -> None:
    uses = ask(name)
    assert [it.symbol for it in uses.definitions] == ["Command.ParseFlags"]
    assert {it.symbol for it in uses.namesakes} == {"Parser.ParseFlags", "other.ParseFlags"}
    sure = {(it.line, it.is_sure) for it in uses.references if it.group == "calls"}
    assert sure == {(48, True), (49, False), (50, False), (51, False)}
    of = {it.line: it.of for it in uses.references if it.group == "calls"}
    assert of == {48: "Command.ParseFlags", 49: "Parser.ParseFlags", 50: "other.ParseFlags", 51: ""}


def test_members_of_subclasses_are_told_as_overriding(ask: Ask) -> None:
    uses = ask("Shape.area")
    assert [(it.symbol, it.overrides) for it in uses.namesakes] == [
        ("Square.area", "Shape"),
        ("Tile.area", "Shape"),
        ("Garden.area", ""),
    ]
    assert [(it.line, it.of) for it in uses.references if it.group == "calls"] == [
        (8, "Shape.area"),
        (29, ""),
        (27, "Square.area"),
        (28, "Garden.area"),
    ]


def test_a_call_with_brackets_is_a_name(ask: Ask) -> None:
    assert len(ask("ParseFlags()").definitions) == 3


def test_a_banner_above_a_symbol_is_no_documentation_of_it(ask: Ask) -> None:
    (definition,) = ask("Command.ParseFlags").definitions
    assert definition.doc == "ParseFlags reads flags."


def test_pages_follow_each_other_and_a_group_can_be_asked_for_alone(ask: Ask) -> None:
    whole = ask("NoFiles", 1000)
    first = ask("NoFiles", 3)
    second = ask("NoFiles", 1000, first.next_cursor)
    assert (*first.references, *second.references) == whole.references
    assert (whole.next_cursor, second.next_cursor) == ("", "")
    tests = ask("NoFiles", groups=(ReferenceGroup.TESTS,))
    assert {it.group for it in tests.references} == {"tests"}
    assert tests.totals == whole.totals


def test_callers_of_callers_are_followed_to_a_depth_and_each_is_told_once(ask: Ask) -> None:
    assert [(it.level, it.symbol, it.calls) for it in ask("inner").callers] == [(1, "middle", "inner")]
    callers = ask("inner", depth=5).callers
    assert [(it.level, it.symbol, it.line) for it in callers] == [(1, "middle", 5), (2, "outer", 9), (3, "main", 13)]


def test_a_file_without_a_grammar_is_told_by_word_and_said_so(ask: Ask) -> None:
    uses = ask("shown")
    assert told(uses, "uses") == [("src/app.vue", 2, "import")]
    assert [(it.line, it.by) for it in uses.references] == [(3, "word"), (2, "word"), (4, "word")]
    assert uses.by_word == 3


@pytest.mark.parametrize(("limit", "cursor", "depth"), [(0, "", 1), (1001, "", 1), (1, "x", 1), (1, "", 0), (1, "", 6)])
def test_a_page_or_depth_out_of_range_is_refused(ask: Ask, limit: int, cursor: str, depth: int) -> None:
    with pytest.raises(QueryError, match=r"`(limit|cursor|depth) "):
        ask("NoFiles", limit, cursor, depth=depth)


def test_a_page_asked_again_after_a_change_has_the_new_lines(tmp_path: Path) -> None:
    root = tmp_path / "changing"
    root.mkdir()
    (root / "a.py").write_text("def spin():\n    return 1\n\n\nspin()\n")
    with Index.open(root, IndexOptions(home=tmp_path / "home", workers=1)) as opened:
        opened.update()
        assert [opened.usages("spin").totals["calls"] for _ in range(2)] == [1, 1]
        (root / "b.py").write_text("from a import spin\n\nspin()\n")
        opened.update()
        assert opened.usages("spin").totals["calls"] == 2
