"""Exactly these definitions and no others: forms that languages have beside the usual ones."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from cqm.chunkers.chunking import chunk
from cqm.chunkers.languages.model import Found
from cqm.chunkers.languages.table import BY_NAME
from cqm.chunkers.model import ChunkOptions, ChunkReport, Document

# "=== name of the case: file", the text, "---", its definitions in order.
_CASE = re.compile(
    r"^=== (?P<name>[^\n]*): (?P<path>[^\n]*)\n(?P<text>.*?)^---\n(?P<wanted>.*?)(?=^=== |\Z)", re.MULTILINE | re.DOTALL
)
CASES = {it["name"]: it for it in _CASE.finditer((Path(__file__).parent / "fixtures" / "symbols.txt").read_text())}


@pytest.mark.parametrize("name", CASES)
def test_a_program_defines_exactly_these_symbols(name: str) -> None:
    case = CASES[name]
    assert defined(chunk(Document(case["path"], case["text"]))) == case["wanted"].strip().splitlines()


PROGRAM = "def first():\n    return 1\n\n\nclass Second(object):\n    third = 3\n"


def _failing(_node: object, _source: bytes) -> Found:
    raise IndexError


@pytest.mark.parametrize("is_part", [False, True], ids=["symbols", "names without a piece"])
def test_a_rule_that_fails_costs_a_file_its_symbols_only(is_part: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    row = BY_NAME["python"]
    if is_part:
        row = replace(row, nodes=replace(row.nodes, parts={"function_definition": _failing}))
    else:
        row = replace(row, rules={**row.rules, "function_definition": _failing})
    monkeypatch.setattr("cqm.chunkers.code.program.BY_NAME", {**BY_NAME, "python": row})
    report = chunk(Document("a.py", PROGRAM))
    assert "".join(it.text for it in report.chunks).split() == PROGRAM.split()
    assert report.warnings == (
        "the rule of python for function_definition failed (IndexError)",
        "cut at lines instead",
    )
    assert defined(report) == []


def defined(report: ChunkReport) -> list[str]:
    """Return lines, kind and name of each definition: its first line, that of its name and its last, each once."""
    found = [it for part in report.chunks for it in part.definitions]
    return [
        "-".join(map(str, dict.fromkeys((it.first_line, it.line, it.end_line))))
        + f" {it.kind} {it.name}{' guessed' if it.is_guessed else ''}"
        for it in found
    ]


SIGNATURES = {
    "a.kt": (
        "data class D(val a: Int = run { 1 }) {\n  fun m(f: (Int) -> Unit = { it }) {\n    x()\n  }\n}\n",
        ["data class D(val a: Int = run { 1 })", "fun m(f: (Int) -> Unit = { it })"],
    ),
    "a.rs": (
        "struct Arr<'a, T, const N: usize = { 1 }> {\n  a: &'a T,\n}\n",
        ["struct Arr<'a, T, const N: usize = { 1 }>"],
    ),
    "A.java": (
        'class A {\n  @Deprecated @SuppressWarnings({"a"}) void f() {\n  }\n}\n',
        ["class A", '@Deprecated @SuppressWarnings({"a"}) void f()'],
    ),
    "a.cpp": ("class API_EXPORT Bar : public Baz<T> {\n};\n", ["class API_EXPORT Bar : public Baz<T>"]),
}


@pytest.mark.parametrize("path", SIGNATURES)
def test_a_signature_ends_at_the_body_and_shows_what_the_grammar_does_not_read(path: str) -> None:
    text, wanted = SIGNATURES[path]
    report = chunk(Document(path, text), ChunkOptions(details=True))
    assert [symbol.signature for part in report.chunks for symbol in part.symbols] == wanted
