"""Run every check of `cqm doctor`, each for a bounded time; report problems with their remedies."""

import gc
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from cqm.chunkers.errors import CqmError
from cqm.index.remote.deadline import DeadlineError, awaited, begun
from cqm.server.config.project_root import FILE_NAME, user_file
from cqm.server.config.settings import Settings
from cqm.server.console import emit, show
from cqm.server.doctor.machine_checks import ALWAYS, CONFIGURED, Case, Checked, Found, Row, Verdict, bad, good
from cqm.server.doctor.service_checks import SERVICES
from cqm.server.errors import SettingsError

LIMIT_SECONDS = 60.0
"""Longest time of one check; all run at once."""
_MARGIN = " " * 18


def doctor(
    root: Path, load: Callable[[], Settings], *, as_json: bool, bundle: Path | None = None, names: bool = False
) -> int:
    """Check the configuration of a root and everything in it; exit code 1 for a problem.

    Parameters:
        load: gives its settings, or raises SettingsError.
        bundle: a file to write for helpers; None for none.
        names: whether the bundle may have names of files.
    """
    results = []
    if not as_json:
        show([str(root)])
    for checked in examine(root, load):
        results.append(checked)
        if not as_json:
            show(_lines(checked))
    if bundle:
        from cqm.server.doctor.bundle import write_bundle  # start-up time

        settings = None
        with suppress(SettingsError):  # a check has reported it
            settings = load()
        write_bundle(bundle, root, settings, results, names=names)
    problems = sum(checked.verdict is Verdict.PROBLEM for checked in results)
    if as_json:
        emit({"root": str(root), "problems": problems, "checks": results})
    else:
        show([_summary(problems), *([f"{bundle} can be sent to those who help."] if bundle else [])])
    return 1 if problems else 0


def examine(root: Path, load: Callable[[], Settings], limit_seconds: float = LIMIT_SECONDS) -> Iterator[Checked]:
    """Run all checks at once; yield the results in the order of their tables, each as soon as it is known.

    Parameters:
        load: gives its settings, or raises SettingsError; then only checks without settings run.
        limit_seconds: of each check.
    """
    rows: list[Row] = [(name, partial(check, root)) for name, check in ALWAYS]
    try:
        settings = load()
        case = Case(root, settings, settings.index_options(root))
    except SettingsError as error:
        rows.insert(0, ("settings", partial(bad, error.message, error.remedy)))
    else:
        rows.insert(0, ("settings", partial(_sources, case)))
        rows += [(name, partial(check, case)) for name, check in CONFIGURED]
        rows += [row for service in SERVICES for row in service(case)]
    began = time.monotonic()
    with _without_collection():
        running = [(name, begun(partial(_run, check), "check")) for name, check in rows]
        for name, future in running:
            try:
                found, seconds = awaited(future, max(0.0, began + limit_seconds - time.monotonic()))
            except DeadlineError:
                found, seconds = bad(f"not done after {limit_seconds:g} s"), limit_seconds
            yield Checked(name, found.verdict, found.detail, found.remedy, round(seconds, 3))


@contextmanager
def _without_collection() -> Iterator[None]:
    """Keep the garbage collector out of importing threads: the checks are the first to need most modules.

    When it warns of a socket there, Python before 3.12 raises a KeyError out of the import (CPython issue 91351).
    """
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _run(check: Callable[[], Found]) -> tuple[Found, float]:
    """Run a check, and measure its seconds."""
    began = time.monotonic()
    try:
        found = check()
    except CqmError as error:
        found = bad(error.message, error.remedy)
    except OSError as error:
        found = bad(str(error))
    except Exception as error:  # noqa: BLE001 - the boundary of a check: others may tell the reason
        found = bad(f"unexpected {type(error).__name__}: {error}", "Report it as a bug of CQM.")
    return found, time.monotonic() - began


def _sources(case: Case) -> Found:
    """Name the configuration files and variables read."""
    places = (user_file(), case.folder / FILE_NAME)
    files = [str(path) for path in places if path.is_file()]
    variables = sorted(name for name, value in os.environ.items() if name.startswith("CQM_") and value)
    return good(
        " and ".join(files) or f"defaults: there is neither {places[0]} nor {places[1]}",
        f"variables {' '.join(variables)}" if variables else "",
    )


def _lines(checked: Checked) -> Iterator[str]:
    """Write a check as text: further lines of its message, and the remedy, below the first."""
    first, *others = checked.detail.splitlines() or [""]
    yield f"  {checked.verdict:<16}{checked.name}: {first}"
    yield from (f"{_MARGIN}{line}" for line in [*others, *checked.remedy.splitlines()])


def _summary(problems: int) -> str:
    if not problems:
        return "Everything configured works."
    return f"{problems} problem{'s' if problems > 1 else ''}."
