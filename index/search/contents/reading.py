"""Read the best chunks for some words, with their texts."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cqm.index.generations.generation import Generation
from cqm.index.ranking.evidence import Candidate
from cqm.index.store.base import TERMS, Nearest, PointFilter
from cqm.index.text.terms import SparseTerms


class Read(NamedTuple):
    """A chunk with its text."""

    chunk: Candidate
    text: str


def read_best(generation: Generation, words: SparseTerms, most: int, keep: PointFilter | None = None) -> list[Read]:
    """Return the best chunks for some words, with their texts.

    Parameters:
        most: chunks to read.
        keep: chunks that count; None for all.
    """
    return read_all(generation, [Nearest(TERMS, words, most, keep)])


def read_all(generation: Generation, searches: Sequence[Nearest]) -> list[Read]:
    """Return all chunks that some searches find, each once, with their texts."""
    ids = dict.fromkeys(name for found in generation.store.search(searches) for name in found)
    chunks = generation.candidates.of([*ids])
    texts = generation.candidates.texts(chunks, lambda some: generation.store.payloads(some, ("text", "content")))
    return [Read(chunk, text) for chunk, text in zip(chunks, texts, strict=True)]


def line_at(read: Read, at: int) -> int:
    """Return the line in the file of a position in a chunk's text."""
    return read.chunk.start_line + read.text.count("\n", 0, at)


def first_lines(found: Iterable[tuple[str, int]], most: int) -> dict[str, int]:
    """Return the first line told of each chunk, by its id.

    Parameters:
        found: ids of chunks with a line, best first.
        most: chunks to return.
    """
    lines: dict[str, int] = {}
    for name, line in found:
        lines.setdefault(name, line)
    return dict([*lines.items()][:most])
