"""Changes that wait to be taken up: their number, the time they are handed over, and waiting for them."""

import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread

import pytest

from cqm.server.config.watch_options import WatchOptions
from cqm.server.watching.change_queue import Backlog, Batch, PendingChanges
from cqm.server.watching.network_mounts import mounts_below, remote_type

PATIENCE_SECONDS = 240.0
NOW = WatchOptions(quiet=0.0, longest=0.0, glance=0.01)


def taken(pending: PendingChanges) -> frozenset[str] | None:
    """Return what is handed over next."""
    found: list[Batch | None] = []
    thread = Thread(target=lambda: found.append(pending.take()), daemon=True)
    thread.start()
    thread.join(PATIENCE_SECONDS)
    assert found, "nothing was handed over"
    assert found[0] is not None
    return found[0].paths


def in_background(call: Callable[[], object]) -> tuple[list[object], Thread]:
    found: list[object] = []
    thread = Thread(target=lambda: found.append(call()), daemon=True)
    thread.start()
    return found, thread


@pytest.fixture
def pending() -> PendingChanges:
    """Changes that are handed over at once, after a first comparison."""
    pending = PendingChanges(NOW)
    pending.add_whole()
    assert taken(pending) is None
    pending.finish()
    return pending


def test_until_the_first_comparison_is_done_anything_may_differ() -> None:
    pending = PendingChanges(NOW)
    pending.add_whole()
    assert pending.backlog().count is None
    assert taken(pending) is None
    assert pending.backlog().count is None
    pending.finish()
    assert pending.backlog() == Backlog(0)


def test_a_change_counts_until_it_is_taken_up_and_its_age_with_it(pending: PendingChanges) -> None:
    before = time.time()
    pending.add("a")
    since = pending.backlog().since
    assert (pending.backlog().count, before <= since <= time.time()) == (1, True)
    assert taken(pending) == {"a"}
    pending.add("b")
    pending.add("a")
    assert pending.backlog() == Backlog(2, since)
    pending.finish()
    assert pending.backlog().count == 2
    assert taken(pending) == {"a", "b"}
    pending.finish()
    assert pending.backlog() == Backlog(0)


def test_what_could_not_be_taken_up_still_counts(pending: PendingChanges) -> None:
    pending.add("a")
    since = pending.backlog().since
    pending.keep(Batch(taken(pending)))
    assert pending.backlog() == Backlog(1, since)


def test_a_comparison_that_failed_leaves_everything_unknown_until_one_succeeds(pending: PendingChanges) -> None:
    pending.add_whole()
    pending.keep(Batch(taken(pending)))
    assert pending.backlog().count is None
    pending.add("a")
    assert taken(pending) == {"a"}
    pending.finish()
    assert pending.backlog().count is None
    pending.add_whole()
    assert taken(pending) is None
    pending.finish()
    assert pending.backlog().count == 0


def test_as_many_changes_as_a_branch_switch_makes_are_one_comparison_and_all_count(pending: PendingChanges) -> None:
    for number in range(5000):
        pending.add(f"{number}.py")
    assert pending.backlog().count == 5000
    assert taken(pending) is None
    assert pending.backlog().count == 5000
    pending.finish()
    assert pending.backlog().count == 0


def test_waiting_is_for_what_is_known_at_the_call_and_not_for_what_comes_later(pending: PendingChanges) -> None:
    assert pending.wait(0)
    pending.add("a")
    assert not pending.wait(0)
    taken(pending)
    found, thread = in_background(lambda: pending.wait(PATIENCE_SECONDS))
    assert not pending.wait(0.05)
    assert not found
    pending.add("b")
    pending.finish()
    thread.join(PATIENCE_SECONDS)
    # The second may have come before the call began: then it is waited for too.
    if not found:
        taken(pending)
        pending.finish()
        thread.join(PATIENCE_SECONDS)
    assert found == [True]


def test_waiting_ends_when_the_watch_ends(pending: PendingChanges) -> None:
    pending.add("a")
    found, thread = in_background(lambda: pending.wait(PATIENCE_SECONDS))
    pending.close()
    thread.join(PATIENCE_SECONDS)
    assert found == [False]


def test_another_commit_checked_out_is_a_comparison_and_once_only() -> None:
    heads = ["first"]
    pending = PendingChanges(NOW, head=lambda: heads[0])
    pending.add_whole()
    assert taken(pending) is None
    pending.finish()
    pending.add("a")
    assert taken(pending) == {"a"}
    pending.finish()
    heads[0] = "second"
    assert taken(pending) is None, "nobody told of a change"
    assert pending.backlog().count is None
    pending.finish()
    pending.add("b")
    assert taken(pending) == {"b"}


@pytest.mark.parametrize("events", [[True], [False, True]], ids=str)
def test_a_whole_save_waits_for_a_part_of_the_time_that_other_changes_wait(events: list[bool]) -> None:
    options = WatchOptions(quiet=3.0, longest=PATIENCE_SECONDS)
    saved, begun = (PendingChanges(options, head=lambda: None) for _ in range(2))
    of_saved, thread = in_background(saved.take)
    of_begun, _ = in_background(begun.take)
    for is_saved in events:
        saved.add("a", is_saved=is_saved)
    begun.add("a", is_saved=True)
    begun.add("a")
    thread.join(PATIENCE_SECONDS)
    assert of_saved == [Batch(frozenset({"a"}))]
    assert not of_begun
    begun.close()


def test_changes_wait_for_git_to_end_but_not_for_ever() -> None:
    busy = Event()
    busy.set()
    pending = PendingChanges(
        WatchOptions(quiet=0.0, longest=0.0, glance=0.01, busy=PATIENCE_SECONDS), is_busy=busy.is_set, head=lambda: None
    )
    pending.add("a")
    found, thread = in_background(pending.take)
    thread.join(0.1)
    assert not found
    pending.add("b")
    busy.clear()
    thread.join(PATIENCE_SECONDS)
    assert found == [Batch(frozenset({"a", "b"}))]
    stuck = PendingChanges(WatchOptions(quiet=0.0, longest=0.0, glance=0.01, busy=0.05), is_busy=lambda: True)
    stuck.add_whole()
    assert taken(stuck) is None


MOUNTS = """\
22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw
30 22 0:26 / /home rw shared:5 master:1 - nfs4 server:/home rw,vers=4.2
31 30 0:27 / /home/local rw - xfs /dev/vdb rw
32 22 0:28 / /mnt/with\\040space rw - fuse.sshfs me@host: rw
33 22 0:29 / /mnt/c rw - 9p C:\\134 rw
34 22 0:30 / /mnt/usb rw - fuseblk /dev/sdb1 rw
35 22 0:31 / /work rw - overlay overlay rw
36 35 0:32 / /over rw - cifs //server/share rw
37 36 0:33 / /over rw - tmpfs tmpfs rw
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/srv/project", ""),
        ("/home/me/project", "nfs4"),
        ("/home/local/project", ""),
        ("/homework", ""),
        ("/mnt/with space/project", "fuse.sshfs"),
        ("/mnt/c/project", "9p"),
        ("/mnt/usb/project", ""),
        ("/work/project", ""),
        ("/over/project", ""),
    ],
)
def test_file_systems_that_other_machines_write_to_are_known_by_their_type(folder: str, kind: str) -> None:
    assert remote_type(Path(folder), MOUNTS) == kind


def test_what_is_mounted_below_a_folder_is_known_by_place_type_and_number() -> None:
    assert mounts_below(Path("/home"), MOUNTS) == {(Path("/home/local"), "xfs", "31")}
    assert {str(it[0]) for it in mounts_below(Path("/mnt"), MOUNTS)} == {"/mnt/with space", "/mnt/c", "/mnt/usb"}
    assert mounts_below(Path("/mnt/with space"), MOUNTS) == mounts_below(Path("/wor"), MOUNTS) == frozenset()
