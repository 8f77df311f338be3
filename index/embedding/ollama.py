"""Vectors of a model run by an Ollama server, through the official client."""

import logging
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cqm.index.embedding.model_facts import OLLAMA_MODEL, facts_at_ollama
from cqm.index.embedding.service.base import Embedder
from cqm.index.embedding.service.embedder import ServedEmbedder
from cqm.index.embedding.service.models import ModelFacts, settled
from cqm.index.embedding.service.service import Answer, Limits, Role
from cqm.index.model.errors import EmbeddingError
from cqm.index.model.options import EmbeddingOptions
from cqm.index.remote.endpoint import EMBEDDING
from cqm.index.remote.ollama import MissingModelError, OllamaServer, connect_ollama, context_of, ollama_client
from cqm.index.remote.rates import Clock
from cqm.index.remote.retries import RetryPolicy, with_retries
from cqm.index.remote.variables import Variables

if TYPE_CHECKING:
    import ollama

DEFAULT_BATCH = 50
DEFAULT_WIDTH = 4
"""Requests under way at once, for a server on another machine."""
_TOKENS_PER_REQUEST = 50_000
"""Estimated. Ollama has no limit of its own; this bounds the loss by one time-out."""
_REPORT_SECONDS = 1.0
"""Between two log messages about a model's download."""
_DIGITS = 12
"""Characters of the digest in a space's version."""

_log = logging.getLogger(__name__)


def ollama_embedder(
    options: EmbeddingOptions,
    variables: Variables,
    retries: RetryPolicy = RetryPolicy(),  # noqa: B008 - frozen
) -> Embedder:
    """Return an embedder over an Ollama server, contacted at its first use.

    Parameters:
        options: the address defaults to the variable OLLAMA_HOST, else http://127.0.0.1:11434; the key's variable,
            for a server with a key, to OLLAMA_API_KEY.
    """
    clock = Clock()
    return ServedEmbedder(options, lambda: _find(options, variables, retries, clock), retries, clock)


@dataclass(frozen=True, slots=True)
class _ServedModel:
    """A model on the server; a `Service`."""

    server: OllamaServer
    retries: RetryPolicy
    version: str
    facts: ModelFacts
    limits: Limits
    dimensions: int
    """Requested from the server; 0 for the model's own."""

    @property
    def source(self) -> str:
        return self.server.source

    @property
    def provider(self) -> str:
        return "ollama"

    @property
    def model(self) -> str:
        return self.server.model.removesuffix(":latest")

    def embed(self, texts: Sequence[str], role: Role, *, truncate: bool = False) -> Answer:
        del role  # expressed by the texts' prefixes
        client, model = self.server.client, self.server.model
        with self.server.translating():
            answer = client.embed(model, texts, truncate=truncate, dimensions=self.dimensions or None)
            return Answer(answer.embeddings, answer.prompt_eval_count or None)

    def is_exchanged(self) -> bool:
        return with_retries(lambda: _version(self.server), self.retries) != self.version

    def beginning(self, text: str) -> str:
        return text  # Only the server knows the model's tokens.

    def close(self) -> None:
        self.server.close()


def _find(options: EmbeddingOptions, variables: Variables, retries: RetryPolicy, clock: Clock) -> _ServedModel:
    """Ask the server for the model's context length and digest."""
    server = connect_ollama(options, options.model or OLLAMA_MODEL, EMBEDDING, variables)
    try:
        context = context_of(with_retries(lambda: _shown(server, options, variables, clock), retries.brief()))
        version = with_retries(lambda: _version(server), retries.brief())
    except EmbeddingError:
        server.close()
        raise
    table = facts_at_ollama(server.model, server.endpoint.url)
    facts = settled(options, replace(table, context_tokens=context or table.context_tokens))
    width = options.concurrency or (1 if server.endpoint.is_loopback else DEFAULT_WIDTH)
    limits = Limits(options.batch_size or DEFAULT_BATCH, _TOKENS_PER_REQUEST, width, cuts=True)
    return _ServedModel(server, retries.brief(), version, facts, limits, options.dimensions)


def _pull(server: OllamaServer, options: EmbeddingOptions, variables: Variables, clock: Clock) -> None:
    """Have the server download the model, and log the progress."""
    import ollama

    # Through a client of its own: a download's answer may trickle for hours, others may not.
    seconds = options.timeout_seconds
    with closing(ollama_client(server.endpoint, seconds, variables, whole_answer=False)) as client:
        reported = clock.monotonic() - _REPORT_SECONDS
        with server.translating():
            try:
                for step in client.pull(server.model, stream=True):
                    if clock.monotonic() - reported >= _REPORT_SECONDS:
                        reported = clock.monotonic()
                        _log.info("Ollama pulls %s: %s", server.model, _progress(step))
            except ollama.ResponseError as error:
                message = f"Ollama at {server.endpoint} cannot pull {server.model}: {server.endpoint.quoted(error)}"
                remedy = f"Try `ollama pull {server.model}` there, or name another in embedding.model."
                raise EmbeddingError(message, remedy=remedy) from server.endpoint.cause(error)


def _progress(step: "ollama.ProgressResponse") -> str:
    if not step.total:
        return step.status or "at work"
    return f"{step.status}, {(step.completed or 0) / step.total:.0%} of {step.total / 1e6:.0f} MB"


def _shown(
    server: OllamaServer, options: EmbeddingOptions, variables: Variables, clock: Clock
) -> "ollama.ShowResponse":
    """Return the server's description of the model, downloading the model first if configured."""
    try:
        with server.translating():
            return server.client.show(server.model)
    except MissingModelError:
        if not options.pull:
            raise
    _pull(server, options, variables, clock)
    with server.translating():
        return server.client.show(server.model)


def _version(server: OllamaServer) -> str:
    """Return the start of the hash of the model's content; empty if the server doesn't list it."""
    with server.translating():
        models = server.client.list().models
    names = {server.model, f"{server.model}:latest"}
    return next((model.digest or "" for model in models if model.model in names), "")[:_DIGITS]
