"""Vectors of a model that an Ollama server runs, through the official client."""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from cqm.index.embedding.base import Embedder, RefusedInputError, Space
from cqm.index.embedding.batches import CANARY, BatchLimits, Rows, probed_dimensions
from cqm.index.embedding.endpoint import Endpoint
from cqm.index.embedding.retries import ASKS_TO_WAIT, REFUSES_INPUT, RetryPolicy, TransientError, with_retries
from cqm.index.embedding.served import ServedEmbedder
from cqm.index.errors import EmbeddingError
from cqm.index.options import EmbeddingOptions

if TYPE_CHECKING:
    import ollama

DEFAULT_MODEL = "nomic-embed-text"
DEFAULT_BATCH = 50
_DEFAULT_URL = "http://127.0.0.1:11434"
_DEFAULT_PORT = 11434
_TOKENS_PER_REQUEST = 50_000
"""Estimated. Ollama has no limit of its own: this bounds what one time-out may lose."""
_TOO_LONG = re.compile(r"(context|input) length", re.IGNORECASE)
_NOT_FOUND = 404
_SERVER_FAULT = 500


def ollama_embedder(options: EmbeddingOptions, retries: RetryPolicy = RetryPolicy()) -> Embedder:  # noqa: B008 - frozen
    """An embedder over an Ollama server; the server is first asked when it is first used.

    Parameters:
        options: model; address (default: the environment's OLLAMA_HOST, else http://127.0.0.1:11434); variable of the
            key (default: OLLAMA_API_KEY) for a server that wants one; time-out, dimensions, batch size.
        retries: how failed requests are repeated.
    """
    return ServedEmbedder(lambda: _find(options, retries))


@dataclass(frozen=True, slots=True)
class _Server:
    client: "ollama.Client"
    endpoint: Endpoint
    model: str
    dimensions: int
    """Asked of the server; 0 for the model's own."""
    retries: RetryPolicy

    @property
    def source(self) -> str:
        return f"{self.model} of Ollama at {self.endpoint}"

    def close(self) -> None:
        self.client.close()  # type: ignore[no-untyped-call]

    def ask(self, texts: Sequence[str], *, patient: bool, truncate: bool = False) -> Rows:
        policy = self.retries if patient else self.retries.brief()
        return with_retries(lambda: self._ask_once(texts, truncate=truncate), policy)

    def _ask_once(self, texts: Sequence[str], *, truncate: bool) -> Rows:
        with self.translating():
            answer = self.client.embed(self.model, texts, truncate=truncate, dimensions=self.dimensions or None)
            return answer.embeddings

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
            raise TransientError(message, remedy=remedy) from error
        except (httpx.TransportError, httpx.DecodingError) as error:
            message = f"The connection to Ollama at {self.endpoint} broke: {error}."
            raise TransientError(message) from error
        except (ValueError, TypeError) as error:
            message = f"Ollama at {self.endpoint} answered with something unexpected: {self.endpoint.quoted(error)}"
            raise TransientError(message) from error

    def _explained(self, status: int, said: str) -> EmbeddingError:
        answer = f"{self.source} answered {status}: {self.endpoint.quoted(said)}"
        if status == _NOT_FOUND and "model" in said:
            remedy = f"Get it with `ollama pull {self.model}`, or name another in embedding.model."
            return EmbeddingError(f"Ollama at {self.endpoint} has no model {self.model}.", remedy=remedy)
        too_long = bool(_TOO_LONG.search(said))
        if status in REFUSES_INPUT or (status >= _SERVER_FAULT and too_long):
            return RefusedInputError(answer, too_long=too_long)
        if status in ASKS_TO_WAIT or status >= _SERVER_FAULT:
            return TransientError(answer, maybe_input=status >= _SERVER_FAULT)
        return EmbeddingError(answer, remedy="Check embedding.base_url and embedding.api_key_env.")


@dataclass(frozen=True, slots=True)
class _ServedModel:
    """A model that the server has; a `batches.Service`."""

    server: _Server
    space: Space
    limits: BatchLimits

    @property
    def source(self) -> str:
        return self.server.source

    def embed(self, texts: Sequence[str], *, patient: bool) -> Rows:
        return self.server.ask(texts, patient=patient)

    def embed_beginning(self, text: str) -> Rows:
        # Only the server knows the model's tokens; what it cuts away is at the end.
        return self.server.ask([text], patient=False, truncate=True)

    def close(self) -> None:
        self.server.close()


def _find(options: EmbeddingOptions, retries: RetryPolicy) -> _ServedModel:
    """Meet the server: the model's context, its digest, and how long its vectors are."""
    server = _connect(options, retries)
    try:
        context = with_retries(lambda: _context(server), retries.brief())
        digest = with_retries(lambda: _digest(server), retries.brief())
        dimensions = probed_dimensions(server.ask([CANARY], patient=False), options.dimensions, server.source)
    except EmbeddingError:
        server.close()
        raise
    space = Space("ollama", server.model.removesuffix(":latest"), dimensions, digest[:12])
    # The estimate may be half of the truth for code, so what may be too long begins at half of the context.
    limits = BatchLimits(options.batch_size or DEFAULT_BATCH, _TOKENS_PER_REQUEST, alone=context // 2)
    return _ServedModel(server, space, limits)


def _connect(options: EmbeddingOptions, retries: RetryPolicy) -> _Server:
    host = options.base_url or os.environ.get("OLLAMA_HOST", "")
    key = os.environ.get(options.api_key_env or "OLLAMA_API_KEY", "")
    try:
        endpoint = Endpoint(_url_of(host), key)
        client = _client(endpoint, options.timeout_seconds)
    except ValueError as error:
        message = f"The address of Ollama is not valid: {error}."
        raise EmbeddingError(message, remedy="Correct embedding.base_url or OLLAMA_HOST.") from error
    return _Server(client, endpoint, options.model or DEFAULT_MODEL, options.dimensions, retries)


def _client(endpoint: Endpoint, timeout: float) -> "ollama.Client":
    # The import reads OLLAMA_HOST too, and fails when it is malformed.
    import ollama

    return ollama.Client(
        endpoint.url,
        timeout=timeout,
        headers={"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else None,
        # What goes to this machine must not leave it by a redirect or a proxy.
        follow_redirects=False,
        trust_env=not endpoint.is_loopback,
    )


def _url_of(host: str) -> str:
    """The address that OLLAMA_HOST means: scheme and port may be missing, and 0.0.0.0 is where a server listens."""
    if "://" in host or not host:
        return host or _DEFAULT_URL
    parts = urlsplit(f"http://{host}")
    name = "127.0.0.1" if parts.hostname in {None, "0.0.0.0"} else parts.hostname  # noqa: S104 - no bind
    return f"http://{f'[{name}]' if ':' in name else name}:{parts.port or _DEFAULT_PORT}{parts.path}"


def _context(server: _Server) -> int:
    """Tokens of the model's context: the smaller `num_ctx` that it is run with wins over what it was trained for."""
    with server.translating():
        answer = server.client.show(server.model)
    trained = [value for key, value in (answer.modelinfo or {}).items() if key.endswith(".context_length")]
    set_lower = re.findall(r"^num_ctx\s+(\d+)", answer.parameters or "", re.MULTILINE)
    return min(map(int, [*trained, *set_lower]), default=0)


def _digest(server: _Server) -> str:
    """The hash of the model's content; empty when the server does not list it."""
    with server.translating():
        models = server.client.list().models
    names = {server.model, f"{server.model}:latest"}
    return next((model.digest or "" for model in models if model.model in names), "")
