"""The interface of embedding services, whatever their protocol."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

from cqm.index.embedding.service.models import ModelFacts

Rows = Sequence[Sequence[float]]
"""A service's answer: one vector per text, as received."""


class Role(StrEnum):
    """Purpose of embedding a text."""

    QUERY = "query"
    DOCUMENT = "document"


class Answer(NamedTuple):
    """A service's answer to a request.

    Attributes:
        tokens: counted by the service; None if not reported.
    """

    rows: Rows
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a service.

    Attributes:
        texts: per request.
        tokens: estimated, of all texts of a request together; a single text may have more.
        width: requests under way at once.
        cuts: whether it can cut overlong texts on request.
        cuts_silently: whether it may cut them without saying so.
    """

    texts: int
    tokens: int
    width: int = 1
    cuts: bool = False
    cuts_silently: bool = False


class Service(Protocol):
    """A model found at a service. Errors of its methods are `EmbeddingError`s."""

    @property
    def source(self) -> str:
        """Name and address in messages."""

    @property
    def provider(self) -> str:
        """As in `Space`."""

    @property
    def model(self) -> str:
        """As in `Space`."""

    @property
    def version(self) -> str:
        """As in `Space`, without the part for our own treatment of texts."""

    @property
    def facts(self) -> ModelFacts:
        """The model's facts from the options, else the service, else the table."""

    @property
    def limits(self) -> Limits:
        """The service's limits."""

    def is_exchanged(self) -> bool:
        """Whether the model was exchanged since it was found; asks once, or never if nobody could exchange it.

        Raises:
            EmbeddingError: the service doesn't answer, or no longer has the model.
        """

    def embed(self, texts: Sequence[str], role: Role, *, truncate: bool = False) -> Answer:
        """Send one request, once.

        Parameters:
            texts: with their prefixes.
            truncate: let the service cut overlong texts; only if `limits.cuts`.

        Raises:
            RefusedInputError: the service refuses one of these texts.
            TimedOutError: it didn't answer in time.
            TransientError: it failed this time.
        """

    def beginning(self, text: str) -> str:
        """Return the part of a text surely within the context; the whole text if this isn't known exactly."""

    def close(self) -> None:
        """Close its connections."""
