"""Answers as compact text for agents, under a token budget. Hits cut by the budget are named, never dropped silently.

Lines of files stand between lines of CQM, which begin with the reply's mark (`boundary.py`). Names are escaped: none
can end its line.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from cqm.index.model.query import Answer, Confidence, Hit, Query
from cqm.index.text.names.parts import name_key
from cqm.index.tracing import traced
from cqm.server.answers.budget import clipped, most_that_fit, most_tokens
from cqm.server.answers.header import advice_lines, header_lines
from cqm.server.answers.names import hit_name, passage_head, place, place_line, worth
from cqm.server.answers.passages import Passage, assemble, read_answer
from cqm.server.answers.worth import NAMING_TOKENS, named_by
from cqm.server.boundary import SAMPLE_MARK, explain_mark, new_mark
from cqm.server.console import number, one_line

if TYPE_CHECKING:
    from cqm.index.evaluation.evaluation import Span

_CURSOR_TOKENS = 18
"""Tokens of the line telling how to go on, with its mark."""
_LONG = 150
"""Characters beyond which a question is more than a sentence."""
_MANY = 10
"""Number of definitions of one name above which each gets one line."""
_FEW = 5
"""Hits shown of a doubtful answer."""
_FEW_BESIDE = 2
"""Further results shown after those named in the question."""


@traced("cqm.render")
def render_answer(
    query: Query,
    answer: Answer,
    token_budget: int,
    *,
    root: str = "",
    explain: bool = False,
    mark: str = "",
    compact: bool | None = None,
) -> str:
    """Write an answer: a header, then each passage with its place, symbols, kinds, chance and lines.

    Parameters:
        token_budget: tokens of the whole text, mostly for the lines of the best hits; a part is kept for the names of
            the others.
        root: the searched root, for the header; empty to leave it out.
        explain: name the parts of each score.
        mark: prefix of CQM's lines below the header; a new one when empty.
        compact: write a line for each result, see `compact_line`; None where all of a page are named as asked for.
    """
    if not answer.hits:
        return "\n".join([*header_lines(query, answer, root=root), *advice_lines(query, answer)]) + "\n"
    answer = trusted_part(query, answer)
    if are_names(answer) if compact is None else compact:
        return _compact(query, answer, token_budget, root, mark or new_mark(hit.signature for hit in answer.hits))
    mark = mark or new_mark(text for hit in (*answer.hits, *_beside(answer)) for text in (hit.shown, hit.context))
    text = _kept(query, answer, token_budget, root=root, explain=explain, mark=mark).text
    # The parts of a score take a hundred tokens, which a small budget has not beside the lines.
    return clipped(text, token_budget) if explain else text


class _Reply(NamedTuple):
    """A reply as it was written, with its passages."""

    text: str
    passages: Sequence[Passage] = ()


def _kept(query: Query, answer: Answer, token_budget: int, *, root: str, explain: bool, mark: str) -> _Reply:
    """Write an answer within its budget."""
    header = _marked_header(query, answer, root, mark)
    room = token_budget - most_tokens(header) - (_CURSOR_TOKENS if answer.next_cursor else 0)
    if is_no_answer(query, answer):
        intro = f"{mark} The nearest names:"
        names = _within(list(map(place_line, answer.hits)), room - most_tokens(intro), least=1)
        return _Reply("\n".join([header, "", intro, *names, ""]))
    heads = [_head(hit, explain=explain) for hit in answer.hits]
    read = read_answer(answer.in_english or query.text, answer)
    passages, used = assemble(read, [most_tokens(f"{SAMPLE_MARK} {head}") for head in heads], room)
    blocks = ["\n".join(passage_lines(passage, mark, explain=explain)) for passage in passages]
    shown = sum(len(passage.hits) for passage in passages)
    left = heads[shown:]
    named = _within(left, room - used - NAMING_TOKENS, least=not blocks)
    is_cut = shown < len(read.worths)
    tail = _tail(named, len(left) - len(named), answer.next_cursor, token_budget, is_cut=is_cut)
    return _Reply("\n\n".join([header, *blocks, *(f"{mark} {line}" for line in tail)]) + "\n", passages)


def are_names(answer: Answer) -> bool:
    """Whether a page is nothing but many definitions of the name asked for: their lines can be read apart."""
    if len(answer.hits) < _MANY:
        return False
    key = name_key(answer.hits[0].symbol)
    return key in answer.asked_names and all(name_key(hit.symbol) == key and hit.signature for hit in answer.hits)


def compact_line(hit: Hit) -> str:
    """Write a result in one line: `path:line  qualified name (kind)  declaration  chance`."""
    declared = one_line(" ".join(hit.signature.split()))
    at = (hit.line,) if hit.line else (hit.start_line, hit.end_line)
    return "  ".join(filter(None, (place(hit.path, *at), hit_name(hit), declared, worth(hit))))


def _once(hits: Sequence[Hit]) -> list[Hit]:
    """Return hits with the first of each definition alone: a long one is found in several chunks."""
    places = [(hit.path, hit.line, hit.symbol) for hit in hits]
    return [hit for number, hit in enumerate(hits) if not hit.line or places.index(places[number]) == number]


def _compact(query: Query, answer: Answer, token_budget: int, root: str, mark: str) -> str:
    header = _marked_header(query, answer, root, mark)
    lines = [f"{mark} {compact_line(hit)}" for hit in _once(answer.hits)]

    def write(count: int) -> str:
        tail = [
            f"{mark} {line}" for line in _tail([], len(lines) - count, answer.next_cursor, token_budget, is_cut=True)
        ]
        return "\n".join([header, "", *lines[:count], *tail]) + "\n"

    return write(most_that_fit(len(lines), token_budget, write))


def shown_spans(query: Query, answer: Answer, token_budget: int) -> "list[Span]":
    """Return the lines of files shown by `render_answer`; hits which are only named don't count."""
    answer = trusted_part(query, answer)
    if not answer.hits:
        return []
    if are_names(answer):
        from cqm.index.evaluation.evaluation import Span  # only evaluations ask, here and below

        return [Span(hit.path, hit.line or hit.start_line, hit.line or hit.start_line) for hit in answer.hits]
    reply = _kept(query, answer, token_budget, root="", explain=False, mark=SAMPLE_MARK)
    return [span for passage in reply.passages for span in _spans(passage)]


def is_no_answer(query: Query, answer: Answer) -> bool:
    """Whether the hits are only the nearest ones: their names are enough then."""
    return answer.confidence is Confidence.NONE and not query.cursor


def trusted_part(query: Query, answer: Answer) -> Answer:
    """Return an answer with as many hits as it deserves.

    Later pages were asked for, and stay whole. So do answers to long texts: few of their words are ever found together.
    After results named in the question, a few others are shown; after the frames of a trace none.
    """
    if named := 0 if query.cursor else named_by(query.text, answer):
        is_trace = named > 1 and answer.hits[0].asked_line is not None
        return _first(answer, named if is_trace else max(named + _FEW_BESIDE, _FEW))
    is_long = len(query.text) > _LONG and answer.confidence is Confidence.LOW
    if answer.confidence is Confidence.HIGH or query.cursor or is_long:
        return answer
    return _first(answer, _FEW)


def _first(answer: Answer, count: int) -> Answer:
    if len(answer.hits) <= count:
        return answer
    # The next page goes on after the shown hits.
    return replace(answer, hits=answer.hits[:count], parents=(), next_cursor=str(count))


def _marked_header(query: Query, answer: Answer, root: str, mark: str) -> str:
    return "\n".join([*header_lines(query, answer, root=root), explain_mark(mark)])


def _beside(answer: Answer) -> Iterator[Hit]:
    """Yield the chunks which may be shown beside the hits."""
    for parent in answer.parents:
        yield from parent.others


def explanation_line(hit: Hit) -> str:
    """Name the parts of a hit's score; they add up to it."""
    return f"  score {hit.score:.3f} = " + " + ".join(f"{name} {part:.3f}" for name, part in hit.parts.items())


def passage_lines(passage: Passage, mark: str, *, explain: bool = False) -> Iterator[str]:
    """Write a passage: its place and enclosing declarations, then its lines, with a mark for each gap.

    Parameters:
        mark: prefix of each line not from the file.
        explain: name the parts of each score.
    """
    yield f"{mark} {passage_head(passage)}"
    if explain:
        yield from (f"{mark} {line}" for line in explanation_lines(passage))
    if passage.enclosing:
        yield f"{mark} [in {passage.enclosing}]"
    following = passage.first
    for piece in passage.pieces:
        yield from (f"{mark} {line}" for line in left_out(following, piece.start - 1, numbered=passage.is_source))
        yield from piece.lines
        following = piece.last + 1
    yield from (f"{mark} {line}" for line in left_out(following, passage.last, numbered=passage.is_source))


def explanation_lines(passage: Passage) -> Iterator[str]:
    """Explain the score of each hit of a passage, best first; name the hit where there are several."""
    for hit in passage.hits:
        if hit.parts:
            yield f"{place_line(hit)}{explanation_line(hit)}" if len(passage.hits) > 1 else explanation_line(hit)


def left_out(first: int, last: int, *, numbered: bool) -> Iterator[str]:
    """Mark lines left out; nothing where there are none."""
    if first > last:
        return
    which = number(last - first + 1, "line")
    if numbered:
        which = f"lines {first}-{last}" if last > first else f"line {first}"
    yield f"[{which} left out]"


def _spans(passage: Passage) -> "list[Span]":
    from cqm.index.evaluation.evaluation import Span

    path = passage.hits[0].path
    if passage.is_source:
        return [Span(path, piece.start, piece.last) for piece in passage.pieces]
    # Lines of a content aren't the file's: count as many lines of the chunk, from its first.
    (hit,) = passage.hits
    shown = sum(len(piece.lines) for piece in passage.pieces)
    is_whole = shown == passage.last
    return [Span(path, hit.start_line, hit.end_line if is_whole else min(hit.end_line, hit.start_line + shown - 1))]


def _head(hit: Hit, *, explain: bool) -> str:
    return f"{place_line(hit)}\n{explanation_line(hit)}" if explain and hit.parts else place_line(hit)


def _within(heads: list[str], room: float, *, least: int) -> list[str]:
    """Take as many as fit, but at least `least`."""
    for count, head in enumerate(heads):
        room -= most_tokens(head)
        if room < 0 and count >= least:
            return heads[:count]
    return heads


def _tail(bare: list[str], unnamed: int, next_cursor: str, token_budget: int, *, is_cut: bool) -> Iterator[str]:
    if bare:
        why = f"their lines are beyond the budget of {token_budget:,} tokens" if is_cut else "less likely"
        yield "\n".join([f"Named only, {why}:", *bare])
    if unnamed:
        yield f"{unnamed} more results are beyond the budget of {token_budget:,} tokens: ask for fewer at a time."
    if next_cursor:
        yield f'More results: ask again with cursor "{next_cursor}".'
