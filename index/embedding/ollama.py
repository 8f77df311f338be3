"""Vectors of a model that an Ollama server runs, through the official client."""

import logging
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from cqm.index.embedding.base import Embedder, RefusedInputError
from cqm.index.embedding.bodies import bounded
from cqm.index.embedding.endpoint import Endpoint
from cqm.index.embedding.keys import read_key
from cqm.index.embedding.models import ModelFacts, settled
from cqm.index.embedding.presets import OLLAMA_MODEL, facts_at_ollama
from cqm.index.embedding.rates import Clock
from cqm.index.embedding.retries import (
    ASKS_TO_WAIT,
    REFUSES_INPUT,
    RetryPolicy,
    TimedOutError,
    TransientError,
    with_retries,
)
from cqm.index.embedding.served import ServedEmbedder
from cqm.index.embedding.service import Answer, Limits, Role
from cqm.index.errors import EmbeddingError
from cqm.index.options import EmbeddingOptions

if TYPE_CHECKING:
    import ollama

DEFAULT_BATCH = 50
DEFAULT_WIDTH = 4
"""Requests under way at once, for a server that is not on this machine."""
_DEFAULT_URL = "http://127.0.0.1:11434"
_DEFAULT_PORT = 11434
_TOKENS_PER_REQUEST = 50_000
"""Estimated. Ollama has no limit of its own: this bounds what one time-out may lose."""
_REPORT_SECONDS = 1.0
"""Between two reports of how far a model's download is."""
_TOO_LONG = re.compile(r"(context|input) length", re.IGNORECASE)
_NOT_FOUND = 404
_SERVER_FAULT = 500


_log = logging.getLogger(__name__)


def ollama_embedder(
    options: EmbeddingOptions,
    retries: RetryPolicy = RetryPolicy(),  # noqa: B008 - frozen
    clock: Clock = Clock(),  # noqa: B008 - frozen
) -> Embedder:
    """An embedder over an Ollama server; the server is first asked when it is first used.

    Parameters:
        options: the default of the address is the environment's OLLAMA_HOST, else http://127.0.0.1:11434; that of the
            key's variable, for a server that wants one, is OLLAMA_API_KEY.
        retries: how failed requests are repeated.
        clock: where time comes from.
    """
    return ServedEmbedder(options, lambda: _find(options, retries, clock), retries, clock)


@dataclass(frozen=True, slots=True)
class _Server:
    client: "ollama.Client"
    endpoint: Endpoint
    model: str

    @property
    def source(self) -> str:
        return f"{self.model} of Ollama at {self.endpoint}"

    def close(self) -> None:
        self.client.close()  # type: ignore[no-untyped-call]

    @contextmanager
    def translating(self) -> Iterator[None]:
        """Turn the client's errors into ours."""
        import httpx
        import ollama

        try:
            yield
        except ollama.ResponseError as error:
            raise self._explained(error.status_code, error.error) from self.endpoint.cause(error)
        except ConnectionError as error:
            message = f"No Ollama server answers at {self.endpoint}."
            raise TransientError(message, remedy="Start it with `ollama serve`, or set embedding.base_url.") from error
        except httpx.TimeoutException as error:
            message = f"Ollama at {self.endpoint} did not answer in time."
            remedy = "Raise embedding.timeout_seconds or lower embedding.batch_size."
            raise TimedOutError(message, remedy=remedy) from error
        except (httpx.TransportError, httpx.DecodingError, RuntimeError) as error:
            # The client raises a RuntimeError where another thread has closed it.
            message = f"The connection to Ollama at {self.endpoint} broke: {error}."
            raise TransientError(message) from error
        except (ValueError, TypeError) as error:
            message = f"Ollama at {self.endpoint} answered with something unexpected: {self.endpoint.quoted(error)}"
            raise TransientError(message) from error

    def _explained(self, status: int, said: str) -> EmbeddingError:
        answer = f"{self.source} answered {status}: {self.endpoint.quoted(said)}"
        if status == _NOT_FOUND and "model" in said:
            remedy = f"Get it with `ollama pull {self.model}`, or name another in embedding.model."
            return _MissingModelError(f"Ollama at {self.endpoint} has no model {self.model}.", remedy=remedy)
        too_long = bool(_TOO_LONG.search(said))
        if status in REFUSES_INPUT or (status >= _SERVER_FAULT and too_long):
            return RefusedInputError(answer, too_long=too_long)
        if status in ASKS_TO_WAIT or status >= _SERVER_FAULT:
            return TransientError(answer, maybe_input=status >= _SERVER_FAULT)
        return EmbeddingError(answer, remedy="Check embedding.base_url and embedding.api_key_env.")


class _MissingModelError(EmbeddingError):
    """The server must get the model first."""


@dataclass(frozen=True, slots=True)
class _ServedModel:
    """A model that the server has; a `Service`."""

    server: _Server
    version: str
    facts: ModelFacts
    limits: Limits
    dimensions: int
    """Asked of the server; 0 for the model's own."""

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
        del role  # told by the texts' prefixes
        client, model = self.server.client, self.server.model
        with self.server.translating():
            answer = client.embed(model, texts, truncate=truncate, dimensions=self.dimensions or None)
            return Answer(answer.embeddings, answer.prompt_eval_count or None)

    def beginning(self, text: str) -> str:
        return text  # Only the server knows the model's tokens.

    def close(self) -> None:
        self.server.close()


def _find(options: EmbeddingOptions, retries: RetryPolicy, clock: Clock) -> _ServedModel:
    """Meet the server: the model's context, and its digest."""
    server = _connect(options)
    try:
        context = with_retries(lambda: _context(server, options, clock), retries.brief())
        digest = with_retries(lambda: _digest(server), retries.brief())
    except EmbeddingError:
        server.close()
        raise
    table = facts_at_ollama(server.model)
    facts = settled(options, replace(table, context_tokens=context or table.context_tokens))
    width = options.concurrency or (1 if server.endpoint.is_loopback else DEFAULT_WIDTH)
    limits = Limits(options.batch_size or DEFAULT_BATCH, _TOKENS_PER_REQUEST, width, cuts=True)
    return _ServedModel(server, digest[:12], facts, limits, options.dimensions)


def _pull(server: _Server, options: EmbeddingOptions, clock: Clock) -> None:
    """Have the server fetch the model, and report how far that is."""
    import ollama

    # Through a client of its own: an answer of hours may trickle, the others may not.
    with closing(_client(server.endpoint, options.timeout_seconds, whole_answer=False)) as client:
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


def _connect(options: EmbeddingOptions) -> _Server:
    host = options.base_url or os.environ.get("OLLAMA_HOST", "")
    key = read_key(options.api_key_env or "OLLAMA_API_KEY", options.api_key_file)
    try:
        endpoint = Endpoint(_url_of(host), key)
        client = _client(endpoint, options.timeout_seconds)
    except ValueError as error:
        message = f"The address of Ollama is not valid: {error}."
        raise EmbeddingError(message, remedy="Correct embedding.base_url or OLLAMA_HOST.") from error
    return _Server(client, endpoint, options.model or OLLAMA_MODEL)


def _client(endpoint: Endpoint, timeout: float, *, whole_answer: bool = True) -> "ollama.Client":
    # The import reads OLLAMA_HOST too, and fails when it is malformed.
    import httpx
    import ollama

    bound = bounded(httpx.SyncByteStream, lambda: httpx.ReadTimeout("the answer did not end"), timeout)
    return ollama.Client(
        endpoint.url,
        timeout=timeout,
        headers={"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else None,
        # What goes to this machine must not leave it by a redirect or a proxy.
        follow_redirects=False,
        trust_env=not endpoint.is_loopback,
        event_hooks={"response": [bound]} if whole_answer else {},
    )


def _url_of(host: str) -> str:
    """The address that OLLAMA_HOST means: scheme and port may be missing, and 0.0.0.0 is where a server listens."""
    if "://" in host or not host:
        return host or _DEFAULT_URL
    parts = urlsplit(f"http://{host}")
    name = "127.0.0.1" if parts.hostname in {None, "0.0.0.0"} else parts.hostname  # noqa: S104 - no bind
    return f"http://{f'[{name}]' if ':' in name else name}:{parts.port or _DEFAULT_PORT}{parts.path}"


def _context(server: _Server, options: EmbeddingOptions, clock: Clock) -> int:
    """Tokens of the model's context: the smaller `num_ctx` that it is run with wins over what it was trained for."""
    answer = _shown(server, options, clock)
    trained = [value for key, value in (answer.modelinfo or {}).items() if key.endswith(".context_length")]
    set_lower = re.findall(r"^num_ctx\s+(\d+)", answer.parameters or "", re.MULTILINE)
    return min(map(int, [*trained, *set_lower]), default=0)


def _shown(server: _Server, options: EmbeddingOptions, clock: Clock) -> "ollama.ShowResponse":
    """What the server tells of the model, which is fetched before when that is configured."""
    try:
        with server.translating():
            return server.client.show(server.model)
    except _MissingModelError:
        if not options.pull:
            raise
    _pull(server, options, clock)
    with server.translating():
        return server.client.show(server.model)


def _digest(server: _Server) -> str:
    """The hash of the model's content; empty when the server does not list it."""
    with server.translating():
        models = server.client.list().models
    names = {server.model, f"{server.model}:latest"}
    return next((model.digest or "" for model in models if model.model in names), "")
