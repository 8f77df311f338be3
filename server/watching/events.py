"""Sources of changes on disk: inotify on Linux, watchdog's native observer elsewhere."""

import errno
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent

LIMIT_ERRORS = frozenset({errno.ENOSPC, errno.EMFILE, errno.ENOMEM})
"""Errors of a system without free watches, watch instances or memory."""

# Never in an index, always busy: where one native watch covers the whole tree, their events are dropped at once.
_UNSEEN = frozenset({".git", ".cqm", "node_modules"})


class ChangeSource(Protocol):
    """Reports changes below a folder, from `start` to `stop`."""

    def start(self) -> None:
        """Begin; raises OSError with one of LIMIT_ERRORS when the system has no watches left."""

    def stop(self) -> None:
        """End; harmless when it never began."""

    def catch_up(self, seconds: float) -> bool:
        """Wait until the changes made before this call are reported; whether they are, as far as it can be told."""

    def refresh(self) -> None:
        """Watch folders which have come into scope since; raises OSError like `start`."""


class NativeTreeWatch:
    """Watch a tree recursively with watchdog, for systems where a tree costs as much as one folder.

    Parameters:
        changed: called with each changed path, and False: further changes of it may follow.
    """

    def __init__(self, root: Path, *, changed: Callable[[Path, bool], None]) -> None:
        from watchdog.observers import Observer

        self._root = root
        self._changed = changed
        self._observer = Observer()

    def start(self) -> None:
        """Begin; see `ChangeSource`."""
        from watchdog import events

        handler = events.FileSystemEventHandler()
        handler.on_any_event = self._tell  # type: ignore[method-assign]
        kinds: list[type[events.FileSystemEvent]] = [
            events.FileCreatedEvent,
            events.FileModifiedEvent,
            events.FileDeletedEvent,
            events.FileMovedEvent,
            events.DirCreatedEvent,
            events.DirDeletedEvent,
            events.DirMovedEvent,
        ]
        self._observer.schedule(handler, str(self._root), recursive=True, event_filter=kinds)
        self._observer.start()

    def stop(self) -> None:
        """End; see `ChangeSource`."""
        if self._observer.is_alive():
            self._observer.stop()
            self._observer.join()

    def catch_up(self, seconds: float) -> bool:
        """Return True: these systems tell no place in their queue of events."""
        del seconds
        return True

    def refresh(self) -> None:
        """Do nothing: the watch covers the whole tree."""

    def _tell(self, event: "FileSystemEvent") -> None:
        for name in (event.src_path, event.dest_path):
            path = Path(os.fsdecode(name))
            if name and _UNSEEN.isdisjoint(path.parts[len(self._root.parts) :]):
                self._changed(path, False)  # noqa: FBT003 - a callback


def open_changes(
    root: Path,
    *,
    folders: Callable[[Path], Iterable[Path]],
    changed: Callable[[Path, bool], None],
    lost: Callable[[str | OSError], None],
) -> ChangeSource:
    """Make this system's change source for a folder; see `InotifyWatch` for the parameters."""
    if sys.platform == "linux":
        from cqm.server.watching.inotify import InotifyWatch

        return InotifyWatch(root, folders=folders, changed=changed, lost=lost)
    return NativeTreeWatch(root, changed=changed)


def how_to_get_watches(error: OSError) -> str:
    """Tell the user the remedy for one of LIMIT_ERRORS, in a sentence."""
    if sys.platform != "linux":
        return "Raise the limit of open files: ulimit -n 10240" if error.errno == errno.EMFILE else "Free memory."
    if error.errno == errno.EMFILE:
        return "Raise the limit: sudo sysctl fs.inotify.max_user_instances=1024"
    return "Raise the limit: sudo sysctl fs.inotify.max_user_watches=1048576"
