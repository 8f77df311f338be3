"""Documentation comments as chunks."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import Chunk, ChunkOptions, Document
from cqm.chunkers.strategies.javadoc import JavadocOptions

FIXTURES = sorted((Path(__file__).parent / "fixtures" / "code").iterdir())

JAVA = """\
/* A licence. */
package com.example.shop;

import java.util.List;

/**
 * A {@code cart} of <b>items</b>. It may be empty.
 *
 * @author nobody
 */
public class Cart<T> extends Base {
  /** What was put in. */
  private final List<T> items = List.of();

  private static final int LIMIT = 100;

  /**
   * Adds one.
   *
   * @param item never null
   */
  @Override
  public void add(T item) {
    items.add(item);
  }

  /** Adds several. */
  public void add(
      List<T> several) {
    items.addAll(several);
  }

  public int size() { return items.size(); }

  /** What a cart is in. */
  enum State {
    /** May be added to. */
    OPEN,
    CLOSED;
  }
}
"""


def chunks_of(text: str, language: str = "java", options: JavadocOptions = JavadocOptions()) -> tuple[Chunk, ...]:  # noqa: B008 - frozen
    chunks = chunk(Document("fixture", text, language), options).chunks
    assert all(piece.text == text[piece.start : piece.end] for piece in chunks)
    return chunks


@pytest.mark.row("C5")
def test_each_documented_type_and_member_is_a_chunk_of_comment_and_signature_with_overloads_apart() -> None:
    chunks = chunks_of(JAVA)
    assert [(piece.symbol, piece.metadata.facts["element_type"]) for piece in chunks] == [
        ("Cart", "class"),
        ("Cart.items", "property"),
        ("Cart.add", "method"),
        ("Cart.add", "method"),
        ("Cart.State", "enum"),
        ("Cart.State.OPEN", "constant"),
    ]
    assert chunks[0].text.endswith("*/\npublic class Cart<T> extends Base")
    assert chunks[2].text.endswith("  @Override\n  public void add(T item)")
    assert chunks[3].text == "  /** Adds several. */\n  public void add(\n      List<T> several)"
    assert {piece.kind for piece in chunks} == {"javadoc"}


@pytest.mark.row("C5")
def test_the_context_of_a_type_is_its_fields_and_that_of_a_member_its_class() -> None:
    chunks = chunks_of(JAVA)
    assert chunks[0].context == "private final List<T> items\nprivate static final int LIMIT"
    assert chunks[2].context == "// Class: Cart (com.example.shop.Cart)"
    assert chunks[5].context == "// Class: State (com.example.shop.Cart.State)"


@pytest.mark.row("C5")
def test_metadata_tells_package_full_name_and_the_first_sentence_about_the_class() -> None:
    for piece in chunks_of(JAVA)[:4]:
        assert piece.metadata.source_type == "javadoc"
        assert piece.metadata.package == "com.example.shop"
        assert piece.metadata.fqcn == "com.example.shop.Cart"
        assert piece.metadata.facts["class_description"] == "A cart of items."
    assert chunks_of(JAVA)[2].metadata.member == "add"


@pytest.mark.row("C5")
def test_members_are_children_of_their_documented_type() -> None:
    cart, *members, opened = chunks_of(JAVA)
    assert {piece.parent for piece in members} == {cart.id}
    assert opened.parent == members[-1].id


@pytest.mark.row("C5")
def test_a_package_without_types_is_documented_by_its_own_comment() -> None:
    (piece,) = chunks_of("/**\n * Shopping.\n */\npackage com.example.shop;\n")
    assert (piece.symbol, piece.metadata.facts["element_type"]) == ("com.example.shop", "package")


@pytest.mark.row("C5")
def test_long_documentation_stays_whole_with_a_warning() -> None:
    lines = "".join(f" * The rule of number {number}.\n" for number in range(60))
    document = Document("A.java", f"/**\n{lines} */\nclass A {{ }}\n", "java")
    report = chunk(document, JavadocOptions())
    assert len(report.chunks) == 1
    assert report.warnings[0].startswith("1 of 1 documentation comments are over max_tokens=256; the largest has")
    assert chunk(document, JavadocOptions(max_tokens=1024)).warnings == ()


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        (
            "typescript",
            "/** Adds. */\nexport const add = (a: number) => a;\n",
            "/** Adds. */\nexport const add = (a: number) =>",
        ),
        ("kotlin", "/** Adds. */\nfun add(a: Int): Int {\n  return a\n}\n", "/** Adds. */\nfun add(a: Int): Int"),
        (
            "rust",
            "/// Adds\n/// two.\n#[inline]\npub fn add(a: u8) -> u8 {\n    a\n}\n",
            "/// Adds\n/// two.\n#[inline]\npub fn add(a: u8) -> u8",
        ),
        (
            "csharp",
            "class A\n{\n    /// <summary>Adds.</summary>\n    int Add(int a) => a;\n}\n",
            "    /// <summary>Adds.</summary>\n    int Add(int a)",
        ),
        ("php", "<?php\n/** Adds. */\nfunction add($a) { return $a; }\n", "/** Adds. */\nfunction add($a)"),
        ("java", "class Ä { /** ä */ void ü() { } }\n", "/** ä */ void ü()"),
    ],
)
def test_other_languages_with_such_comments_are_read_too(language: str, text: str, expected: str) -> None:
    assert [piece.text for piece in chunks_of(text, language)] == [expected]


@pytest.mark.parametrize(
    ("text", "language", "warning"),
    [
        ("class A { /* no */ void f() { } }", "java", "no documentation comments were found"),
        ("f(a<" * 1_000, "java", "not parsed: nested too deep"),
        ("words", "text", "not parsed: no grammar for text"),
        ("class A {", "java", "no documentation comments were found"),
    ],
)
def test_a_text_without_documentation_has_no_chunks_and_says_why(text: str, language: str, warning: str) -> None:
    report = chunk(Document("fixture", text, language), JavadocOptions())
    assert (report.chunks, report.warnings) == ((), (warning,))


@given(data=st.data())
def test_any_damaged_program_gives_true_spans(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(FIXTURES))
    text = path.read_text(encoding="utf-8")
    first, second = (data.draw(st.integers(0, len(text))) for _ in range(2))
    for piece in chunks_of(text[:first] + text[second:], path.stem):
        assert piece.text.lstrip().startswith(("/**", "///", "//!"))


def test_documentation_is_code_where_the_strategy_is_not_asked_for() -> None:
    assert {piece.kind for piece in chunk(Document("A.java", JAVA), ChunkOptions()).chunks} == {"class"}


def test_lone_surrogates_neither_raise_nor_move_the_end_of_a_declaration() -> None:
    text = (
        'class A {\n  /** One. */ @Name("\ud800\ud800") void one() { two(); }\n\n  /** Two. */ int two; // \ud800\n}\n'
    )
    texts = [piece.text for piece in chunk(Document("A.java", text), JavadocOptions()).chunks]
    assert texts == ['  /** One. */ @Name("\ud800\ud800") void one()', "  /** Two. */ int two; // \ud800"]
