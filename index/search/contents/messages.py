"""Find the line of a program that has the message of a log, or the format string behind it."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from cqm.chunkers.source_types import CODE, source_type_of
from cqm.index.generations.generation import Generation
from cqm.index.ranking.question import Question
from cqm.index.search.contents.reading import line_at, read_best
from cqm.index.text.exact_words import is_asking
from cqm.index.text.format_strings import best_made, forms_of_line, is_of_values
from cqm.index.text.terms import query_terms

_MOST_CHUNKS, _MOST_LINES = 60, 10
_MOST_MADE_FROM, _MOST_MADE = 200, 4
_WORD = re.compile(r"[^\W\d_]{2,}")


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


def made_lines(generation: Generation, text: str) -> dict[str, int]:
    """Return the lines with the format strings behind a line of a log, by id of their chunk; empty for none.

        "[1732] node 9916(5642), sons 7329(5728) 5976(1321)" is of `"node %d(%d), sons %d(%d) %d(%d)"`

    Of several strings, those with the most letters and signs count; too many of these tell nothing.
    """
    text = text.strip()
    if not is_of_values(text) or is_asking(text):
        return {}
    forms = forms_of_line(text)
    words = " ".join(_WORD.findall(forms[-1]))
    if not words:
        return {}
    made = sorted(_made(generation, words, forms))
    best = [it for it in made if it[0] == made[0][0]]
    return {name: line for *_, line, name in best} if len(best) <= _MOST_MADE else {}


def _made(generation: Generation, words: str, forms: list[str]) -> Iterator[tuple[int, bool, str, int, str]]:
    """Yield the fitting format strings: negative weight, whether their file has a role, path, line and chunk id."""
    for read in read_best(generation, query_terms(words), _MOST_MADE_FROM):
        chunk = read.chunk
        if source_type_of(chunk.language) == CODE and (found := best_made(forms, read.text)):
            yield -found.weight, chunk.role is not None, chunk.path, line_at(read, found.at), chunk.id
