"""Read the best chunks for some words, with their texts."""

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
    (found,) = generation.store.search([Nearest(TERMS, words, most, keep)])
    chunks = generation.candidates.of(found)
    texts = generation.candidates.texts(chunks, lambda some: generation.store.payloads(some, ("text", "content")))
    return [Read(chunk, text) for chunk, text in zip(chunks, texts, strict=True)]


def line_at(read: Read, at: int) -> int:
    """Return the line in the file of a position in a chunk's text."""
    return read.chunk.start_line + read.text.count("\n", 0, at)
