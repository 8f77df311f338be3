from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import Chunk, ChunkOptions, ChunkReport, Document

SMALL = ChunkOptions(max_tokens=64, min_tokens=16)


def chunked(path: str, text: str, options: ChunkOptions = SMALL) -> ChunkReport:
    return chunk(Document(path, text), options)


def sentence(number: int) -> str:
    return f"This is sentence number {number} of a paragraph that goes on. "


@pytest.mark.row("D5")
def test_a_text_within_the_limit_is_one_chunk() -> None:
    report = chunked("a.txt", "One.\n\nTwo.\n")
    assert [(chunk.text, chunk.kind, chunk.strategy) for chunk in report.chunks] == [
        ("One.\n\nTwo.\n", "text", "prose")
    ]


@pytest.mark.row("D5")
def test_paragraphs_are_not_cut_while_they_fit() -> None:
    paragraphs = [f"Paragraph {number} has a line.\nAnd one more line.\n\n" for number in range(40)]
    report = chunked("a.txt", "".join(paragraphs))
    assert len(report.chunks) > 1
    assert all(chunk.text.startswith("Paragraph") for chunk in report.chunks)
    assert all(chunk.tokens <= SMALL.max_tokens for chunk in report.chunks)


@pytest.mark.row("D5")
def test_a_paragraph_over_the_limit_is_cut_at_ends_of_sentences() -> None:
    report = chunked("a.txt", "".join(map(sentence, range(40))))
    assert len(report.chunks) > 1
    assert all(chunk.text.startswith("This is") for chunk in report.chunks)


@pytest.mark.row("D5")
def test_a_japanese_paragraph_is_cut_after_its_full_stops() -> None:
    report = chunked("a.txt", "これは長い段落の中の一つの文です。「引用。」と言った。" * 20)
    assert len(report.chunks) > 1
    assert all(chunk.text.endswith("。") for chunk in report.chunks)
    assert all(chunk.tokens <= SMALL.max_tokens for chunk in report.chunks)


@pytest.mark.row("D5")
def test_a_wrapped_paragraph_is_cut_at_a_line_that_ends_a_sentence() -> None:
    lines = ["A line that goes on and\n", "ends with its sentence here.\n"] * 30
    report = chunked("a.txt", "".join(lines))
    assert len(report.chunks) > 1
    assert all(chunk.text.startswith("A line") for chunk in report.chunks)


def test_the_last_chunk_is_no_small_rest() -> None:
    report = chunked("a.txt", "word word word\n" * 70)
    sizes = [chunk.tokens for chunk in report.chunks]
    assert min(sizes) * 2 > max(sizes)


def test_other_formats_are_cut_at_blank_lines_before_what_is_not_indented() -> None:
    rules = [f"target{number}: source{number}\n\tcompile\n\n\tlink\n\n" for number in range(30)]
    report = chunked("a.def", "".join(rules))
    assert len(report.chunks) > 1
    assert all(chunk.text.startswith("target") for chunk in report.chunks)
    assert {chunk.strategy for chunk in report.chunks} == {"lines"}


def test_a_line_over_the_limit_is_cut_between_words() -> None:
    report = chunked("a.cfg", "key value " * 1000)
    assert len(report.chunks) > 1
    assert all(chunk.text.startswith(("key ", "value ")) for chunk in report.chunks)
    assert all(chunk.tokens <= SMALL.max_tokens for chunk in report.chunks)


def test_a_line_without_any_separator_is_cut_at_the_limit() -> None:
    text = "x" * 10_000
    report = chunked("a.cfg", text)
    assert "".join(chunk.text for chunk in report.chunks) == text
    assert all(chunk.tokens <= SMALL.max_tokens for chunk in report.chunks)


def test_a_minified_line_is_cut_after_a_separator() -> None:
    report = chunked("a.cfg", "ab=1;" * 1000)
    assert all(chunk.text.endswith(";") for chunk in report.chunks)


@pytest.mark.row("D5")
def test_a_part_of_a_divided_paragraph_repeats_the_last_sentences_of_the_part_before_it() -> None:
    text = "".join(map(sentence, range(40)))
    chunks = chunked("a.txt", text).chunks
    assert chunks[0].overlap_before == 0
    assert all(chunk.overlap_before > 0 for chunk in chunks[1:])
    assert all(one.text.endswith(other.text[: other.overlap_before]) for one, other in pairwise(chunks))
    assert all(one.overlap_after == other.overlap_before for one, other in pairwise(chunks))
    assert all(chunk.tokens <= SMALL.max_tokens for chunk in chunks)
    assert all(chunk.text.startswith("This is") for chunk in chunks)


@pytest.mark.row("D5")
def test_without_overlap_nothing_is_repeated() -> None:
    text = "".join(map(sentence, range(40)))
    chunks = chunked("a.txt", text, replace(SMALL, overlap_percent=0)).chunks
    assert "".join(chunk.text for chunk in chunks) == text


@pytest.mark.row("D5")
def test_whole_paragraphs_are_not_repeated() -> None:
    text = "".join(f"{sentence(number)}{sentence(number)}\n\n" for number in range(20))
    chunks = chunked("a.txt", text).chunks
    assert len(chunks) > 1
    assert {chunk.overlap_before for chunk in chunks} == {0}


@pytest.mark.row("D5")
def test_a_paragraph_within_the_limit_stays_whole_beside_one_over_it() -> None:
    fitting = "".join(map(sentence, range(4)))
    text = f"A title\n\n{''.join(map(sentence, range(30)))}\n\n{fitting}\n\nShort.\n"
    chunks = chunked("a.txt", text).chunks
    assert chunks[0].text.startswith("A title\n\nThis is")
    assert any(fitting in chunk.text for chunk in chunks)


@pytest.mark.row("D5")
def test_words_without_sentences_are_not_repeated() -> None:
    chunks = chunked("a.txt", "word word word\n" * 200).chunks
    assert len(chunks) > 1
    assert {chunk.overlap_before for chunk in chunks} == {0}


def core_of(chunk: Chunk) -> str:
    return chunk.text[chunk.overlap_before :]


@given(st.integers(10, 400), st.sampled_from(["x", "ab ", "これは。", ". ", "..", "\n", "\r", '."', "a\n", "\t\n"]))
def test_any_repetition_is_covered_within_the_limit(count: int, part: str) -> None:
    text = part * count
    report = chunked("a.txt", text)
    assert "".join("".join(core_of(chunk).split()) for chunk in report.chunks) == "".join(text.split())
    assert all(chunk.tokens <= SMALL.max_tokens for chunk in report.chunks)


def test_two_megabytes_on_one_line_are_chunked() -> None:
    text = "lorem ipsum, " * 160_000
    report = chunked("a.txt", text, ChunkOptions())
    assert sum(len(chunk.text) for chunk in report.chunks) == len(text)
    assert all(chunk.start_line == chunk.end_line == 1 for chunk in report.chunks)


PARTS = ["A sentence. ", "Another one?\n", "語。", "「引用。」と", "\n\n", "\n \r\n", "word ", "\x00", "\x0c", "1.5 "]


@pytest.mark.row("D5")
@given(st.lists(st.tuples(st.sampled_from(PARTS), st.integers(1, 60)), max_size=12), st.integers(0, 50))
def test_the_parts_of_any_text_are_covered_within_the_limit(parts: list[tuple[str, int]], percent: int) -> None:
    text = "".join(part * times for part, times in parts)
    report = chunked("a.txt", text, replace(SMALL, overlap_percent=percent))
    assert "".join("".join(core_of(chunk).split()) for chunk in report.chunks) == "".join(text.split())
    assert all(chunk.text == text[chunk.start : chunk.end] for chunk in report.chunks)
    assert all(chunk.tokens <= SMALL.max_tokens for chunk in report.chunks)
