"""Linux: one inotify watch for each folder in scope.

watchdog's own recursive watch takes one for every folder, `node_modules` and `.git` included. It holds the first half
of a rename back for half a second, and hides an overflow of the kernel's queue. So this builds on the layer below: its
`InotifyFD`, which owns the descriptor and the thread reading it.
"""

import errno
import fcntl
import os
import struct
import termios
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from threading import Condition, Lock

from watchdog.observers.inotify_c import (
    CallbackId,
    InotifyConstants,
    InotifyEvent,
    InotifyFD,
    Mask,
    WatchDescriptor,
)

from cqm.chunkers.errors import CqmError

# Not IN_MODIFY: a file is read when its writer closes it, and a log growing all day never.
_MASK = Mask(
    InotifyConstants.IN_CLOSE_WRITE
    | InotifyConstants.IN_CREATE
    | InotifyConstants.IN_DELETE
    | InotifyConstants.IN_MOVED_FROM
    | InotifyConstants.IN_MOVED_TO
    | InotifyConstants.IN_DELETE_SELF
    | InotifyConstants.IN_MOVE_SELF
    | InotifyConstants.IN_ONLYDIR
    | InotifyConstants.IN_DONT_FOLLOW
    | InotifyConstants.IN_EXCL_UNLINK
)
_GONE_ERRORS = frozenset({errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.ELOOP})
_ASIDE, _ASIDE_MASK = os.fsencode(os.devnull), Mask(InotifyConstants.IN_DELETE_SELF)
"""A file outside of every tree, and an event it never has: its watch only marks a place in the queue of events."""


class InotifyWatch:
    """Watch the folders of a tree and report every changed path.

    Parameters:
        folders: lists the folders in scope at and below a folder, itself first; called again for each new folder.
        changed: called with each changed path, a file or an appeared or vanished folder; and with whether it is a
            complete file: its writer closed it, or it was moved here.
        lost: called when changes may have been missed, with the reason; an OSError when watches ran out.
    """

    def __init__(
        self,
        root: Path,
        *,
        folders: Callable[[Path], Iterable[Path]],
        changed: Callable[[Path, bool], None],
        lost: Callable[[str | OSError], None],
    ) -> None:
        self.root = root
        self._folders = folders
        self._changed = changed
        self._lost = lost
        self._lock = Lock()
        self._watched: dict[Path, tuple[WatchDescriptor, _Folder]] = {}
        self._fd: _Reader | None = None

    def start(self) -> None:
        """Begin to watch.

        Raises:
            OSError: the system has no free watches (ENOSPC) or instances (EMFILE), or the root is gone.
        """
        self._fd = _Reader()
        self._fd.start()
        try:
            self._add(self.root)
            self._add_tree(self.root)
        except (OSError, CqmError):
            self.stop()
            raise

    def stop(self) -> None:
        """Release all watches and end the thread; harmless when it never started."""
        fd, self._fd = self._fd, None
        if fd is not None:
            fd.stop()
            fd.join()
        with self._lock:
            self._watched.clear()

    def catch_up(self, seconds: float) -> bool:
        """Wait until `changed` was called for all changes made before this call; return whether it was."""
        fd = self._fd
        return fd is None or fd.catch_up(seconds)

    def refresh(self) -> None:
        """Watch folders which have come into scope.

        Raises:
            OSError: the system has no free watches.
        """
        self._add_tree(self.root)

    def _add_tree(self, top: Path) -> None:
        # Repeat until nothing is new: a folder may appear after its parent was listed and before it was watched.
        while [folder for folder in self._folders(top) if self._add(folder)]:
            pass

    def _add(self, folder: Path) -> bool:
        """Watch one folder; False if it is watched already or gone."""
        with self._lock:
            fd = self._fd
            if fd is None or folder in self._watched:
                return False
            watch = _Folder(folder, self)
            try:
                descriptor = fd.add_callback(os.fsencode(folder), _MASK, watch, CallbackId(id(watch)))
            except OSError as error:
                if error.errno in _GONE_ERRORS:
                    return False
                raise
            self._watched[folder] = (descriptor, watch)
            return True

    def _drop_tree(self, top: Path) -> None:
        """Forget a removed folder: moved away, it keeps its watch, which would report vanished paths."""
        with self._lock:
            gone = [folder for folder in self._watched if folder.is_relative_to(top)]
            callbacks = [(wd, CallbackId(id(watch))) for wd, watch in map(self._watched.pop, gone)]
            if self._fd is not None:
                self._fd.remove_callbacks(callbacks)

    def tell(self, folder: Path, event: InotifyEvent) -> None:
        """Take an event of a watched folder, in the thread reading the descriptor."""
        if not event.name:
            # A folder's own end is an event of its parent too; only the root's parent isn't watched.
            if folder == self.root and (event.is_delete_self or event.is_move_self):
                self._drop_tree(folder)
                self._changed(folder, False)  # noqa: FBT003 - a callback
            return
        path = folder / os.fsdecode(event.name)
        if event.is_directory:
            if event.is_moved_from or event.is_delete:
                self._drop_tree(path)
            else:
                self._watch_new(path)
        self._changed(path, not event.is_directory and (event.is_close_write or event.is_moved_to))

    def _watch_new(self, path: Path) -> None:
        try:
            self._add_tree(path)
        except OSError as error:
            self._lost(error)
        except CqmError as error:
            self._lost(str(error))

    def forget(self, watch: "_Folder") -> None:
        """Forget a folder's watch dropped by the kernel, because the folder is gone."""
        with self._lock:
            if self._watched.get(watch.path, (None, None))[1] is watch:
                del self._watched[watch.path]

    def overflow(self) -> None:
        """Report lost events after an overflow of the kernel's queue, and watch folders it may have hidden."""
        self._watch_new(self.root)
        self._lost("the system's queue of file events ran over")


class _Reader(InotifyFD):
    """Reads events in order, and tells when those of a moment have passed."""

    def __init__(self) -> None:
        super().__init__()
        self._passing = Condition()
        self._passed = 0
        self._is_idle = False

    def catch_up(self, seconds: float) -> bool:
        """Wait until the events now in the queue are handled; return whether they are."""
        mark = _Mark()
        try:
            # In this order: events that left the queue before were handled by a reader idle now.
            if not self._bytes_in_queue() and self._is_idle:
                return True
            descriptor = self.add_callback(_ASIDE, _ASIDE_MASK, mark, CallbackId(id(mark)))
            # The end of a watch is an event too, and the last one in the queue now.
            self.remove_callbacks([(descriptor, CallbackId(id(mark)))])
        except OSError:
            # No watch is left, or this watch has ended: nothing is known of the queue.
            return False
        with self._passing:
            return self._passing.wait_for(lambda: self._passed >= descriptor, seconds)

    def _bytes_in_queue(self) -> int:
        (size,) = struct.unpack("i", fcntl.ioctl(self._inotify_fd, termios.FIONREAD, bytes(4)))
        return int(size)

    def _check_inotify_fd(self) -> bool:
        # Called by `read_events` when all events read before are handled. It then waits for others, and reads none.
        self._is_idle = True
        is_readable = super()._check_inotify_fd()
        self._is_idle = False
        return is_readable

    def handle_event(self, event: InotifyEvent) -> None:
        """Handle an event; note also the end of a watch."""
        super().handle_event(event)
        if event.is_ignored:
            with self._passing:
                # Descriptors only grow: a larger one was made later.
                self._passed = max(self._passed, event.wd)
                self._passing.notify_all()


class _Mark:
    """Callbacks of a watch without events."""

    def on_event(self, event: InotifyEvent) -> None:
        """Do nothing."""

    def on_watch_deleted(self, wd: WatchDescriptor) -> None:
        """Do nothing."""

    def on_queue_overflow(self) -> None:
        """Do nothing: the root speaks for all."""


@dataclass(frozen=True, slots=True, eq=False)
class _Folder:
    """Callbacks of InotifyFD for one folder's watch."""

    path: Path
    owner: InotifyWatch

    def on_event(self, event: InotifyEvent) -> None:
        self.owner.tell(self.path, event)

    def on_watch_deleted(self, wd: WatchDescriptor) -> None:  # noqa: ARG002 - the interface has it
        self.owner.forget(self)

    def on_queue_overflow(self) -> None:
        # Every folder is called; the root speaks for all.
        if self.path == self.owner.root:
            self.owner.overflow()
