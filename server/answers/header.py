"""The header of an answer: scope of the search, freshness, completeness, and advice where nothing was found."""

import time
from collections.abc import Iterator

from cqm.index.model.freshness import FreshState
from cqm.index.model.query import Answer, Confidence, Matched, Query, SearchMode
from cqm.server.answers.status_text import freshness_text, stale_lines
from cqm.server.console import number, one_line
from cqm.server.times import ago

_DOUBT = {
    Confidence.LOW: "Note: few words of the question stand together anywhere; this may not answer it.",
    Confidence.NONE: "Note: nothing in the index seems to answer this. The nearest names follow.",
}


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
    if answer.in_english:
        yield f"Note: asked in English: {_quoted(answer.in_english)}."
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
