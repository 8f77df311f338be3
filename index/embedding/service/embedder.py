"""Embedder for a model run by a service: found at its first use, then asked in batches."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from threading import Lock

from cqm.index.embedding.service.base import Meter, validated
from cqm.index.embedding.service.batches import embed_all, embed_canary, embed_one
from cqm.index.embedding.service.models import ModelFacts
from cqm.index.embedding.service.pace import Pace
from cqm.index.embedding.service.service import Role, Rows, Service
from cqm.index.embedding.service.traffic import SharedTraffic, Traffic
from cqm.index.model.errors import EmbeddingError
from cqm.index.model.options import EmbeddingOptions
from cqm.index.model.progress import Usage
from cqm.index.model.spaces import Embeddings, PlacedVector, Space
from cqm.index.remote.rates import Clock, RateLimit
from cqm.index.remote.retries import RetryPolicy

LONG_TEXTS = ("pool", "cut")
"""Treatments of a text over the context."""
_RECIPE = 1
"""Part of the space's version: change it with every change here giving the same text another vector."""


class ServedEmbedder:
    """An `Embedder` over a service.

    Parameters:
        options: treatment of texts and sizes of requests.
        find: finds the service and its model; called at the first use, after `close`, and after its own failure.
    """

    def __init__(
        self, options: EmbeddingOptions, find: Callable[[], Service], retries: RetryPolicy, clock: Clock
    ) -> None:
        self._options = options
        self._find = find
        self._retries = retries
        self._clock = clock
        self._meter = Meter()
        self._rate = RateLimit(options.requests_per_minute, options.tokens_per_minute, clock)
        self._meeting = Lock()  # held while the service is met, which may take hours if it downloads its model
        self._lock = Lock()  # held for moments, for the fields below
        self._shared: SharedTraffic | None = None
        self._closings = 0

    def space(self) -> Space:
        """See `Embedder.space`."""
        with self._used() as traffic:
            return traffic.space

    def facts(self) -> ModelFacts:
        """See `Embedder.facts`."""
        with self._used() as traffic:
            return replace(traffic.service.facts, dimensions=traffic.space.dimensions)

    def usage(self, role: Role | None = None) -> Usage:
        """See `Embedder.usage`. Includes the request for the dimensions, which counts as a document."""
        return self._meter.total(role)

    def embed_documents(self, texts: Sequence[str]) -> Embeddings:
        """See `Embedder.embed_documents`."""
        with self._used() as traffic:
            return embed_all(traffic, texts)

    def embed_query(self, text: str) -> PlacedVector:
        """See `Embedder.embed_query`."""
        with self._used() as traffic:
            return embed_one(traffic, text, Role.QUERY)

    def refresh(self) -> None:
        """See `Embedder.refresh`. Once another model is noticed, nobody uses the old one."""
        shared = self._entered()
        if shared is None:
            return
        try:
            is_exchanged = shared.traffic.service.is_exchanged()
        finally:
            shared.leave()
        if is_exchanged:
            self.close()
            self.space()

    def close(self) -> None:
        """See `Embedder.close`."""
        with self._lock:
            self._closings += 1
            shared, self._shared = self._shared, None
        if shared is not None:
            shared.give_up()

    @contextmanager
    def _used(self) -> Iterator[Traffic]:
        """Yield the way to the service, met first if necessary; it stays open during the block."""
        shared = self._entered()
        if shared is None:
            with self._meeting:
                shared = self._entered() or self._first_entered()
        try:
            yield shared.traffic
        finally:
            shared.leave()

    def _entered(self) -> SharedTraffic | None:
        with self._lock:
            if self._shared is not None:
                self._shared.enter()
            return self._shared

    def _first_entered(self) -> SharedTraffic:
        with self._lock:
            closings = self._closings
        shared = SharedTraffic(self._met())
        shared.enter()
        with self._lock:
            is_closed = closings != self._closings
            if not is_closed:
                self._shared = shared
        if is_closed:
            shared.give_up()  # Calls inside go on; no others enter.
        return shared

    def _met(self) -> Traffic:
        """Find the service and embed a first text: this loads the model and shows the length of its vectors."""
        if self._options.long_texts not in LONG_TEXTS:
            message = f"embedding.long_texts {self._options.long_texts!r}: expected one of {', '.join(LONG_TEXTS)}."
            raise EmbeddingError(message, remedy="Set one of them.")
        service = self._find()
        try:
            return self._probed(self._traffic_to(service))
        except EmbeddingError:
            service.close()
            raise

    def _traffic_to(self, service: Service) -> Traffic:
        limits = service.limits
        pace = Pace(limits.texts, limits.tokens, limits.width, self._options.timeout_seconds)
        version = "-".join(filter(None, [service.version, recipe(self._options, service.facts)]))
        space = Space(service.provider, service.model, 0, version)
        pools = self._options.long_texts == "pool"
        return Traffic(service, space, self._retries, pace, self._rate, self._meter, self._clock, pools)

    def _probed(self, traffic: Traffic) -> Traffic:
        # Loading a large model may take longer than a time-out: it says nothing about the pace.
        first = replace(traffic, retries=traffic.retries.brief(), pace=Pace(1, 1, 1, self._options.timeout_seconds))
        rows = embed_canary(first, patient=True).rows
        dimensions = probed_dimensions(rows, self._options.dimensions, traffic.service.source)
        return replace(traffic, space=replace(traffic.space, dimensions=dimensions))


def recipe(options: EmbeddingOptions, facts: ModelFacts) -> str:
    """Return the part of a space's version for our own treatment of texts; empty if texts are sent as they are, or cut.

    A context length reported by the service is left out: when it changes, texts within it keep their vectors.

    Parameters:
        facts: as found, with the prefixes in use.
    """
    choices = [facts.query_prefix, facts.document_prefix, options.long_texts, options.context_tokens]
    if choices == ["", "", "cut", 0]:
        return ""
    return hashlib.sha256(json.dumps([_RECIPE, *choices]).encode()).hexdigest()[:8]


def probed_dimensions(rows: Rows, wanted: int, source: str) -> int:
    """Return the length of a model's vectors, from its answer for `CANARY`.

    Parameters:
        wanted: the requested length; 0 for the model's own.
        source: the model's name in messages.

    Raises:
        EmbeddingError: the vector is not usable, or has another length than wanted.
    """
    vectors, usable = validated(rows, texts=1, dimensions=0, source=source)
    if not usable[0]:
        message = f"{source} returns vectors without a direction: zeros, or values that are no numbers."
        raise EmbeddingError(message, remedy="Check that embedding.model is a model that embeds.")
    found: int = vectors.shape[1]
    if wanted not in {0, found}:
        message = f"{source} returns {found} dimensions, {wanted} were asked for."
        remedy = "Set embedding.dimensions to 0, or choose a model that can shorten its vectors."
        raise EmbeddingError(message, remedy=remedy)
    return found
