"""Many texts to vectors through a service that takes so many at once, and fails on some."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Protocol

from cqm.chunkers.tokens import estimate
from cqm.index.embedding.base import Embeddings, RefusedInputError, RejectedText, Space, validated
from cqm.index.embedding.retries import TransientError
from cqm.index.errors import EmbeddingError

if TYPE_CHECKING:
    from cqm.index.embedding.base import Vector, Vectors

Rows = Sequence[Sequence[float]]
"""What a service returns: a vector a text, as it came."""

CANARY = "def add(left, right): return left + right"
"""A text that every model can embed: what fails with it fails for a reason that lies not in the texts."""


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """What fits in one request.

    Attributes:
        texts: how many.
        tokens: estimated, of all texts together; one text alone may have more.
        alone: a text of more estimated tokens travels alone, because it may be too long for the model; 0 for none.
    """

    texts: int
    tokens: int
    alone: int = 0


class Service(Protocol):
    """A model that a service was found to have. Errors of its methods are `EmbeddingError`s."""

    @property
    def source(self) -> str:
        """What it is called in messages, with its address."""

    @property
    def space(self) -> Space:
        """The space of its vectors."""

    @property
    def limits(self) -> BatchLimits:
        """What fits in one of its requests."""

    def embed(self, texts: Sequence[str], *, patient: bool) -> Rows:
        """One request, sent again as the retry policy says, or only its brief form when not `patient`.

        Raises:
            RefusedInputError: the service refuses one of these texts.
            TransientError: it did not work, several times.
        """

    def embed_beginning(self, text: str) -> Rows:
        """One vector, of as much of a text's beginning as the model takes; raises as `embed`."""

    def close(self) -> None:
        """Give back its connections."""


@dataclass(slots=True)
class _Outcome:
    """What has become of the texts so far, by position."""

    rows: "dict[int, Vector]" = field(default_factory=dict)
    rejected: list[RejectedText] = field(default_factory=list)
    cut: list[int] = field(default_factory=list)


def embed_all(service: Service, texts: Sequence[str], *, patient: bool = True) -> Embeddings:
    """Embed texts in batches. A text that makes its batch fail is found by halving the batch, and reported.

    Parameters:
        service: who embeds.
        texts: any number.
        patient: whether a failed request is repeated as often as the service's retry policy says; else only briefly.

    Raises:
        EmbeddingError: the service fails whatever the text.
    """
    outcome = _Outcome()
    blank = [index for index, text in enumerate(texts) if not text.strip()]
    outcome.rejected += (RejectedText(index, "it is blank") for index in blank)
    for batch in batches(texts, service.limits, leave_out=frozenset(blank)):
        _embed_batch(service, texts, batch, outcome, patient=patient)
    return _in_order(outcome, service.space.dimensions)


def embed_one(service: Service, text: str) -> "Vector":
    """Embed one text that somebody waits for.

    Raises:
        EmbeddingError: the service failed, or refuses the text.
    """
    embeddings = embed_all(service, [text], patient=False)
    if embeddings.rejected:
        message = f"The text has no vector: {embeddings.rejected[0].reason}."
        raise EmbeddingError(message)
    vector: Vector = embeddings.vectors[0]
    return vector


def batches(texts: Sequence[str], limits: BatchLimits, leave_out: frozenset[int] = frozenset()) -> Iterator[list[int]]:
    """Positions of texts in batches within the limits; each position once, those to leave out never."""
    batch: list[int] = []
    tokens = 0
    for index, text in enumerate(texts):
        if index in leave_out:
            continue
        size = estimate(text)
        if limits.alone and size > limits.alone:
            yield [index]
            continue
        if batch and (len(batch) >= limits.texts or tokens + size > limits.tokens):
            yield batch
            batch, tokens = [], 0
        batch.append(index)
        tokens += size
    if batch:
        yield batch


def _embed_batch(service: Service, texts: Sequence[str], batch: list[int], outcome: _Outcome, *, patient: bool) -> None:
    parts = [batch]
    while parts:
        part = parts.pop()
        request = partial(service.embed, [texts[index] for index in part], patient=patient and part is batch)
        try:
            rows = _blaming_input(service, request)
        except RefusedInputError as refusal:
            if len(part) > 1:
                # By length, so that few of the halves hold a text that is too long.
                ordered = sorted(part, key=lambda index: len(texts[index])) if refusal.too_long else part
                parts += [ordered[len(part) // 2 :], ordered[: len(part) // 2]]
            else:
                _settle_refused(service, texts, part[0], refusal, outcome)
        else:
            _keep(service, part, rows, outcome)


def _blaming_input(service: Service, request: Callable[[], Rows]) -> Rows:
    """One request; a server's fault becomes a refusal of its texts when the server can embed another text."""
    try:
        return request()
    except TransientError as fault:
        if not fault.maybe_input:
            raise
        service.embed([CANARY], patient=False)
        raise RefusedInputError(fault.message) from fault


def _settle_refused(
    service: Service, texts: Sequence[str], index: int, refusal: RefusedInputError, outcome: _Outcome
) -> None:
    """A single text was refused: embed how it begins when it is only too long, else report it."""
    if not refusal.too_long:
        outcome.rejected.append(RejectedText(index, refusal.message))
        return
    try:
        rows = _blaming_input(service, partial(service.embed_beginning, texts[index]))
    except RefusedInputError as second:
        outcome.rejected.append(RejectedText(index, second.message))
        return
    _keep(service, [index], rows, outcome)
    outcome.cut.append(index)


def _keep(service: Service, part: list[int], rows: Rows, outcome: _Outcome) -> None:
    vectors, usable = validated(rows, texts=len(part), dimensions=service.space.dimensions, source=service.source)
    for index, vector, good in zip(part, vectors, usable, strict=True):
        if good:
            outcome.rows[index] = vector
        else:
            outcome.rejected.append(RejectedText(index, f"{service.source} returned no usable vector for it"))


def _in_order(outcome: _Outcome, dimensions: int) -> Embeddings:
    indices = tuple(sorted(outcome.rows))
    return Embeddings(
        indices,
        stacked([outcome.rows[index] for index in indices], dimensions),
        tuple(sorted(outcome.rejected, key=lambda text: text.index)),
        tuple(sorted(set(outcome.cut) & outcome.rows.keys())),
    )


def probed_dimensions(rows: Rows, wanted: int, source: str) -> int:
    """The length of a model's vectors, from what it returned for `CANARY`.

    Parameters:
        rows: its answer.
        wanted: the length that was asked for; 0 for the model's own.
        source: the model's name in messages.

    Raises:
        EmbeddingError: the vector is not usable, or of another length than wanted.
    """
    vectors, usable = validated(rows, texts=1, dimensions=0, source=source)
    if not usable[0]:
        message = f"{source} returns vectors without a direction: zeros, or values that are no numbers."
        raise EmbeddingError(message)
    found: int = vectors.shape[1]
    if wanted not in {0, found}:
        message = f"{source} returns {found} dimensions, {wanted} were asked for."
        remedy = "Set embedding.dimensions to 0, or choose a model that can shorten its vectors."
        raise EmbeddingError(message, remedy=remedy)
    return found


def stacked(rows: "Sequence[Vector]", dimensions: int) -> "Vectors":
    """Rows as one array, shape (len(rows), dimensions), for no rows too."""
    import numpy as np

    return np.array(rows, dtype=np.float32).reshape(len(rows), dimensions)
