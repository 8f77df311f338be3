"""What goes on in an index: work that runs, and a generation that is built."""

from dataclasses import dataclass

UPDATE, UPDATE_OF_PATHS, REBUILD, IMPROVE, COMPACT = "update", "update of paths", "rebuild", "improve", "compact"
"""The tasks of `Running`."""


@dataclass(frozen=True, slots=True)
class Running:
    """A piece of work on an index.

    Attributes:
        task: "update", "update of paths", "rebuild" (into another generation), "improve" or "compact".
        phase, done, total, chunks, rate, remaining_seconds: as in `Progress`.
        started_at, told_at: when it began, and when this was so, seconds since the epoch.
    """

    task: str
    phase: str = "scanning"
    done: int = 0
    total: int = 0
    chunks: int = 0
    rate: float = 0.0
    remaining_seconds: float | None = None
    started_at: float = 0.0
    told_at: float = 0.0


@dataclass(frozen=True, slots=True)
class Building:
    """A generation that is built beside the one that serves.

    Attributes:
        name: of it.
        why: which options or models changed, or that it was asked for; empty when that is not known.
        files: that it holds by now.
        total: that it will hold; 0 while nothing builds it, until the next update goes on with it.
    """

    name: str
    why: str
    files: int
    total: int = 0
