"""The part of a document that is shown with a chunk of it."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from cqm.chunkers.tokens import estimate
from cqm.index.contextual.prompt import cut_windows

MARKS = 8
"""Tokens of the marks for what is left out."""
LINES = [f"Line {number:4} of the document says something about pump {number:4}.\n" for number in range(2000)]
LONG = "".join(LINES)

texts = st.lists(
    st.sampled_from(["a pump\n", "弁を閉める。\n", "\n", "word " * 40, "長い" * 90, "x;" * 300]), max_size=60
)


def test_a_short_document_is_shown_whole() -> None:
    assert cut_windows("# Pump\n\nIt pumps.\n", 100).around(3, 5) == "# Pump\n\nIt pumps.\n"
    assert cut_windows("", 100).around(0, 0) == ""


@given(texts, st.integers(64, 400), st.data())
def test_what_is_shown_is_bounded_and_holds_the_middle_of_its_chunk(
    pieces: list[str], tokens: int, data: st.DataObject
) -> None:
    text = "".join(pieces)
    windows = cut_windows(text, tokens)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 400)))
    shown = windows.around(start, end)
    assert estimate(shown) <= tokens + MARKS
    middle = (start + end) // 2
    assert any(opened <= middle <= closed for opened, closed in windows.spans if text[opened:closed] in shown)
    assert shown.startswith(text[: windows.beginning])


@given(texts, st.integers(64, 400))
def test_windows_leave_out_nothing(pieces: list[str], tokens: int) -> None:
    text = "".join(pieces)
    spans = cut_windows(text, tokens).spans
    assert (spans[0][0], spans[-1][1]) == (0, len(text))
    assert all(after[0] <= before[1] for before, after in pairwise(spans))


def test_a_chunk_has_its_surroundings_on_both_sides_and_the_documents_beginning() -> None:
    windows = cut_windows(LONG, 800)
    for number in range(100, 1900, 7):
        start = LONG.index(LINES[number])
        shown = windows.around(start, start + len(LINES[number]))
        assert LINES[number - 8] in shown
        assert LINES[number + 8] in shown
        assert shown.startswith(LINES[0] + LINES[1])
        assert "\n[...]\n" in shown


def test_neighbours_share_a_window() -> None:
    windows = cut_windows(LONG, 800)
    starts = [LONG.index(line) for line in LINES]
    shown = [windows.around(start, start + len(LINES[0])) for start in starts]
    changes = sum(before != after for before, after in pairwise(shown))
    # A window slides by half of what is left beside the beginning: about 350 tokens of these lines of 14.
    assert changes + 1 == len(set(shown)) == len(windows.spans)
    assert len(LINES) / len(windows.spans) > 20


def test_text_that_is_added_at_the_end_leaves_the_windows_before_it_as_they_are() -> None:
    before, after = cut_windows(LONG, 800), cut_windows(LONG + LONG, 800)
    assert before.around(5000, 5100) == after.around(5000, 5100)
