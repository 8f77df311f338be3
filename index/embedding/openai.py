"""Vectors of OpenAI, or of any endpoint that speaks its protocol, through the official client."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from cqm.chunkers.errors import ChunkOptionError
from cqm.chunkers.tokens import Tokenizer, openai_tokenizer
from cqm.index.embedding.base import Embedder, RefusedInputError, Space
from cqm.index.embedding.batches import CANARY, BatchLimits, Rows, probed_dimensions
from cqm.index.embedding.endpoint import Endpoint
from cqm.index.embedding.retries import ASKS_TO_WAIT, REFUSES_INPUT, RetryPolicy, TransientError, with_retries
from cqm.index.embedding.served import ServedEmbedder
from cqm.index.errors import EmbeddingError
from cqm.index.options import EmbeddingOptions

if TYPE_CHECKING:
    import openai

DEFAULT_URL = "https://api.openai.com/v1"
DEFAULT_MODEL = "text-embedding-3-small"
DEFAULT_KEY_VARIABLE = "OPENAI_API_KEY"
DEFAULT_BATCH = 100
MAX_BATCH = 2048
"""Inputs a request; with the two limits below: https://platform.openai.com/docs/api-reference/embeddings/create."""
_TOKENS_PER_REQUEST = 150_000
"""Estimated: half of the 300,000 that are allowed, since code may have twice the tokens of the estimate."""
_CONTEXT = 8192
_TOO_LONG = re.compile(r"context.?(length|size)|too (large|long)|maximum (context|input)|exceed", re.IGNORECASE)
_CUT_MARGIN = 8
"""Tokens: a cut through a character may make more tokens of it than it had."""
_KEPT = 0.7
"""How much of a text is left when a service with an unknown tokenizer refuses it as too long, each time."""
_MIN_CHARACTERS = 64
"""A text this short is refused for another reason than its length."""
_UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND, _SERVER_FAULT = 401, 403, 404, 500


def openai_embedder(options: EmbeddingOptions, retries: RetryPolicy = RetryPolicy()) -> Embedder:  # noqa: B008 - frozen
    """An embedder over an endpoint of OpenAI's protocol; the endpoint is first asked when it is first used.

    Parameters:
        options: model (required for another endpoint than OpenAI's); address (default: the environment's
            OPENAI_BASE_URL, else OpenAI's); variable of the key (default: OPENAI_API_KEY; an endpoint on this machine
            may do without); time-out, dimensions, batch size (at most 2,048).
        retries: how failed requests are repeated.
    """
    return ServedEmbedder(lambda: _find(options, retries))


@dataclass(frozen=True, slots=True)
class _Server:
    client: "openai.OpenAI"
    endpoint: Endpoint
    model: str
    dimensions: int
    """Asked of the server; 0 for the model's own."""
    key_variable: str
    retries: RetryPolicy

    @property
    def source(self) -> str:
        return f"{self.model} at {self.endpoint}"

    def ask(self, texts: Sequence[str], *, patient: bool) -> Rows:
        policy = self.retries if patient else self.retries.brief()
        return with_retries(lambda: self._ask_once(texts), policy)

    def _ask_once(self, texts: Sequence[str]) -> Rows:
        import openai

        with self._translating():
            answer = self.client.embeddings.create(
                input=list(texts), model=self.model, dimensions=self.dimensions or openai.omit
            )
            return [row.embedding for row in sorted(answer.data, key=lambda row: row.index)]

    @contextmanager
    def _translating(self) -> Iterator[None]:
        """Turn the client's errors into ours."""
        import openai

        try:
            yield
        except openai.APIStatusError as error:
            raise self._explained(error) from self.endpoint.cause(error)
        except openai.APITimeoutError as error:
            message = f"{self.source} did not answer in time."
            remedy = "Raise embedding.timeout_seconds or lower embedding.batch_size."
            raise TransientError(message, remedy=remedy) from error
        except openai.APIConnectionError as error:
            message = f"The connection to {self.endpoint} failed: {error.__cause__ or error}."
            remedy = "Start the service, or correct embedding.base_url."
            raise TransientError(message, remedy=remedy) from error
        except (openai.OpenAIError, ValueError, TypeError, AttributeError) as error:
            message = f"{self.source} answered with something else than vectors: {self.endpoint.quoted(error)}"
            raise TransientError(message) from error

    def _explained(self, error: "openai.APIStatusError") -> EmbeddingError:
        status, said = error.status_code, _said(error)
        answer = f"{self.source} answered {status}: {self.endpoint.quoted(said)}"
        too_long = error.code == "context_length_exceeded" or bool(_TOO_LONG.search(said))
        if error.code == "insufficient_quota":
            return EmbeddingError(answer, remedy="Check the plan and the billing details of the account.")
        if status in REFUSES_INPUT or (status >= _SERVER_FAULT and too_long):
            return RefusedInputError(answer, too_long=too_long)
        if status in ASKS_TO_WAIT or status >= _SERVER_FAULT:
            wait = retry_after(error.response.headers)
            return TransientError(answer, retry_after=wait, maybe_input=status >= _SERVER_FAULT)
        return EmbeddingError(answer, remedy=self._remedy(status))

    def _remedy(self, status: int) -> str:
        if status in {_UNAUTHORIZED, _FORBIDDEN}:
            return f"Check the key in the environment variable {self.key_variable}."
        if status == _NOT_FOUND:
            return "Check embedding.model, and that embedding.base_url ends where /embeddings follows (often in /v1)."
        return "Check embedding.base_url and embedding.model."


@dataclass(frozen=True, slots=True)
class _ServedModel:
    """A model that the endpoint has; a `batches.Service`."""

    server: _Server
    space: Space
    limits: BatchLimits

    @property
    def source(self) -> str:
        return self.server.source

    def embed(self, texts: Sequence[str], *, patient: bool) -> Rows:
        if any(self._cut_to_context(text) != text for text in texts):
            # Refused here, without sending it: one text over the limit makes the whole request fail there.
            message = f"A text has more than the {_CONTEXT} tokens of {self.source}."
            raise RefusedInputError(message, too_long=True)
        return self.server.ask(texts, patient=patient)

    def embed_beginning(self, text: str) -> Rows:
        beginning = self._cut_to_context(text)
        if beginning == text:
            beginning = _shortened(text)
        while True:
            try:
                return self.server.ask([beginning], patient=False)
            except RefusedInputError as refusal:
                if not refusal.too_long or len(beginning) < _MIN_CHARACTERS:
                    raise
                beginning = _shortened(beginning)

    def close(self) -> None:
        self.server.client.close()

    def _cut_to_context(self, text: str) -> str:
        """The text, or as much of it as OpenAI's models take; the text of another model as it is."""
        if len(text.encode()) <= _CONTEXT or not (tokenizer := _tokenizer(self.server.model)):
            return text  # No token is shorter than a byte.
        tokens = tokenizer.encode(text)
        return text if len(tokens) <= _CONTEXT else tokenizer.decode(tokens[: _CONTEXT - _CUT_MARGIN])


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a response asks to wait, by `retry-after-ms` or `Retry-After` (seconds or a date), or None."""
    milliseconds, value = headers.get("retry-after-ms"), headers.get("retry-after")
    try:
        if milliseconds:
            return float(milliseconds) / 1000
        return float(value) if value else None
    except ValueError:
        return _seconds_until(value)


def _seconds_until(date: str | None) -> float | None:
    try:
        moment = parsedate_to_datetime(date or "")
    except ValueError:
        return None
    return max(0.0, (moment.astimezone(UTC) - datetime.now(UTC)).total_seconds())


def _said(error: "openai.APIStatusError") -> str:
    """The service's own words: OpenAI sends an object with a message, other endpoints a string or something else."""
    message = error.body.get("message") if isinstance(error.body, dict) else error.body
    return str(message or error.message)


def _shortened(text: str) -> str:
    return text[: int(len(text) * _KEPT)]


def _tokenizer(model: str) -> Tokenizer | None:
    try:
        return openai_tokenizer(model)
    except ChunkOptionError:
        return None


def _find(options: EmbeddingOptions, retries: RetryPolicy) -> _ServedModel:
    """Meet the endpoint: whether it takes the key and has the model, and how long its vectors are."""
    server = _connect(options, retries)
    try:
        dimensions = probed_dimensions(server.ask([CANARY], patient=False), options.dimensions, server.source)
    except EmbeddingError:
        server.client.close()
        raise
    # Elsewhere a model's name says little: two servers may call different models alike.
    version = "" if server.endpoint.url == DEFAULT_URL else server.endpoint.authority
    limits = BatchLimits(min(options.batch_size or DEFAULT_BATCH, MAX_BATCH), _TOKENS_PER_REQUEST, alone=_CONTEXT // 2)
    return _ServedModel(server, Space("openai", server.model, dimensions, version), limits)


def _connect(options: EmbeddingOptions, retries: RetryPolicy) -> _Server:
    variable = options.api_key_env or DEFAULT_KEY_VARIABLE
    url = options.base_url or os.environ.get("OPENAI_BASE_URL") or DEFAULT_URL
    endpoint = Endpoint(url.rstrip("/"), os.environ.get(variable, ""))
    if not endpoint.key and not endpoint.is_loopback:
        message = f"There is no key for {endpoint}: the environment variable {variable} is not set."
        raise EmbeddingError(message, remedy="Set it, or name another variable in embedding.api_key_env.")
    if not options.model and endpoint.url != DEFAULT_URL:
        message = f"No model is named for {endpoint}."
        raise EmbeddingError(message, remedy="Set embedding.model.")
    client = _client(endpoint, options.timeout_seconds)
    return _Server(client, endpoint, options.model or DEFAULT_MODEL, options.dimensions, variable, retries)


def _client(endpoint: Endpoint, timeout: float) -> "openai.OpenAI":
    import openai

    return openai.OpenAI(
        base_url=endpoint.url,
        api_key=endpoint.key or "none",
        timeout=timeout,
        max_retries=0,
        # What goes to this machine must not leave it by a redirect or a proxy.
        http_client=openai.DefaultHttpxClient(follow_redirects=False, trust_env=not endpoint.is_loopback),
    )
