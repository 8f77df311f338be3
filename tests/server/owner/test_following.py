"""One watch beside the index serves every client which wants the files followed."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from threading import Condition
from typing import TYPE_CHECKING, Any

import pytest

from cqm.chunkers.model import ChunkOptions
from cqm.index.model.query import Query
from cqm.server.config.watch_options import WatchOptions
from cqm.server.owner.client import RemoteIndex
from cqm.server.watching.reports import WatchReport

if TYPE_CHECKING:
    from conftest import Place

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("forked_owners")]

PATIENCE_SECONDS = 240.0
OPTIONS = WatchOptions(quiet=0.2)


class Follower:
    """A client which wants the files followed, and the reports it got."""

    def __init__(self, index: RemoteIndex, options: WatchOptions = OPTIONS) -> None:
        self.index = index
        self.reports: list[WatchReport] = []
        self._changed = Condition()
        index.follow(options, self._take)

    def wait(self, condition: Callable[[WatchReport], object]) -> None:
        """Wait for a report which meets a condition."""
        with self._changed:
            assert self._changed.wait_for(lambda: any(map(condition, self.reports)), PATIENCE_SECONDS), self.reports

    def wait_for_path(self, path: str) -> None:
        self.wait(lambda report: path in report.paths)

    def wait_for_comparison(self) -> None:
        self.wait(lambda report: report.summary and not report.paths)

    def updates(self) -> list[tuple[tuple[str, ...], int]]:
        """The paths of each report of paths, with the number of added files."""
        return [(it.paths, it.summary.added) for it in self.reports if it.summary and it.paths]

    def _take(self, report: WatchReport) -> None:
        with self._changed:
            self.reports.append(report)
            self._changed.notify_all()


@pytest.fixture
def follow(place: "Place") -> Iterator[Callable[..., Follower]]:
    with ExitStack() as opened:

        def following(options: WatchOptions = OPTIONS, **settings: Any) -> Follower:
            index = opened.enter_context(place.open(**settings))
            index.update()
            return Follower(index, options)

        yield following


Follow = Callable[..., Follower]


def write(place: "Place", name: str) -> None:
    """Have a file appear whole: written where it stands it is two changes, which a busy machine may part."""
    written = place.root.with_name("written")
    written.write_text(f"def {name}():\n    return 1\n")
    written.rename(place.root / f"{name}.py")


def found(index: RemoteIndex, name: str) -> str:
    return index.search(Query(name)).hits[0].path


def wait_until(condition: Callable[[], object]) -> None:
    """Ask the owner until a condition is met; the test's time limit ends it."""
    while not condition():
        pass


def test_an_edit_is_one_update_that_every_follower_is_told_of(place: "Place", follow: Follow) -> None:
    first = follow()
    first.wait_for_comparison()
    second = follow()
    write(place, "brand_new")
    for follower in (first, second):
        follower.wait_for_path("brand_new.py")
    write(place, "another_new")
    for follower in (first, second):
        follower.wait_for_path("another_new.py")
        assert follower.updates() == [(("brand_new.py",), 1), (("another_new.py",), 1)]
    # Its coming began no second watch, which would have compared the tree once more.
    assert all(report.paths for report in second.reports)
    assert found(second.index, "brand_new") == "brand_new.py"


def test_the_index_stays_followed_when_the_client_that_began_leaves(place: "Place", follow: Follow) -> None:
    first = follow()
    first.wait_for_comparison()
    second = follow()
    first.index.close()
    write(place, "brand_new")
    second.wait_for_path("brand_new.py")
    assert found(second.index, "brand_new") == "brand_new.py"


def test_the_watch_ends_when_the_last_follower_leaves(place: "Place", follow: Follow) -> None:
    with place.open() as other:
        assert (other.backlog().count, other.backlog().problem) == (None, "Changes are not followed yet.")
        assert not other.wait(PATIENCE_SECONDS)
        follower = follow()
        wait_until(lambda: other.backlog().count == 0)
        assert other.wait(PATIENCE_SECONDS)
        follower.index.close()
        wait_until(lambda: other.backlog().problem)


def test_an_owner_ends_when_its_last_follower_has_left(place: "Place", follow: Follow) -> None:
    follower = follow(idle_seconds=0)
    follower.wait_for_comparison()
    follower.index.close()
    place.wait_for_end()


def test_the_files_are_followed_on_when_the_owner_is_killed(place: "Place", follow: Follow) -> None:
    follower = follow()
    follower.wait_for_comparison()
    place.kill()
    write(place, "made_meanwhile")
    follower.wait(lambda report: report.summary and report.summary.added)
    write(place, "made_later")
    follower.wait_for_path("made_later.py")
    for name in ("made_meanwhile", "made_later"):
        assert found(follower.index, name) == f"{name}.py"


def test_the_files_are_followed_on_when_the_options_change(place: "Place", follow: Follow) -> None:
    follower = follow()
    follower.wait_for_comparison()
    with place.open(replace(place.options, chunk=ChunkOptions(max_tokens=256)), adopts=True) as other:
        # It is about to index with its options, and reports what it does: the watch leaves that to it.
        assert other.backlog().problem
        assert other.update().added == 3
        write(place, "made_meanwhile")
    follower.wait(lambda report: report.summary and report.summary.added)
    write(place, "made_later")
    follower.wait_for_path("made_later.py")
    for name in ("made_meanwhile", "made_later"):
        assert found(follower.index, name) == f"{name}.py"


def test_a_later_follower_has_the_watch_of_the_first_and_is_told_its_problem(follow: Follow) -> None:
    first = follow(WatchOptions(mode="poll"))
    first.wait(lambda report: "watch.mode is poll" in report.message)
    second = follow(WatchOptions(mode="events"))
    second.wait(lambda report: "watch.mode is poll" in report.message)
    assert "watch.mode is poll" in second.index.backlog().problem


def test_what_cannot_be_followed_through_the_next_owner_is_told(place: "Place", follow: Follow) -> None:
    follower = follow(WatchOptions(quiet=0.2, poll=0.05))
    follower.wait_for_comparison()
    tree = place.root.rename(place.root.with_name("elsewhere"))
    place.kill()
    follower.wait(lambda report: report.problem and "cannot be indexed" in report.message)
    tree.rename(place.root)
    write(place, "made_later")
    wait_until(lambda: follower.index.backlog().count == 0)
    assert found(follower.index, "made_later") == "made_later.py"
