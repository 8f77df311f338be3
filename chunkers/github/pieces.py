"""Cut issues and pull requests into pieces, one for each and for each substantial comment, losing none."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from cqm.chunkers.documents.markdown import pieces_of_markdown
from cqm.chunkers.github.encoded import Encoded, encoded
from cqm.chunkers.github.records import ANSWER, COMMENT, ITEMS, REVIEW_COMMENT, Record, records_of
from cqm.chunkers.github.rendering import facts_of, heading_of, name_of, symbol_of
from cqm.chunkers.model import ChunkOptions, Cut, Piece
from cqm.chunkers.splitting import line_start
from cqm.chunkers.tokens import QUARTERS, estimate, quarters

_LONG_COMMENT = 100
_SOLUTION = re.compile(r"solution|\bsolved\b|\bfixed (?:in|by|with)\b|workaround|解決|回避策|対処法", re.IGNORECASE)
_LEAST_BODY_TOKENS = 64
"""Minimum for a body, however long its heading is; no smaller chunk limit is allowed."""


def pieces_of_github(text: str, _language: str, options: ChunkOptions) -> Cut | None:
    """Cut the JSON of issues, requests and discussions, as written by `gh ... --json`, REST, GraphQL and exports.

    An issue, request or discussion is a piece. So is each comment longer than 100 characters, with a code block, by the
    author of the issue, with words of a solution, or chosen as the answer; other comments and reviews stay with the
    preceding text. A review comment is always one, unless it is a short reply at the same place. A text over the limit
    is divided like Markdown.

    `Piece.content` is Markdown; the spans are of the JSON and gapless.

    Parameters:
        text: JSON, or JSON lines.
        options: `max_tokens` limits the content; the JSON around it may be many times as long.
    """
    pieces: list[Piece] = []
    before: Record | None = None
    limit = options.max_tokens * QUARTERS
    for record in sorted(records_of(text), key=_start):
        body = encoded(text, *record.body) if record.body else Encoded("", _start(record))
        content = heading_of(record) + _readable(body.text)
        if before is not None and not _stands_alone(record, body.text, before):
            joined = f"{pieces[-1].content.rstrip()}\n\n{content}"
            if quarters(joined) <= limit:
                pieces[-1] = pieces[-1]._replace(content=joined)
                continue
        pieces.extend(_pieces(text, record, body, options))
        before = record
    return (_gapless(text, pieces), []) if pieces else None


def _start(record: Record) -> int:
    # If the comments come first, the JSON between them and the issue's text belongs to them.
    return record.body_entry if record.kind in ITEMS and record.body_follows else record.start


def _stands_alone(record: Record, body: str, before: Record) -> bool:
    if record.kind in ITEMS or record.number != before.number:
        return True
    if record.kind == REVIEW_COMMENT and (record.file, record.line) != (before.file, before.line):
        return True
    is_by_author = record.kind == COMMENT and bool(record.author) and record.author == record.issue_author
    is_telling = record.kind == ANSWER or len(body) > _LONG_COMMENT or "```" in body or bool(_SOLUTION.search(body))
    return bool(body.strip()) and (is_by_author or is_telling)


def _pieces(text: str, record: Record, body: Encoded, options: ChunkOptions) -> Iterator[Piece]:
    heading, start = heading_of(record), line_start(text, _start(record))
    whole = Piece(start, start, record.kind, symbol_of(record), facts=facts_of(record))
    if record.kind in ITEMS:
        whole = whole._replace(defines=(whole.symbol,))
    else:
        whole = whole._replace(headings=tuple(filter(None, (name_of(record),))))
    for first, last in pairwise(_divisions(heading, body.text, options)):
        content = _readable(body.text[first:last])
        if first == 0:
            yield whole._replace(content=f"{heading}{content}".rstrip() + "\n")
        else:
            at = body.source_of(first)
            yield whole._replace(start=at, end=at, content=content, defines=())


def _divisions(heading: str, body: str, options: ChunkOptions) -> list[int]:
    if quarters(heading) + quarters(body) <= options.max_tokens * QUARTERS:
        return [0, len(body)]
    least = min(options.max_tokens, _LEAST_BODY_TOKENS)
    room = max(options.max_tokens - estimate(heading), least)
    parts = pieces_of_markdown(body, replace(options, max_tokens=room, min_tokens=min(options.min_tokens, room)))
    return [0, *(part.start for part in parts[1:]), len(body)]


def _gapless(text: str, pieces: list[Piece]) -> list[Piece]:
    starts = [0, *(piece.start for piece in pieces[1:]), len(text)]
    spans = zip(pieces, pairwise(starts), strict=True)
    return [piece._replace(start=start, end=end) for piece, (start, end) in spans if start < end]


def _readable(body: str) -> str:
    # Browsers send line ends of two characters.
    return body.replace("\r\n", "\n")
