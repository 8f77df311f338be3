"""Embed many texts through a service with limited batches and occasional failures."""

from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import ceil
from threading import Lock
from typing import NamedTuple

from cqm.chunkers.tokens import estimate
from cqm.index.embedding.service.base import validated
from cqm.index.embedding.service.outcome import Outcome
from cqm.index.embedding.service.pooling import Part, split
from cqm.index.embedding.service.service import Answer, Role
from cqm.index.embedding.service.traffic import Traffic
from cqm.index.model.errors import EmbeddingError, RefusedInputError
from cqm.index.model.spaces import Embeddings, PlacedVector
from cqm.index.remote.retries import TimedOutError, TransientError

CANARY = "def add(left, right): return left + right"
"""Every model can embed this text: if it fails, the texts are not to blame."""
_MOST_DIVISIONS = 3
"""Times a timed-out request is divided by four before the service counts as hanging: from a hundred texts to one."""
_DOUBTFUL = 1 / 2
"""Share of the context: a longer text may be too long, as code's true count may be twice the estimate."""
_SURELY = 4
"""Times the context: the estimate is at most twice the true count for text, and some models don't count blanks."""
_PART = 3 / 4
"""Estimated share of the context for a long text's parts. A part still too long is halved."""
_KEPT = 0.7
"""Share kept of a text each time a service with an unknown tokenizer refuses it as too long."""
_SHORT = 64
"""Characters: a text this short is refused for another reason than its length."""


def embed_all(
    traffic: Traffic, texts: Sequence[str], role: Role = Role.DOCUMENT, *, patient: bool = True
) -> Embeddings:
    """Embed texts in batches. A text failing its batch is found by halving the batch, and reported.

    Parameters:
        texts: any number, without their prefixes.
        patient: as in `Traffic.ask`.

    Raises:
        EmbeddingError: the service fails for any text.
    """
    return _Run(traffic, role, patient=patient).embeddings(texts)


def embed_one(traffic: Traffic, text: str, role: Role) -> PlacedVector:
    """Embed one text for a waiting caller.

    Raises:
        RefusedInputError: this text cannot be embedded.
        EmbeddingError: the service failed.
    """
    embeddings = embed_all(traffic, [text], role, patient=False)
    if embeddings.rejected:
        message = f"The text has no vector: {embeddings.rejected[0].reason}."
        raise RefusedInputError(message, remedy="Ask in other words, or in fewer.")
    return PlacedVector(embeddings.space, embeddings.vectors[0])


def embed_canary(traffic: Traffic, *, patient: bool = False) -> Answer:
    """Embed `CANARY`: if it fails, the texts are not to blame.

    Parameters:
        patient: as in `Traffic.ask`.

    Raises:
        EmbeddingError: the service failed, or refuses even this text and so would refuse any.
    """
    try:
        return traffic.ask([CANARY], Role.DOCUMENT, patient=patient)
    except RefusedInputError as refusal:
        message = f"{traffic.service.source} refuses even a short text. {refusal.message}"
        raise EmbeddingError(message, remedy="Check embedding.model and embedding.dimensions.") from refusal


class _Piece(NamedTuple):
    """A text or a part of one: the text's position, the part's start in it, and the sent text without prefix."""

    position: int
    start: int
    text: str


@dataclass(slots=True)
class _Suspicion:
    """Finds the cause of a refused request with several texts: one of them, or their number.

    Attributes:
        open: texts with neither a vector nor a refusal of their own.
        accepted: number of texts in the largest accepted part.
        is_text: whether a text was to blame.
    """

    open: int
    accepted: int = 0
    is_text: bool = False


class _Batch(NamedTuple):
    """Pieces of one request.

    Attributes:
        patient: as in `Traffic.ask`.
        divisions: times it was divided after a time-out.
        truncate: whether the service should cut overlong texts.
        suspicion: of the refused request it is a part of.
    """

    pieces: tuple[_Piece, ...]
    patient: bool
    divisions: int = 0
    truncate: bool = False
    suspicion: _Suspicion | None = None

    def halves(self) -> "tuple[_Batch, ...]":
        return self._in_parts(2)

    def quarters(self) -> "tuple[_Batch, ...]":
        return self._in_parts(4)

    def _in_parts(self, count: int) -> "tuple[_Batch, ...]":
        size = ceil(len(self.pieces) / count)
        starts = range(0, len(self.pieces), size)
        return tuple(self._replace(pieces=self.pieces[start : start + size]) for start in starts)


class _Run:
    """One call of `embed_all`. Its threads share the pieces to send and their results."""

    def __init__(self, traffic: Traffic, role: Role, *, patient: bool) -> None:
        self._traffic = traffic
        self._service = traffic.service
        self._role = role
        self._patient = patient
        facts = traffic.service.facts
        self._prefix = facts.query_prefix if role is Role.QUERY else facts.document_prefix
        self._context = facts.context_tokens
        self._lock = Lock()
        # Everything below is read and written under the lock.
        self._outcome = Outcome()
        self._ready: list[_Batch] = []
        self._together: deque[_Piece] = deque()
        self._failure: EmbeddingError | None = None

    def embeddings(self, texts: Sequence[str]) -> Embeddings:
        """See `embed_all`."""
        for index, text in enumerate(texts):
            self._add(_Piece(index, 0, text))
        self._work_in(min(self._service.limits.width, len(self._ready) + self._gatherings()))
        if self._failure:
            self._failure.partial = self._outcome.certain(self._traffic.space)
            raise self._failure
        return self._outcome.embeddings(self._traffic.space)

    def _gatherings(self) -> int:
        """Estimate the number of batches for the pieces not sent alone."""
        pace = self._traffic.pace
        return max(ceil(len(self._together) / pace.texts), ceil(sum(map(self._tokens, self._together)) / pace.tokens))

    def _work_in(self, threads: int) -> None:
        if threads <= 1:
            self._work()
            return
        with ThreadPoolExecutor(threads, "embed") as pool:
            try:
                for worker in [pool.submit(self._work) for _ in range(threads)]:
                    worker.result()
            finally:
                # After an interrupt, wait only for requests under way.
                with self._lock:
                    self._ready.clear()
                    self._together.clear()

    # Next pieces to send.

    def _add(self, piece: _Piece) -> None:
        """Queue a piece: one possibly too long is sent alone, one surely too long isn't sent."""
        sent = self._prefix + piece.text
        size = estimate(sent)
        if not piece.text.strip():
            self._reject(piece, "it is blank")
        elif self._service.beginning(sent) != sent or 0 < self._context * _SURELY < size:
            self._too_long(piece, f"it is longer than the context of {self._service.source}")
        elif 0 < self._context * _DOUBTFUL < size:
            self._put(_Batch((piece,), self._patient))
        else:
            with self._lock:
                self._together.append(piece)

    def _put(self, *batches: _Batch) -> None:
        with self._lock:
            self._ready += reversed(batches)

    def _next(self) -> _Batch | None:
        with self._lock:
            if self._failure:
                return None
            if self._ready:
                return self._of_the_pace(self._ready.pop())
            return _Batch(self._gathered(), self._patient) if self._together else None

    def _of_the_pace(self, batch: _Batch) -> _Batch:
        """Return as much of a batch as the service takes now, if it became slower since the batch was made."""
        size = self._traffic.pace.texts
        if len(batch.pieces) > size:
            self._ready.append(batch._replace(pieces=batch.pieces[size:]))
        return batch._replace(pieces=batch.pieces[:size])

    def _gathered(self) -> tuple[_Piece, ...]:
        pace = self._traffic.pace
        pieces = [self._together.popleft()]
        tokens = self._tokens(pieces[0])
        while self._together and len(pieces) < pace.texts:
            tokens += self._tokens(self._together[0])
            if tokens > pace.tokens:
                break
            pieces.append(self._together.popleft())
        return tuple(pieces)

    def _tokens(self, piece: _Piece) -> int:
        return estimate(self._prefix + piece.text)

    # Results of a batch.

    def _work(self) -> None:
        """Send batches until none are left. A thread splitting a batch also sends its parts, so none stays behind."""
        while batch := self._next():
            try:
                self._send(batch)
            except EmbeddingError as error:
                with self._lock:
                    self._failure = self._failure or error

    def _send(self, batch: _Batch) -> None:
        texts = [self._prefix + piece.text for piece in batch.pieces]
        try:
            answer = self._asked(texts, batch)
        except RefusedInputError as refusal:
            self._refused(batch, refusal)
        except TimedOutError:
            if not batch.patient or len(texts) == 1 or batch.divisions == _MOST_DIVISIONS:
                raise
            self._put(*batch._replace(divisions=batch.divisions + 1).quarters())
        else:
            if self._was_cut(batch, answer):
                self._too_long(batch.pieces[0], f"{self._service.source} cuts it", answer)
            else:
                self._keep(batch, answer)

    def _asked(self, texts: Sequence[str], batch: _Batch) -> Answer:
        """Send one request. A server's fault becomes a refusal of the texts if the server can embed another text."""
        try:
            # A request still timing out after this many divisions isn't repeated.
            patient = batch.patient and batch.divisions < _MOST_DIVISIONS
            return self._traffic.ask(texts, self._role, patient=patient, truncate=batch.truncate)
        except TransientError as fault:
            if not fault.maybe_input:
                raise
            embed_canary(self._traffic)
            raise RefusedInputError(fault.message, remedy=fault.remedy, by_fault=True) from fault

    def _refused(self, batch: _Batch, refusal: RefusedInputError) -> None:
        if len(batch.pieces) > 1:
            suspicion = batch.suspicion or _Suspicion(len(batch.pieces))
            # Faults are not waited out again for each part. Sorted by length, so few of the halves contain a long text.
            ordered = sorted(batch.pieces, key=lambda piece: len(piece.text)) if refusal.too_long else batch.pieces
            patient = batch.patient and not refusal.by_fault
            parts = batch._replace(pieces=tuple(ordered), patient=patient, suspicion=suspicion)
            self._put(*parts.halves())
            return
        self._settle(batch, is_text=True)
        if refusal.too_long and not batch.truncate:
            self._too_long(batch.pieces[0], refusal.message)
        else:
            self._reject(batch.pieces[0], refusal.message)

    def _was_cut(self, batch: _Batch, answer: Answer) -> bool:
        """Whether the service silently cut a text sent alone: its token count reaches the context."""
        may_be = self._service.limits.cuts_silently and len(batch.pieces) == 1 and not batch.truncate
        return may_be and 0 < self._context <= (answer.tokens or 0)

    def _keep(self, batch: _Batch, answer: Answer) -> None:
        dimensions, source = self._traffic.space.dimensions, self._service.source
        vectors, usable = validated(answer.rows, texts=len(batch.pieces), dimensions=dimensions, source=source)
        for piece, vector, good in zip(batch.pieces, vectors, usable, strict=True):
            if good:
                with self._lock:
                    parts = self._outcome.parts.setdefault(piece.position, [])
                    parts.append(Part(piece.start, len(piece.text), vector))
            else:
                self._reject(piece, f"{source} returned no usable vector for it")
        self._settle(batch)

    def _settle(self, batch: _Batch, *, is_text: bool = False) -> None:
        """Learn the service's limit of texts, once all parts of a refused request were tried."""
        suspicion = batch.suspicion
        if suspicion is None:
            return
        with self._lock:
            suspicion.open -= len(batch.pieces)
            suspicion.accepted = max(suspicion.accepted, len(batch.pieces))
            suspicion.is_text = suspicion.is_text or is_text
            if not suspicion.open and not suspicion.is_text:
                self._traffic.pace.at_most(suspicion.accepted)

    def _reject(self, piece: _Piece, reason: str) -> None:
        with self._lock:
            self._outcome.rejected.setdefault(piece.position, reason)

    # Texts over the context.

    def _too_long(self, piece: _Piece, reason: str, answer: Answer | None = None) -> None:
        """Embed a text's parts or its beginning; `answer` is for the beginning if the service has cut the text."""
        if len(piece.text) < _SHORT:
            self._reject(piece, reason)
        elif self._traffic.pools:
            self._part(piece)
        else:
            with self._lock:
                self._outcome.cut.add(piece.position)
            if answer:
                self._keep(_Batch((piece,), self._patient), answer)
            else:
                self._cut(piece)

    def _part(self, piece: _Piece) -> None:
        with self._lock:
            self._outcome.pooled.add(piece.position)
        parts = max(2, ceil(self._tokens(piece) / (self._context * _PART))) if self._context else 2
        start = piece.start
        for text in split(piece.text, ceil(len(piece.text) / parts)):
            if text.strip():
                self._add(_Piece(piece.position, start, text))
            start += len(text)

    def _cut(self, piece: _Piece) -> None:
        sent = self._prefix + piece.text
        beginning = self._service.beginning(sent)
        if self._service.limits.cuts and beginning == sent:
            self._put(_Batch((piece,), self._patient, truncate=True))
            return
        if beginning == sent:
            surely = self._context * _SURELY / self._tokens(piece) if self._context else 1.0
            beginning = sent[: int(len(sent) * min(_KEPT, surely))]
        self._put(_Batch((piece._replace(text=beginning[len(self._prefix) :]),), self._patient))
