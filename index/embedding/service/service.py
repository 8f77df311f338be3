"""What a service that embeds offers, whichever protocol it speaks."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

from cqm.index.embedding.service.models import ModelFacts

Rows = Sequence[Sequence[float]]
"""What a service returns: a vector a text, as it came."""


class Role(StrEnum):
    """What texts are embedded for."""

    QUERY = "query"
    DOCUMENT = "document"


class Answer(NamedTuple):
    """What a service returned for a request.

    Attributes:
        rows: a vector a text.
        tokens: how many it counted; None where it does not tell.
    """

    rows: Rows
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """What a service takes.

    Attributes:
        texts: in one request.
        tokens: estimated, of all texts of a request together; one text alone may have more.
        width: requests under way at once.
        cuts: whether it cuts a text that is too long when it is asked to.
        cuts_silently: whether it may cut such a text and not say so.
    """

    texts: int
    tokens: int
    width: int = 1
    cuts: bool = False
    cuts_silently: bool = False


class Service(Protocol):
    """A model that a service was found to have. Errors of its methods are `EmbeddingError`s."""

    @property
    def source(self) -> str:
        """What it is called in messages, with its address."""

    @property
    def provider(self) -> str:
        """Who embeds, as in `Space`."""

    @property
    def model(self) -> str:
        """With what, as in `Space`."""

    @property
    def version(self) -> str:
        """As in `Space`, without what our own handling of texts adds."""

    @property
    def facts(self) -> ModelFacts:
        """What the options, the service and the table tell of the model, in this order."""

    @property
    def limits(self) -> Limits:
        """What it takes."""

    def is_exchanged(self) -> bool:
        """Whether there is another model by now than was found; one question, or none where nobody could exchange it.

        Raises:
            EmbeddingError: the service does not answer, or lacks the model by now.
        """

    def embed(self, texts: Sequence[str], role: Role, *, truncate: bool = False) -> Answer:
        """Send one request, once.

        Parameters:
            texts: with their prefixes.
            role: of the texts.
            truncate: have it cut texts that are too long; only where `limits.cuts`.

        Raises:
            RefusedInputError: the service refuses one of these texts.
            TimedOutError: it did not answer in time.
            TransientError: it did not work.
        """

    def beginning(self, text: str) -> str:
        """As much of a text as is surely within the context; the whole text where that is not known exactly."""

    def close(self) -> None:
        """Give back its connections."""
