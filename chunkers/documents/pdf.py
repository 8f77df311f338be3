"""Cut the text of a PDF at its pages, and long pages at paragraphs and sentences."""

import re
from itertools import pairwise

from cqm.chunkers.documents.pdf_text import PAGE_BREAK
from cqm.chunkers.documents.prose import spans_of_prose
from cqm.chunkers.model import ChunkOptions, Cut, Fact, Piece
from cqm.chunkers.splitting import Span
from cqm.chunkers.tokens import QUARTERS, quarters


def pieces_of_pdf(text: str, _language: str, options: ChunkOptions) -> Cut:
    """Cut the text of a PDF made by `pdf_text.text_of_pdf`; spans and lines refer to this text.

    A piece is a page, several small ones, or a part of one. The fact "page" is its first page, from 1; "title" is the
    title in the file's metadata. The pieces are gapless.
    """
    title = text.partition(PAGE_BREAK)[0].strip() if PAGE_BREAK in text else ""
    breaks = [found.start() for found in re.finditer(PAGE_BREAK, text)]
    spans = [
        span
        for start, end in pairwise([0, *breaks[1:], len(text)])
        for span in spans_of_prose(text, (start, end), options.max_tokens)
    ]
    pieces, page, seen = [], 0, 0
    for start, end in _packed(text, spans, options):
        # A page break is the first character of its page.
        page += text.count(PAGE_BREAK, seen, start + 1)
        seen = start + 1
        pieces.append(_piece(start, end, max(page, 1), title))
    return pieces, []


def _packed(text: str, spans: list[Span], options: ChunkOptions) -> list[Span]:
    """Join spans under the minimum with the previous one if both fit."""
    packed: list[Span] = []
    sizes: list[int] = []
    for start, end in spans:
        size = quarters(text[start:end])
        least = options.min_tokens * QUARTERS
        if packed and min(size, sizes[-1]) < least and size + sizes[-1] <= options.max_tokens * QUARTERS:
            packed[-1] = packed[-1][0], end
            sizes[-1] += size
        else:
            packed.append((start, end))
            sizes.append(size)
    return packed


def _piece(start: int, end: int, page: int, title: str) -> Piece:
    facts: dict[str, Fact] = {"page": page}
    if title:
        facts["title"] = title
    headings = (title,) if title else ()
    return Piece(start, end, "page", " > ".join((*headings, f"page {page}")), headings=headings, facts=facts)
