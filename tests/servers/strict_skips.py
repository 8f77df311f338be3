"""The option --strict-skips: fail a run that left something out for a reason that is not listed here.

`.ci/run` gives it. Without it a mistake that skips tests looks like success.
"""

import re
from collections.abc import Iterator

import pytest
from real_servers import ADDRESSES, USED_SERVER

LISTED = {
    r"(this user can read every file|the superuser may read everything|nothing is (unreadable|read-only) for root)": (
        "Root passes every permission check. A run by an ordinary user covers these tests."
    ),
    r"only root can (be two users|give files away)": "Root alone may; `tests.yml` runs these tests by sudo, too.",
    r"only Windows has junctions": "The workflow runs the tests on Windows too.",
    r"a device can be made by nobody but root|nobody but root of Linux can mount here": "A run by root covers them.",
    r"a file system cannot be mounted without privileges here": "Some containers allow no user namespaces.",
    r"(bash|zsh|fish) is not installed here": "Few machines have all three shells; each completes by its own test.",
    r"no browser here: .*": "Neither a Chromium nor its driver are in the lock file: 200 MB for a few tests.",
    r"QDRANT_URL names no server.*": "No package index has Qdrant's server; the double runs in its place.",
    r"Ray is not installed.*": "It is in no lock file; `tests/bench/bulk.py` runs it, and its workers' step is tested.",
    r"CQM_TEST_\w+ is not set; .*": "`tests/servers/start` prints which server it left out, and why.",
}
"""Why a skip is accepted, by a pattern of the whole reason that the test gives."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--strict-skips",
        action="store_true",
        help="fail when a test is skipped for a reason that is not listed, or a running server is used by no test",
    )


@pytest.hookimpl(trylast=True)  # after `real_servers` has the addresses
def pytest_configure(config: pytest.Config) -> None:
    """Watch the run from the process that prints the summary; xdist sends it the reports of all workers."""
    if config.getoption("--strict-skips") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Account(config.stash[ADDRESSES]))


class _Account:
    """The tests that were skipped and the servers that were used."""

    def __init__(self, addresses: dict[str, str]) -> None:
        self.servers = {name for name in addresses if name.endswith("_URL")}
        self.used: set[str] = set()
        self.skips: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._note_skip(report)
        if report.when == "call" and report.passed:
            self.used.update(str(value) for name, value in report.user_properties if name == USED_SERVER)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._note_skip(report)

    def _note_skip(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            self.skips[report.nodeid] = reason.removeprefix("Skipped: ")

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if session.exitstatus == pytest.ExitCode.OK and any(self._faults()):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if faults := [*self._faults()]:
            terminalreporter.section("left out without a listed reason")
            for fault in faults:
                terminalreporter.write_line(fault, red=True)

    def _faults(self) -> Iterator[str]:
        for test, reason in self.skips.items():
            if not any(re.fullmatch(pattern, reason, re.DOTALL) for pattern in LISTED):
                yield f"{test} was skipped: {reason!r} is not listed in tests/servers/strict_skips.py"
        for name in sorted(self.servers - self.used):
            yield f"{name} is set, but no test that passed used its server"
