"""Types taken apart: a chunk for the head and one for each method; what Java's contexts tell."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import Chunk, ChunkOptions, Document

APART = ChunkOptions(apart=True)
FIXTURES = sorted((Path(__file__).parent / "fixtures" / "code").iterdir())

JAVA = """\
package com.example.shop;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** A cart of items. */
public class Cart extends Base {
  private static final int LIMIT = 100;

  /** What was put in. */
  private final List<Item> items = new ArrayList<>();

  public int size() { return items.size(); }

  public void add(Item item) {
    items.add(item);
  }

  /** Adds several. */
  public void add(List<Item> several) {
    items.addAll(several);
  }

  static class Item {
    String name;

    String name() { return name; }
  }

  enum State { OPEN, CLOSED }
}
"""


def chunks_of(text: str, language: str, options: ChunkOptions = APART) -> tuple[Chunk, ...]:
    return chunk(Document("fixture", text, language), options).chunks


def named(chunks: tuple[Chunk, ...]) -> list[str]:
    return [f"{piece.kind} {piece.symbol}".strip() for piece in chunks]


def long_body(indent: str) -> str:
    return "".join(f"{indent}total += compute({number}, items);\n" for number in range(24))


@pytest.mark.row("C3")
def test_a_class_that_fits_is_taken_apart_when_that_is_asked_for_and_whole_when_it_is_not() -> None:
    assert named(chunks_of(JAVA, "java"))[1:] == [
        "class Cart",
        "method Cart.size",
        "method Cart.add",
        "method Cart.add",
        "class Cart.Item",
        "method Cart.Item.name",
        "enum Cart.State",
    ]
    assert len(chunks_of(JAVA, "java", ChunkOptions())) == 1


@pytest.mark.row("C3")
def test_the_head_of_a_class_has_its_doc_comment_its_fields_and_the_signatures_of_its_methods() -> None:
    head = chunks_of(JAVA, "java")[1]
    assert head.text.startswith("/** A cart of items. */\npublic class Cart extends Base {")
    assert head.text.rstrip().endswith("private final List<Item> items = new ArrayList<>();")
    assert head.metadata.facts["methods"] == (
        "public int size()",
        "public void add(Item item)",
        "public void add(List<Item> several)",
    )


@pytest.mark.row("C3")
def test_the_head_of_a_class_over_the_limit_tells_the_methods_too() -> None:
    text = f"class A:\n    x = 1\n\n    def f(self):\n{long_body(' ' * 8)}\n    def g(self):\n{long_body(' ' * 8)}"
    head = chunks_of(text, "python", ChunkOptions(max_tokens=256, min_tokens=0))[0]
    assert (head.symbol, head.metadata.facts["methods"]) == ("A", ("def f(self):", "def g(self):"))


@pytest.mark.row("C3")
def test_a_method_over_the_limit_is_split_and_its_parts_name_it_and_its_class() -> None:
    text = f"class A {{\n  int x;\n\n  void f() {{\n{long_body('    ')}  }}\n}}\n"
    parts = chunks_of(text, "java", ChunkOptions(max_tokens=96, min_tokens=0, apart=True))[1:]
    assert len(parts) > 1
    assert {piece.symbol for piece in parts} == {"A.f"}
    assert parts[0].context == "class A\n// Class: A (A)\n// Fields: x"
    assert parts[1].context == "class A\n// Class: A (A)\n// Fields: x\n  void f()"


@pytest.mark.row("C3")
@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        (
            "python",
            "class A:\n    x = 1\n\n    @cache\n    def f(self): ...\n\n    class B:\n        def g(self): ...\n",
            ["class A", "method A.f", "class A.B", "method A.B.g"],
        ),
        (
            "rust",
            "struct A;\n\nimpl A {\n    fn f() {}\n\n    fn g() {}\n}\n",
            ["struct A", "class A", "method A.f", "method A.g"],
        ),
        ("ruby", "module A\n  class B\n    def f\n    end\n  end\nend\n", ["module A", "class A.B", "method A.B.f"]),
        (
            "csharp",
            "namespace A\n{\n    class B\n    {\n        int x;\n\n        void F() { }\n    }\n}\n",
            ["class A.B", "method A.B.F"],
        ),
        ("typescript", "interface A {\n  f(): void;\n  g: string;\n}\n", ["interface A"]),
        (
            "go",
            "type A struct {\n\tx int\n}\n\nfunc (a A) F() {}\n\nfunc G() {}\n",
            ["struct A", "method A.F", "function G"],
        ),
    ],
)
def test_members_are_chunks_of_their_own_in_every_language(language: str, text: str, expected: list[str]) -> None:
    assert named(chunks_of(text, language)) == expected


@pytest.mark.row("C4")
def test_the_context_of_a_method_of_java_tells_class_full_name_and_fields_but_no_imports() -> None:
    chunks = {piece.symbol: piece for piece in chunks_of(JAVA, "java")}
    assert chunks["Cart.size"].context == (
        "public class Cart extends Base\n// Class: Cart (com.example.shop.Cart)\n// Fields: LIMIT, items"
    )
    assert chunks["Cart.Item.name"].context == (
        "public class Cart extends Base\n  static class Item\n"
        "// Class: Item (com.example.shop.Cart.Item)\n// Fields: name"
    )
    assert not any("import" in piece.context for piece in chunks.values())


@pytest.mark.row("C4")
def test_the_context_is_the_same_where_a_class_is_split_for_its_size() -> None:
    fields = "  private int one;\n  private int two, three;\n"
    methods = "\n".join(f"  void {name}() {{\n{long_body('    ')}  }}\n" for name in ("f", "g"))
    text = f"package a.b;\n\nclass Cart {{\n{fields}\n{methods}}}\n"
    last = chunks_of(text, "java", ChunkOptions(max_tokens=256))[-1]
    assert (last.symbol, last.context) == (
        "Cart.g",
        "class Cart\n// Class: Cart (a.b.Cart)\n// Fields: one, two, three",
    )


@pytest.mark.row("C4")
def test_imports_of_java_are_a_chunk_of_their_own_with_the_package() -> None:
    imports = chunks_of(JAVA, "java")[0]
    assert (imports.kind, imports.text.split("\n")[0]) == ("imports", "package com.example.shop;")
    assert "AtomicInteger" in imports.text


@pytest.mark.row("C4")
def test_metadata_of_a_method_tells_package_and_full_name() -> None:
    piece = chunks_of(JAVA, "java")[2]
    assert (piece.metadata.package, piece.metadata.fqcn, piece.metadata.class_name, piece.metadata.member) == (
        "com.example.shop",
        "com.example.shop.Cart",
        "Cart",
        "size",
    )


def test_a_class_with_very_many_fields_names_only_the_first_in_contexts() -> None:
    fields = "".join(f"  int field{number};\n" for number in range(40))
    context = chunks_of(f"class A {{\n{fields}\n  void f() {{ }}\n}}\n", "java")[-1].context
    assert context.endswith("field23, ...")


def lines_of(path: Path) -> Iterator[str]:
    return iter(path.read_text(encoding="utf-8").splitlines(keepends=True))


@given(st.data())
def test_taken_apart_nothing_is_lost_or_twice_in_damaged_programs_either(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(FIXTURES))
    lines = list(lines_of(path))
    first = data.draw(st.integers(0, len(lines)))
    text = "".join(lines[:first] + lines[first + data.draw(st.integers(0, 4)) :])
    chunks = chunks_of(text, path.stem)
    covered = [index for piece in chunks for index in range(piece.start, piece.end)]
    assert len(covered) == len(set(covered))
    assert {index for index, character in enumerate(text) if not character.isspace()} <= set(covered)
    assert all(piece.text == text[piece.start : piece.end] for piece in chunks)
