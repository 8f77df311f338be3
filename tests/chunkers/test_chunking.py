import hashlib
import json
import pickle
from collections.abc import Iterable
from dataclasses import FrozenInstanceError, fields, replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import thinned

from cqm.chunkers.chunking import chunk, chunks_of
from cqm.chunkers.errors import ChunkOptionError
from cqm.chunkers.model import Chunk, ChunkOptions, Document, Metadata

SMALL = ChunkOptions(max_tokens=64, min_tokens=16)

# One of each strategy.
PATHS = ["doc.md", "doc.txt", "config.ini", "code.py", "data.json"]

LINES = st.lists(
    st.sampled_from(
        ["def f():\n", "    return 1\n", "x = 1\n", "# a\n", "\n", "\r\n", "\r", "日本語。", "é\n", "{", "}\n"]
    )
    | st.sampled_from(
        ["\t", " ", "\x00", "\x0c", "\u2028", "\x85", "\ufeff", "😀", "```\n", "- a\n", "'''", '"', "(", "a. "]
    )
    | st.text(max_size=20)
    | st.integers(60, 300).map(lambda length: "word " * length)
    | st.integers(60, 300).map(lambda length: "語" * length),
    max_size=30,
)


def bare(text: str) -> str:
    return "".join(text.split())


def own(chunks: Iterable[Chunk]) -> str:
    """Return what the chunks have beside what they repeat of others."""
    return "".join(bare(piece.text[piece.overlap_before :]) for piece in chunks)


@pytest.mark.row("B1", "B10")
@pytest.mark.parametrize("path", PATHS)
@given(parts=LINES)
def test_chunks_are_true_spans_of_any_text_and_hold_all_of_it(path: str, parts: list[str]) -> None:
    text = "".join(parts)
    data = text.encode("utf-8", "surrogatepass")
    chunks = chunk(Document(path, text), SMALL).chunks
    for piece in chunks:
        assert piece.text == text[piece.start : piece.end]
        assert piece.text.encode("utf-8", "surrogatepass") == data[piece.start_byte : piece.end_byte]
        assert piece.start_line == text.count("\n", 0, piece.start) + 1
        assert piece.end_line == text.count("\n", 0, piece.end - 1) + 1
        assert piece.text.strip()
    assert [(piece.index, piece.total) for piece in chunks] == [(index, len(chunks)) for index in range(len(chunks))]
    assert all(one.end <= other.start + other.overlap_before for one, other in pairwise(chunks))
    assert own(chunks) == bare(text)


@pytest.mark.row("B1")
@pytest.mark.parametrize("path", PATHS)
@given(parts=LINES)
def test_the_stream_gives_the_same_chunks(path: str, parts: list[str]) -> None:
    document = Document(path, "".join(parts))
    assert tuple(chunks_of(document, SMALL)) == chunk(document, SMALL).chunks


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("text", ["", "\n", " \r\n\t\n", "\ufeff\n".strip("\ufeff")])
def test_a_blank_text_has_no_chunks_and_no_warnings(path: str, text: str) -> None:
    report = chunk(Document(path, text))
    assert (report.chunks, report.warnings, report.statistics.chunks) == ((), (), 0)


def test_blank_lines_around_a_chunk_are_not_part_of_it() -> None:
    (only,) = chunk(Document("a.txt", "\n \n  first\n\nsecond  \n\n\n")).chunks
    assert (only.text, only.start_line, only.end_line) == ("  first\n\nsecond  \n", 3, 5)


def test_line_endings_stay_as_they_are() -> None:
    text = "one\r\ntwo\rthree\n\r\nfour"
    (only,) = chunk(Document("a.txt", text)).chunks
    assert (only.text, only.end_line) == (text, 4)


PARAGRAPHS = [f"Paragraph {number}: " + "some words of it. " * 8 + "\n\n" for number in range(12)]


def ids(text: str, path: str = "a.txt") -> list[str]:
    return [piece.id for piece in chunk(Document(path, text), SMALL).chunks]


@pytest.mark.row("B10")
def test_an_id_is_the_hash_that_its_description_says() -> None:
    (only,) = chunk(Document("a.txt", "text")).chunks
    identity = b"a.txt\x000\x00" + hashlib.sha256(b"text").digest()
    assert only.id == hashlib.sha256(identity).hexdigest()[:16]


def test_ids_differ_by_path_and_text_and_occurrence() -> None:
    same = "The same paragraph every time, which is quite long for a chunk of these options. " * 3 + "\n\n"
    repeated = ids(same * 6)
    assert len(set(repeated)) == len(repeated) > 1
    assert not set(ids("text", "a.txt")) & set(ids("text", "b.txt"))
    assert not set(ids("text")) & set(ids("other"))


def test_lines_inserted_at_the_top_change_no_other_id() -> None:
    sections = "".join(f"# Section {number}\n\n{paragraph}" for number, paragraph in enumerate(PARAGRAPHS))
    before = ids(sections, "a.md")
    after = ids("\n\n\n" + sections, "a.md")
    assert before == after
    assert ids(f"# New\n\n{PARAGRAPHS[0]}{sections}", "a.md")[1:] == before


@pytest.mark.row("B1")
def test_statistics_count_the_chunks() -> None:
    report = chunk(Document("a.txt", "".join(PARAGRAPHS)), SMALL)
    sizes = [piece.tokens for piece in report.chunks]
    assert report.statistics.chunks == len(sizes) > 1
    assert (report.statistics.min_tokens, report.statistics.max_tokens) == (min(sizes), max(sizes))
    assert report.statistics.mean_tokens == pytest.approx(sum(sizes) / len(sizes))
    assert report.statistics.seconds > 0


@pytest.mark.row("B1", "B12")
def test_chunks_over_150_percent_of_the_limit_are_counted_in_a_warning() -> None:
    fence = "```\n" + "code code code\n" * 40 + "```\n"
    report = chunk(Document("a.md", f"# A\n\n{fence}\n# B\n\nText.\n"), SMALL)
    assert len(report.warnings) == 1
    assert report.warnings[0].startswith(f"1 of {len(report.chunks)} chunks are over 150 % of max_tokens=64")


@pytest.mark.parametrize(("path", "most"), [("a.py", 525), ("a.toml", 132)])
def test_a_text_over_max_parse_bytes_is_cut_at_lines_with_a_warning(path: str, most: int) -> None:
    text = "".join(f"x{n:02} =1\n" for n in range(75))
    report = chunk(Document(path, text), ChunkOptions(max_parse_bytes=most - 1))
    assert {piece.strategy for piece in report.chunks} == {"lines"}
    assert any(f"max_parse_bytes={most - 1}" in warning for warning in report.warnings)
    assert not chunk(Document(path, text), ChunkOptions(max_parse_bytes=most)).warnings


def test_max_parse_bytes_counts_bytes() -> None:
    report = chunk(Document("a.py", "# " + "é" * 300), ChunkOptions(max_parse_bytes=500))
    assert report.warnings


HEADED = {
    "a.md": ("# Log\n\n", "## 1.{0}\n\n- A change of it.\n\n### Fixed {0}\n\nWords.\n\n", "Log > 1.{0}"),
    "a.html": ("<h1>Log</h1>\n", "<h2>1.{0}</h2><p>A change of it.</p>\n<h3>Fixed {0}</h3>\n", "Log > 1.{0}"),
    "a.rst": ("Log\n===\n\n", "1.{0:05}\n-------\n\nA change of it.\n\n", "Log > 1.{0:05}"),
    "a.adoc": ("= Log\n\n", "== 1.{0}\n\nA change of it.\n\n", "Log > 1.{0}"),
    "a.xml": ("<log>\n", '<entry id="i{0}">\n  <by>Ada</by>\n</entry>\n', "log > entry#i{0}"),
}


@pytest.mark.parametrize("path", HEADED)
def test_a_text_far_over_max_parse_bytes_keeps_its_headings_and_the_names_of_its_elements(path: str) -> None:
    opening, entry, name = HEADED[path]
    text = opening + "".join(map(entry.format, range(2_000)))
    small = ChunkOptions(max_tokens=128, min_tokens=32, max_parse_bytes=1_000)
    report = chunk(Document(path, text), small)
    names = {name.format(number) for number in range(2_000)}
    assert names <= {defined for piece in report.chunks for defined in piece.defines}
    assert "".join("".join(piece.text[piece.overlap_before :] for piece in report.chunks).split()) == "".join(
        text.split()
    )
    assert all(piece.symbol for piece in report.chunks)
    assert not any("max_parse_bytes" in warning for warning in report.warnings)
    whole = chunk(Document(path, text), ChunkOptions(max_tokens=128, min_tokens=32))
    assert len(report.chunks) <= len(whole.chunks) * 1.1


@pytest.mark.row("B7", "B11")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_tokens", 63),
        ("max_tokens", 8193),
        ("min_tokens", -1),
        ("min_tokens", 513),
        ("max_parse_bytes", -1),
    ],
)
def test_an_option_outside_its_range_is_refused_by_name_value_and_range(name: str, value: int) -> None:
    options = ChunkOptions(**{name: value})
    for entry in (chunk, chunks_of):
        with pytest.raises(ChunkOptionError, match=f"{name} is {value}; it must be from"):
            entry(Document("a.txt", "text"), options)


def test_a_named_language_wins_over_the_path() -> None:
    (only,) = chunk(Document("notes.txt", "# Title\n\nText.\n", "markdown")).chunks
    assert (only.language, only.symbol) == ("markdown", "Title")


def test_an_unknown_language_is_cut_at_lines() -> None:
    (only,) = chunk(Document("a.xyz", "text\n", "klingon")).chunks
    assert (only.language, only.strategy) == ("klingon", "lines")


PARTS = ("x", "ab cd, ", "これは。", "..", ".'", "a.\n\n", "# a\n", "## b\n# a\n", "* a\n", "\n", " ")
REPEATED = [(path, part) for at, path in enumerate(("a.txt", "a.ini", "a.md")) for part in thinned(PARTS, at, 2)]
"""Every second part in each kind of document; with `tests/run --soak` all."""


@pytest.mark.long
@pytest.mark.soak
@pytest.mark.timeout(60)  # Linear work takes a second or two here, quadratic work minutes.
@pytest.mark.parametrize(("path", "part"), REPEATED)
def test_no_repetition_makes_the_work_grow_faster_than_the_text(path: str, part: str) -> None:
    text = part * 100_000
    chunks = chunk(Document(path, text)).chunks
    assert own(chunks) == bare(text)


def test_a_json_document_of_one_line_is_covered() -> None:
    text = json.dumps({"key": [{"n": number, "name": f"name {number}"} for number in range(5_000)]})
    chunks = chunk(Document("a.json", text)).chunks
    assert own(chunks) == bare(text)


def test_a_header_of_cpp_is_said_to_be_cpp() -> None:
    header = "#pragma once\n\nnamespace shapes {\ntemplate <typename T>\nclass Circle {\n public:\n  T area();\n};\n}\n"
    assert {piece.language for piece in chunk(Document("shape.h", header)).chunks} == {"cpp"}
    assert {piece.language for piece in chunk(Document("list.h", "int length(void);\n")).chunks} == {"c"}


@pytest.mark.parametrize("path", PATHS)
def test_chunks_and_their_metadata_are_frozen_and_can_be_copied_and_pickled(path: str) -> None:
    for part in chunk(Document(path, "# a\nx = 1\n")).chunks:
        for it in (part, part.metadata):
            with pytest.raises(FrozenInstanceError):
                setattr(it, fields(it)[0].name, "")
        assert (type(part), type(part.metadata)) == (Chunk, Metadata)
        assert part == pickle.loads(pickle.dumps(part)) == replace(part)
        assert part != replace(part, path="other")
