"""What every reranker offers, and what holds for each: its texts are bounded, and its caller waits no longer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Protocol, TypeVar

from cqm.index.model.errors import RerankError
from cqm.index.remote.deadline import DeadlineError, within
from cqm.index.text.terms import encodable

Result = TypeVar("Result")

MAX_CHARACTERS = 4_000
"""Of a question and of a text; the rest has no part in its score. Twice the 512 tokens that a chunk has at most and
that most cross-encoders read, at the four characters that a token of code seldom exceeds."""
_LATE = "Raise rerank.deadline_seconds or lower rerank.depth."


class Reranker(Protocol):
    """Tells how well texts answer a question. Its methods may be called from any thread."""

    def scores(self, question: str, texts: Sequence[str], deadline_seconds: float) -> tuple[float, ...]:
        """A score for each text, the higher the better, comparable within this call only.

        Parameters:
            question: as the user put it.
            texts: what may answer it.
            deadline_seconds: after them the call is over, whatever becomes of the work.

        Raises:
            RerankError: there are no scores: it is late, cannot be reached or loaded, or answers something else.
        """

    def close(self) -> None:
        """Let go of connections and files; the next call opens them again."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """Until when a reranker's work is of use.

    Attributes:
        source: who works, for the message.
        seconds: how long it may take.
        end: by the clock `monotonic`.
    """

    source: str
    seconds: float
    end: float

    def left(self) -> float:
        """Seconds that are left, more than 0.

        Raises:
            RerankError: none are.
        """
        left = self.end - monotonic()
        if left <= 0:
            raise self.missed()
        return left

    def missed(self) -> RerankError:
        """The error of a reranker that takes too long."""
        return RerankError(f"{self.source} took longer than {self.seconds:g} s.", remedy=_LATE, retryable=True)


def in_time(seconds: float, source: str, work: Callable[[Deadline], Result]) -> Result:
    """What the work gives, if it gives it in time. Work that is late goes on in a thread that nobody waits for.

    The time-outs of sockets cannot do this: each bounds the wait for some bytes, and none the look-up of a host's name.

    Parameters:
        seconds: how long to wait.
        source: who works, for the message.
        work: called in another thread; it should look at the deadline where it can, to end soon after it.

    Raises:
        RerankError: it is late. What the work raises passes.
    """
    deadline = Deadline(source, seconds, monotonic() + seconds)
    try:
        return within(seconds, lambda: work(deadline))
    except DeadlineError as error:
        raise deadline.missed() from error


def readable(text: str, characters: int = MAX_CHARACTERS) -> str:
    """How the text begins, as far as a reranker is shown it, without lone surrogates."""
    return encodable(text[:characters])
