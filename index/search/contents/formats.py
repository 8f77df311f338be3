"""Find the format string behind a line of a log."""

import re
from collections.abc import Iterator

from cqm.chunkers.source_types import CODE, source_type_of
from cqm.index.generations.generation import Generation
from cqm.index.search.contents.reading import line_at, read_best
from cqm.index.text.exact_words import is_asking
from cqm.index.text.format_strings import best_made, forms_of_line, is_of_values
from cqm.index.text.terms import query_terms

_MOST_CHUNKS, _MOST_LINES = 200, 4
_WORD = re.compile(r"[^\W\d_]{2,}")


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
    return {name: line for *_, line, name in best} if len(best) <= _MOST_LINES else {}


def _made(generation: Generation, words: str, forms: list[str]) -> Iterator[tuple[int, bool, str, int, str]]:
    """Yield the fitting format strings: negative weight, whether their file has a role, path, line and chunk id."""
    for read in read_best(generation, query_terms(words), _MOST_CHUNKS):
        chunk = read.chunk
        if source_type_of(chunk.language) == CODE and (found := best_made(forms, read.text)):
            yield -found.weight, chunk.role is not None, chunk.path, line_at(read, found.at), chunk.id
