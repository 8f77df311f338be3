"""Which chunker reads what, one row each: of those that name a text's language the first that knows its shape wins."""

from collections.abc import Callable
from dataclasses import dataclass

from cqm.chunkers.code import pieces_of_code
from cqm.chunkers.detect import MARKDOWN, PROSE_FORMATS
from cqm.chunkers.languages import BY_NAME
from cqm.chunkers.markdown import pieces_of_markdown
from cqm.chunkers.model import ChunkOptions, Cut
from cqm.chunkers.prose import pieces_of_lines, pieces_of_prose


@dataclass(frozen=True, slots=True)
class Chunker:
    """A row of the table.

    Attributes:
        name: what `Chunk.strategy` says.
        languages: that it reads.
        cut: from text, language and options to pieces; none, or None, for a text that it cannot read.
        parses: whether `ChunkOptions.max_parse_bytes` holds for it.
        reads: whether a text has the shape that it reads; None when the language says enough. Called for every text of
            the languages, so that it looks at little of it.
    """

    name: str
    languages: frozenset[str]
    cut: Callable[[str, str, ChunkOptions], Cut | None]
    parses: bool = True
    reads: Callable[[str], bool] | None = None


def _cut_markdown(text: str, _language: str, options: ChunkOptions) -> Cut:
    return pieces_of_markdown(text, options), []


def _cut_prose(text: str, _language: str, options: ChunkOptions) -> Cut:
    return pieces_of_prose(text, options), []


def _cut_lines(text: str, _language: str, options: ChunkOptions) -> Cut:
    return pieces_of_lines(text, options), []


LINES = Chunker("lines", frozenset(), _cut_lines, parses=False)
"""For a language without a row, and for a text that its own chunker cannot read."""

CHUNKERS = (
    Chunker("code", frozenset(BY_NAME), pieces_of_code),
    Chunker("markdown", frozenset({MARKDOWN}), _cut_markdown),
    Chunker("prose", frozenset(row.name for row in PROSE_FORMATS), _cut_prose, parses=False),
)


def chunker_of(language: str, text: str) -> Chunker:
    """The chunker of a text in a language."""
    rows = (row for row in CHUNKERS if language in row.languages)
    return next((row for row in rows if row.reads is None or row.reads(text)), LINES)
