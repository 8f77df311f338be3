"""An endpoint of OpenAI's protocol through the official client: where it is, what it says, what its errors mean."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from cqm.index.embedding.base import RefusedInputError
from cqm.index.embedding.bodies import bounded
from cqm.index.embedding.endpoint import Endpoint
from cqm.index.embedding.keys import read_key
from cqm.index.embedding.presets import Fields, Preset
from cqm.index.embedding.retries import ASKS_TO_WAIT, REFUSES_INPUT, TimedOutError, TransientError
from cqm.index.embedding.service import Answer
from cqm.index.errors import EmbeddingError
from cqm.index.options import EmbeddingOptions

if TYPE_CHECKING:
    import openai

_TOO_LONG = re.compile(
    r"context.?(length|size)|too (large|long)|maximum (context|input|length)|less than \d+ tokens", re.IGNORECASE
)
_UNAUTHORIZED, _PAYMENT_REQUIRED, _FORBIDDEN, _NOT_FOUND = 401, 402, 403, 404
_SERVER_FAULT, _NOT_IMPLEMENTED = 500, 501


@dataclass(frozen=True, slots=True)
class OpenAIServer:
    """An endpoint. Errors of its methods are `EmbeddingError`s.

    Attributes:
        client: of the endpoint; repeats nothing.
        endpoint: where it is.
        key_place: where its key comes from, for people.
    """

    client: "openai.OpenAI"
    endpoint: Endpoint
    key_place: str

    def embed(self, model: str, texts: Sequence[str], fields: Fields) -> Answer:
        """One request for vectors, with further fields in its body."""
        with self._translating(f"{model} at {self.endpoint}"):
            answer = self.client.embeddings.create(input=list(texts), model=model, extra_body=dict(fields) or None)
            rows = [row.embedding for row in sorted(answer.data, key=lambda row: row.index)]
            tokens = getattr(answer.usage, "total_tokens", None)
            return Answer(rows, tokens if isinstance(tokens, int) and tokens > 0 else None)

    def told(self, path: str, body: Fields | None = None) -> object:
        """What the endpoint answers beside vectors, as JSON; None where it does not tell.

        Parameters:
            path: below its base url; one that begins with "/" is below what precedes the "/v1" of that.
            body: to post; None to get.
        """
        import openai

        url = f"{self.endpoint.url.removesuffix('/v1')}{path}" if path.startswith("/") else path
        with self._translating(str(self.endpoint)):
            try:
                if body is None:
                    return self.client.get(url, cast_to=object)
                return self.client.post(url, cast_to=object, body=dict(body))
            except openai.APIStatusError as error:
                if error.status_code in ASKS_TO_WAIT or error.status_code > _NOT_IMPLEMENTED:
                    raise
                return None  # a refused key shows when vectors are asked for

    @contextmanager
    def _translating(self, source: str) -> Iterator[None]:
        """Turn the client's errors into ours."""
        import openai

        try:
            yield
        except openai.APIStatusError as error:
            raise self._explained(error, source) from self.endpoint.cause(error)
        except openai.APITimeoutError as error:
            message = f"{source} did not answer in time."
            remedy = "Raise embedding.timeout_seconds or lower embedding.batch_size."
            raise TimedOutError(message, remedy=remedy) from error
        except openai.APIConnectionError as error:
            message = f"The connection to {self.endpoint} failed: {error.__cause__ or error}."
            remedy = "Start the service, or correct embedding.base_url."
            raise TransientError(message, remedy=remedy) from error
        except (openai.OpenAIError, ValueError, TypeError, AttributeError) as error:
            message = f"{source} answered with something else than vectors: {self.endpoint.quoted(error)}"
            raise TransientError(message) from error

    def _explained(self, error: "openai.APIStatusError", source: str) -> EmbeddingError:
        status, said = error.status_code, _said(error)
        answer = f"{source} answered {status}: {self.endpoint.quoted(said)}"
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
        if status == _PAYMENT_REQUIRED:
            return "Check the plan and the billing details of the account."
        if status in {_UNAUTHORIZED, _FORBIDDEN}:
            return f"Check the key in {self.key_place}."
        if status == _NOT_FOUND:
            return "Check embedding.model, and that embedding.base_url ends where /embeddings follows (often in /v1)."
        return "Check embedding.base_url and embedding.model."


def connect(options: EmbeddingOptions, preset: Preset) -> OpenAIServer:
    """The endpoint that the options and its preset describe; contacts nothing.

    Raises:
        EmbeddingError: there is no key for a service that is not on this machine, or its file cannot be used.
    """
    variable = options.api_key_env or preset.key_variable
    named = os.environ.get(preset.url_variable, "") if preset.url_variable else ""
    url = options.base_url or named or preset.url
    endpoint = Endpoint(url.rstrip("/"), read_key(variable, options.api_key_file))
    if not endpoint.key and preset.is_hosted and not endpoint.is_loopback:
        message = f"There is no key for {endpoint}: the environment variable {variable} is not set."
        remedy = "Set it, or name another variable in embedding.api_key_env or a file in embedding.api_key_file."
        raise EmbeddingError(message, remedy=remedy)
    place = f"the environment variable {variable}"
    if options.api_key_file and not os.environ.get(variable, "").strip():
        place = f"the file {options.api_key_file}"
    return OpenAIServer(_client(endpoint, options.timeout_seconds), endpoint, place)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a response asks to wait, by `retry-after-ms` or `Retry-After` (seconds or a date), or None."""
    milliseconds, value = headers.get("retry-after-ms"), headers.get("retry-after")
    try:
        if milliseconds:
            return _waitable(float(milliseconds) / 1000)
        return _waitable(float(value)) if value else None
    except ValueError:
        return _seconds_until(value)


def _waitable(seconds: float) -> float | None:
    """What can be waited for: neither a negative time nor one that is no number."""
    return max(0.0, seconds) if seconds == seconds else None  # noqa: PLR0124 - NaN alone differs from itself


def _seconds_until(date: str | None) -> float | None:
    try:
        moment = parsedate_to_datetime(date or "")
    except ValueError:
        return None
    return max(0.0, (moment.astimezone(UTC) - datetime.now(UTC)).total_seconds())


def _said(error: "openai.APIStatusError") -> str:
    """The service's own words: OpenAI sends an object with a message, Voyage and Jina one with a detail."""
    body = error.body
    message = body.get("message") or body.get("detail") or body if isinstance(body, dict) else body
    return str(message or error.message)


def _client(endpoint: Endpoint, timeout: float) -> "openai.OpenAI":
    import httpx2
    import openai

    bound = bounded(httpx2.SyncByteStream, lambda: httpx2.ReadTimeout("the answer did not end"), timeout)
    return openai.OpenAI(
        base_url=endpoint.url,
        api_key=endpoint.key or "none",
        timeout=timeout,
        max_retries=0,
        # What goes to this machine must not leave it by a redirect or a proxy.
        http_client=openai.DefaultHttpxClient(
            follow_redirects=False, trust_env=not endpoint.is_loopback, event_hooks={"response": [bound]}
        ),
    )
