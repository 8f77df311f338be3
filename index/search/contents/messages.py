"""Find the line of a program that has the message of a structured log, which may name a place of another version."""

from pathlib import PurePosixPath

from cqm.chunkers.source_types import CODE, source_type_of
from cqm.index.generations.generation import Generation
from cqm.index.ranking.question import Question
from cqm.index.search.contents.reading import line_at, read_best
from cqm.index.text.terms import query_terms

_MOST_CHUNKS, _MOST_LINES = 60, 10


def message_lines(generation: Generation, question: Question) -> dict[str, int]:
    """Return the lines of programs that have the message of a line of a log, by id of their chunk; empty if none has.

    That of the file which the line names comes first.

    Parameters:
        generation: to search.
        question: a line of a structured log.

    Raises:
        StoreError, ManifestError: the index cannot be read.
    """
    said = question.logged
    files = {PurePosixPath(place.path).name for place in question.places}
    found = [
        (PurePosixPath(it.chunk.path).name not in files, it.chunk.role is not None, it.chunk.path, line_at(it, at), it)
        for it in read_best(generation, query_terms(said), _MOST_CHUNKS)
        if source_type_of(it.chunk.language) == CODE and (at := _place(it.text, said)) >= 0
    ]
    found.sort(key=lambda it: it[:4])
    # What many say tells nothing.
    return {it.chunk.id: line for *_, line, it in found} if len(found) <= _MOST_LINES else {}


def _place(text: str, said: str) -> int:
    """Return where a text has a message as a literal of its own; -1 where it has not."""
    return next((at + 1 for sign in "\"'`" if (at := text.find(f"{sign}{said}")) >= 0), -1)
