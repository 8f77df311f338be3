"""The promises of every strategy for any text."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import thinned

from cqm.chunkers.chunking import chunk, chunks_of
from cqm.chunkers.model import Chunk, ChunkReport, Document
from cqm.chunkers.strategies.fixed import FixedOptions
from cqm.chunkers.strategies.hierarchical import HierarchicalOptions
from cqm.chunkers.strategies.semantic import SemanticOptions
from cqm.chunkers.strategies.sentence import SentenceOptions
from cqm.chunkers.strategies.table import Options
from cqm.chunkers.tokens import openai_tokenizer


def by_checksum(sentences: Sequence[str]) -> list[list[float]]:
    """Vectors that are alike or not by the sentence's first characters."""
    return [[crc32(text[:3].encode("utf-8", "replace")) % 5 - 1, len(text) % 3, 0] for text in sentences]


# At the ends of the ranges of their options, and at their defaults.
OPTIONS: dict[str, Options] = {
    "fixed": FixedOptions(),
    "fixed, half overlap": FixedOptions(size_tokens=128, overlap_tokens=64, min_tokens=64),
    "fixed, half overlap in percent": FixedOptions(size_tokens=128, overlap_percent=50, min_tokens=0),
    "fixed, no overlap": FixedOptions(size_tokens=128, overlap_tokens=0),
    "fixed, largest": FixedOptions(size_tokens=8192),
    "fixed, exact": FixedOptions(size_tokens=128, tokenizer=openai_tokenizer("cl100k_base")),
    "sentence": SentenceOptions(),
    "sentence, small": SentenceOptions(128, 128, 0, sentence_overlap=5),
    "sentence, joined": SentenceOptions(128, 8192, 128, sentence_overlap=0, prefer_paragraphs=False),
    "semantic": SemanticOptions(by_checksum),
    "semantic, all apart": SemanticOptions(by_checksum, 1.0, (), 128, 128, 0),
    "semantic, all alike": SemanticOptions(by_checksum, 0.0, ("a",), 128, 192, 128),
    "hierarchical": HierarchicalOptions(),
    "hierarchical, small": HierarchicalOptions(6, 128, 64, 0),
    "hierarchical, flat": HierarchicalOptions(1, 128, 128, 128, inherit_context=False),
    "hierarchical, with summaries": HierarchicalOptions(3, 128, 64, 32, summaries=True),
}

LINES = st.lists(
    st.sampled_from(
        ["# Title\n", "## Part\n", "### Deep\n", "Title\n=====\n", "\n", "\n\n", "\r\n", "\r", " ", "\t\n", "---\n"]
    )
    | st.sampled_from(["- item\n", "| a | b |\n", "```\n", "~~~\n", "Q: why?\n", "第1条 目的\n\n", "1.2 Scope\n\n"])
    | st.sampled_from(
        ["A sentence. ", "Mr. Smith's is 3.14! ", "日本語の文です。", "「はい。」と言った。\n", "e\u0301", "\ufffd"]
    )
    | st.sampled_from(["👩\u200d👩\u200d👧", "🇯🇵", "\ud800", "\x00", "\u2028", "a" * 700, "\u0301" * 200, "'。"])
    | st.text(max_size=20)
    | st.integers(40, 300).map(lambda count: "word " * count)
    | st.integers(40, 300).map(lambda count: "語" * count)
    | st.integers(5, 40).map(lambda count: "It goes on and on. " * count)
    | st.integers(5, 40).map(lambda count: "次の文です。" * count),
    max_size=25,
)


def bare(text: str) -> str:
    return "".join(text.split())


def tiles(chunks: Sequence[Chunk]) -> list[Chunk]:
    """The chunks without children."""
    return [piece for piece in chunks if not piece.children]


def check_spans(text: str, chunks: Sequence[Chunk]) -> None:
    data = text.encode("utf-8", "surrogatepass")
    for piece in chunks:
        assert piece.text == text[piece.start : piece.end]
        assert piece.text.encode("utf-8", "surrogatepass") == data[piece.start_byte : piece.end_byte]
        assert piece.start_line == text.count("\n", 0, piece.start) + 1
        assert piece.end_line == text.count("\n", 0, piece.end - 1) + 1
        assert piece.text.strip()


def check_tiling(text: str, chunks: Sequence[Chunk]) -> None:
    own = [(piece.start + piece.overlap_before, piece.end) for piece in tiles(chunks)]
    assert all(start < end for start, end in own)
    assert all(one[1] <= other[0] for one, other in pairwise(own))
    assert "".join(bare(text[start:end]) for start, end in own) == bare(text)


def check_overlap(chunks: Sequence[Chunk]) -> None:
    for before, after in pairwise(chunks):
        assert before.overlap_after == after.overlap_before
        if after.overlap_before:
            assert after.overlap_before == before.end - after.start
            assert before.text[-after.overlap_before :] == after.text[: after.overlap_before]
            assert before.start < after.start
    if chunks:
        assert (chunks[0].overlap_before, chunks[-1].overlap_after) == (0, 0)


def check_tree(chunks: Sequence[Chunk]) -> None:
    by_id = {piece.id: piece for piece in chunks}
    assert len(by_id) == len(chunks)
    for piece in chunks:
        assert (piece.level > 0) == bool(piece.parent)
        assert not piece.parent or piece.id in by_id[piece.parent].children
        for child in (by_id[name] for name in piece.children):
            assert child.parent == piece.id
            assert child.level == piece.level + 1
            assert child.index > piece.index
            assert child.start >= piece.end or (child.start >= piece.start and child.end <= piece.end)


@pytest.mark.row("B1", "B2", "B3", "B4", "B5", "B10")
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@given(path=st.sampled_from(["doc.md", "doc.rst", "doc.txt", "code.py"]), parts=LINES)
def test_chunks_are_true_spans_that_tile_any_text_with_the_overlap_and_the_tree_they_tell_of(
    path: str, options: Options, parts: list[str]
) -> None:
    text = "".join(parts)
    document = Document(path, text)
    report = chunk(document, options)
    check_spans(text, report.chunks)
    check_tiling(text, report.chunks)
    check_overlap(report.chunks)
    check_tree(report.chunks)
    check_sizes(report, options)
    assert tuple(chunks_of(document, options)) == report.chunks
    assert [(it.index, it.total) for it in report.chunks] == [
        (at, len(report.chunks)) for at in range(len(report.chunks))
    ]


def check_sizes(report: ChunkReport, options: Options) -> None:
    limits: dict[type, Callable[[], int]] = {
        # A window with a fence takes in a text under the minimum before it, and the last one a rest under it.
        FixedOptions: lambda: options.size_tokens + 2 * options.min_tokens,
        SentenceOptions: lambda: options.max_tokens,
        SemanticOptions: lambda: options.max_tokens,
        HierarchicalOptions: lambda: options.parent_tokens,
    }
    limit = limits[type(options)]()
    over = [piece for piece in report.chunks if piece.tokens > limit and piece.kind != "summary"]
    # Re-encoded alone, a window may have some tokens more than as a part of its text.
    if getattr(options, "tokenizer", None):
        return
    assert not over or any("stay whole" in warning for warning in report.warnings)


PARTS = ("x", "a b, ", "これは。", ".", "' ", "a.\n\n", "# a\n\n", "```\n", "\u0301", "\n", "1.1 x\n\n", "a\n==\n\n")
REPEATED = [(name, part) for at, name in enumerate(OPTIONS) for part in thinned(PARTS, at)]
"""Each option with every third part, the next option with their neighbours; with `tests/run --soak` with all."""


@pytest.mark.long
@pytest.mark.soak
@pytest.mark.timeout(60)  # Linear work takes a second or two here, quadratic work minutes.
@pytest.mark.parametrize(("options", "part"), REPEATED)
def test_no_repetition_makes_the_work_grow_faster_than_the_text(options: str, part: str) -> None:
    text = part * (60_000 // len(part))
    chunks = chunk(Document("a.txt", text), OPTIONS[options]).chunks
    check_tiling(text, chunks)
