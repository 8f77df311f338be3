"""Changes on disk become updates: real files, the system's own events."""

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Condition, Event, Thread

import pytest

from cqm.index.model.errors import ScanError, StoreError
from cqm.index.model.progress import UpdateSummary
from cqm.server.config.watch_options import WatchOptions
from cqm.server.watching.events import NativeTreeWatch, how_to_get_watches
from cqm.server.watching.reports import WatchReport
from cqm.server.watching.watcher import Watcher

PATIENCE_SECONDS = 240.0
TOGETHER = WatchOptions(quiet=2.0, longest=60)
"""Long enough for the steps of one change to come together on a busy machine."""

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="what inotify alone does")


class Recorder:
    """Stands where the index stands: takes batches, and can be told to fail."""

    def __init__(self) -> None:
        self.batches: list[frozenset[str] | None] = []
        self.reports: list[WatchReport] = []
        self.errors: list[Exception] = []
        self.cancelled: Callable[[], bool] = lambda: False
        self._changed = Condition()

    def update(self, paths: frozenset[str] | None, cancelled: Callable[[], bool]) -> UpdateSummary:
        with self._changed:
            self.cancelled = cancelled
            self.batches.append(paths)
            self._changed.notify_all()
            if self.errors:
                raise self.errors.pop()
        return UpdateSummary()

    def report(self, report: WatchReport) -> None:
        with self._changed:
            self.reports.append(report)
            self._changed.notify_all()

    def wait(self, condition: Callable[[], object]) -> None:
        with self._changed:
            assert self._changed.wait_for(condition, PATIENCE_SECONDS), (self.batches, self.reports)

    def wait_for_path(self, path: str) -> None:
        self.wait(lambda: any(path in batch for batch in self.batches if batch))

    def wait_for_whole(self, count: int = 1) -> None:
        self.wait(lambda: self.batches.count(None) >= count)

    def wait_for_message(self, part: str) -> None:
        self.wait(lambda: any(part in report.message for report in self.reports))


class Scene:
    """A folder that is watched, `node_modules` and `.git` being out of scope."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.seen = Recorder()
        self.pause = Event()
        self.pause.set()
        self.folder_error: Exception | None = None
        self.watchers: list[Watcher] = []

    def folders(self, top: Path) -> Iterator[Path]:
        self.pause.wait()
        if self.folder_error:
            raise self.folder_error
        if top.name in {"node_modules", ".git"}:
            return
        for folder, below, _ in os.walk(top):
            below[:] = [name for name in below if name not in {"node_modules", ".git"}]
            yield Path(folder)

    def put(self, name: str) -> None:
        """Have a file appear whole: written where it stands it is two changes, which a busy machine may part."""
        written = self.root.with_name("written")
        written.write_text("one\n")
        written.rename(self.root / name)

    def watch(self, options: WatchOptions | None = None) -> Recorder:
        self.begin(options)
        self.seen.wait_for_whole()
        return self.seen

    def begin(self, options: WatchOptions | None = None) -> None:
        watcher = Watcher(
            self.root,
            update=self.seen.update,
            folders=self.folders,
            report=self.seen.report,
            options=options or WatchOptions(quiet=0.1),
        )
        self.watchers.append(watcher)
        watcher.start()


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    root = tmp_path.resolve() / "root"
    root.mkdir()
    scene = Scene(root)
    yield scene
    scene.pause.set()
    for watcher in scene.watchers:
        watcher.stop()


def test_the_whole_tree_is_compared_at_the_start(scene: Scene) -> None:
    assert scene.watch().batches[0] is None


def test_a_written_file_is_taken_up_by_its_path(scene: Scene) -> None:
    seen = scene.watch()
    scene.put("app.py")
    seen.wait(lambda: seen.batches[1:] == [frozenset({"app.py"})])


def test_the_steps_of_one_save_come_together(scene: Scene) -> None:
    (scene.root / "app.py").write_text("one\n")
    seen = scene.watch(TOGETHER)
    (scene.root / "4913").touch()
    (scene.root / "4913").unlink()
    (scene.root / "app.py").rename(scene.root / "app.py~")
    (scene.root / "app.py").write_text("two\n")
    (scene.root / "app.py~").unlink()
    seen.wait(lambda: len(seen.batches) > 1)
    assert seen.batches[1] == frozenset({"4913", "app.py", "app.py~"})


def test_a_file_moved_over_another_is_taken_up(scene: Scene) -> None:
    seen = scene.watch()
    (scene.root / ".app.py.tmp").write_text("two\n")
    (scene.root / ".app.py.tmp").replace(scene.root / "app.py")
    seen.wait_for_path("app.py")


def test_a_folder_that_appears_with_files_in_it_is_taken_up_and_watched(scene: Scene) -> None:
    seen = scene.watch()
    inner = scene.root / "new" / "deep"
    inner.mkdir(parents=True)
    (inner / "a.py").write_text("one\n")
    seen.wait_for_path("new")
    (inner / "b.py").write_text("two\n")
    seen.wait_for_path("new/deep/b.py")


def test_a_renamed_folder_is_taken_up_under_both_names_and_stays_watched(scene: Scene) -> None:
    (scene.root / "old").mkdir()
    (scene.root / "old" / "a.py").write_text("one\n")
    seen = scene.watch()
    (scene.root / "old").rename(scene.root / "new")
    seen.wait_for_path("old")
    seen.wait_for_path("new")
    (scene.root / "new" / "a.py").write_text("two\n")
    seen.wait_for_path("new/a.py")


def test_a_folder_moved_away_says_no_more(scene: Scene, tmp_path: Path) -> None:
    (scene.root / "gone").mkdir()
    seen = scene.watch()
    (scene.root / "gone").rename(tmp_path / "gone")
    seen.wait_for_path("gone")
    (tmp_path / "gone" / "a.py").write_text("one\n")
    (scene.root / "last.py").write_text("one\n")
    seen.wait_for_path("last.py")
    assert not any("gone/a.py" in batch for batch in seen.batches if batch)


def test_a_deleted_folder_stands_for_its_files(scene: Scene) -> None:
    (scene.root / "old").mkdir()
    for number in range(50):
        (scene.root / "old" / f"{number}.py").write_text("one\n")
    seen = scene.watch(TOGETHER)
    shutil.rmtree(scene.root / "old")
    seen.wait(lambda: len(seen.batches) > 1)
    assert seen.batches[1] == frozenset({"old"})


def test_more_changes_than_a_branch_switch_makes_are_one_comparison(scene: Scene) -> None:
    seen = scene.watch(replace(TOGETHER, many=20))
    for number in range(21):
        (scene.root / f"{number}.py").write_text("one\n")
    seen.wait_for_whole(2)


@pytest.mark.parametrize("name", [".gitignore", ".cqmignore"])
def test_an_edited_ignore_file_is_a_comparison(scene: Scene, name: str) -> None:
    (scene.root / "sub").mkdir()
    seen = scene.watch()
    (scene.root / "sub" / name).write_text("*.log\n")
    seen.wait_for_whole(2)


def test_continuous_changes_are_taken_up_in_the_end(scene: Scene) -> None:
    seen = scene.watch(WatchOptions(quiet=60, longest=0.2))
    (scene.root / "app.py").write_text("one\n")
    seen.wait_for_path("app.py")


def test_the_tree_is_compared_again_and_again_without_any_event(scene: Scene) -> None:
    scene.watch(WatchOptions(reconcile=0.05)).wait_for_whole(4)


def test_an_update_that_failed_is_told_and_comes_again_with_the_next_change(scene: Scene) -> None:
    seen = scene.watch()
    seen.errors.append(StoreError("The disk is full.", remedy="Free space."))
    scene.put("first.py")
    seen.wait_for_message("The disk is full. Free space.")
    scene.put("second.py")
    seen.wait(lambda: frozenset({"first.py", "second.py"}) in seen.batches)


def test_an_unexpected_error_is_told_by_its_type_and_the_watch_goes_on(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    seen = scene.watch()
    seen.errors.append(ZeroDivisionError("oops"))
    (scene.root / "first.py").write_text("one\n")
    seen.wait_for_message("ZeroDivisionError: oops")
    assert "Traceback" in caplog.text
    (scene.root / "second.py").write_text("one\n")
    seen.wait_for_path("second.py")


def test_paths_whose_update_fails_unexpectedly_were_tried_for_ever_and_held_up_all_others(scene: Scene) -> None:
    seen = scene.watch(WatchOptions(quiet=0.02, poll=0.1))
    watcher = scene.watchers[0]
    seen.wait_for_whole()
    seen.errors.append(ZeroDivisionError("oops"))
    scene.put("first.py")
    seen.wait_for_whole(2)
    assert watcher.wait(PATIENCE_SECONDS)
    assert watcher.backlog().count == 0


def test_a_root_that_goes_is_told_and_followed_again_when_it_is_back(scene: Scene) -> None:
    seen = scene.watch(WatchOptions(quiet=0.02, poll=0.1))
    shutil.rmtree(scene.root)
    seen.wait_for_message("is gone")
    assert "is gone" in scene.watchers[0].backlog().problem
    scene.root.mkdir()
    seen.wait_for_message("is watched again")
    seen.wait_for_whole(2)
    (scene.root / "app.py").write_text("one\n")
    seen.wait_for_path("app.py")
    assert scene.watchers[0].backlog().problem == ""


def test_a_root_replaced_by_another_folder_is_followed_there(scene: Scene, tmp_path: Path) -> None:
    (scene.root / "sub").mkdir()
    seen = scene.watch()
    scene.root.rename(tmp_path / "elsewhere")
    (scene.root / "sub").mkdir(parents=True)
    seen.wait_for_whole(2)
    (tmp_path / "elsewhere" / "sub" / "wrong.py").write_text("one\n")
    (scene.root / "sub" / "right.py").write_text("one\n")
    seen.wait_for_path("sub/right.py")
    assert not any("sub/wrong.py" in batch for batch in seen.batches if batch)


@pytest.mark.processes
def test_what_is_mounted_below_a_root_and_unmounted_again_is_followed(scene: Scene, tmp_path: Path) -> None:
    disk, place = tmp_path / "disk", scene.root / "data"
    for folder in (disk / "sub", place):
        folder.mkdir(parents=True)
    seen = scene.watch()
    mount = ["mount", "--bind", disk, place]
    if sys.platform != "linux" or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("nobody but root of Linux can mount here")
    try:
        seen.wait_for_whole(2)
        (place / "sub" / "new.py").write_text("one\n")
        seen.wait_for_path("data/sub/new.py")
        (place / "sub" / "new.py").write_text("two\n")
        seen.wait_for_path("data/sub/new.py")
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)
    seen.wait_for_whole(3)
    (place / "old.py").write_text("one\n")
    seen.wait_for_path("data/old.py")


def test_a_failure_that_goes_on_is_told_once(scene: Scene) -> None:
    seen = scene.watch(WatchOptions(quiet=0.1, poll=0.02))
    seen.errors += [StoreError("Another folder is there.") for _ in range(5)]
    scene.put("app.py")
    seen.wait(lambda: not seen.errors and seen.reports[-1].summary)
    assert [it.message for it in seen.reports if it.problem] == ["Another folder is there."]


@pytest.mark.parametrize(
    ("number", "remedy"),
    [(errno.ENOSPC, "fs.inotify.max_user_watches"), (errno.EMFILE, "fs.inotify.max_user_instances")],
)
def test_where_watches_run_out_it_says_so_with_the_remedy_and_compares(scene: Scene, number: int, remedy: str) -> None:
    scene.folder_error = OSError(number, "inotify limit reached")
    seen = scene.watch(WatchOptions(poll=0.05))
    seen.wait_for_message(remedy)
    seen.wait_for_whole(4)
    assert remedy in scene.watchers[0].backlog().problem
    assert len([report for report in seen.reports if report.problem]) == 1
    scene.folder_error = None
    seen.wait_for_message("is watched again")


@linux_only
def test_folders_that_cannot_be_listed_are_told_and_compared(scene: Scene) -> None:
    scene.folder_error = ScanError("A pattern is malformed.", remedy="Mend it.")
    seen = scene.watch(WatchOptions(poll=0.05))
    seen.wait_for_message("can't be watched: A pattern is malformed. Mend it.")
    seen.wait_for_whole(4)
    assert "A pattern is malformed" in scene.watchers[0].backlog().problem
    scene.folder_error = None
    seen.wait_for_message("is watched again")


@linux_only
def test_a_watch_that_an_error_ended_is_not_told_as_fresh(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    scene.folder_error = ZeroDivisionError("oops")
    scene.begin()
    scene.seen.wait_for_message("is watched no more: unexpected ZeroDivisionError: oops.")
    backlog = scene.watchers[0].backlog()
    assert backlog.count is None
    assert "ZeroDivisionError" in backlog.problem
    assert "Traceback" in caplog.text


def test_a_limit_is_raised_by_a_command_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "sysctl" in how_to_get_watches(OSError(errno.EMFILE, "too many"))
    for platform in ("darwin", "win32"):
        monkeypatch.setattr("sys.platform", platform)
        told = [how_to_get_watches(OSError(number, "too many")) for number in (errno.EMFILE, errno.ENOMEM)]
        assert "sysctl" not in " ".join(told)


@linux_only
def test_a_folder_that_is_to_be_polled_is_compared_and_not_watched(scene: Scene) -> None:
    before = inotify_watches()
    seen = scene.watch(WatchOptions(poll=0.05, mode="poll"))
    seen.wait_for_whole(4)
    assert inotify_watches() == before
    assert "watch.mode is poll" in scene.watchers[0].backlog().problem
    assert scene.watchers[0].backlog().count is None
    assert not any(report.problem for report in seen.reports)


def test_a_change_is_known_to_be_missing_until_it_is_taken_up(scene: Scene) -> None:
    seen = scene.watch(WatchOptions(quiet=0.02))
    watcher = scene.watchers[0]
    assert watcher.wait(PATIENCE_SECONDS)
    assert watcher.backlog().count == 0
    seen.errors.append(StoreError("The disk is full."))
    scene.put("app.py")
    seen.wait_for_message("The disk is full.")
    assert watcher.backlog().count == 1
    assert not watcher.wait(0)
    scene.put("other.py")
    seen.wait(lambda: frozenset({"app.py", "other.py"}) in seen.batches)
    assert watcher.wait(PATIENCE_SECONDS)


@linux_only
def test_what_was_written_just_before_was_told_as_fresh(scene: Scene) -> None:
    seen = scene.watch(WatchOptions(quiet=0.001))
    watcher = scene.watchers[0]
    for number in range(50):
        scene.put(f"{number}.py")
        # Its event is in the system's queue, perhaps not read yet.
        assert watcher.wait(PATIENCE_SECONDS)
        assert any(f"{number}.py" in batch for batch in seen.batches if batch)


@linux_only
def test_while_events_cannot_be_read_nothing_is_told_as_fresh(scene: Scene) -> None:
    scene.watch(WatchOptions(quiet=0.02))
    watcher = scene.watchers[0]
    assert watcher.wait(PATIENCE_SECONDS)
    assert watcher.backlog().count == 0
    scene.pause.clear()
    (scene.root / "package").mkdir()
    scene.put("app.py")
    assert watcher.backlog().count != 0
    assert not watcher.wait(0.01)
    scene.pause.set()
    assert watcher.wait(PATIENCE_SECONDS)
    assert watcher.backlog().count == 0


@linux_only
def test_a_limit_met_later_is_told_too(scene: Scene) -> None:
    seen = scene.watch(WatchOptions(quiet=0.02, poll=0.05))
    scene.folder_error = OSError(errno.ENOSPC, "inotify watch limit reached")
    (scene.root / "new").mkdir()
    seen.wait_for_message("fs.inotify.max_user_watches")
    seen.wait_for_whole(3)


@linux_only
def test_folders_out_of_scope_cost_no_watch(scene: Scene) -> None:
    for name in ("src", "node_modules/a/b", ".git/objects/00"):
        (scene.root / name).mkdir(parents=True)
    before = inotify_watches()
    seen = scene.watch()
    assert inotify_watches() - before == 2  # the root and src
    (scene.root / "src" / "node_modules" / "c").mkdir(parents=True)
    seen.wait_for_path("src/node_modules")
    assert inotify_watches() - before == 2


@linux_only
def test_an_overflow_of_the_queue_of_events_is_told_and_compared(scene: Scene) -> None:
    seen = scene.watch()
    scene.pause.clear()
    (scene.root / "blocks the reader").mkdir()
    queued = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    # A slow machine's reader takes a buffer full of events before it comes to the one that blocks it.
    for number in range(queued // 2 + 8192):
        old, new = _two_names(scene.root, number)
        old.rename(new)
    scene.pause.set()
    seen.wait_for_message("were missed")
    seen.wait_for_whole(2)
    (scene.root / "app.py").write_text("one\n")
    seen.wait(lambda: seen.batches.count(None) > 2 or any("app.py" in batch for batch in seen.batches if batch))


def test_stopping_asks_the_running_update_to_stop(scene: Scene) -> None:
    seen = scene.watch()
    assert not seen.cancelled()
    scene.watchers[0].stop()
    assert seen.cancelled()
    scene.watchers[0].stop()


def test_the_native_watch_of_a_whole_tree_tells_of_changes_but_not_of_gits(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    (root / ".git").mkdir()
    (root / "src").mkdir()
    seen: list[Path] = []
    last = Event()

    def changed(path: Path, _is_saved: bool) -> None:
        seen.append(path)
        if path.name == "last.py":
            last.set()

    watch = NativeTreeWatch(root, changed=changed)
    watch.start()
    try:
        watch.refresh()
        (root / ".git" / "index").write_text("one\n")
        (root / "src" / "a.py").write_text("one\n")
        (root / "src" / "a.py").rename(root / "src" / "last.py")
        assert last.wait(PATIENCE_SECONDS)
    finally:
        watch.stop()
    assert root / "src" / "a.py" in seen
    assert root / ".git" / "index" not in seen


def inotify_watches() -> int:
    """Return how many inotify watches this process has."""
    count = 0
    for info in Path("/proc/self/fdinfo").iterdir():
        try:
            count += info.read_text().count("inotify wd:")
        except FileNotFoundError:
            continue
    return count


def _two_names(root: Path, number: int) -> tuple[Path, Path]:
    """A file under its present and its next name."""
    names = (root / "one.py", root / "two.py")
    if number == 0:
        names[0].touch()
    return names if number % 2 == 0 else names[::-1]


@linux_only
def test_who_catches_up_knows_of_every_change_made_before_while_others_make_changes(tmp_path: Path) -> None:
    from cqm.server.watching.inotify import InotifyWatch

    told: set[Path] = set()

    def tell(path: Path, _is_saved: bool) -> None:
        # It takes a while, in which others run: the reader has the event then, and the queue is empty.
        if all(path in list(tmp_path.iterdir()) for _ in range(5)):
            told.add(path)

    watch = InotifyWatch(tmp_path, folders=lambda top: [top], changed=tell, lost=lambda _: None)
    watch.start()
    over = Event()

    def others(number: int) -> None:
        while not over.is_set():
            (tmp_path / f"other-{number}").touch()

    threads = [Thread(target=others, args=(number,)) for number in range(2)]
    try:
        for is_busy in (False, True):
            for thread in threads if is_busy else ():
                thread.start()
            for number in range(200):
                mine = tmp_path / f"mine-{is_busy}-{number}"
                mine.write_text("")
                assert watch.catch_up(PATIENCE_SECONDS)
                assert mine in told
    finally:
        over.set()
        for thread in threads:
            if thread.ident:
                thread.join()
        watch.stop()
