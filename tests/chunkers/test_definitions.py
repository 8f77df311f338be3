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


def test_each_definition_is_in_the_chunk_in_which_its_symbol_begins() -> None:
    text = "".join(f"def part_{number}():\n    return {number}\n\n\n" for number in range(200))
    for part in chunk(Document("a.py", text)).chunks:
        assert [it.name for it in part.definitions] == [*part.defines]
        assert all(part.start_line <= it.line <= part.end_line for it in part.definitions)


def test_prose_and_data_have_no_definitions() -> None:
    assert definitions("a.md", "# Title\n\nText.\n") == []
    assert definitions("a.json", '{"a": {"b": 1}}') == []


@given(st.text(alphabet="abc =():{}\n\t@#*/'\"", max_size=300), st.sampled_from([*CASES]))
def test_lines_of_definitions_are_lines_of_the_text_in_order(text: str, path: str) -> None:
    last = text.count("\n") + 1
    for it in definitions(path, text):
        assert 1 <= it.first_line <= it.line <= it.end_line <= last


def definitions(path: str, text: str) -> list[Definition]:
    return [it for part in chunk(Document(path, text)).chunks for it in part.definitions]
