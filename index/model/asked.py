"""Questions asked of an index by clients, for people to look at."""

from dataclasses import dataclass

from cqm.index.model.query import Answer, Query


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question with its answer.

    Attributes:
        at: when it was asked, seconds since the epoch.
        seconds: taken by the answer.
        client: who asked: process and start of its command line.
        method: "search", "usages", "outline" or "read".
        text: the words, name or path asked for.
        found: number of results, references, symbols or lines.
        query, answer: of a search; None for others.
    """

    at: float
    seconds: float
    client: str
    method: str
    text: str
    found: int
    query: Query | None = None
    answer: Answer | None = None
