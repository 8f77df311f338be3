"""Tiers of the tests: quick ones start no process, `processes` do, `servers` want real servers.

`--quick` runs the first tier alone, without the tests marked `long`; `--soak` runs the tests of drawn inputs, with very
many of them. A test belongs to `processes` by its folder, by a
fixture or by its mark; a test of the quick tier that starts a process fails in every run.
"""

import platform
import sys
from collections.abc import Generator, Sequence
from typing import TypeVar

import pytest

OTHER_TIERS = ("processes", "servers")

T = TypeVar("T")
_is_soak = False

FOLDERS = ("tests/end_to_end/", "tests/security/")
"""All tests in them belong to `processes`."""

FIXTURES = frozenset({"cqm", "forks", "victim_of"})
"""Each starts `cqm` for the test that uses it."""

STARTS = frozenset(
    {
        "cqm.index.workers.new",
        "os.exec",
        "os.fork",
        "os.forkpty",
        "os.posix_spawn",
        "os.startfile",
        "os.system",
        "subprocess.Popen",
    }
)
"""Audit events of Python for a process that is about to start, and ours for a worker that another process forked."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="only short tests that start no process and want no server")
    parser.addoption("--soak", action="store_true", help="only tests of drawn inputs, with very many of them")


def thinned(items: Sequence[T], at: int = 0, step: int = 3) -> Sequence[T]:
    """Return every third of many inputs, or all with --soak.

    Parameters:
        items: the inputs.
        at: where to begin: neighbours of `at` have other inputs.
        step: 3 for every third.
    """
    return items if _is_soak else items[at % step :: step]


def pytest_configure(config: pytest.Config) -> None:
    global _is_soak  # noqa: PLW0603 - tests ask for their inputs when they are imported
    _is_soak = config.getoption("--soak")
    # A client of OpenAI's tells the processor, which Python asks `uname` for, once.
    platform.processor()
    config.pluginmanager.register(_Guard())


@pytest.hookimpl(tryfirst=True)  # before -m selects by marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.startswith(FOLDERS) or not FIXTURES.isdisjoint(getattr(item, "fixturenames", ())):
            item.add_marker("processes")
    if config.getoption("--quick"):
        left_out = [item for item in items if _has(item, *OTHER_TIERS, "long")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not _has(item, *OTHER_TIERS, "long")]
    if config.getoption("--soak"):
        config.hook.pytest_deselected(items=[item for item in items if not _is_drawn(item)])
        items[:] = [item for item in items if _is_drawn(item)]
        for item in items:
            item.add_marker(pytest.mark.timeout(0), append=False)


def _is_drawn(item: pytest.Item) -> bool:
    return getattr(getattr(item, "obj", None), "is_hypothesis_test", False) or _has(item, "soak")


def _has(item: pytest.Item, *marks: str) -> bool:
    return any(item.get_closest_marker(mark) for mark in marks)


class _Guard:
    """Fails a test of the quick tier that starts a process, before the process is there."""

    def __init__(self) -> None:
        self._quick = False
        self._started: list[str] = []
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[object, ...]) -> None:
        if self._quick and event in STARTS:
            self._started.append(f"{event} {arguments[:2]}")
            pytest.fail(self._complaint())

    def _complaint(self) -> str:
        return f"a test of the quick tier starts a process: mark it @pytest.mark.processes: {self._started}"

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self._quick = not _has(item, *OTHER_TIERS)
        try:
            return (yield)
        finally:
            self._quick = False

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self) -> Generator[None, None, None]:
        """Complain again: a thread, or a bare `except`, may have kept the first complaint to itself."""
        try:
            yield
        finally:
            started, complaint = bool(self._started), self._complaint()
            self._started.clear()
        if started:
            pytest.fail(complaint)
