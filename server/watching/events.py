"""What tells of changes on disk: inotify on Linux, watchdog's native observer elsewhere, behind one small interface."""

import errno
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent

LIMIT_ERRORS = frozenset({errno.ENOSPC, errno.EMFILE, errno.ENOMEM})
"""What the system answers when it has no more watches (or watch instances, or memory) to give."""

# Never in an index, always busy: where one native watch covers the whole tree, their events are dropped at once.
_UNSEEN = frozenset({".git", ".cqm", "node_modules"})


class ChangeSource(Protocol):
    """Tells of changes below a folder, from `start` to `stop`."""

    def start(self) -> None:
        """Begin; raises OSError with one of LIMIT_ERRORS when the system has nothing left to watch with."""

    def stop(self) -> None:
        """End; harmless when it never began."""

    def refresh(self) -> None:
        """Watch what has come into scope since; raises OSError like `start`."""


class NativeTreeWatch:
    """One recursive watch by watchdog, for systems that watch a tree at the price of one folder.

    Parameters:
        root: the folder at the top.
        changed: called with each path that changed.
    """

    def __init__(self, root: Path, *, changed: Callable[[Path], None]) -> None:
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

    def refresh(self) -> None:
        """Nothing to do: the watch covers the whole tree."""

    def _tell(self, event: "FileSystemEvent") -> None:
        for name in (event.src_path, event.dest_path):
            path = Path(os.fsdecode(name))
            if name and _UNSEEN.isdisjoint(path.parts[len(self._root.parts) :]):
                self._changed(path)


def open_changes(
    root: Path,
    *,
    folders: Callable[[Path], Iterable[Path]],
    changed: Callable[[Path], None],
    lost: Callable[[str | OSError], None],
) -> ChangeSource:
    """The change source of this system for a folder; see `InotifyWatch` for the parameters."""
    if sys.platform == "linux":
        from cqm.server.watching.inotify import InotifyWatch

        return InotifyWatch(root, folders=folders, changed=changed, lost=lost)
    return NativeTreeWatch(root, changed=changed)


def how_to_get_watches(error: OSError) -> str:
    """What to do about one of LIMIT_ERRORS, as a sentence for the user."""
    if error.errno == errno.EMFILE:
        return "Raise the limit: sudo sysctl fs.inotify.max_user_instances=1024"
    return "Raise the limit: sudo sysctl fs.inotify.max_user_watches=1048576"
