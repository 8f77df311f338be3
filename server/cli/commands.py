"""Commands of `cqm`, once their options are read. Each returns an exit code."""

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cqm.chunkers.errors import CqmError
from cqm.index.disk.locations import index_folder, is_begun
from cqm.index.model.asked import AskedQuestion
from cqm.index.model.errors import IndexInUseError, ReadOnlyError, StoreError
from cqm.index.model.options import IndexOptions
from cqm.index.model.progress import UpdateSummary, Usage
from cqm.index.model.query import FileProblem, SkipReason
from cqm.index.model.secrets import RedactedFile
from cqm.index.model.status import IndexStatus
from cqm.server.answers.as_json import status_object
from cqm.server.answers.status_text import (
    estimate_lines,
    problem_lines,
    secret_lines,
    status_lines,
    summary_lines,
    watch_lines,
)
from cqm.server.cli.progress import Report, bring_up_to_date, interruptible, progress_shown, update
from cqm.server.config.project_root import left_by_link
from cqm.server.config.usual import AskedSettings
from cqm.server.console import emit, number, say, show
from cqm.server.errors import SettingsError
from cqm.server.owner.open import OpenedIndex, open_index
from cqm.server.watching.questions import durations

if TYPE_CHECKING:
    from cqm.server.config.followed import FollowedSettings
    from cqm.server.config.settings import Settings

_LOOK_SECONDS = 1.0
"""Time between looks of a watch for changed settings and links."""


def index(root: Path, settings: AskedSettings, *, as_json: bool, anew: bool = False, retry: bool = False) -> int:
    """Update an index, rebuild it, or retry its failed files, and print a summary."""
    with open_index(root, settings, adopts=True) as opened, interruptible() as cancelled, progress_shown() as report:
        opened.retry_models()
        failed = [problem.path for problem in opened.status().failed] if retry else None
        summary = update(opened, report, cancelled, anew=anew, paths=failed)
        if summary.lacking and not summary.dropped:
            summary = _improve(opened, summary, report, cancelled)
    if as_json:
        emit(summary)
    else:
        show(summary_lines(str(root), summary))
    return 1 if summary.failed or summary.dropped else 0


def estimate(root: Path, settings: AskedSettings, *, as_json: bool) -> int:
    """Estimate an update's requests to models, without making any."""
    with open_index(root, settings) as opened:
        found = opened.estimate()
    if as_json:
        emit(found)
    else:
        show(estimate_lines(str(root), found))
    return 0


def status(root: Path, settings: AskedSettings, *, failed: bool, skipped: bool, secrets: bool, as_json: bool) -> int:
    """Print the status of an index; without a look at the disk while another process has it open."""
    found, left_out, redacted, asked = _status(root, settings)
    if as_json:
        listed = {"skipped_files": left_out} if skipped else {}
        shown = status_object(found, **listed, **({"secrets": redacted} if secrets else {}))
        emit({**shown, "questions": durations(asked)})
        return 0
    show(status_lines(found, all_failed=failed))
    if skipped:
        show(problem_lines("skipped", left_out, most=None))
    if secrets:
        show(secret_lines(redacted, [it.path for it in left_out if it.reason == SkipReason.SECRET]))
    return 0


def last_status(root: Path, overrides: Mapping[str, object], *, failed: bool, as_json: bool) -> None:
    """Print the last status written by the index, while the project's settings file is refused.

    Raises:
        SettingsError: a source with the place of indexes is refused too.
    """
    from cqm.server.config.settings import settings_without_project  # start-up time

    found = _last_status(root, settings_without_project(root, overrides=overrides).index_options(root))
    if as_json:
        emit({**status_object(found), "questions": durations(())})
    else:
        show(status_lines(found, all_failed=failed))


def watch(given: Path, settings: "Settings", *, as_json: bool) -> int:
    """Follow the files of a folder until Ctrl-C, and report each update.

    Changed settings apply at once, and so does the new folder of a switched link. If the index cannot be opened with
    them, the command says so and keeps the former ones.

    Parameters:
        given: the folder, by an absolute path; links in it may be switched.
    """
    from cqm.server.config.followed import FollowedSettings  # start-up time of other commands, here and below
    from cqm.server.watching.reports import WatchReport

    def report(said: WatchReport) -> None:
        if as_json:
            emit(said)
        else:
            show(watch_lines(said.message, said.paths, said.summary))

    followed, held = FollowedSettings(settings), settings
    while True:
        root = Path(os.path.realpath(given))
        try:
            _require_watch(root, settings)
            with open_index(root, settings, adopts=True) as opened:
                report(WatchReport(summary=bring_up_to_date(opened)))
                opened.follow(settings.watch_options(), report)
                held = settings
                news = _wait_for_news(given, root, followed, lambda it: report(WatchReport(it, problem=True)))
        except CqmError as error:
            if settings is held:
                raise
            settings = held
            why = f"The changed settings are not in force: {error} Until then, those that held before do."
            report(WatchReport(why, problem=True))
            continue
        report(WatchReport(news))
        settings = followed.settings
        if os.path.realpath(given) != str(root):
            settings = held = settings.for_root(given)
            followed = FollowedSettings(settings)


def _require_watch(root: Path, settings: "Settings") -> None:
    if root.is_file() or not settings.watch.enabled:
        remedy = "Name a folder, and leave watch.enabled true."
        raise SettingsError(f"{root}: expected a folder to watch, with watch.enabled true.", remedy=remedy)


def _wait_for_news(given: Path, root: Path, followed: "FollowedSettings", tell: Callable[[str], None]) -> str:
    """Wait until a link leads to another folder, or settings of the index change; say which.

    Parameters:
        given: the folder; links in its path may be switched.
        root: its real path so far.
        tell: called with the reasons when settings files are refused.
    """
    from cqm.server.config.followed import about_the_index

    before = about_the_index(followed.settings)
    while True:
        # An endless wait couldn't be interrupted on Windows.
        time.sleep(_LOOK_SECONDS)
        now = Path(os.path.realpath(given))
        if now != root and now.is_dir() and not left_by_link(given):
            return f"{given} leads to {now} now, which is watched from now on."
        if not followed.look():
            continue
        if followed.problem:
            tell(followed.problem)
        elif about_the_index(followed.settings) != before:
            return "The settings were changed: the new ones hold from now on."


def _improve(
    opened: OpenedIndex, summary: UpdateSummary, report: Report, cancelled: Callable[[], bool]
) -> UpdateSummary:
    """Improve waiting chunks; return the summary with the rest and the cost added."""
    improved = opened.improve(report=report, cancelled=cancelled)
    if cancelled():
        say(
            f"Stopped; {number(improved.lacking, 'chunk')} still wait for their model; they are searchable as they are."
        )
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


def _status(
    root: Path, settings: AskedSettings
) -> tuple[IndexStatus, tuple[FileProblem, ...], tuple[RedactedFile, ...], tuple[AskedQuestion, ...]]:
    """Read the status of an index, its skipped files, its files with redacted secrets, and its last questions."""
    options = settings.index_options(root)
    if not is_begun(index_folder(root, options)) and not (found := _last_status(root, options)).exists:
        return found, (), (), ()
    try:
        with open_index(root, settings) as opened:
            found = opened.status(look=True)
            # Statistics of a cache belong to running processes; this one has asked it for nothing.
            cache = tuple(layer for layer in found.cache if layer.problem)
            return replace(found, cache=cache), opened.skipped(), opened.secrets(), opened.asked()
    except (IndexInUseError, StoreError) as error:
        # Also while the server with its chunks is down, and where nobody can write.
        if not error.retryable and not isinstance(error, ReadOnlyError):
            raise
        say(f"{error.message} This is the last status it wrote.")
        return _last_status(root, options), (), (), ()


def _last_status(root: Path, options: IndexOptions) -> IndexStatus:
    """Read the status the index wrote last; nothing is opened or created."""
    from cqm.index.status.status import read_status  # start-up time: it imports everything that makes an index

    return read_status(root, options)
