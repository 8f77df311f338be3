"""Progress and interruption of long work on the command line: a bar on a terminal, plain lines elsewhere, Ctrl-C."""

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from cqm.index.model.progress import Progress, UpdateSummary
from cqm.server.console import number, one_line, say
from cqm.server.owner.open import OpenedIndex

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

Report = Callable[[Progress], None]

_SECONDS_BETWEEN_LINES = 5.0
_SECONDS_BEFORE_BAR = 0.7
_SAID = frozenset({"importing", "indexing"})
"""Phases with lines of their own."""


@contextmanager
def progress_shown() -> Iterator[Report]:
    """Show the progress of an update on standard error; programs read only standard output."""
    if not sys.stderr.isatty():
        yield _line_report()
        return
    with _bar_report() as report:
        yield report


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Let the first Ctrl-C ask the work to stop, through the yielded function; the second stops at once."""
    asked = threading.Event()

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield asked.is_set
    finally:
        signal.signal(signal.SIGINT, before)


def bring_up_to_date(opened: OpenedIndex) -> UpdateSummary:
    """Update an index and show the progress; Ctrl-C stops at the next file."""
    with interruptible() as cancelled, progress_shown() as report:
        return update(opened, report, cancelled)


def update(
    opened: OpenedIndex,
    report: Report,
    cancelled: Callable[[], bool],
    *,
    anew: bool = False,
    paths: Sequence[str] | None = None,
) -> UpdateSummary:
    """Update an index, or rebuild it; print its notes.

    Raises:
        KeyboardInterrupt: it was stopped.
    """
    return settled(opened.update(paths, anew=anew, report=report, cancelled=cancelled), cancelled, anew=anew)


def settled(summary: UpdateSummary, cancelled: Callable[[], bool], *, anew: bool) -> UpdateSummary:
    """Print the notes of a summary, and return it.

    Raises:
        KeyboardInterrupt: the update was stopped.
    """
    for note in summary.notes:
        say(note)
    if summary.cancelled and anew:
        say("Stopped; the index is unchanged.")
        raise KeyboardInterrupt
    if summary.cancelled or cancelled():
        say("Stopped; indexed files are kept, and the next run does the rest.")
        raise KeyboardInterrupt
    return summary


def _line_report() -> Report:
    """Report with a line when work begins, and one now and then; none when there is nothing to do."""
    next_line = 0.0

    def report(progress: Progress) -> None:
        nonlocal next_line
        if progress.phase not in _SAID or not progress.done or time.monotonic() < next_line:
            return
        next_line = time.monotonic() + _SECONDS_BETWEEN_LINES
        done = f"{progress.done} of {number(progress.total, 'file')}, {number(progress.chunks, 'chunk')}"
        say(f"{progress.phase.capitalize()}: {done}")

    return report


def _bar() -> "Bar":
    from rich.console import Console  # start-up time
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    return Bar(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[files]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[path]}", markup=False),
        console=Console(stderr=True),
        transient=True,
    )


@contextmanager
def _bar_report() -> Iterator[Report]:
    with _bar() as bar:
        task = bar.add_task("Scanning", total=None, files="", path="", visible=False)
        phase = ""
        # A look at a small tree takes less, and shows nothing.
        shown = threading.Timer(_SECONDS_BEFORE_BAR, bar.update, (task,), {"visible": True})
        shown.daemon = True
        shown.start()

        def report(progress: Progress) -> None:
            nonlocal phase
            bar.update(
                task,
                description=progress.phase.capitalize(),
                completed=progress.done,
                # The bar swings until the first files are done: workers start, and the model is loaded.
                total=progress.total if progress.done else None,
                files=_files_text(progress),
                path=one_line(progress.path)[-40:],
                visible=True if progress.total else None,
                # Refresh at once between phases, and within one as the bar sees fit: short work is shown too.
                refresh=progress.phase != phase,
            )
            phase = progress.phase

        try:
            yield report
        finally:
            shown.cancel()


def _files_text(progress: Progress) -> str:
    if not progress.total:
        return ""
    return f"{progress.done:,}/{number(progress.total, 'file')}  {number(progress.chunks, 'chunk')}"
