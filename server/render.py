"""Answers as compact text for agents, under a token budget. What the budget cuts is named, never dropped in silence."""

import time
from collections.abc import Iterator, Sequence

from cqm.chunkers.tokens import estimate
from cqm.index.evaluation import Span
from cqm.index.freshness import FreshState
from cqm.index.model import Answer, Hit, Query, SearchMode
from cqm.server.reports import freshness_text, stale_lines
from cqm.server.times import ago

_LEAST_EXCERPT = 40
"""Tokens; with less room than this a hit is named without its text."""
_TAIL_TOKENS = 80
"""Kept free for the lines that say what was cut and how to go on."""
_NAMES_SHARE = 0.33
"""Of the room at most, for hits that are only named: under a small budget lines say more than names."""


def render_answer(query: Query, answer: Answer, token_budget: int, *, root: str = "", explain: bool = False) -> str:
    """The answer as text: a header, then for each hit its place, symbol, kind and score, and its lines.

    Parameters:
        query: what was asked.
        answer: what was found.
        token_budget: estimated tokens that the text may have, given to the lines of the best hits; a part of it is kept
            for the names of the others.
        root: what was searched, for the header; empty to leave it out.
        explain: name the parts of each score.
    """
    header = "\n".join(header_lines(query, answer, root=root))
    if not answer.hits:
        return "\n".join([header, *advice_lines(query, answer)]) + "\n"
    heads, excerpts = _heads_and_excerpts(header, answer.hits, token_budget, explain=explain)
    blocks = [f"{head}\n{excerpt}" for head, excerpt in zip(heads, excerpts, strict=False)]
    tail = _tail(heads[len(excerpts) :], len(answer.hits) - len(heads), answer.next_cursor, token_budget)
    return "\n\n".join([header, *blocks, *tail]) + "\n"


def shown_spans(query: Query, answer: Answer, token_budget: int, *, root: str = "") -> list[Span]:
    """The lines that `render_answer` shows of the files; hits that it only names are not among them."""
    header = "\n".join(header_lines(query, answer, root=root))
    _, excerpts = _heads_and_excerpts(header, answer.hits, token_budget, explain=False)
    return [_shown_span(hit, excerpt) for hit, excerpt in zip(answer.hits, excerpts, strict=False)]


def header_lines(query: Query, answer: Answer, *, root: str = "") -> Iterator[str]:
    """What was searched and how fresh and complete it is; a line for each reason to doubt the answer."""
    count = f"{len(answer.hits)} result{'s' * (len(answer.hits) != 1)}" if answer.hits else "No results"
    where = f"{answer.chunks:,} chunks of {answer.files:,} files" + (f" in {root}" if root else "")
    is_stale = answer.freshness.state is FreshState.STALE
    fresh = f"updated {ago(answer.updated_at, now=time.time())}"
    fresh += "" if is_stale else f", {freshness_text(answer.freshness)}"
    yield f"{count} for {_quoted(query.text)} ({answer.mode.value}{_filters(query)}) from {where}, {fresh}."
    if answer.degraded:
        what = "searched by words alone: " if answer.mode is SearchMode.LEXICAL else ""
        yield f"Note: {what}{answer.degraded.rstrip('.')}."
    if not answer.complete:
        yield "Note: the index is not complete yet; what is missing from it cannot be found."
    yield from (f"Note: {line}" for line in stale_lines(answer.freshness))
    if answer.failed_files:
        yield f"Note: {answer.failed_files} file(s) could not be indexed; the status of the index lists them."


def advice_lines(query: Query, answer: Answer) -> Iterator[str]:
    """What to do when nothing was found."""
    if not answer.chunks:
        yield "The index is empty. Check its status: it says which files were skipped or failed, and why."
        return
    if query.cursor:
        yield "There is no further page."
        return
    if filters := _filters(query):
        yield f"Try again without the filters ({filters.lstrip(', ')})."
    yield "Try the name of a symbol or file, the text of an error message, or other words for the same thing."


def place_line(hit: Hit) -> str:
    """A hit in one line: `path:start-end  qualified name (kind)  score`."""
    what = f"{hit.symbol} ({hit.kind})" if hit.symbol else f"({hit.kind})"
    return f"{hit.path}:{hit.start_line}-{hit.end_line}  {what}  {hit.score:.3f}"


def explanation_line(hit: Hit) -> str:
    """The named parts that sum up to a hit's score."""
    return "  = " + " + ".join(f"{name} {part:.3f}" for name, part in hit.parts.items())


def _heads_and_excerpts(
    header: str, hits: Sequence[Hit], token_budget: int, *, explain: bool
) -> tuple[list[str], list[str]]:
    """The place lines of the hits that are named, and the lines of the first of them."""
    room = token_budget - estimate(header) - _TAIL_TOKENS
    heads = [_head(hit, explain=explain) for hit in hits]
    for_names = min(sum(map(estimate, heads)), int(_NAMES_SHARE * room))
    excerpts: list[str] = []
    for head, hit in zip(heads, hits, strict=True):
        # A hit with its lines takes nothing of what is kept for names.
        for_names = min(for_names, sum(map(estimate, heads[len(excerpts) + 1 :])))
        excerpt = _excerpt(hit.shown.rstrip(), room - for_names - estimate(head))
        if not excerpt:
            break
        excerpts.append(excerpt)
        room -= estimate(head) + estimate(excerpt)
        if excerpt != hit.shown.rstrip():
            break
    return [
        *heads[: len(excerpts)],
        *_within(heads[len(excerpts) :], max(room, for_names), least=not excerpts),
    ], excerpts


def _shown_span(hit: Hit, excerpt: str) -> Span:
    """The lines of a hit that its excerpt shows: all, or those above the line that tells of the cut."""
    is_whole = excerpt == hit.shown.rstrip()
    last = hit.end_line if is_whole else min(hit.end_line, hit.start_line + excerpt.count("\n") - 1)
    return Span(hit.path, hit.start_line, last)


def _head(hit: Hit, *, explain: bool) -> str:
    return f"{place_line(hit)}\n{explanation_line(hit)}" if explain and hit.parts else place_line(hit)


def _within(heads: list[str], room: int, *, least: int) -> list[str]:
    """As many as fit, at least so many."""
    for count, head in enumerate(heads):
        room -= estimate(head)
        if room < 0 and count >= least:
            return heads[:count]
    return heads


def _excerpt(text: str, room: int) -> str:
    """A text that fits, or its first lines and one that says how many more there are; empty when there is no room."""
    if estimate(text) <= room:
        return text
    if room < _LEAST_EXCERPT:
        return ""
    lines = text.split("\n")
    kept = 0
    for line in lines:
        room -= estimate(line + "\n")
        if room < 0:
            break
        kept += 1
    return "\n".join([*lines[:kept], f"[{len(lines) - kept} more lines cut by the token budget]"]) if kept else ""


def _tail(bare: list[str], unnamed: int, next_cursor: str, token_budget: int) -> Iterator[str]:
    if bare:
        yield "\n".join([f"Named only, their lines are beyond the budget of {token_budget} tokens:", *bare])
    if unnamed:
        yield f"{unnamed} more results are beyond the budget of {token_budget} tokens: ask for fewer at a time."
    if next_cursor:
        yield f'More results: ask again with cursor "{next_cursor}".'


def _filters(query: Query) -> str:
    named = {
        "language": ",".join(query.languages),
        "kind": ",".join(query.kinds),
        "source": ",".join(query.sources),
        "include": ",".join(query.include),
        "exclude": ",".join(query.exclude),
        "changed since": "" if query.changed_since is None else ago(query.changed_since, now=time.time()),
    }
    return "".join(f", {name} {value}" for name, value in named.items() if value)


def _quoted(text: str) -> str:
    """The query on one line, shortened."""
    line = " ".join(text.split())
    return f'"{line}"' if len(line) <= 80 else f'"{line[:77]}..."'  # noqa: PLR2004 - a line's worth
