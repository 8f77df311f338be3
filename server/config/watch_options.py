"""."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """When a change is taken up, in seconds.

    Attributes:
        quiet: a change waits until nothing has changed for this long, so that the steps of one save come together.
        longest: but never longer than this.
        reconcile: time between comparisons of the whole tree.
        poll: the same, while changes can't be watched; and how soon what failed is tried again.
        many: with more changed paths than this, the whole tree is compared instead.
        busy: changes wait for git, while it writes to the work tree, no longer than this.
        glance: time between two looks at which commit is checked out.
        mode: "events" of the system, "poll" to compare again and again, or "auto": events, and where they do not tell
            of what other machines do, comparisons beside them.
    """

    quiet: float = 0.015
    longest: float = 0.5
    reconcile: float = 300.0
    poll: float = 5.0
    many: int = 500
    busy: float = 10.0
    glance: float = 1.0
    mode: str = "auto"
