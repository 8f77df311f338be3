"""The promise that every chunker keeps: nothing of a text is lost or comes twice."""

from collections.abc import Iterable

from cqm.chunkers.model import Chunk


def assert_gapless(text: str, chunks: Iterable[Chunk]) -> None:
    """Chunks are the text at their places, in order and apart, and hold all that is not blank."""
    done = 0
    for it in chunks:
        assert it.text == text[it.start : it.end]
        assert it.start_line == text.count("\n", 0, it.start) + 1
        assert it.start >= done
        assert not text[done : it.start].strip()
        done = it.end
    assert not text[done:].strip()
