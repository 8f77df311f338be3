"""Commands of `cqm`, once their options are read. Each returns an exit code."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Event
from typing import BinaryIO, TypeVar

from cqm.index.disk.locations import index_folder, is_index
from cqm.index.model.changes import ChangesQuery
from cqm.index.model.errors import IndexInUseError, QueryError, StoreError
from cqm.index.model.freshness import judged
from cqm.index.model.progress import UpdateSummary, Usage
from cqm.index.model.query import Answer, FileProblem, Query, SkipReason, UsesQuery
from cqm.index.model.secrets import RedactedFile
from cqm.index.model.status import IndexStatus
from cqm.index.model.symbols import OutlineQuery, ReadQuery
from cqm.index.remote.deadline import DeadlineError, awaited, begun
from cqm.server.answers.as_json import answer_object, status_object
from cqm.server.answers.changes import changes_text
from cqm.server.answers.matched_lines import matched_text
from cqm.server.answers.merged import joined, names_of, of_each_root
from cqm.server.answers.outline import outline_text
from cqm.server.answers.reading import reading_text
from cqm.server.answers.render import render_answer
from cqm.server.answers.status_text import (
    estimate_lines,
    problem_lines,
    secret_lines,
    status_lines,
    summary_lines,
    watch_lines,
)
from cqm.server.answers.usages import usage_text
from cqm.server.cli.batch import answer_batch
from cqm.server.cli.progress import Report, interruptible, progress_shown
from cqm.server.config.settings import Settings
from cqm.server.console import emit, say, show
from cqm.server.errors import SettingsError
from cqm.server.owner.open import OpenedIndex, open_index
from cqm.server.times import parse_when

Found = TypeVar("Found")


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


def index(root: Path, settings: Settings, *, as_json: bool, anew: bool = False, retry: bool = False) -> int:
    """Update an index, rebuild it, or retry its failed files, and print a summary."""
    opening = open_index(root, settings, adopts=True)
    with opening as opened, interruptible() as cancelled, progress_shown() as report:
        opened.retry_models()
        failed = [problem.path for problem in opened.status().failed] if retry else None
        summary = _update(opened, report, cancelled, anew=anew, paths=failed)
        if summary.lacking and not summary.dropped:
            summary = _improve(opened, summary, report, cancelled)
    if as_json:
        emit(summary)
    else:
        show(summary_lines(str(root), summary))
    return 1 if summary.failed or summary.dropped else 0


def estimate(root: Path, settings: Settings, *, as_json: bool) -> int:
    """Estimate an update's requests to models, without making any."""
    with open_index(root, settings) as opened:
        found = opened.estimate()
    if as_json:
        emit(found)
    else:
        show(estimate_lines(str(root), found))
    return 0


def search(places: Sequence[tuple[Path, Settings]], asked: Asked) -> int:
    """Bring the indexes of some roots up to date, and answer a question or a batch of them from all of them."""
    roots = [root for root, _ in places]
    query = _query(places[0][1], asked)
    if len(places) > 1 and query.like:
        raise QueryError("--like with several --path: expected one.", remedy="Search the folder of the place.")
    with ExitStack() as stack:
        each = [partial(_ask, *stack.enter_context(_ready(root, settings, asked)), asked) for root, settings in places]
        named = dict(zip(names_of(roots), each, strict=True))

        def ask(query: Query) -> Answer:
            if len(each) == 1:
                return each[0](query)
            return joined(query, {name: ask_one(of_each_root(query)) for name, ask_one in named.items()})

        if asked.batch:
            return 1 if answer_batch(asked.batch, ask, query, explain=asked.explain) else 0
        answer = ask(query)
    _show(", ".join(map(str, roots)), places[0][1], asked, query, answer)
    return 0


@contextmanager
def _ready(root: Path, settings: Settings, asked: Asked) -> Iterator[tuple[OpenedIndex, Callable[[], bool]]]:
    """Open an index, brought up to date as far as wanted; see `_in_step`."""
    if asked.no_update and not is_index(index_folder(root, settings.index_options(root))):
        raise _not_indexed(root)
    with open_index(root, settings) as opened, _in_step(opened, asked) as is_compared:
        yield opened, is_compared


def usages(query: UsesQuery, root: Path, settings: Settings, *, as_json: bool) -> int:
    """Bring the index up to date, and list definitions and references of a symbol."""
    return _tell(
        lambda opened: opened.usages(query.name, query.limit, query.cursor, query.groups, query.depth),
        lambda found: usage_text(found, start=int(query.cursor or 0)),
        root,
        settings,
        as_json=as_json,
    )


def outline(query: OutlineQuery, root: Path, settings: Settings, *, as_json: bool) -> int:
    """Bring the index up to date, and list the symbols of a file, or the most used ones of a folder."""
    budget = settings.server.token_budget
    text = partial(outline_text, token_budget=budget, root=str(root))
    return _tell(lambda opened: opened.outline(query), text, root, settings, as_json=as_json)


def read(query: ReadQuery, root: Path, settings: Settings, *, as_json: bool) -> int:
    """Bring the index up to date, and print a symbol, lines or a file."""
    text = partial(reading_text, token_budget=settings.server.token_budget)
    asked = replace(query, tokens=settings.server.token_budget)
    return _tell(lambda opened: opened.read(asked), text, root, settings, as_json=as_json)


def changes(query: ChangesQuery, root: Path, settings: Settings, *, as_json: bool) -> int:
    """Bring the index up to date, and print commits and the lines that the first one changed."""
    text = partial(changes_text, token_budget=settings.server.token_budget)
    return _tell(lambda opened: opened.changes(query), text, root, settings, as_json=as_json)


def _tell(
    ask: Callable[[OpenedIndex], Found], text: Callable[[Found], str], root: Path, settings: Settings, *, as_json: bool
) -> int:
    """Bring the index up to date, ask it, and print what it found."""
    with open_index(root, settings) as opened:
        bring_up_to_date(opened)
        found = ask(opened)
    if as_json:
        emit(found)
    else:
        sys.stdout.write(text(found))
    return 0


def status(root: Path, settings: Settings, *, failed: bool, skipped: bool, secrets: bool, as_json: bool) -> int:
    """Print the status of an index; without a look at the disk while another process has it open."""
    found, left_out, redacted = _status(root, settings)
    if as_json:
        listed = {"skipped_files": left_out} if skipped else {}
        emit(status_object(found, **listed, **({"secrets": redacted} if secrets else {})))
        return 0
    show(status_lines(found, all_failed=failed))
    if skipped:
        show(problem_lines("skipped", left_out, most=None))
    if secrets:
        show(secret_lines(redacted, [it.path for it in left_out if it.reason == SkipReason.SECRET]))
    return 0


def watch(root: Path, settings: Settings, *, as_json: bool) -> int:
    """Follow the files of a folder until Ctrl-C, and report each update."""
    from cqm.server.watching.reports import WatchReport  # start-up time

    if root.is_file() or not settings.watch.enabled:
        remedy = "Name a folder, and leave watch.enabled true."
        raise SettingsError(f"{root}: expected a folder to watch, with watch.enabled true.", remedy=remedy)

    def report(said: WatchReport) -> None:
        if as_json:
            emit(said)
        else:
            show(watch_lines(said.message, said.paths, said.summary))

    with open_index(root, settings, adopts=True) as opened:
        report(WatchReport(summary=bring_up_to_date(opened)))
        opened.follow(settings.watch_options(), report)
        while True:
            # An endless wait couldn't be interrupted on Windows.
            time.sleep(1)


def _moment(changed_since: str | None) -> float | None:
    return parse_when(changed_since, now=time.time(), option="--changed-since") if changed_since else None


def _query(settings: Settings, asked: Asked) -> Query:
    return Query(
        text=asked.query or "",
        like=asked.like or "",
        limit=settings.search.limit,
        mode=settings.search.mode,
        cursor=asked.cursor,
        languages=tuple(name.lower() for name in asked.languages),
        kinds=tuple(name.lower() for name in asked.kinds),
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


def bring_up_to_date(opened: OpenedIndex) -> UpdateSummary:
    """Update an index and show the progress; Ctrl-C stops at the next file."""
    with interruptible() as cancelled, progress_shown() as report:
        return _update(opened, report, cancelled)


def _update(
    opened: OpenedIndex,
    report: Report,
    cancelled: Callable[[], bool],
    *,
    anew: bool = False,
    paths: Sequence[str] | None = None,
) -> UpdateSummary:
    summary = opened.update(paths, anew=anew, report=report, cancelled=cancelled)
    for note in summary.notes:
        say(note)
    if summary.cancelled and anew:
        say("Stopped; the index is unchanged.")
        raise KeyboardInterrupt
    if summary.cancelled or cancelled():
        say("Stopped; indexed files are kept, and the next run does the rest.")
        raise KeyboardInterrupt
    return summary


def _improve(
    opened: OpenedIndex, summary: UpdateSummary, report: Report, cancelled: Callable[[], bool]
) -> UpdateSummary:
    """Improve waiting chunks; return the summary with the rest and the cost added."""
    improved = opened.improve(report=report, cancelled=cancelled)
    if cancelled():
        say(f"Stopped; {improved.lacking:,} chunks still wait for their model; they are searchable as they are.")
        raise KeyboardInterrupt
    names = summary.usage.keys() | improved.usage.keys()
    usage = {name: summary.usage.get(name, Usage()) + improved.usage.get(name, Usage()) for name in sorted(names)}
    status = opened.status()
    return replace(
        summary,
        failed=status.failed,
        models=status.models,
        embedded=summary.embedded + improved.embedded,
        lacking=improved.lacking,
        usage=usage,
        seconds=summary.seconds + improved.seconds,
    )


def _show(root: str, settings: Settings, asked: Asked, query: Query, answer: Answer) -> None:
    if asked.as_json:
        emit(answer_object(query, answer, explain=asked.explain))
    elif query.mode.is_of_lines:
        budget = None if sys.stdout.isatty() else settings.server.token_budget
        sys.stdout.write(matched_text(query, answer, budget, root=root))
    elif sys.stdout.isatty() and not asked.form:
        from cqm.server.answers.terminal import show_answer  # start-up time

        show_answer(query, answer, root=root, explain=asked.explain)
    else:
        budget = settings.server.token_budget
        compact = asked.form == "compact" if asked.form else None
        sys.stdout.write(render_answer(query, answer, budget, root=root, explain=asked.explain, compact=compact))


def _status(root: Path, settings: Settings) -> tuple[IndexStatus, tuple[FileProblem, ...], tuple[RedactedFile, ...]]:
    """Read the status of an index, its skipped files, and its files with redacted secrets."""
    found = _last_status(root, settings)
    if not found.exists:
        return found, (), ()
    try:
        with open_index(root, settings) as opened:
            found = opened.status(look=True)
            # Statistics of a cache belong to running processes; this one has asked it for nothing.
            cache = tuple(layer for layer in found.cache if layer.problem)
            return replace(found, cache=cache), opened.skipped(), opened.secrets()
    except (IndexInUseError, StoreError) as error:
        # Also while the server with its chunks is down.
        if not error.retryable:
            raise
        say(f"{error.message} This is the last status it wrote.")
        return found, (), ()


def _last_status(root: Path, settings: Settings) -> IndexStatus:
    """Read the status the index wrote last; nothing is opened or created."""
    from cqm.index.status.status import read_status

    return read_status(root, settings.index_options(root))
