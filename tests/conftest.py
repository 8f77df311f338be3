"""Shared by all tests: the profile of hypothesis, and the table of the specification's rows with their tests."""

import json
import os
import signal
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock, Timeout
from hypothesis import settings

pytest_plugins = ["qdrant_double", "real_servers", "relay", "scripted_server"]

# Programs that the tests start must be open to Ctrl-C, also when a shell started the tests in its background.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A busy machine is slow, not wrong: no test fails by the clock.
settings.register_profile("cqm", deadline=None)
settings.load_profile("cqm")


@pytest.fixture(autouse=True)
def owners_end(request: pytest.FixtureRequest) -> Iterator[None]:
    """No owner of an index outlives the test that made it."""
    folder: Path | None = request.getfixturevalue("tmp_path") if "tmp_path" in request.fixturenames else None
    yield
    for address in folder.rglob("owner.address") if folder else ():
        end_owner(address.parent)


def end_owner(index: Path) -> None:
    """End the owner of an index, and wait until it has."""
    lock = FileLock(index / "owner.lock", timeout=0)
    try:
        lock.acquire()
    except Timeout:
        # The lock tells that it lives, so that its number is its own.
        os.kill(json.loads((index / "owner.address").read_text(encoding="utf-8"))["pid"], signal.SIGTERM)
        lock.acquire(timeout=60)
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
    "C1": "symbol chunks in 24 languages",
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


@pytest.fixture
def rows() -> frozenset[str]:
    """The names of the rows."""
    return frozenset(ROWS)


_proofs: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
_rows_of: dict[str, list[str]] = {}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        rows = [str(row) for mark in item.iter_markers("row") for row in mark.args]
        if unknown := set(rows) - ROWS.keys():
            raise pytest.UsageError(f"{item.nodeid} proves rows that do not exist: {sorted(unknown)}")
        if rows:
            _rows_of[item.nodeid] = rows


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when != "call" and report.passed:
        return
    test = report.nodeid.partition("[")[0].rpartition("tests/")[2]
    for row in _rows_of.get(report.nodeid, ()):
        _proofs[row][report.outcome].add(test)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not _proofs:
        return
    terminalreporter.section("rows of the specification")
    for line in _table():
        terminalreporter.write_line(line)


def _table() -> Iterator[str]:
    for row, title in ROWS.items():
        outcomes = _proofs.get(row, {})
        counts = ", ".join(f"{len(tests)} {outcome}" for outcome, tests in outcomes.items()) or "not run"
        yield f"{row:4}{title:52}{counts}"
        yield from (f"      {test}" for test in sorted(set().union(*outcomes.values())))
