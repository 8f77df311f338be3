"""Answers of OpenAI's models, or of any endpoint of its chat protocol, through the official client."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

from cqm.chunkers.errors import CqmError
from cqm.index.contextual.chat import Reply
from cqm.index.contextual.models import OPENAI_URL, endpoint_url, model_of
from cqm.index.contextual.prompt import Prompt
from cqm.index.embedding.base import RefusedInputError
from cqm.index.embedding.bodies import bounded
from cqm.index.embedding.endpoint import Endpoint
from cqm.index.embedding.keys import read_key
from cqm.index.embedding.openai_client import retry_after
from cqm.index.embedding.retries import ASKS_TO_WAIT, REFUSES_INPUT, TimedOutError, TransientError
from cqm.index.errors import ContextError
from cqm.index.options import ContextOptions

if TYPE_CHECKING:
    import openai
    from openai.types.chat import ChatCompletion

_KEY_VARIABLE = "OPENAI_API_KEY"
_TOO_LONG = re.compile(r"context.?(length|size|window)|too (large|long)|maximum (context|input|length)", re.IGNORECASE)
_FORBIDS = frozenset({401, 403})
_NOT_FOUND, _SERVER_FAULT = 404, 500


class OpenAIChat:
    """A `Chat` over an endpoint of OpenAI's protocol.

    Parameters:
        options: model (required for another endpoint than OpenAI's); address (default: the environment's
            OPENAI_BASE_URL, else OpenAI's); key (default: OPENAI_API_KEY; an endpoint on this machine may do without);
            time-out; tokens of an answer.
    """

    def __init__(self, options: ContextOptions) -> None:
        self._options = options
        self._lock = Lock()
        self._server: _Server | None = None

    def ask(self, prompt: Prompt) -> Reply:
        """See `Chat.ask`."""
        return self._connected().ask(prompt)

    def close(self) -> None:
        """See `Chat.close`."""
        with self._lock:
            server, self._server = self._server, None
        if server is not None:
            server.client.close()

    def _connected(self) -> "_Server":
        with self._lock:
            if self._server is None:
                self._server = _connect(self._options)
            return self._server


@dataclass(frozen=True, slots=True)
class _Server:
    client: "openai.OpenAI"
    endpoint: Endpoint
    model: str
    max_tokens: int
    key_place: str
    """Where the key is looked for, in words."""

    @property
    def source(self) -> str:
        return f"{self.model} at {self.endpoint}"

    def ask(self, prompt: Prompt) -> Reply:
        import openai

        # OpenAI's newer models refuse the older name of the limit, and other servers may not know the newer.
        is_newer = self.endpoint.url == OPENAI_URL
        with self._translating():
            completion = self.client.chat.completions.create(
                model=self.model,
                messages=[{"role": "user", "content": prompt.text}],
                temperature=0,
                max_completion_tokens=self.max_tokens if is_newer else openai.omit,
                max_tokens=openai.omit if is_newer else self.max_tokens,
            )
            return _reply(completion)

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
            remedy = "Raise context.timeout_seconds or lower context.concurrency."
            raise TimedOutError(message, remedy=remedy) from error
        except openai.APIConnectionError as error:
            message = f"The connection to {self.endpoint} failed: {error.__cause__ or error}."
            raise TransientError(message, remedy="Start the service, or correct context.base_url.") from error
        except (openai.OpenAIError, ValueError, TypeError, AttributeError, LookupError) as error:
            message = f"{self.source} answered with something else than a message: {self.endpoint.quoted(error)}"
            raise TransientError(message) from error

    def _explained(self, error: "openai.APIStatusError") -> CqmError:
        status = error.status_code
        said = error.body.get("message") if isinstance(error.body, dict) else error.body
        told = self.endpoint.quoted(said or error.message)
        answer = f"{self.source} answered {status}: {told}"
        if error.code == "insufficient_quota":
            return ContextError(answer, remedy="Check the plan and the billing details of the account.")
        if (status in REFUSES_INPUT or status >= _SERVER_FAULT) and _TOO_LONG.search(told):
            # Whatever the status: llama.cpp and others use that of a fault.
            return RefusedInputError(f"{answer} Lower context.window_tokens.", too_long=True)
        if status in REFUSES_INPUT:
            return RefusedInputError(answer)
        if status in ASKS_TO_WAIT or status >= _SERVER_FAULT:
            wait = retry_after(error.response.headers)
            return TransientError(answer, retry_after=wait, maybe_input=status >= _SERVER_FAULT)
        return ContextError(answer, remedy=self._remedy(status))

    def _remedy(self, status: int) -> str:
        if status in _FORBIDS:
            return f"Check the key in {self.key_place}."
        if status == _NOT_FOUND:
            return "Check context.model, and that context.base_url ends where /chat/completions follows (often in /v1)."
        return "Check context.base_url and context.model."


def _reply(completion: "ChatCompletion") -> Reply:
    choice, usage = completion.choices[0], completion.usage
    details = usage.prompt_tokens_details if usage else None
    return Reply(
        choice.message.content or choice.message.refusal or "",
        is_cut=choice.finish_reason == "length",
        tokens=usage.prompt_tokens if usage else 0,
        output_tokens=usage.completion_tokens if usage else 0,
        cached_tokens=(details.cached_tokens or 0) if details else 0,
    )


def _connect(options: ContextOptions) -> _Server:
    variable = options.api_key_env or _KEY_VARIABLE
    endpoint = Endpoint(endpoint_url(options), read_key(variable, options.api_key_file))
    if not endpoint.key and not endpoint.is_loopback:
        message = f"There is no key for {endpoint}: the environment variable {variable} is not set."
        remedy = "Set it, or name another variable in context.api_key_env, or a file in context.api_key_file."
        raise ContextError(message, remedy=remedy)
    if not model_of(options):
        raise ContextError(f"No model is named for {endpoint}.", remedy="Set context.model.")
    client = _client(endpoint, options.timeout_seconds)
    place = f"the environment variable {variable}"
    if options.api_key_file and not os.environ.get(variable, "").strip():
        place = f"the file {options.api_key_file}"
    return _Server(client, endpoint, model_of(options), options.max_tokens, place)


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
