"""Chunks that wait for a model are taken up beside the work, again until none waits."""

from collections.abc import Callable
from queue import Empty, Queue
from threading import Event, Thread
from threading import enumerate as threads

import pytest

from cqm.index.model.errors import StoreError
from cqm.index.model.outcomes import Improved
from cqm.index.model.progress import UpdateSummary
from cqm.server.watching.backfill import Improver

WAITING, SETTLED = UpdateSummary(lacking=3), UpdateSummary()


class Work:
    """Improving that a test watches: what each run leaves waiting, or raises."""

    def __init__(self, *outcomes: int | Exception) -> None:
        self.begun: Queue[Callable[[], bool]] = Queue()
        self.may_end = Event()
        self.may_end.set()
        self._outcomes = list(outcomes)

    def __call__(self, cancelled: Callable[[], bool]) -> Improved:
        self.begun.put(cancelled)
        self.may_end.wait(240)
        outcome = self._outcomes.pop(0) if self._outcomes else 0
        if isinstance(outcome, Exception):
            raise outcome
        return Improved(lacking=outcome)


def thread_of(name: str) -> Thread | None:
    return next((thread for thread in threads() if thread.name == name), None)


def test_it_begins_with_the_first_update_that_leaves_something_waiting() -> None:
    work = Work()
    improver = Improver(work, 600, "improve settled")
    assert improver.after(SETTLED) is SETTLED
    assert thread_of("improve settled") is None
    assert improver.after(WAITING) is WAITING
    work.begun.get(timeout=240)
    improver.stop()


def test_while_something_waits_still_it_tries_again_and_then_no_more() -> None:
    work = Work(2, 1, 0)
    improver = Improver(work, 0.01, "improve")
    improver.after(WAITING)
    for _ in range(3):
        work.begun.get(timeout=240)
    improver.after(WAITING)
    work.begun.get(timeout=240)
    with pytest.raises(Empty):
        work.begun.get(timeout=0.3)
    improver.stop()


@pytest.mark.parametrize("failure", [StoreError("full"), RuntimeError("odd")])
def test_a_failure_is_logged_and_tried_again(failure: Exception, caplog: pytest.LogCaptureFixture) -> None:
    work = Work(failure, 0)
    improver = Improver(work, 0.01, "improve")
    improver.after(WAITING)
    work.begun.get(timeout=240)
    work.begun.get(timeout=240)
    assert str(failure) in caplog.text
    improver.stop()


def test_stopping_does_not_wait_for_a_model_and_begins_nothing_more() -> None:
    work = Work(5)
    work.may_end.clear()
    improver = Improver(work, 0.0, "improve stopped")
    improver.after(WAITING)
    thread = thread_of("improve stopped")
    assert thread is not None
    cancelled = work.begun.get(timeout=240)
    assert not cancelled()
    improver.stop()
    assert cancelled()
    improver.after(WAITING)
    work.may_end.set()
    thread.join(240)
    assert not thread.is_alive()
    improver.after(WAITING)
    assert thread_of("improve stopped") is None
    assert work.begun.empty()


def test_what_fails_because_it_was_stopped_is_not_told(caplog: pytest.LogCaptureFixture) -> None:
    work = Work(StoreError("closed"))
    work.may_end.clear()
    improver = Improver(work, 0.01, "improve")
    improver.after(WAITING)
    work.begun.get(timeout=240)
    improver.stop()
    work.may_end.set()
    improver._thread.join(240)
    assert not improver._thread.is_alive()
    assert caplog.records == []
