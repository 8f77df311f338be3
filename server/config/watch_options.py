"""Times of the watcher."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """Times of the watcher, in seconds.

    Attributes:
        quiet: a change waits until nothing changes for this long, so the steps of one save come together; a third of it
            after a file was closed or moved here.
        longest: the longest wait of a change.
        reconcile: time between comparisons of the whole tree.
        poll: the same, while changes can't be watched; also the pause before a failure is tried again.
        many: with more changed paths than this, the whole tree is compared instead.
        busy: the longest wait for git while it writes to the work tree.
        glance: time between two looks at the commit checked out.
        mode: "events" of the system, "poll" to compare again and again, or "auto": events, and comparisons beside them
            on network file systems.
    """

    quiet: float = 0.015
    longest: float = 0.5
    reconcile: float = 300.0
    poll: float = 5.0
    many: int = 500
    busy: float = 10.0
    glance: float = 1.0
    mode: str = "auto"
