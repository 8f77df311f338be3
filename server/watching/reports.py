"""A watch's news: updates, problems, and known changes missing from the index."""

from dataclasses import dataclass

from cqm.index.model.progress import UpdateSummary


@dataclass(frozen=True, slots=True)
class WatchReport:
    """A report of a watch.

    Attributes:
        message: a sentence for people; empty when the summary says all.
        paths: the updated paths; empty for the whole tree.
        summary: of the update; None when there was none.
        problem: whether something is wrong.
    """

    message: str = ""
    paths: tuple[str, ...] = ()
    summary: UpdateSummary | None = None
    problem: bool = False


@dataclass(frozen=True, slots=True)
class Backlog:
    """Known changes not taken up yet.

    Attributes:
        count: number of paths; None when anything may have changed.
        since: when the oldest was seen, in seconds since the epoch; 0 for never.
        problem: reason why changes aren't taken up at once, with the remedy; empty when they are.
    """

    count: int | None
    since: float = 0.0
    problem: str = ""
