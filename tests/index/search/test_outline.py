"""Outlines: all symbols of a file; of a folder its entries, and the symbols that most other files use."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from cqm.index.engine import Index
from cqm.index.model.errors import NotIndexedError, QueryError
from cqm.index.model.options import EmbeddingOptions, IndexOptions
from cqm.index.model.symbols import OutlineQuery
from cqm.index.text.names.parts import last_part
from cqm.server.answers.symbols.outline import outline_text

pytestmark = pytest.mark.processes

CORE = '''\
"""Core."""

LIMIT = 3


class Engine:
    """Runs."""

    speed = 1

    def start(self, key: str) -> None:
        """Start."""

        def inner():
            return 1

    async def stop(self):
        pass


def make_engine():
    return Engine()
'''
GUIDE = "# Guide\n\nText.\n\n## Start\n\nMore.\n\n## Stop\n\nStill more.\n"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    root = tmp_path_factory.mktemp("outline") / "tree"
    users = {
        f"src/user_{n}.py": f"from core import make_engine\n\n\ndef use_{n}():\n    make_engine().start('')\n"
        for n in range(4)
    }
    tests = {f"tests/test_{n}.py": f"def test_{n}():\n    use_0()\n    use_0()\n" for n in range(9)}
    others = {"docs/guide.md": GUIDE, "ignored/a.py": "x = 1\n", ".gitignore": "ignored\n", ".env": "A=b\n", "e.py": ""}
    for path, text in {"src/core.py": CORE, **users, **tests, **others}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    (root / "empty").mkdir()
    (root / ".git").mkdir()
    options = IndexOptions(home=root.parent / "home", workers=1)
    with Index.open(root, replace(options, embedding=replace(options.embedding, provider="none"))) as opened:
        opened.update()
        yield opened


def test_the_outline_of_a_file_has_every_symbol_with_its_lines_and_signature(index: Index) -> None:
    found = index.outline(OutlineQuery("src/core.py"))
    (file,) = found.files
    assert found.is_file
    assert [(it.symbol, it.line, it.end_line, it.depth) for it in file.symbols] == [
        ("LIMIT", 3, 3, 0),
        ("Engine", 6, 18, 0),
        ("Engine.speed", 9, 9, 1),
        ("Engine.start", 11, 15, 1),
        ("Engine.start.inner", 14, 15, 2),
        ("Engine.stop", 17, 18, 1),
        ("make_engine", 21, 22, 0),
    ]
    assert file.symbols[3].signature == "def start(self, key: str) -> None"
    assert (file.total, found.total_symbols, found.next_cursor) == (7, 7, "")


def test_pages_of_a_file_have_each_symbol_once(index: Index) -> None:
    first = index.outline(OutlineQuery("src/core.py", limit=4))
    second = index.outline(OutlineQuery("src/core.py", limit=4, cursor=first.next_cursor))
    assert [len(it.files[0].symbols) for it in (first, second)] == [4, 3]
    assert second.files[0].ranks == (4, 5, 6)
    assert not second.next_cursor


def test_the_outline_of_a_document_has_its_headings(index: Index) -> None:
    (file,) = index.outline(OutlineQuery("docs/guide.md")).files
    assert [(it.symbol, it.line, it.depth) for it in file.symbols] == [
        ("Guide", 1, 0),
        ("Guide > Start", 5, 1),
        ("Guide > Stop", 9, 1),
    ]


def test_a_map_has_folders_first_and_the_symbols_that_most_source_files_use(index: Index) -> None:
    found = index.outline(OutlineQuery())
    assert [it.path for it in found.entries] == ["src/", "docs/", "tests/", ".gitignore"]
    assert found.entries[0].files == 5
    assert found.languages["python"] == 14
    best = sorted((rank, it) for file in found.files for rank, it in zip(file.ranks, file.symbols, strict=True))
    names = [it.symbol for _, it in best]
    assert names[:2] == ["make_engine", "Engine.start"]
    assert best[0][1].files == 4
    # A use in a test counts nothing, and tests come last; fields are no landmarks.
    assert names.index("use_1") < names.index("test_0")
    assert "Engine.speed" not in names
    assert index.outline(OutlineQuery()) == found


def test_a_map_of_a_folder_is_about_that_folder_and_comes_in_pages(index: Index) -> None:
    found = index.outline(OutlineQuery("tests", limit=5))
    assert found.total_files == 9
    assert all(file.path.startswith("tests/") for file in found.files)
    rest = index.outline(OutlineQuery("tests", limit=5, cursor=found.next_cursor))
    assert len({file.path for file in (*found.files, *rest.files)}) == 9
    assert not rest.next_cursor


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("ignored/a.py", "an ignore rule leaves it out"),
        ("ignored", "ignore rules leave all of it out"),
        ("empty", "it is empty, or ignore rules"),
        (".env", "secret"),
        ("nosuch.py", "does not exist"),
    ],
)
def test_what_is_not_indexed_is_refused_with_the_reason(index: Index, path: str, reason: str) -> None:
    with pytest.raises(NotIndexedError, match=reason):
        index.outline(OutlineQuery(path))


def test_wrong_pages_are_refused(index: Index) -> None:
    for query in (OutlineQuery(limit=0), OutlineQuery(limit=2001), OutlineQuery(cursor="x")):
        with pytest.raises(QueryError, match="expected"):
            index.outline(query)


ONE_LINE = {
    "a.hpp": "enum class align { none, left, right };\nstruct point { int x, y; };\n"
    "namespace ns { struct inner { int q; }; void f(); }\nstruct multi {\n  int a, b;\n};\n",
    "b.kt": "class User(val name: String, var age: Int)\n",
    "c.scala": "case class User(name: String, age: Int)\n",
    "d.js": "const o = { b() { return 1 }, d: { f() {} } };\nfunction f() {} function g() {}\n",
    "e.py": "class A: x = 1; y = 2\n\n\ndef f():\n    def inner(): return 1\n    return inner\n",
    "f.rs": "enum E { A, B(u8) }\nstruct S { a: u8, b: u8 }\n",
    "g.go": "package x\n\ntype T struct { A, B int }\n\nconst ( C = 1; D = 2 )\n",
}
NAMED = {
    "a.hpp": "0 align, 1 none, 1 left, 1 right, 0 point, 1 x, 1 y, 0 ns, 1 inner, 2 q, 1 f, 0 multi, 1 a, 1 b",
    "b.kt": "0 User, 1 name, 1 age",
    "c.scala": "0 User, 1 name, 1 age",
    "d.js": "0 o, 1 b, 1 d, 2 f, 0 f, 0 g",
    "e.py": "0 A, 1 x, 1 y, 0 f, 1 inner",
    "f.rs": "0 E, 1 A, 1 B, 0 S, 1 a, 1 b",
    "g.go": "0 T, 1 A, 1 B, 0 C, 0 D",
}


@pytest.fixture(scope="module")
def one_line(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    root = tmp_path_factory.mktemp("one-line") / "tree"
    root.mkdir()
    for path, text in ONE_LINE.items():
        (root / path).write_text(text)
    options = IndexOptions(home=root.parent / "home", workers=1, embedding=EmbeddingOptions("none"))
    with Index.open(root, options) as opened:
        opened.update()
        yield opened


@pytest.mark.parametrize("path", ONE_LINE)
def test_members_on_one_line_are_told_by_name_each_inside_of_its_own_symbol(one_line: Index, path: str) -> None:
    """Once the whole line stood there for each of them, one deeper than the other."""
    found = one_line.outline(OutlineQuery(path))
    (file,) = found.files
    assert ", ".join(f"{it.depth} {last_part(it.symbol)}" for it in file.symbols) == NAMED[path]
    lines = outline_text(found, mark="#00000000").split("\n")[2:-1]
    assert len(lines) == len({*lines}) == len(file.symbols)
    assert all(last_part(it.symbol) in line for it, line in zip(file.symbols, lines, strict=True))


def test_a_file_is_meant_by_the_end_of_its_path_in_any_case(index: Index) -> None:
    for path in ("core.py", "SRC/Core.py", r"src\core.py", "tree/src/core.py"):
        assert index.outline(OutlineQuery(path)).path == "src/core.py", path
