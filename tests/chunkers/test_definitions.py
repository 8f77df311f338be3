"""Where a chunk's symbols are defined: the line of the name, below decorators, attributes and comments."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import Definition, Document

CASES = {
    "a.py": (
        (
            '@app.route("/index",\n    methods=["GET"])\ndef index(a,\n          b):\n    return a\n\n\nclass Foo:\n'
            "    # foo of Foo\n    @property\n    def foo(self): ...\n"
        ),
        {"index": (3, 3, 5), "Foo": (8, 8, 11), "Foo.foo": (11, 11, 11)},
    ),
    "a.go": (
        (
            "package a\n\n// Bind binds.\nfunc (c *Context) Bind(\n\tobj any,\n) error {\n\treturn nil\n}\n\n"
            "const (\n\tA = 1\n\tB = 2\n)\n"
        ),
        {"Context.Bind": (4, 4, 8), "A": (11, 11, 11), "B": (12, 12, 12)},
    ),
    "A.java": (
        'class A {\n    @Named("run")\n    @Override\n    public static int\n    run(int b) { return 1;\n    }\n}\n',
        {"A": (1, 1, 7), "A.run": (4, 5, 6)},
    ),
    "a.c": ("#define LIMIT 3\nstatic int\nfind(int a)\n{\n  return a;\n}\n", {"LIMIT": (1, 1, 1), "find": (2, 3, 6)}),
    "a.rs": (
        (
            "#[derive(Debug)]\n/// A node.\npub struct Node {\n    id: u8,\n}\n\nimpl Node {\n    #[inline]\n"
            "    pub fn id(&self) -> u8 {\n        self.id\n    }\n}\n"
        ),
        {"Node": (3, 3, 5), "Node.id": (9, 9, 11)},
    ),
    "a.ts": (
        (
            "/** Parses. */\nexport const parse = (text) => {\n  return text;\n};\n\n@sealed\nexport class Box<T> {\n"
            "  get size(): number { return 1; }\n}\n"
        ),
        {"parse": (2, 2, 4), "Box": (7, 7, 9), "Box.size": (8, 8, 8)},
    ),
    "a.cs": (
        "class A\n{\n    [Obsolete]\n    public int Run(\n        int b) => b;\n}\n",
        {"A": (1, 1, 6), "A.Run": (4, 4, 5)},
    ),
    "a.rb": (
        "module M\n  class A\n    def self.make!\n    end\n  end\nend\n",
        {"M.A": (2, 2, 5), "M.A.make!": (3, 3, 4)},
    ),
}


@pytest.mark.parametrize("path", CASES)
def test_a_definition_has_the_lines_of_its_declaration_its_name_and_its_end(path: str) -> None:
    text, wanted = CASES[path]
    found = {it.name: (it.first_line, it.line, it.end_line) for it in definitions(path, text)}
    assert {name: found.get(name) for name in wanted} == wanted


PARTS = {
    "a.go": (
        (
            "package a\n\ntype Engine struct {\n\t// Bytes.\n\tMaxMemory, least int64\n\tsync.Mutex\n}\n\n"
            "type Binding interface {\n\tBind(any) error\n}\n\nvar ErrA, ErrB = 1, 2\n"
        ),
        {"Engine.MaxMemory": 5, "Engine.least": 5, "Engine.Mutex": 6, "Binding.Bind": 10, "ErrA": 13, "ErrB": 13},
    ),
    "a.rs": (
        "enum Color {\n    Red,\n    Blue { depth: u32 },\n}\n\nstruct Point {\n    pub x: i32,\n}\n",
        {"Color.Red": 2, "Color.Blue": 3, "Color.Blue.depth": 3, "Point.x": 7},
    ),
    "a.c": ("enum color {\n  RED,\n  BLUE = 4,\n};\ntypedef enum { ONE } one_t;\n", {"color.BLUE": 3, "one_t.ONE": 5}),
    "a.cpp": ("enum class E { A, B };\nclass F { int a, b; };\n", {"E.B": 1, "F.a": 2, "F.b": 2}),
    "a.ts": (
        "type Shape = {\n  radius: number;\n};\nclass K {\n  constructor(private b = 1, c = 2) {}\n}\n",
        {"Shape.radius": 2, "K.b": 5},
    ),
    "A.java": ("record Pair(int left,\n            int right) {}\n", {"Pair.left": 1, "Pair.right": 2}),
    "a.cs": ("record Pair(int Left, int Right);\n", {"Pair.Left": 1, "Pair.Right": 1}),
    "a.py": (
        (
            "class Item:\n    def __init__(self, a):\n        self.total = 3\n        if a:\n"
            "            self.x, self.y = a\n"
            "    def other(self):\n        self.late = 1\n"
        ),
        {"Item.total": 3, "Item.x": 5, "Item.y": 5},
    ),
    "a.rb": (
        "class A\n  attr_accessor :x, :y\n  scope :active, -> { 1 }\n  alias_method :n, :o\n  alias nn oo\nend\n",
        {"A.x": 2, "A.y": 2, "A.active": 3, "A.n": 4, "A.nn": 5},
    ),
    "a.swift": ("enum E {\n  case a, b(Int)\n}\nstruct S { let x, y: Int }\n", {"E.a": 2, "E.b": 2, "S.y": 4}),
    "a.kt": ("data class P(val x: Int, var y: Int, z: Int)\n", {"P.x": 1, "P.y": 1}),
    "a.scala": ("case class P(x: Int)\nenum E {\n  case A, B\n}\n", {"P.x": 1, "E.B": 3}),
    "a.php": (
        (
            "<?php\nclass A {\n  const ONE = 1, TWO = 2;\n  public $p, $q;\n"
            "  public function __construct(private int $x, $y = 3) {}\n}\n"
        ),
        {"A.TWO": 3, "A.q": 4, "A.x": 5},
    ),
}
ABSENT = {"K.c", "P.z", "A.y", "Item.late"}


@pytest.mark.parametrize("path", PARTS)
def test_fields_variants_and_further_names_are_definitions(path: str) -> None:
    text, wanted = PARTS[path]
    found = {it.name: it.line for it in definitions(path, text)}
    assert {name: found.get(name) for name in wanted} == wanted
    assert path == "a.rb" or not ABSENT & set(found)


def test_each_definition_is_in_the_chunk_in_which_its_symbol_begins() -> None:
    text = "".join(f"def part_{number}():\n    return {number}\n\n\n" for number in range(200))
    for part in chunk(Document("a.py", text)).chunks:
        assert [it.name for it in part.definitions] == [*part.defines]
        assert all(part.start_line <= it.line <= part.end_line for it in part.definitions)


def test_prose_and_data_have_no_definitions() -> None:
    assert definitions("a.md", "# Title\n\nText.\n") == []
    assert definitions("a.json", '{"a": {"b": 1}}') == []


@given(st.text(alphabet="abc =():{}\n\t@#*/'\"", max_size=300), st.sampled_from([*CASES, *PARTS]))
def test_lines_of_definitions_are_lines_of_the_text_in_order(text: str, path: str) -> None:
    last = text.count("\n") + 1
    for it in definitions(path, text):
        assert 1 <= it.first_line <= it.line <= it.end_line <= last


def definitions(path: str, text: str) -> list[Definition]:
    return [it for part in chunk(Document(path, text)).chunks for it in part.definitions]
