"""The facts of symbols, as they hold in every language."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqm.chunkers.chunking import chunk
from cqm.chunkers.languages.table import LANGUAGES
from cqm.chunkers.model import Chunk, ChunkOptions, Document, SymbolFacts

pytestmark = pytest.mark.row("C2")

FIXTURES = {path.stem: path.read_text(encoding="utf-8") for path in (Path(__file__).parent / "fixtures/code").iterdir()}
DATA = {"css", "html", "json", "properties", "toml", "xml", "yaml"}
SIZES = st.sampled_from([(512, 128, False), (64, 0, False), (64, 64, False), (512, 128, True)])


def chunks_of(text: str, language: str, size: tuple[int, int, bool] = (512, 128, False)) -> tuple[Chunk, ...]:
    limit, least, apart = size
    options = ChunkOptions(max_tokens=limit, min_tokens=least, apart=apart, details=True)
    return chunk(Document("fixture", text, language), options).chunks


def symbols_of(
    text: str, language: str = "python", size: tuple[int, int, bool] = (512, 128, False)
) -> list[SymbolFacts]:
    return [symbol for piece in chunks_of(text, language, size) for symbol in piece.symbols]


def test_without_details_nothing_is_told() -> None:
    report = chunk(Document("a.py", FIXTURES["python"]))
    assert not any(piece.symbols for piece in report.chunks)


@pytest.mark.parametrize("language", sorted(FIXTURES))
def test_the_facts_do_not_depend_on_where_a_text_is_cut(language: str) -> None:
    whole = symbols_of(FIXTURES[language], language)
    assert whole or language in DATA
    for size in ((64, 0, False), (64, 64, True)):
        assert symbols_of(FIXTURES[language], language, size) == whole


@pytest.mark.parametrize("language", sorted(set(FIXTURES) - DATA))
def test_a_chunk_tells_of_the_symbols_that_it_defines(language: str) -> None:
    values = {"variable", "constant", "property"}
    for piece in chunks_of(FIXTURES[language], language, (64, 0, False)):
        told = {symbol.name for symbol in piece.symbols if symbol.visibility != "local" and symbol.kind not in values}
        assert told <= set(piece.defines)


@pytest.mark.parametrize("language", sorted(DATA & FIXTURES.keys()))
def test_keys_and_elements_of_data_are_no_symbols(language: str) -> None:
    assert symbols_of(FIXTURES[language], language) == []


def check(text: str, language: str, size: tuple[int, int, bool]) -> None:
    """Symbols are told in order, the same however a text is cut, with lines of the document."""
    symbols = symbols_of(text, language, size)
    assert symbols == symbols_of(text, language, (8192, 0, False))
    starts = [symbol.start_line for symbol in symbols]
    assert starts == sorted(starts)
    lines = text.count("\n") + 1
    assert all(1 <= symbol.start_line <= symbol.end_line <= lines for symbol in symbols)
    assert all(symbol.complexity >= 0 and symbol.name and symbol.kind for symbol in symbols)
    assert all(len(symbol.signature) <= 300 for symbol in symbols)
    assert all(len(set(names)) == len(names) for symbol in symbols for names in (symbol.calls, symbol.imports_used))


@st.composite
def damaged(draw: st.DrawFn) -> tuple[str, str]:
    """A fixture that was truncated, spliced or sprinkled with noise, and its language."""
    language = draw(st.sampled_from(sorted(set(FIXTURES) - DATA)))
    text = FIXTURES[language]
    first, second = (draw(st.integers(0, len(text))) for _ in range(2))
    noise = draw(st.text(alphabet="(){}[]<>\"'`\\#/*@:;=,.\0\r\n\t é😀", max_size=12))
    return draw(st.sampled_from([text[:first], text[first:], text[:first] + noise + text[second:]])), language


@given(case=damaged(), size=SIZES)
def test_damaged_code_of_any_language_never_stops_the_telling(
    case: tuple[str, str], size: tuple[int, int, bool]
) -> None:
    check(*case, size)


def test_a_sign_before_a_symbol_in_its_row_took_the_symbol_from_small_chunks() -> None:
    check(f":{FIXTURES['fsharp']}", "fsharp", (64, 0, False))


# What nests, nests deeper than the interpreter's recursion; all else is only long.
EXTREMES = {
    "functions without bodies": "def f():\n" * 150,
    "nested functions": "".join(" " * depth + "def f():\n" for depth in range(210)) + " " * 210 + "x",
    "nested classes": "class A { void f() {\n" * 520,
    "nested calls": "f(" * 1_200 + ")" * 1_200,
    "chain of calls": "x" + ".a(1)" * 1_200,
    "one long line": "function f(a){return a};" * 100,
    "chain of operators": "a = a && " * 1_200 + "a",
    "comments and decorators": "/** Doc */ @a(1) " * 100 + "class B {}",
}


# A test a language: a test a text would cost more than the texts do.
@pytest.mark.long
@pytest.mark.parametrize("language", [row.name for row in LANGUAGES])
def test_extreme_code_never_stops_the_telling(language: str) -> None:
    for name, text in EXTREMES.items():
        try:
            check(text, language, (512, 128, False))
        except Exception as error:
            error.add_note(f"of the text: {name}")
            raise


def test_the_branches_of_a_named_function_are_its_own_and_those_of_a_lambda_are_of_what_holds_it() -> None:
    text = "def outer(a):\n    def inner():\n        if a: pass\n    return [inner, lambda: 1 if a else 2]\n"
    assert {symbol.name: symbol.complexity for symbol in symbols_of(text)} == {"outer": 2, "outer.inner": 2}


def test_a_value_that_is_assigned_again_is_told_once() -> None:
    assert [symbol.start_line for symbol in symbols_of("a = 1\nb = 2\na = 3\n")] == [1, 2]


def test_a_comment_for_tools_or_at_the_end_of_a_line_is_no_documentation() -> None:
    text = "package a\n\nvar x = 1 // one\nfunc f() {}\n\n//go:noinline\nfunc g() {}\n"
    assert [(symbol.name, symbol.doc) for symbol in symbols_of(text, "go")] == [("x", ""), ("f", ""), ("g", "")]


@pytest.mark.parametrize(
    ("language", "text", "package"),
    [
        ("java", "// Licence.\n\npackage org.shop.cart;\n\nclass A {}\n", "org.shop.cart"),
        ("kotlin", "package org.shop\n\nclass A\n", "org.shop"),
        ("scala", "package org\npackage shop\n\nclass A\n", "org.shop"),
        ("go", "package shop\n\nfunc f() {}\n", "shop"),
        ("php", "<?php\nnamespace App\\Shop;\n\nclass A {}\n", "App.Shop"),
        ("csharp", "namespace App.Shop;\n\nclass A {}\n", "App.Shop"),
        ("csharp", "namespace App.Shop\n{\n    class A {}\n}\n", "App.Shop"),
        ("python", "class A: pass\n", ""),
    ],
)
def test_a_chunk_tells_its_package_with_and_without_details(language: str, text: str, package: str) -> None:
    for details in (False, True):
        (piece,) = chunk(Document("fixture", text, language), ChunkOptions(details=details)).chunks
        assert piece.metadata.package == package


def test_each_namespace_of_a_file_is_that_of_its_chunks() -> None:
    body = "".join(f"    public function f{number}() {{ return {number}; }}\n" for number in range(20))
    text = f"<?php\nnamespace A;\n\nclass One {{\n{body}}}\n\nnamespace B;\n\nclass Two {{\n{body}}}\n"
    packages = {piece.symbol: piece.metadata.package for piece in chunks_of(text, "php") if piece.symbol}
    assert (packages["One"], packages["Two"]) == ("A", "B")
