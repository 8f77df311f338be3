"""Join the answers of several roots: results with the root's name before each path, texts one below the other."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from pathlib import Path

from cqm.index.model.errors import FilterError, QueryError, UnknownNameError
from cqm.index.model.freshness import FreshState
from cqm.index.model.query import Answer, Confidence, Hit, Matched, Query, page_start
from cqm.index.text.names.parts import name_key
from cqm.server.console import one_line

_GRADES = (Confidence.HIGH, Confidence.LOW, Confidence.NONE)
_STATES = (FreshState.STALE, FreshState.UNKNOWN, FreshState.FRESH)
_MOST = 100


def names_of(roots: Sequence[Path]) -> list[str]:
    """Name roots by their folders, with as many folders above as tell them apart.

    names_of([Path("/home/me/api"), Path("/home/me/old/web"), Path("/home/me/web")])
    # ["api", "old/web", "me/web"]
    """
    names = []
    for root in roots:
        parts = root.parts[1:] or root.parts
        others = [other.parts for other in roots if other != root]
        sizes = range(1, len(parts) + 1)
        least = next((n for n in sizes if all(other[-n:] != parts[-n:] for other in others)), len(parts))
        names.append("/".join(parts[-least:]))
    return names


def of_each_root(query: Query) -> Query:
    """Return the query for each of several roots: enough results for the page wherever they come from.

    Raises:
        QueryError: the page begins behind the hundredth result, or the cursor is none.
    """
    if page_start(query.cursor) >= _MOST:
        raise QueryError(
            f"`cursor {query.cursor}`: expected one of the first {_MOST} results of several folders.",
            remedy="Search one of the folders.",
        )
    return replace(query, cursor="", limit=_end(query))


def _end(query: Query) -> int:
    return min(page_start(query.cursor) + query.limit, _MOST)


def each_answer(asks: Mapping[str, Callable[[], Answer]]) -> dict[str, Answer]:
    """Ask several roots; leave out those lacking all filters or the place to compare with, unless all lack them.

    Parameters:
        asks: how to ask each, by its name.

    Raises:
        FilterError, UnknownNameError: the filters keep nothing of any root, or none has the place.
    """
    answers, refusals = dict[str, Answer](), dict[str, FilterError | UnknownNameError]()
    for name, ask in asks.items():
        try:
            answers[name] = ask()
        except (FilterError, UnknownNameError) as error:
            refusals[name] = error
    if answers or not refusals:
        return answers
    first = next(iter(refusals.values()))
    remedies = told_once({name: error.remedy for name, error in refusals.items()})
    raise type(first)(first.message, remedy=" ".join(remedies), retryable=first.retryable)


def told_once(texts: Mapping[str, str]) -> list[str]:
    """Write texts of several roots, each once behind the names of its roots; without names where all say the same.

    Parameters:
        texts: by the name of their root; empty ones are left out.
    """
    roots: dict[str, list[str]] = {}
    for name, text in texts.items():
        roots.setdefault(text, []).append(name)
    if len(roots) == 1:
        return [text for text in roots if text]
    return [f"{', '.join(names)}: {text}" for text, names in roots.items() if text]


def below_each_other(texts: Mapping[str, str], mark: str) -> str:
    """Join the texts of several roots, each below its root's name; write sentences common to several once.

    Parameters:
        texts: by the name of their root, all written with the mark.
        mark: prefix of CQM's lines, where lines of files may stand above.
    """
    names: list[tuple[str, list[str]]] = []
    for name, text in texts.items():
        same = next((of for other, of in names if other == text and mark not in text), None) if mark else None
        if same is None:
            names.append((text, [one_line(name)]))
        else:
            same.append(one_line(name))
    heads = [f"{f'{mark} ' if number else ''}In {', '.join(of)}:" for number, (_, of) in enumerate(names)]
    return "\n".join(f"{head}\n{text}" for head, (text, _) in zip(heads, names, strict=True))


def within_root(what: str, name: str) -> str:
    """Return a path or place relative to a root where the root's name stands before it; empty where it does not."""
    return what.removeprefix(f"{name}/") if what.startswith(f"{name}/") else ""


def joined(query: Query, answers: Mapping[str, Answer]) -> Answer:
    """Join answers to a query of `of_each_root`, by the name of their root."""
    found = list(answers.values())
    ranked = _ranked_hits(answers)
    counts = [answer.matched for answer in found if answer.matched]
    first, end = page_start(query.cursor), _end(query)
    is_more = len(ranked) > end or any(answer.next_cursor for answer in found)
    worst = min(found, key=lambda answer: _STATES.index(answer.freshness.state))
    return Answer(
        hits=tuple(ranked[first:end]),
        next_cursor=str(end) if is_more and end < _MOST else "",
        mode=next((answer.mode for answer in found if answer.chunks and not answer.degraded), found[0].mode),
        degraded="; ".join(told_once({name: answer.degraded for name, answer in answers.items()})),
        files=sum(answer.files for answer in found),
        chunks=sum(answer.chunks for answer in found),
        complete=all(answer.complete for answer in found),
        failed_files=sum(answer.failed_files for answer in found),
        updated_at=min(answer.updated_at for answer in found),
        freshness=worst.freshness,
        confidence=min((answer.confidence for answer in found), key=_GRADES.index),
        matched=_total(counts) if counts else None,
        asked_names=tuple(dict.fromkeys(key for answer in found for key in answer.asked_names)),
        in_english=next((answer.in_english for answer in found if answer.in_english), ""),
    )


def _ranked_hits(answers: Mapping[str, Answer]) -> list[Hit]:
    """Return the hits of all roots with their root's name: the surest roots first, then by chance.

    At equal chance, definitions of the name asked for come before other texts with it.
    """
    graded = [
        (
            _GRADES.index(answer.confidence),
            -(hit.score if hit.chance is None else hit.chance),
            name_key(hit.symbol) not in answer.asked_names,
            replace(hit, path=f"{name}/{hit.path}"),
        )
        for name, answer in answers.items()
        for hit in answer.hits
    ]
    return [hit for *_, hit in sorted(graded, key=itemgetter(0, 1, 2))]


def _total(counts: Sequence[Matched]) -> Matched:
    return Matched(
        matches=sum(it.matches for it in counts),
        lines=sum(it.lines for it in counts),
        files=sum(it.files for it in counts),
        searched=sum(it.searched for it in counts),
        unread=sum(it.unread for it in counts),
        is_complete=all(it.is_complete for it in counts),
    )
