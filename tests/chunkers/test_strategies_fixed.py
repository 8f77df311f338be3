from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import Document
from cqm.chunkers.strategies.fixed import FixedOptions
from cqm.chunkers.tokens import Tokenizer, openai_tokenizer

pytestmark = pytest.mark.row("B2")

WORDS = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda my nu xi omicron pi rho sigma tau " * 100


@pytest.fixture(scope="module")
def exact() -> Tokenizer:
    return openai_tokenizer("cl100k_base")


def test_windows_have_their_size_and_repeat_64_tokens_by_default() -> None:
    report = chunk(Document("a.txt", WORDS), FixedOptions())
    *windows, _last = report.chunks
    assert len(windows) > 2
    assert all(500 <= window.tokens <= 512 for window in windows)
    assert all(240 <= window.overlap_before <= 256 for window in windows[1:])
    assert {window.strategy for window in windows} == {"fixed"}
    assert report.warnings == ()


@pytest.mark.parametrize(
    ("tokens", "percent", "characters"), [(0, None, 0), (32, None, 128), (None, 50, 256), (None, 0, 0)]
)
def test_overlap_is_given_in_tokens_or_in_percent(tokens: int | None, percent: int | None, characters: int) -> None:
    options = FixedOptions(size_tokens=128, overlap_tokens=tokens, overlap_percent=percent)
    chunks = chunk(Document("a.txt", WORDS), options).chunks
    assert all(characters - 24 <= one.overlap_after <= characters for one in chunks[:-1])
    assert all(other.start == one.end - one.overlap_after for one, other in pairwise(chunks))


def test_windows_end_between_words() -> None:
    chunks = chunk(Document("a.txt", WORDS), FixedOptions(size_tokens=128)).chunks
    assert all(window.text.endswith(" ") for window in chunks)


@pytest.mark.parametrize("words", range(1, 200, 7))
def test_a_last_window_under_the_minimum_is_joined_to_the_one_before_it(words: int) -> None:
    text = WORDS[: 2 * 512] + "word " * words
    joined = chunk(Document("a.txt", text), FixedOptions(size_tokens=128, overlap_tokens=0)).chunks
    apart = chunk(Document("a.txt", text), FixedOptions(size_tokens=128, overlap_tokens=0, min_tokens=0)).chunks
    assert joined[-1].tokens >= 64
    assert joined[-1].end == apart[-1].end == len(text)
    assert len(joined) == len(apart) - (apart[-1].tokens < 64)


@pytest.mark.row("B9")
def test_with_a_tokenizer_windows_are_runs_of_exactly_so_many_tokens_of_the_text(exact: Tokenizer) -> None:
    text = "日本語とEnglishが混ざった文章です。It goes on, " * 60
    tokens = exact.encode(text)
    options = FixedOptions(size_tokens=128, overlap_tokens=0, min_tokens=0, tokenizer=exact)
    chunks = chunk(Document("a.txt", text), options).chunks
    done = 0
    for window in chunks[:-1]:
        size = next(size for size in range(128, 120, -1) if exact.decode(tokens[done : done + size]) == window.text)
        # Only a token that ends inside of a character may not end a window.
        assert all(exact.decode(tokens[done : done + more]).endswith("\ufffd") for more in range(size + 1, 129))
        done += size
    assert chunks[-1].text == exact.decode(tokens[done:])


@pytest.mark.row("B10")
def test_with_a_tokenizer_a_chunk_tells_its_exact_tokens(exact: Tokenizer) -> None:
    chunks = chunk(Document("a.txt", WORDS), FixedOptions(tokenizer=exact)).chunks
    assert [window.tokens for window in chunks] == [exact.count(window.text) for window in chunks]
    assert chunks[0].tokens == 512


CLUSTERS = ["e\u0301", "👍🏽", "👩\u200d👩\u200d👧", "🇯🇵", "が", "か\u3099", "\r\n", "✈\ufe0f", "नि"]


@pytest.mark.parametrize("cluster", CLUSTERS)
@pytest.mark.parametrize("is_exact", [False, True], ids=["estimate", "exact"])
@given(before=st.integers(0, 9))
def test_no_window_ends_inside_of_what_is_read_as_one_character(
    cluster: str, is_exact: bool, before: int, exact: Tokenizer
) -> None:
    tokenizer = exact if is_exact else None
    text = "x" * before + f"{cluster}." * 400
    chunks = chunk(
        Document("a.txt", text), FixedOptions(size_tokens=128, overlap_tokens=32, tokenizer=tokenizer)
    ).chunks
    assert len(chunks) > 1
    places = {place for window in chunks for place in (window.start, window.end)}
    inside = {before + at * (len(cluster) + 1) + part for at in range(400) for part in range(1, len(cluster))}
    assert not places & inside


def test_a_text_without_spaces_and_a_run_of_marks_are_cut_all_the_same() -> None:
    for text in ("x" * 100_000, "\u0301" * 100_000, "語" * 100_000):
        sizes = [window.tokens for window in chunk(Document("a.txt", text), FixedOptions()).chunks]
        assert len(sizes) > 40
        assert max(sizes) <= 512 + 64


class LowerCase:
    """Loses what it reads, as the tokenizers of uncased models do."""

    def encode(self, text: str) -> list[int]:
        return [ord(character) for character in text.lower()]

    def decode(self, tokens: list[int]) -> str:
        return "".join(map(chr, tokens))

    def count(self, text: str) -> int:
        return len(text)


@pytest.mark.row("B11")
def test_a_tokenizer_that_loses_text_is_warned_of_and_windows_are_estimated() -> None:
    report = chunk(Document("a.txt", "Some Words. " * 400), FixedOptions(tokenizer=LowerCase()))
    estimated = chunk(Document("a.txt", "Some Words. " * 400), FixedOptions())
    assert [(it.start, it.end) for it in report.chunks] == [(it.start, it.end) for it in estimated.chunks]
    assert any("does not give every text back" in warning for warning in report.warnings)


FENCE = "```py\n" + "".join(f"value_{number} = {number}\n" for number in range(40)) + "```\n"


@pytest.mark.row("B12")
@pytest.mark.parametrize("words", [0, 10, 60, 150, 300, 420])
@pytest.mark.parametrize("size", [128, 512])
def test_a_fence_is_neither_cut_nor_repeated_in_part(words: int, size: int) -> None:
    text = f"# Title\n\n{WORDS[: words * 5]}\n\n{FENCE}\n{WORDS[:900]}\n\n## Next\n\n{FENCE}\n{WORDS[:300]}\n"
    report = chunk(Document("a.md", text), FixedOptions(size_tokens=size))
    assert all(window.text.count("```") % 2 == 0 for window in report.chunks)
    assert not any(window.text.rstrip().endswith("## Next") for window in report.chunks)
    # A small text before a fence is no window of its own.
    assert all(window.tokens >= 64 for window in report.chunks)


@pytest.mark.row("B12")
def test_a_fence_of_more_than_four_windows_is_cut_and_so_is_any_if_blocks_are_not_kept() -> None:
    long = "```py\n" + "".join(f"value_{number} = {number}\n" for number in range(400)) + "```\n"
    sizes = [window.tokens for window in chunk(Document("a.md", long), FixedOptions(size_tokens=128)).chunks]
    assert len(sizes) > 4
    assert max(sizes) <= 128 + 64
    chunks = chunk(Document("a.md", WORDS[:600] + "\n\n" + FENCE), FixedOptions(128, keep_blocks=False)).chunks
    assert any(window.text.count("```") == 1 for window in chunks)
