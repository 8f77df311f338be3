"""Answers of a model that an Ollama server runs, through the official client."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from cqm.chunkers.errors import CqmError
from cqm.chunkers.tokens import estimate
from cqm.index.contextual.chat import Reply
from cqm.index.contextual.models import model_of
from cqm.index.contextual.prompt import Prompt
from cqm.index.embedding.base import RefusedInputError
from cqm.index.embedding.bodies import bounded
from cqm.index.embedding.endpoint import Endpoint
from cqm.index.embedding.keys import read_key
from cqm.index.embedding.retries import ASKS_TO_WAIT, REFUSES_INPUT, TimedOutError, TransientError
from cqm.index.errors import ContextError
from cqm.index.options import ContextOptions

if TYPE_CHECKING:
    import ollama

_DEFAULT_URL = "http://127.0.0.1:11434"
_DEFAULT_PORT = 11434
_NUM_CTX = re.compile(r"^num_ctx\s+(\d+)", re.MULTILINE)
_QUESTION_TOKENS = 1024
"""Estimated, of a usual chunk and its task beside the window."""
_NOT_FOUND, _SERVER_FAULT = 404, 500


class OllamaChat:
    """A `Chat` over an Ollama server.

    Parameters:
        options: model; address (default: the environment's OLLAMA_HOST, else http://127.0.0.1:11434); key (default:
            OLLAMA_API_KEY) for a server that wants one; time-out; tokens of the window and of an answer.
    """

    def __init__(self, options: ContextOptions) -> None:
        self._options = options
        self._lock = Lock()
        self._server: _Server | None = None

    def ask(self, prompt: Prompt) -> Reply:
        """See `Chat.ask`."""
        return self._met().ask(prompt)

    def close(self) -> None:
        """See `Chat.close`."""
        with self._lock:
            server, self._server = self._server, None
        if server is not None:
            server.close()

    def _met(self) -> "_Server":
        with self._lock:
            if self._server is None:
                self._server = _meet(self._options)
            return self._server


@dataclass(frozen=True, slots=True)
class _Server:
    client: "ollama.Client"
    endpoint: Endpoint
    model: str
    max_tokens: int
    usual_context: int
    """Tokens of prompt and answer together that nearly all prompts keep to."""
    most_context: int = 0
    """What the model can do; 0 where the server does not tell."""

    @property
    def source(self) -> str:
        return f"{self.model} of Ollama at {self.endpoint}"

    def close(self) -> None:
        self.client.close()  # type: ignore[no-untyped-call]

    def ask(self, prompt: Prompt) -> Reply:
        context = self._context(prompt)
        with self.translating():
            answer = self.client.chat(
                self.model,
                [{"role": "user", "content": prompt.text}],
                think=False,
                options={"num_predict": self.max_tokens, "num_ctx": context, "temperature": 0},
            )
        tokens = answer.prompt_eval_count or 0
        if tokens >= context:
            # Ollama cuts what is too long without a word, and that is the document.
            message = f"A prompt is over the {context} tokens of {self.source}: lower context.window_tokens."
            raise RefusedInputError(message, too_long=True)
        return Reply(answer.message.content or "", answer.done_reason == "length", tokens, answer.eval_count or 0)

    def _context(self, prompt: Prompt) -> int:
        # Other contexts than the usual one are for huge chunks alone: the server loads the model anew for each.
        wanted = max(self.usual_context, _with_reserve(estimate(prompt.text)) + self.max_tokens)
        return min(wanted, self.most_context or wanted)

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
            raise TransientError(message, remedy="Start it with `ollama serve`, or set context.base_url.") from error
        except httpx.TimeoutException as error:
            message = f"Ollama at {self.endpoint} did not answer in time."
            remedy = "Raise context.timeout_seconds or lower context.window_tokens."
            raise TimedOutError(message, remedy=remedy) from error
        except (httpx.TransportError, httpx.DecodingError) as error:
            message = f"The connection to Ollama at {self.endpoint} broke: {error}."
            raise TransientError(message) from error
        except (ValueError, TypeError) as error:
            message = f"Ollama at {self.endpoint} answered with something unexpected: {self.endpoint.quoted(error)}"
            raise TransientError(message) from error

    def _explained(self, status: int, said: str) -> CqmError:
        answer = f"{self.source} answered {status}: {self.endpoint.quoted(said)}"
        if status == _NOT_FOUND and "model" in said:
            remedy = f"Get it with `ollama pull {self.model}`, or name another in context.model."
            return ContextError(f"Ollama at {self.endpoint} has no model {self.model}.", remedy=remedy)
        if status in REFUSES_INPUT:
            return RefusedInputError(answer)
        if status in ASKS_TO_WAIT or status >= _SERVER_FAULT:
            return TransientError(answer, maybe_input=status >= _SERVER_FAULT)
        return ContextError(answer, remedy="Check context.base_url, and context.api_key_env or context.api_key_file.")


def _meet(options: ContextOptions) -> _Server:
    """Connect, and ask how long a prompt the model takes."""
    server = _connect(options)
    try:
        with server.translating():
            shown = server.client.show(server.model)
    except CqmError:
        server.close()
        raise
    return replace(server, most_context=min(_contexts(shown), default=0))


def _with_reserve(tokens: int) -> int:
    """Half as much again as is estimated: other alphabets than the Latin one, and tables, have more tokens."""
    return tokens * 3 // 2


def _contexts(shown: "ollama.ShowResponse") -> list[int]:
    """What the model was trained for, and what it is run with: the smaller one counts."""
    trained = [int(value) for key, value in (shown.modelinfo or {}).items() if key.endswith(".context_length")]
    return trained + [int(value) for value in _NUM_CTX.findall(shown.parameters or "")]


def _connect(options: ContextOptions) -> _Server:
    key = read_key(options.api_key_env or "OLLAMA_API_KEY", options.api_key_file)
    try:
        endpoint = Endpoint(_url_of(options.base_url or os.environ.get("OLLAMA_HOST", "")), key)
        client = _client(endpoint, options.timeout_seconds)
    except ValueError as error:
        message = f"The address of Ollama is not valid: {error}."
        raise ContextError(message, remedy="Correct context.base_url or OLLAMA_HOST.") from error
    usual = _with_reserve(options.window_tokens + _QUESTION_TOKENS) + options.max_tokens
    return _Server(client, endpoint, model_of(options), options.max_tokens, usual)


def _client(endpoint: Endpoint, timeout: float) -> "ollama.Client":
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
        event_hooks={"response": [bound]},
    )


def _url_of(host: str) -> str:
    """The address that OLLAMA_HOST means: scheme and port may be missing, and 0.0.0.0 is where a server listens."""
    if "://" in host or not host:
        return host or _DEFAULT_URL
    parts = urlsplit(f"http://{host}")
    name = "127.0.0.1" if parts.hostname in {None, "0.0.0.0"} else parts.hostname  # noqa: S104 - no bind
    return f"http://{f'[{name}]' if ':' in name else name}:{parts.port or _DEFAULT_PORT}{parts.path}"
