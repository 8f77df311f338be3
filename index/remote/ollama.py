"""An Ollama server through the official client: its address, a model's context length, and its errors."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from cqm.chunkers.errors import CqmError
from cqm.chunkers.extras import how_to_add
from cqm.index.model.errors import EmbeddingError, RefusedInputError
from cqm.index.model.options import ContextOptions, EmbeddingOptions
from cqm.index.remote.addresses import OLLAMA_VARIABLE, ollama_url
from cqm.index.remote.endpoint import Endpoint, Purpose
from cqm.index.remote.http import bounded, client_options, making
from cqm.index.remote.keys import read_key, variable_for
from cqm.index.remote.presets import OLLAMA_CLOUD, OLLAMA_KEY_VARIABLE
from cqm.index.remote.retries import ASKS_TO_WAIT, REFUSES_INPUT, TimedOutError, TransientError
from cqm.index.remote.variables import Variables

if TYPE_CHECKING:
    import ollama

_NUM_CTX = re.compile(r"^num_ctx\s+(\d+)", re.MULTILINE)
_TOO_LONG = re.compile(r"(context|input) length", re.IGNORECASE)
_NOT_FOUND, _SERVER_FAULT = 404, 500


class MissingModelError(EmbeddingError):
    """The server lacks the model."""


@dataclass(frozen=True, slots=True)
class OllamaServer:
    """A server."""

    client: "ollama.Client"
    endpoint: Endpoint
    model: str
    purpose: Purpose

    @property
    def source(self) -> str:
        """The model's name in messages."""
        return f"{self.model} of Ollama at {self.endpoint}"

    def close(self) -> None:
        """Close its connections."""
        self.client.close()  # type: ignore[no-untyped-call]

    @contextmanager
    def translating(self) -> Iterator[None]:
        """Turn the client's errors into ours."""
        import httpx
        import ollama

        section = self.purpose.section
        try:
            yield
        except ollama.ResponseError as error:
            raise self._explained(error.status_code, str(error.error)) from self.endpoint.cause(error)
        except ConnectionError as error:
            message = f"No Ollama server answers at {self.endpoint}."
            raise TransientError(message, remedy=f"Start it with `ollama serve`, or set {section}.base_url.") from error
        except httpx.TimeoutException as error:
            message = f"Ollama at {self.endpoint} did not answer in time."
            remedy = f"Raise {section}.timeout_seconds or lower {self.purpose.smaller}."
            raise TimedOutError(message, remedy=remedy) from error
        except (httpx.TransportError, httpx.DecodingError, RuntimeError) as error:
            # The client raises RuntimeError if another thread has closed it.
            message = f"The connection to Ollama at {self.endpoint} broke: {error}."
            raise TransientError(message, remedy="See in the log of `ollama serve` whether it ended.") from error
        except (ValueError, TypeError, AttributeError) as error:
            raise self._misunderstood(error) from self.endpoint.cause(error)

    def _explained(self, status: int, said: str) -> CqmError:
        section = self.purpose.section
        answer = f"{self.source} answered {status}: {self.endpoint.quoted(said)}"
        if status == _NOT_FOUND and "model" in said:
            remedy = f"Get it with `ollama pull {self.model}`, or name another in {section}.model."
            return MissingModelError(f"Ollama at {self.endpoint} has no model {self.model}.", remedy=remedy)
        too_long = bool(_TOO_LONG.search(said))
        if status in REFUSES_INPUT or (status >= _SERVER_FAULT and too_long):
            return RefusedInputError(answer, remedy=self.purpose.shorter if too_long else "", too_long=too_long)
        if status in ASKS_TO_WAIT or status >= _SERVER_FAULT:
            return TransientError(answer, maybe_input=status >= _SERVER_FAULT)
        remedy = f"Check {section}.base_url, and {section}.api_key_env or {section}.api_key_file."
        return self.purpose.error(answer, remedy=remedy)

    def _misunderstood(self, error: Exception) -> CqmError:
        """Explain an answer misread by the client."""
        import httpx

        refused = error.__context__
        if isinstance(refused, httpx.HTTPStatusError):  # The client fails if a refusal's body is no object.
            return self._explained(refused.response.status_code, refused.response.text)
        message = f"Ollama at {self.endpoint} answered with something unexpected: {self.endpoint.quoted(error)}"
        return TransientError(message, remedy=f"Check that {self.purpose.section}.base_url leads to Ollama.")


def connect_ollama(
    options: EmbeddingOptions | ContextOptions, model: str, purpose: Purpose, variables: Variables
) -> OllamaServer:
    """Return the server named by options and variables; contacts nothing.

    Raises:
        EmbeddingError: the key file cannot be used.
        CqmError: the address is not valid, or the extra `ollama` is not installed.
    """
    if find_spec("ollama") is None:
        message = "The client of Ollama is not installed."
        raise purpose.error(message, remedy=f"Run `{how_to_add('ollama')}`.")
    variable = variable_for(OLLAMA_KEY_VARIABLE, OLLAMA_CLOUD, named=options.api_key_env, base_url=options.base_url)
    key = read_key(variable, options.api_key_file, variables)
    try:
        endpoint = Endpoint(ollama_url(options.base_url, variables), key)
        import ollama  # noqa: F401 - reads OLLAMA_HOST, and fails on a malformed one
    except (EmbeddingError, ValueError) as error:
        said = error.message if isinstance(error, EmbeddingError) else f"{error}."
        message = f"The address of Ollama is not valid: {said}"
        remedy = f"Correct {purpose.section}.base_url or {OLLAMA_VARIABLE}."
        raise purpose.error(message, remedy=remedy) from error
    with making(endpoint, purpose.error):
        client = ollama_client(endpoint, options.timeout_seconds, variables)
    return OllamaServer(client, endpoint, model, purpose)


def ollama_client(
    endpoint: Endpoint, timeout: float, variables: Variables, *, whole_answer: bool = True
) -> "ollama.Client":
    """Return the official client.

    Parameters:
        timeout: seconds, of a request.
        whole_answer: whether the time-out covers the whole answer; otherwise each piece of it.
    """
    import httpx
    import ollama

    def without_foreign_key(request: httpx.Request) -> None:
        # The client sends OLLAMA_API_KEY's value to every address without a key.
        if not endpoint.key and request.headers.get("Authorization", "").startswith("Bearer "):
            del request.headers["Authorization"]

    bound = bounded(httpx.SyncByteStream, lambda: httpx.ReadTimeout("the answer did not end"), timeout)
    return ollama.Client(
        endpoint.url,
        timeout=timeout,
        headers={"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else None,
        **client_options(endpoint, variables),
        event_hooks={"request": [without_foreign_key], "response": [bound] if whole_answer else []},
    )


def context_of(shown: "ollama.ShowResponse") -> int:
    """Return a model's context length in tokens: the configured `num_ctx` if smaller than the trained one.

    0 if the server doesn't report a number.
    """
    trained = [value for key, value in (shown.modelinfo or {}).items() if key.endswith(".context_length")]
    run_with = map(int, _NUM_CTX.findall(shown.parameters or ""))
    return min((tokens for tokens in [*trained, *run_with] if isinstance(tokens, int) and tokens > 0), default=0)
