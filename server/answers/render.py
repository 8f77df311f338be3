"""Answers as compact text for agents, under a token budget. Hits cut by the budget are named, never dropped silently.

Lines of files stand between lines of CQM, which begin with the reply's mark (`boundary.py`). Names are escaped: none
can end its line.
"""

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from cqm.chunkers.tokens import estimate
from cqm.index.model.freshness import FreshState
from cqm.index.model.query import Answer, Confidence, Hit, Matched, Query, SearchMode
from cqm.index.text.names.parts import name_key
from cqm.index.tracing import traced
from cqm.server.answers.budget import clipped, kept_within, most_that_fit
from cqm.server.answers.passages import Passage, assemble, read_answer
from cqm.server.answers.status_text import freshness_text, stale_lines
from cqm.server.answers.worth import named_by
from cqm.server.boundary import SAMPLE_MARK, explain_mark, new_mark
from cqm.server.console import number, one_line
from cqm.server.times import ago

if TYPE_CHECKING:
    from cqm.index.evaluation.evaluation import Span

_TAIL_TOKENS = 56
"""Tokens reserved for the lines naming cut hits and the next step."""
_MOST_NAMES = 4
_LONGEST_NAME = 160
"""Characters of a symbol; a heading may be as long as a page."""
_LONG = 150
"""Characters of a question that is more than a sentence."""
_MANY = 10
"""Definitions of one name, which are told in a line each."""
_FEW = 5
"""Hits shown of an answer that may not be one."""
_FEW_BESIDE = 2
"""Others told beside the results that the question names."""
_DOUBT = {
    Confidence.LOW: "Note: few words of the question stand together anywhere; this may not answer it.",
    Confidence.NONE: "Note: nothing in the index seems to answer this. The nearest names follow.",
}
_COLUMNS = re.compile("(?<= ) |^ | $")


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
        query: the question.
        answer: its results.
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
    """A reply as it was written, with its passages; `is_all` where more room would show no more."""

    text: str
    passages: Sequence[Passage]
    is_all: bool


def _kept(query: Query, answer: Answer, token_budget: int, *, root: str, explain: bool, mark: str) -> _Reply:
    """Write an answer within its budget."""
    header = _marked_header(query, answer, root, mark)
    fixed = estimate(header) + _TAIL_TOKENS
    if is_no_answer(query, answer):
        places = list(map(place_line, answer.hits))

        def nearest(room: int) -> _Reply:
            names = _within(places, room - fixed, least=1)
            text = "\n".join([header, "", f"{mark} The nearest names:", *names, ""])
            return _Reply(text, (), len(names) == len(places))

        return kept_within(token_budget, nearest)
    heads = [_head(hit, explain=explain) for hit in answer.hits]
    costs = [estimate(f"{SAMPLE_MARK} {head}") for head in heads]
    read = read_answer(query.text, answer)

    def write(room: int) -> _Reply:
        passages, is_all = assemble(read, costs, room - fixed)
        blocks = ["\n".join(passage_lines(passage, mark, explain=explain)) for passage in passages]
        shown = sum(len(passage.hits) for passage in passages)
        left = heads[shown:]
        named = _within(left, room - fixed - sum(map(estimate, blocks)) - len(blocks), least=not blocks)
        is_cut = shown < len(read.worths)
        tail = _tail(named, len(left) - len(named), answer.next_cursor, token_budget, is_cut=is_cut)
        text = "\n\n".join([header, *blocks, *(f"{mark} {line}" for line in tail)]) + "\n"
        return _Reply(text, passages, is_all)

    return kept_within(token_budget, write)


def are_names(answer: Answer) -> bool:
    """Whether a page is nothing but many definitions of the name asked for: their lines can be read apart."""
    if len(answer.hits) < _MANY:
        return False
    key = name_key(answer.hits[0].symbol)
    return key in answer.asked_names and all(name_key(hit.symbol) == key and hit.line for hit in answer.hits)


def compact_line(hit: Hit) -> str:
    """Write a result in one line: `path:line  qualified name (kind)  declaration  chance`."""
    declared = one_line(" ".join(hit.signature.split()))
    at = (hit.line,) if hit.line else (hit.start_line, hit.end_line)
    return "  ".join(filter(None, (place(hit.path, *at), _name(hit), declared, worth(hit))))


def _compact(query: Query, answer: Answer, token_budget: int, root: str, mark: str) -> str:
    header = _marked_header(query, answer, root, mark)
    lines = [f"{mark} {compact_line(hit)}" for hit in answer.hits]

    def write(count: int) -> str:
        tail = [
            f"{mark} {line}" for line in _tail([], len(lines) - count, answer.next_cursor, token_budget, is_cut=True)
        ]
        return "\n".join([header, "", *lines[:count], *tail]) + "\n"

    return write(most_that_fit(len(lines), token_budget, write))


def shown_spans(query: Query, answer: Answer, token_budget: int, *, root: str = "") -> "list[Span]":
    """Lines of files shown by `render_answer`; hits which are only named don't count."""
    answer = trusted_part(query, answer)
    if not answer.hits:
        return []
    if are_names(answer):
        from cqm.index.evaluation.evaluation import Span  # only evaluations ask, here and below

        return [Span(hit.path, hit.line or hit.start_line, hit.line or hit.start_line) for hit in answer.hits]
    reply = _kept(query, answer, token_budget, root=root, explain=False, mark=SAMPLE_MARK)
    return [span for passage in reply.passages for span in _spans(passage)]


def is_no_answer(query: Query, answer: Answer) -> bool:
    """Whether the hits are only the nearest, so that their names are enough."""
    return answer.confidence is Confidence.NONE and not query.cursor


def trusted_part(query: Query, answer: Answer) -> Answer:
    """Return an answer with as many hits as it deserves.

    Later pages were asked for, and stay whole. So do answers to long texts, of which few words are ever found together.
    Beside results that the question names, a few others are told, but beside the frames of a trace none.
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
    # The next page goes on after what is shown.
    return replace(answer, hits=answer.hits[:count], parents=(), next_cursor=str(count))


def _marked_header(query: Query, answer: Answer, root: str, mark: str) -> str:
    return "\n".join([*header_lines(query, answer, root=root), explain_mark(mark)])


def _beside(answer: Answer) -> Iterator[Hit]:
    """Chunks which may be shown beside the hits."""
    for parent in answer.parents:
        yield from parent.others


def header_lines(query: Query, answer: Answer, *, root: str = "") -> Iterator[str]:
    """Describe the searched index, its freshness and completeness; a line for each reason to doubt the answer."""
    return map(one_line, _header_lines(query, answer, root))


def _header_lines(query: Query, answer: Answer, root: str) -> Iterator[str]:
    count = number(len(answer.hits), "result") if answer.hits else "No results"
    count = counted(answer.matched) if answer.matched else count
    where = f"{number(answer.chunks, 'chunk')} of {number(answer.files, 'file')}" + (f" in {root}" if root else "")
    is_stale = answer.freshness.state is FreshState.STALE
    fresh = f"updated {ago(answer.updated_at, now=time.time())}"
    fresh += "" if is_stale else f", {freshness_text(answer.freshness)}"
    asked = f"like {answer.like}, without itself" if answer.like else f"for {_quoted(query.text)}"
    yield f"{count} {asked} ({answer.mode.value}{_filters(query)}) from {where}, {fresh}."
    if answer.hits and answer.confidence is not Confidence.HIGH and not query.cursor:
        yield _DOUBT[answer.confidence]
    if answer.degraded:
        is_less = answer.mode is SearchMode.LEXICAL and query.mode is not answer.mode
        what = "searched by words alone: " if is_less else ""
        yield f"Note: {what}{answer.degraded.rstrip('.')}."
    if not answer.complete:
        yield "Note: the index is not complete yet; missing files cannot be found."
    yield from (f"Note: {line}" for line in stale_lines(answer.freshness))
    if answer.failed_files:
        yield f"Note: {answer.failed_files} file(s) could not be indexed; the status of the index lists them."


def counted(matched: Matched) -> str:
    """Count matching lines: "at least" where these may not be all."""
    if not matched.lines:
        return "No line" if matched.is_complete else "No line so far"
    least = "" if matched.is_complete else "At least "
    several = f" ({matched.matches:,} matches)" if matched.matches != matched.lines else ""
    return f"{least}{number(matched.lines, 'line')} of {number(matched.files, 'file')}{several}"


def advice_lines(query: Query, answer: Answer) -> Iterator[str]:
    """Suggest next steps when nothing was found."""
    if not answer.chunks:
        yield "The index is empty. Check its status: it lists skipped and failed files with the reasons."
        return
    if query.cursor:
        yield "There is no further page."
        return
    if filters := _filters(query):
        yield one_line(f"Try again without the filters ({filters.lstrip(', ')}).")
    yield "Try the name of a symbol or file, the text of an error message, or other words for the same thing."


def place_line(hit: Hit) -> str:
    """Name a hit in one line: `path:start-end  qualified name (kind)  chance`."""
    return f"{place(hit.path, hit.start_line, hit.end_line)}  {_name(hit)}  {worth(hit)}"


def worth(hit: Hit) -> str:
    """Write the chance of a hit to be the answer, or its score where no chance is known."""
    return f"{hit.score:.3f}" if hit.chance is None else f"{hit.chance:.2f}"


def place(path: str, *lines: int) -> str:
    """Name lines of a file: `path:start-end`, or `path:line`."""
    return f"{path_name(path)}:{'-'.join(map(str, lines))}"


def path_name(path: str) -> str:
    """Escape a path; quote it where it could be taken for more than a path."""
    shown = one_line(path)
    shown = _COLUMNS.sub(r"\\u0020", shown) if " " in shown else shown
    if shown == path and ":" not in path and '"' not in path:
        return path
    return '"' + shown.replace('"', '\\"') + '"'


def symbol_name(name: str) -> str:
    """Shorten a symbol's name and escape the ends of columns and lines."""
    name = name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
    name = one_line(name)
    return _COLUMNS.sub(r"\\u0020", name) if " " in name else name


def explanation_line(hit: Hit) -> str:
    """Name the parts of a hit's score; they add up to it."""
    return f"  score {hit.score:.3f} = " + " + ".join(f"{name} {part:.3f}" for name, part in hit.parts.items())


def passage_lines(passage: Passage, mark: str, *, explain: bool = False) -> Iterator[str]:
    """Write a passage: its place and enclosing declarations, then its lines, with a mark for each gap.

    Parameters:
        passage: to show.
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


def passage_head(passage: Passage) -> str:
    """Head a passage: `path:start-end  name (kind), name (kind)  chance`."""
    best = passage.hits[0]
    start, end = passage_place(passage)
    return f"{place(best.path, start, end)}  {passage_names(passage)}  {worth(best)}"


def passage_place(passage: Passage) -> tuple[int, int]:
    """First and last line of the file covered by a passage."""
    if passage.is_source:
        return passage.first, passage.last
    return passage.hits[0].start_line, max(hit.end_line for hit in passage.hits)


def passage_names(passage: Passage) -> str:
    """Name a passage: its parent, or its chunks in the order of the file, the first few of many."""
    if passage.parent:
        return f"{symbol_name(passage.parent)} (whole)"
    hits = sorted(passage.hits, key=lambda hit: hit.start_line)
    names = [*dict.fromkeys(map(_name, hits))]
    more = [f"{len(names) - _MOST_NAMES} more"] if len(names) > _MOST_NAMES else []
    return ", ".join(names[:_MOST_NAMES] + more)


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


def _name(hit: Hit) -> str:
    return f"{symbol_name(hit.symbol)} ({one_line(hit.kind)})" if hit.symbol else f"({one_line(hit.kind)})"


def _head(hit: Hit, *, explain: bool) -> str:
    return f"{place_line(hit)}\n{explanation_line(hit)}" if explain and hit.parts else place_line(hit)


def _within(heads: list[str], room: float, *, least: int) -> list[str]:
    """Take as many as fit, but at least `least`."""
    for count, head in enumerate(heads):
        room -= estimate(head)
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


def _filters(query: Query) -> str:
    named = {
        "language": ",".join(query.languages),
        "kind": ",".join(query.kinds),
        "source": ",".join(query.sources),
        "issue": ",".join(query.issues),
        "include": ",".join(query.include),
        "exclude": ",".join(query.exclude),
        "changed since": "" if query.changed_since is None else ago(query.changed_since, now=time.time()),
    }
    return "".join(f", {name} {value}" for name, value in named.items() if value)


def _quoted(text: str) -> str:
    """Quote the query on one line, shortened."""
    line = " ".join(text.split())
    return f'"{line}"' if len(line) <= 80 else f'"{line[:77]}..."'  # noqa: PLR2004 - a line's worth
