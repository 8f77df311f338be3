"""Shared by all tests: the profile of hypothesis, plugins, and the tables whose rows tests prove."""

import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Generator, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from filelock import FileLock, Timeout
from forked import HAS_FORK, ForkedPopen, ForkedProgram, Forks
from hypothesis import given, settings
from hypothesis import strategies as st

from cqm.index.workers import kept_warm

pytest_plugins = ["holes", "qdrant_double", "real_servers", "relay", "scripted_server", "strict_skips", "tiers"]

# Programs that the tests start must be open to Ctrl-C, also when a shell started the tests in its background.
signal.signal(signal.SIGINT, signal.default_int_handler)

OF_USER = f"-{os.getuid()}" if hasattr(os, "getuid") else ""  # Windows has a temporary folder for each user

# Rules that find secrets are compiled once, for all tests: each test has a home of its own.
os.environ.setdefault("KF_RULE_CACHE_DIR", str(Path(tempfile.gettempdir()) / f"cqm-test-rules{OF_USER}"))
_OBJECTS = 10_000
"""New objects that Python makes before it looks for garbage among them; 700 by itself."""

# A busy machine is slow, not wrong: no test fails by the clock. 40 examples in place of 100: the whole suite has to
# stay under 15 minutes. What goes through a store or a service takes a part of them, by `settings.default`.
settings.register_profile("cqm", deadline=None, max_examples=40)
settings.register_profile("soak", deadline=None, max_examples=1_000)


@pytest.fixture(autouse=True)
def owners_end(request: pytest.FixtureRequest) -> Iterator[None]:
    """No owner of an index outlives the test that made it."""
    folder: Path | None = request.getfixturevalue("tmp_path") if "tmp_path" in request.fixturenames else None
    yield
    for place, folders, names in os.walk(folder) if folder else ():
        if "owner.address" in names:
            end_owner(Path(place))
        # Most of the files of an index are in it, and no owner's.
        folders[:] = [name for name in folders if name != "shard"]


@pytest.fixture(scope="session", autouse=True)
def workers_stay_warm() -> Iterator[None]:
    """The indexes of all tests share the process that forks workers."""
    with kept_warm():
        yield


@pytest.fixture(scope="session")
def forks() -> Iterator[Forks | None]:
    """Runs commands of `cqm`; None where there is no fork."""
    if not HAS_FORK:
        yield None
        return
    opened = Forks()
    yield opened
    opened.close()


class _ForkedOwner(ForkedPopen):
    # What forks workers stays longer than a test, see `workers_stay_warm`.
    modules = ("cqm.server.owner",)


@pytest.fixture
def forked_owners(forks: Forks | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Owners that this process starts share the start of commands: it saves 1.2 s of a core for each.

    What such an owner starts is no child of its.
    """
    if forks:
        monkeypatch.setattr(_ForkedOwner, "asking", forks.asking, raising=False)
        monkeypatch.setattr(subprocess, "Popen", _ForkedOwner)


@pytest.fixture
def forked_programs(forks: Forks | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs that this process starts, `cqm`, `python -c CODE` and owners, share the start of commands.

    What they start is no child of theirs.
    """
    if forks:
        monkeypatch.setattr(subprocess, "Popen", partial(ForkedProgram, asking=forks.asking))


def end_owner(index: Path) -> None:
    """End the owner of an index, and wait until it has."""
    lock = FileLock(index / "owner.lock", timeout=0)
    try:
        lock.acquire()
    except Timeout:
        # The lock tells that it lives, so that its number is its own. One that is ending has deleted its address.
        with suppress(FileNotFoundError):
            os.kill(json.loads((index / "owner.address").read_text(encoding="utf-8"))["pid"], signal.SIGTERM)
        # Nobody knows how long it waits for its turn on a busy machine; the time limit of the test holds here too.
        lock.acquire(timeout=-1)
    lock.release()


ROWS = {
    "B1": "one entry: chunks, statistics, warnings, streaming",
    "B2": "fixed",
    "B3": "sentence",
    "B4": "semantic",
    "B5": "hierarchical",
    "B6": "late",
    "B7": "options: validation, defaults, recommendation",
    "B8": "a working default for every document type",
    "B9": "tokenizers and estimate",
    "B10": "fields of a chunk",
    "B11": "errors",
    "B12": "small chunks merge; headers and code blocks kept",
    "C1": "symbol chunks in 64 languages",
    "C2": "symbol metadata",
    "C3": "symbols over the limit; classes and their members",
    "C4": "Java",
    "C5": "Javadoc",
    "C6": "parse failures",
    "D1": "HTML",
    "D2": "Markdown",
    "D3": "XML",
    "D4": "JSON, YAML, TOML, OpenAPI",
    "D5": "text",
    "D6": "GitHub issues and pull requests",
    "D7": "PDF",
    "D8": "metadata",
    "D9": "quality gates",
    "D10": "quality report",
}
"""Of the specification's chunking tables. A test proves a row with `@pytest.mark.row("B2")`."""

FAULTS = {
    "killed": "the next start goes on; the index has all that was committed",
    "power cut": "the next start goes on; all up to the last flush, about a second ago, the rest is done again",
    "disk full": "an error before anything is written, with the room that is needed; all that was committed",
    "read-only index": "an error that names the folder; what it held",
    "index deleted": "search answers, an update says so; made anew at the next start",
    "damaged shard": "status and the next update say so; set aside and rebuilt by that update",
    "damaged manifest": "status and the next update say so; set aside and rebuilt by that update",
    "newer release": "status, list and the next update say so; left alone until one of this release is complete",
    "older release": "status and the next update say so, as of damage; set aside and rebuilt by that update",
    "damaged current": "nothing; the generation that is there",
    "damaged seal": "nothing; what it held",
    "cache deleted": "nothing, or status names the layer; what it held",
    "permission lost": "the file or folder is listed as failed; its chunks as they were",
    "broken settings": "replies, status and the page tell file, line and reason; what the settings before say",
    "clock jumps": "nothing; what the files say",
    "file vanishes": "nothing; nothing of it",
    "file changes while it is read": "nothing; what was read, then what it says at last",
    "folder becomes a file": "its files are listed as failed until the next update; their chunks until then",
    "1 GB file": "listed as too large, by its size; nothing of it",
    "many files": "progress; all of them",
    "odd files": "links, pipes, devices and undecodable names are listed with the reason; nothing of them",
    "root gone": "an error; all that it held",
    "disk not mounted": "an error: another folder, and empty; all that it held, until `cqm index --force`",
    "model fails": "see `index/update/test_faults.py`, a table of its own; all chunks, found by words",
}
"""What the user sees of a fault; what the index holds then. A test proves one with `@pytest.mark.fault("killed")`."""


class Table(NamedTuple):
    """Rows with what each says, and a title above them."""

    title: str
    rows: Mapping[str, str]


TABLES = {"row": Table("rows of the specification", ROWS), "fault": Table("faults", FAULTS)}
"""By the mark that proves their rows."""


@pytest.fixture
def tables() -> Mapping[str, frozenset[str]]:
    """The names of the rows of each table, by its mark."""
    return {mark: frozenset(table.rows) for mark, table in TABLES.items()}


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """Two for each core: a part of the time goes by in waiting, and each costs 15 s of a core before its first test."""
    return None if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ else (os.cpu_count() or 1) * 2


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("soak" if config.getoption("--soak") else "cqm")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Compile the rules that find secrets before the processes start: each would do it for itself, in 5 s of a core."""
    folder = Path(os.environ["KF_RULE_CACHE_DIR"])
    if not (folder.is_dir() and any(folder.iterdir())):
        compiling = "from cqm.index.secrets.tokens import load_rules; load_rules()"
        subprocess.run([sys.executable, "-c", compiling], check=True)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep what is collected from being looked through for garbage again and again: a tenth of the processor time."""
    gc.disable()
    try:
        return (yield)
    finally:
        _draw_once()
        gc.collect()
        gc.freeze()
        gc.set_threshold(_OBJECTS)
        gc.enable()


@given(st.none())
def _draw_once(_drawn: None) -> None:
    """Have Hypothesis make its random numbers: from 3.14 on it does not see who holds them after `gc.freeze`."""


_PROVES = "proves"
_proofs: dict[tuple[str, str], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        rows = [(name, str(row)) for name in TABLES for mark in item.iter_markers(name) for row in mark.args]
        if unknown := [row for name, row in rows if row not in TABLES[name].rows]:
            raise pytest.UsageError(f"{item.nodeid} proves rows that do not exist: {sorted(unknown)}")
        if rows:
            # Goes with the reports, also from another process.
            item.user_properties.append((_PROVES, rows))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when != "call" and report.passed:
        return
    test = report.nodeid.partition("[")[0].rpartition("tests/")[2]
    for table, row in dict(report.user_properties).get(_PROVES, ()):
        _proofs[table, row][report.outcome].add(test)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for name in dict.fromkeys(name for name, _ in _proofs):
        terminalreporter.section(TABLES[name].title)
        for line in _lines(name, TABLES[name].rows):
            terminalreporter.write_line(line)


def _lines(name: str, rows: Mapping[str, str]) -> Iterator[str]:
    first, second = (max(map(len, column)) + 2 for column in (rows, rows.values()))
    for row, title in rows.items():
        outcomes = _proofs.get((name, row), {})
        counts = ", ".join(f"{len(tests)} {outcome}" for outcome, tests in outcomes.items()) or "not run"
        yield f"{row:{first}}{title:{second}}{counts}"
        yield from (f"      {test}" for test in sorted(set().union(*outcomes.values())))
