"""`cqm search`, once its options are read."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Event
from typing import BinaryIO

from cqm.index.disk.locations import index_folder, is_index
from cqm.index.model.errors import QueryError, StoreError
from cqm.index.model.freshness import judged
from cqm.index.model.query import Answer, Query
from cqm.index.remote.deadline import DeadlineError, awaited, begun
from cqm.server.cli.progress import bring_up_to_date
from cqm.server.config.usual import AskedSettings
from cqm.server.console import emit
from cqm.server.owner.open import OpenedIndex, open_index
from cqm.server.times import parse_when

_COLORS = {"auto": None, "always": True, "never": False}


@dataclass(frozen=True, slots=True)
class Asked:
    """Options of `cqm search` on the command line; limit and mode are in the settings, `around` is `--context`."""

    query: str | None
    like: str | None
    batch: BinaryIO | None
    languages: tuple[str, ...]
    kinds: tuple[str, ...]
    sources: tuple[str, ...]
    issues: tuple[str, ...]
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    changed_since: str | None
    cursor: str
    explain: bool
    no_update: bool
    as_json: bool
    wait: float | None = None
    around: int | None = None
    form: str | None = None
    color: str = "auto"


def search(places: Sequence[tuple[Path, AskedSettings]], asked: Asked) -> int:
    """Bring the indexes of some roots up to date, and answer a question or a batch of them from all of them."""
    roots = [root for root, _ in places]
    query = _query(places[0][1], asked)
    if len(places) > 1 and query.like:
        raise QueryError("--like with several --path: expected one.", remedy="Search the folder of the place.")
    with ExitStack() as stack:
        each = [partial(_ask, *stack.enter_context(_ready(root, settings, asked)), asked) for root, settings in places]

        def ask(query: Query) -> Answer:
            if len(each) == 1:
                return each[0](query)
            from cqm.server.answers.merged import each_answer, joined, names_of, of_each_root

            named = zip(names_of(roots), each, strict=True)
            return joined(query, each_answer({name: partial(one, of_each_root(query)) for name, one in named}))

        if asked.batch:
            from cqm.server.cli.batch import answer_batch  # start-up time, here and below

            return 1 if answer_batch(asked.batch, ask, query, explain=asked.explain) else 0
        answer = ask(query)
    _show(", ".join(map(str, roots)), places[0][1], asked, query, answer)
    return 0


@contextmanager
def _ready(root: Path, settings: AskedSettings, asked: Asked) -> Iterator[tuple[OpenedIndex, Callable[[], bool]]]:
    """Open an index, brought up to date as far as wanted; see `_in_step`."""
    if asked.no_update and not is_index(index_folder(root, settings.index_options(root))):
        raise _not_indexed(root)
    with open_index(root, settings) as opened, _in_step(opened, asked) as is_compared:
        yield opened, is_compared


def _moment(changed_since: str | None) -> float | None:
    return parse_when(changed_since, now=time.time(), option="--changed-since") if changed_since else None


def _query(settings: AskedSettings, asked: Asked) -> Query:
    return Query(
        text=asked.query or "",
        like=asked.like or "",
        limit=settings.search.limit,
        mode=settings.search.mode,
        cursor=asked.cursor,
        languages=asked.languages,
        kinds=asked.kinds,
        sources=asked.sources,
        issues=tuple(name.lstrip("#!") for name in asked.issues),
        include=asked.include,
        exclude=asked.exclude,
        changed_since=_moment(asked.changed_since),
        around=asked.around,
    )


@contextmanager
def _in_step(opened: OpenedIndex, asked: Asked) -> Iterator[Callable[[], bool]]:
    """Bring an index up to date as far as wanted; yield a function telling whether it is.

    An update longer than the wait goes on until the answer is there; the next run does the rest.
    """
    if asked.no_update or asked.wait is None:
        summary = None if asked.no_update else bring_up_to_date(opened)
        yield lambda: summary is not None
        return
    ended = Event()
    update = begun(lambda: opened.update(cancelled=ended.is_set), "update")
    try:
        with suppress(DeadlineError):
            awaited(update, asked.wait)
        yield update.done
    finally:
        ended.set()
        update.result()


def _ask(opened: OpenedIndex, is_compared: Callable[[], bool], asked: Asked, query: Query) -> Answer:
    try:
        query.text.encode()
    except UnicodeEncodeError as error:
        raise QueryError(f"QUERY: expected valid Unicode: {error.reason}.") from error
    pending = 0 if is_compared() else None
    answer = opened.search(query)
    if asked.no_update and not answer.updated_at:
        raise _not_indexed(opened.root)
    return replace(answer, freshness=judged(answer.freshness, pending))


def _not_indexed(root: Path) -> StoreError:
    return StoreError(f"{root} is not indexed.", remedy="Run `cqm index`, or leave out --no-update.")


def _show(root: str, settings: AskedSettings, asked: Asked, query: Query, answer: Answer) -> None:
    if asked.as_json:
        from cqm.server.answers.as_json import answer_object

        emit(answer_object(query, answer, explain=asked.explain))
    elif query.mode.is_of_lines:
        from cqm.server.answers.matched_lines import matched_text

        budget = None if sys.stdout.isatty() else settings.server.token_budget
        sys.stdout.write(matched_text(query, answer, budget, root=root))
    elif (sys.stdout.isatty() or asked.color == "always") and not asked.form:
        from cqm.server.answers.terminal import show_answer

        show_answer(query, answer, root=root, explain=asked.explain, color=_COLORS[asked.color])
    else:
        from cqm.server.answers.render import render_answer

        budget = settings.server.token_budget
        compact = asked.form == "compact" if asked.form else None
        sys.stdout.write(render_answer(query, answer, budget, root=root, explain=asked.explain, compact=compact))
