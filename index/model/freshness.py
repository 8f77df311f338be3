"""Freshness of an index against its files. Uncompared files count as unknown, never as fresh."""

from dataclasses import dataclass, replace
from enum import StrEnum


class FreshState(StrEnum):
    """The index compared with its files."""

    FRESH = "fresh"
    STALE = "stale"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Freshness:
    """Whether an index matches its files, and since when.

    Attributes:
        state: fresh when the files were just compared, or are followed, and no difference is known; stale when one is,
            when the files were never all compared, or when nobody follows them and another commit is checked out; else
            unknown.
        pending: files known to differ from the index; None when nobody looks, or their number is unknown.
        pending_since: when the oldest of them was seen, seconds since the epoch; 0 for never.
        compared_at: when the last complete comparison of all files began; 0 for never.
        git_head: the commit checked out; "" outside of git and before the first commit, None when unknown.
        indexed_head: the commit checked out at that comparison; likewise.
    """

    state: FreshState = FreshState.UNKNOWN
    pending: int | None = None
    pending_since: float = 0.0
    compared_at: float = 0.0
    git_head: str | None = None
    indexed_head: str = ""

    @property
    def is_moved(self) -> bool:
        """Whether another commit is checked out than was indexed."""
        return bool(self.git_head) and self.git_head != self.indexed_head


NOT_KNOWN = Freshness()


def judged(freshness: Freshness, pending: int | None, since: float = 0.0) -> Freshness:
    """Set the files known to differ, and the resulting state.

    Parameters:
        freshness: with its commits and the last comparison.
        pending, since: see `Freshness`.
    """
    state = FreshState.UNKNOWN if pending is None else FreshState.FRESH
    if pending or (freshness.is_moved and pending is None) or not freshness.compared_at:
        state = FreshState.STALE
    return replace(freshness, state=state, pending=pending, pending_since=since)
