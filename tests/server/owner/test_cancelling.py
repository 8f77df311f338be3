"""Work that one client gives up others may still want."""

from threading import Event
from typing import TYPE_CHECKING, Any

import pytest

from cqm.index.model.progress import Progress

if TYPE_CHECKING:
    from conftest import Place

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("forked_owners")]


def test_an_update_that_its_only_client_cancels_is_stopped(large: "Place") -> None:
    stop = Event()
    with large.open() as index:
        summary = index.update(report=lambda progress: stop.set() if progress.done else None, cancelled=stop.is_set)
        assert summary.cancelled
        assert 0 < summary.added < 2000
        assert index.status(look=True).pending == 2000 - summary.added
        assert index.update().unchanged == summary.added


def test_what_one_client_cancels_another_has_done(large: "Place", background: Any) -> None:
    stop, begun = Event(), Event()

    def begin(progress: Progress) -> None:
        if progress.phase == "indexing":
            begun.set()

    with large.open() as first, large.open() as second, large.open() as third:
        cancelled = background(lambda: first.update(report=begin, cancelled=stop.is_set))
        assert begun.wait(240)
        # These two share the next run; one of them gives it up while it waits for it.
        waiting = background(lambda: second.update(report=lambda _: stop.set(), cancelled=stop.is_set))
        wanted = background(third.update)
        assert cancelled.result().cancelled
        assert waiting.result().cancelled
        summary = wanted.result()
        assert not summary.cancelled
        assert third.status(look=True).pending == 0


def test_an_update_that_begins_later_sees_what_changed_meanwhile(large: "Place", background: Any) -> None:
    begun = Event()

    def begin(progress: Progress) -> None:
        if progress.done:
            begun.set()

    with large.open() as first, large.open() as second:
        going_on = background(lambda: first.update(report=begin))
        assert begun.wait(240)
        (large.root / "aaa.py").write_text("def added_meanwhile():\n    return 1\n")
        summary = second.update()
        assert summary.added == 1
        assert going_on.result().added == 2000
