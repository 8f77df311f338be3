"""The interface of rerankers, and limits for all of them: the length of texts and the caller's waiting time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Protocol, TypeVar

from cqm.index.model.errors import RerankError
from cqm.index.remote.deadline import DeadlineError, within
from cqm.index.text.terms import encodable

Result = TypeVar("Result")

MAX_CHARACTERS = 4_000
"""Characters of a question or text; the rest doesn't affect its score. Twice the 512 tokens read by most
cross-encoders, at four characters a token; code seldom exceeds that.
"""
_LATE = "Raise rerank.deadline_seconds or lower rerank.depth."


class Reranker(Protocol):
    """Scores how well texts answer a question. Its methods may be called from any thread."""

    def scores(self, question: str, texts: Sequence[str], deadline_seconds: float) -> tuple[float, ...]:
        """Return a score for each text, higher is better, comparable within this call only.

        Parameters:
            question: in the user's words.
            deadline_seconds: longest duration of the call, even if the work goes on.

        Raises:
            RerankError: there are no scores: it is late, unreachable or unloadable, or gives an invalid answer.
        """

    def close(self) -> None:
        """Release connections and files; the next call opens them again."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """Time limit of a reranker's work.

    Attributes:
        source: the reranker's name in messages.
        seconds: allowed duration.
        end: by the clock `monotonic`.
    """

    source: str
    seconds: float
    end: float

    def left(self) -> float:
        """Return the remaining seconds, more than 0.

        Raises:
            RerankError: the time is over.
        """
        left = self.end - monotonic()
        if left <= 0:
            raise self.missed()
        return left

    def missed(self) -> RerankError:
        """Return the error for a late reranker."""
        return RerankError(f"{self.source} took longer than {self.seconds:g} s.", remedy=_LATE, retryable=True)


def in_time(seconds: float, source: str, work: Callable[[Deadline], Result]) -> Result:
    """Return the result of `work` if it is in time. Late work goes on in a thread without waiters.

    Socket time-outs are not enough: each limits the wait for some bytes, and none the look-up of a host name.

    Parameters:
        seconds: longest wait.
        source: the reranker's name in messages.
        work: called in another thread; it should check the deadline now and then, to end soon after it.

    Raises:
        RerankError: it is late. Errors of the work pass through.
    """
    deadline = Deadline(source, seconds, monotonic() + seconds)
    try:
        return within(seconds, lambda: work(deadline))
    except DeadlineError as error:
        raise deadline.missed() from error


def readable(text: str, characters: int = MAX_CHARACTERS) -> str:
    """Return the part of a text shown to a reranker: its beginning, without lone surrogates."""
    return encodable(text[:characters])
