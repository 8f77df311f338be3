"""Matches of a text or a pattern, as grep prints them: by file, with line numbers, under the symbol around them."""

from collections.abc import Iterator, Sequence

from cqm.index.model.query import Answer, Hit, Query, SearchMode
from cqm.server.answers.budget import tokens_of_lines
from cqm.server.answers.header import header_lines
from cqm.server.answers.names import path_name, symbol_name
from cqm.server.boundary import explain_mark, new_mark
from cqm.server.console import one_line, visible

_TAIL_TOKENS = 40


def matched_text(query: Query, answer: Answer, token_budget: int | None, *, root: str = "", mark: str = "") -> str:
    """Write the page of matching lines: ":" after the number of a matching line, "-" after one around it.

    Parameters:
        token_budget: estimated tokens for the whole text; None for any number. Lines beyond it are on the next page.
        root: the searched root, for the header; empty to leave it out.
        mark: prefix of CQM's lines, where lines of files may stand above; a new one when empty.
    """
    head = list(header_lines(query, answer, root=root))
    if not answer.hits:
        return "\n".join([*head, *_advice(query)]) + "\n"
    mark = mark or new_mark(hit.text for hit in answer.hits)
    head.append(explain_mark(mark))
    budget = token_budget or sum(len(hit.text) + len(hit.path) + 400 for hit in answer.hits)
    room = budget - tokens_of_lines(head) - _TAIL_TOKENS
    shown = _fitting(answer.hits, mark, room)
    lines = [line for place in range(shown) for line in _lines_of(answer.hits, place, mark)]
    first = int(query.cursor or 0)
    following = str(first + shown) if shown < len(answer.hits) else answer.next_cursor
    tail = [f'\n{mark} More lines: ask again with cursor "{following}".'] if following else []
    return "\n".join([*head, *lines, *tail]) + "\n"


def _advice(query: Query) -> Iterator[str]:
    if query.cursor:
        yield "There is no further page."
    elif query.mode is SearchMode.EXACT:
        yield "Upper and lower case count. Try a part of it, mode regex with (?i), or mode hybrid for other words."
    else:
        yield "A match stands within one line, unless the pattern has \\n. Try (?i), a part of it, or mode hybrid."


def _fitting(hits: Sequence[Hit], mark: str, room: float) -> int:
    """Count the fitting hits, at least one."""
    for count in range(1, len(hits) + 1):
        room -= tokens_of_lines(list(_lines_of(hits, count - 1, mark)))
        if room < 0:
            return max(1, count - 1)
    return len(hits)


def _lines_of(hits: Sequence[Hit], place: int, mark: str) -> Iterator[str]:
    """Write one hit: below a new path or symbol, without lines shown before it or below the hit after it."""
    hit = hits[place]
    before = hits[place - 1] if place and hits[place - 1].path == hit.path else None
    after = hits[place + 1] if place + 1 < len(hits) and hits[place + 1].path == hit.path else None
    if before is None:
        yield f"\n{mark} {path_name(hit.path)}"
    if before is None or before.symbol != hit.symbol:
        around = f"{symbol_name(hit.symbol)} ({one_line(hit.kind)})" if hit.kind else symbol_name(hit.symbol)
        yield f"{mark} in {around}" if hit.symbol else f"{mark} top level"
    matching = {line for line, _, _ in hit.matches}
    first = max(hit.start_line, before.end_line + 1) if before else hit.start_line
    if before and matching:
        first = min(first, *matching)
    last = min(hit.end_line, after.matches[0][0] - 1) if after and after.matches else hit.end_line
    for number, text in enumerate(hit.text.split("\n"), hit.start_line):
        if first <= number <= max(last, *matching, 0):
            is_cut = any(each.startswith(f"{number}:") for each in _cuts(hit))
            yield f"{number}{':' if number in matching else '-'}{'…' * is_cut}{visible(text)}"


def _cuts(hit: Hit) -> Sequence[str]:
    cut = hit.metadata.get("cut", ())
    return cut if isinstance(cut, tuple) else ()
