"""Damaged real files of every language and format, with every strategy: `tests/bench/fuzz.py` makes more of them."""

import sys
from pathlib import Path

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))

from mutants import STRATEGIES, Mutant, fixtures, mutant_of
from promises import checked

from cqm.chunkers.chunking import chunks_of
from cqm.chunkers.documents.pdf_text import can_read_pdf
from cqm.chunkers.languages.table import LANGUAGES
from cqm.chunkers.registry import CHUNKERS, chunker_of
from cqm.chunkers.strategies.table import BY_TYPE
from cqm.chunkers.text_of_file import read_text

SOURCES = [source for source in fixtures() if source.language != "pdf" or can_read_pdf()]
AT = pytest.mark.parametrize("at", range(len(SOURCES)), ids=[f"{at} {it.language}" for at, it in enumerate(SOURCES)])
NUMBERS = range(settings.default.max_examples // 5)


def mutant(at: int, number: int) -> Mutant:
    return mutant_of(SOURCES[at], SOURCES, f"{SOURCES[at].language} {number}")


@pytest.mark.long
@pytest.mark.soak
@pytest.mark.row("C6", "B1")
# Each takes milliseconds, but for what the parser itself gives up on after a second or two.
@pytest.mark.timeout(60)
@AT
def test_damaged_files_are_chunked_with_true_spans_and_nothing_lost(at: int) -> None:
    failures = []
    for number in NUMBERS:
        damaged = mutant(at, number)
        try:
            checked(damaged.document, damaged.options)
        except Exception as error:  # noqa: BLE001 - told of each, at the end
            error.add_note(f"of mutant({at}, {number})")
            failures.append(error)
    if failures:
        raise ExceptionGroup(f"{len(failures)} of {len(NUMBERS)} damaged files", failures)


@pytest.mark.row("B1")
@AT
def test_the_chunks_of_a_damaged_file_are_the_same_one_at_a_time(at: int) -> None:
    damaged = mutant(at, 0)
    report = checked(damaged.document, damaged.options)
    assert tuple(chunks_of(damaged.document, damaged.options)) == report.chunks


def test_the_damaged_files_are_of_all_languages_and_for_all_chunkers_and_strategies() -> None:
    inputs = [(at, number) for at in range(len(SOURCES)) for number in NUMBERS]
    assert len(inputs) >= 20 * settings.default.max_examples
    languages = {source.language for source in SOURCES}
    missing = {row.name for row in LANGUAGES} - languages
    chunkers = {chunker_of(source.language, read_text(source.path, source.data).text).name for source in SOURCES}
    assert (missing, {row.name for row in CHUNKERS if row.name != "pdf"} - chunkers) == (set(), set())
    assert {BY_TYPE[type(mutant(*it).options)].name for it in inputs} == STRATEGIES.keys()
