"""Cleaning of a model's words."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqm.chunkers.tokens import estimate
from cqm.index.contextual.cleaning import cleaned, uselessness

PLAIN = "This chunk of the pump manual explains how valve 3 is closed."
JAPANESE = "この部分は、ポンプの手引きのうち弁3を閉める手順を述べています。"


@pytest.mark.parametrize(
    "answer",
    [
        PLAIN,
        f"Here is the context: {PLAIN}",
        f"Here's a short context for this chunk:\n\n{PLAIN}",
        f"Sure! Here is a succinct context to situate the chunk:\n{PLAIN}",
        f"The following is the context for the chunk: {PLAIN}",
        f"**Context:** {PLAIN}",
        f"Context: {PLAIN}\n",
        f'"{PLAIN}"',
        f"“{PLAIN}”",
        f'Here is the context:\n\n"{PLAIN}"',
        f"**{PLAIN}**",
        f"`{PLAIN}`",
        f"```text\n{PLAIN}\n```",
        f"<context>{PLAIN}</context>",
        f"<think>\nWhat is this about? A pump.\n</think>\n\n{PLAIN}",
        f"What is this about? A pump.</think>{PLAIN}",
        f"{PLAIN}<|im_end|>",
        f"{PLAIN}<think>Is that right?",
        PLAIN.replace(" ", "\n", 3).replace(" ", "\t", 1),
        PLAIN.replace(" valve", "\u202e valve\x00"),
        f"\ufeff{PLAIN}\u200b",
    ],
)
def test_what_is_around_a_context_goes(answer: str) -> None:
    assert cleaned(answer, 100) == PLAIN


@pytest.mark.parametrize(
    "answer",
    [
        JAPANESE,
        f"はい、以下はこの部分の説明です\uff1a\n{JAPANESE}",
        f"承知しました。以下に文脈を示します。{JAPANESE}",
        f"コンテキスト: {JAPANESE}",
        f"「{JAPANESE}」",
        f"<think>ポンプの話だ。</think>\n{JAPANESE}",
    ],
)
def test_what_is_around_a_japanese_context_goes(answer: str) -> None:
    assert cleaned(answer, 100) == JAPANESE


@pytest.mark.parametrize(
    "answer",
    [
        'The "pump" is stopped by what it calls its "alarm".',
        '"Pump" is what the manual calls both the device and its "motor"',
        "This is the class Pump: it holds the valves that the manual names.",
        "Context managers of the module pump are described here, with examples.",
        "Answers to frequent questions about the pump: this one is about alarms.",
        "Summary tables of the manual list all valves.",
        "以下の条件で弁が閉じることを、ポンプの手引きの第3章が説明しています。",
        "क्‍ष is a letter with a joiner that the manual explains here.",
    ],
)
def test_what_only_looks_like_a_preamble_stays(answer: str) -> None:
    assert cleaned(answer, 100) == answer


def test_what_is_too_long_ends_with_a_sentence() -> None:
    assert cleaned(f"{PLAIN} {PLAIN} {PLAIN} {PLAIN}", 40) == f"{PLAIN} {PLAIN}"
    assert cleaned(JAPANESE * 5, 40) == JAPANESE * 2


def test_a_sentence_that_the_limit_cut_off_goes_unless_it_is_the_only_one() -> None:
    assert cleaned(f"{PLAIN} It also names the", 100, is_cut=True) == PLAIN
    assert cleaned("This chunk of version 3.5 of the pump manual", 100, is_cut=True).endswith("pump manual")


@given(st.text(max_size=300), st.integers(1, 120), st.booleans())
def test_what_is_left_is_one_bounded_line_that_people_see(answer: str, limit: int, is_cut: bool) -> None:
    line = cleaned(answer, limit, is_cut=is_cut)
    assert estimate(line) <= limit
    assert line == line.strip()
    assert not {unicodedata.category(character) for character in line} & {"Cc", "Cs", "Zl", "Zp"}
    line.encode()


@given(st.text(max_size=200))
def test_cleaning_again_changes_nothing(answer: str) -> None:
    once = cleaned(answer, 1000)
    assert cleaned(once, 1000) == once


def test_a_context_that_quotes_names_of_its_chunk_is_of_use() -> None:
    chunk = "def close_valve(number):\n    valve = VALVES[number]\n    valve.close()\n"
    note = "In the pump controller, close_valve(number) shuts one of the VALVES that Controller.start opened before."
    assert uselessness(note, chunk, "Write one or two sentences.") == ""
