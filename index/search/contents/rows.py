"""Find the row of a table or the line of a log from a pasted copy of it."""

import re

from cqm.index.generations.generation import Generation
from cqm.index.search.contents.reading import line_at, read_best
from cqm.index.store.base import PointFilter
from cqm.index.text.terms import query_terms

_MOST_CHUNKS, _MOST_LINES = 300, 10
_SHORTEST, _LONGEST = 12, 2_000
_ROW = re.compile(r"[,;|\t]|\d\d:\d\d")
"""A field separator, or a time."""
_LANGUAGES = ("csv", "log", "json", "text")


def row_lines(generation: Generation, text: str) -> dict[str, int]:
    """Return the lines of tables, logs and lists of JSON which are just a text, by id of their chunk.

        "17/06/09 20:11:10 INFO storage.BlockManager: Found block rdd_42_35 locally", "E25,Interrupting SendWorker"

    Raises:
        StoreError, ManifestError: the index cannot be read.
    """
    text = text.strip()
    if not _SHORTEST <= len(text) <= _LONGEST or "\n" in text or not _ROW.search(text):
        return {}
    whole = re.compile(rf"^[ \t]*{re.escape(text)}[ \t]*\r?$", re.MULTILINE)
    read = read_best(generation, query_terms(text), _MOST_CHUNKS, PointFilter(languages=_LANGUAGES))
    found = [(it, at.start()) for it in read if text in it.text and (at := whole.search(it.text))]
    found.sort(key=lambda it: (it[0].chunk.path, it[0].chunk.start_line))
    # A row found in many chunks tells nothing.
    return {it.chunk.id: line_at(it, at) for it, at in found} if len(found) <= _MOST_LINES else {}
