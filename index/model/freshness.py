"""How far an index is known to be in step with its files. What nobody looked at is unknown, and never called fresh."""

from dataclasses import dataclass, replace
from enum import StrEnum


class FreshState(StrEnum):
    """What is known of an index beside its files."""

    FRESH = "fresh"
    STALE = "stale"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Freshness:
    """How far an index is in step with its files.

    Attributes:
        state: fresh when the files were just compared, or are followed, and nothing is known to differ; stale when
            something is, another commit is checked out, or the files were never all compared; else unknown.
        pending: files known to differ from the index; None when nobody looks, or how many is not known.
        pending_since: when the oldest of them was seen, seconds since the epoch; 0 for never.
        compared_at: when the last comparison of all files began that ran to its end; 0 for never.
        git_head: the commit checked out; "" outside of git and before the first commit, None when it can't be told.
        indexed_head: the commit that was checked out at that comparison; likewise.
    """

    state: FreshState = FreshState.UNKNOWN
    pending: int | None = None
    pending_since: float = 0.0
    compared_at: float = 0.0
    git_head: str | None = None
    indexed_head: str = ""

    @property
    def is_moved(self) -> bool:
        """Whether another commit is checked out than the one that was indexed."""
        return bool(self.git_head) and self.git_head != self.indexed_head


NOT_KNOWN = Freshness()


def judged(freshness: Freshness, pending: int | None, since: float = 0.0) -> Freshness:
    """The freshness with what is known to differ, and the state that follows from all of it.

    Parameters:
        freshness: with its commits and the last comparison.
        pending, since: see `Freshness`.
    """
    state = FreshState.UNKNOWN if pending is None else FreshState.FRESH
    if pending or freshness.is_moved or not freshness.compared_at:
        state = FreshState.STALE
    return replace(freshness, state=state, pending=pending, pending_since=since)
