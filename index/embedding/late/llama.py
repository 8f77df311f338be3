"""Token embeddings from a llama.cpp server without pooling (`--embeddings --pooling none`).

Its protocol is in tools/server/README.md of llama.cpp. /tokenize returns tokens with their pieces of the text;
/embeddings returns an embedding per token (/v1/embeddings refuses). Windows are sent as token numbers, so the server
embeds exactly the tokens it returned.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from operator import index
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeVar

from cqm.chunkers.strategies.pooling import Tokens
from cqm.index.embedding.late.pieces import offsets_of
from cqm.index.model.errors import EmbeddingError, RefusedInputError
from cqm.index.model.spaces import Space
from cqm.index.remote.connection import Connection
from cqm.index.remote.endpoint import Endpoint
from cqm.index.remote.http import client_options, making
from cqm.index.remote.retries import ASKS_TO_WAIT, REFUSES_INPUT, RetryPolicy, TransientError, with_retries
from cqm.index.remote.variables import Variables
from cqm.index.text.terms import encodable

if TYPE_CHECKING:
    import httpx2
    import numpy as np
    from numpy.typing import NDArray

Answer = TypeVar("Answer")

_KEY = re.compile(r"[!-~]*")
"""Characters allowed in a header; the library's own message would quote a refused key."""
_UNAUTHORIZED, _FORBIDDEN, _SERVER_FAULT, _UNSUPPORTED = 401, 403, 500, 501
_TOO_LARGE = "too large to process"
_CONTEXT = 512
"""The context of BERT and most embedding models, for servers reporting none."""
_START = "Start it with `llama-server --embeddings --pooling none`."
_GIVE_KEY = "Give the key that the server was started with: late.api_key_env names its environment variable."
_PROBE = "one two three"
"""Several tokens in every tokenizer, so a single vector for it means pooling."""


class LlamaTokenEncoder:
    """A `TokenEncoder` over a llama.cpp server, contacted at its first use.

    Parameters:
        api_key: its `--api-key`; empty for none.
    """

    def __init__(
        self,
        url: str,
        variables: Variables,
        api_key: str = "",
        timeout_seconds: float = 60.0,
        retries: RetryPolicy = RetryPolicy(),  # noqa: B008 - frozen
    ) -> None:
        endpoint = Endpoint(url.rstrip("/"), api_key)
        meet = partial(_find, endpoint, timeout_seconds, variables, retries)
        self._connection = Connection(meet, _closed, reopens=True)

    @property
    def name(self) -> str:
        """See `TokenEncoder.name`.

        Raises:
            EmbeddingError: the server doesn't answer, or returns no token embeddings; also raised by the other members.
        """
        return self._connection.server().space.name

    @property
    def window(self) -> int:
        """See `TokenEncoder.window`."""
        return self._connection.server().window

    def tokenize(self, text: str) -> Tokens:
        """See `TokenEncoder.tokenize`."""
        text = encodable(text)
        ids, pieces = self._connection.server().server.tokens_of(text)
        return Tokens(ids, offsets_of(text, pieces))

    def encode(self, ids: Sequence[int]) -> "NDArray[np.float32]":
        """See `TokenEncoder.encode`."""
        model = self._connection.server()
        rows = model.server.embeddings_of([*model.before, *ids, *model.after])
        return rows[len(model.before) : len(model.before) + len(ids)]

    def close(self) -> None:
        """See `TokenEncoder.close`."""
        self._connection.close()


@dataclass(frozen=True, slots=True)
class _ServedModel:
    """A server's model; `before` and `after` are the control tokens the model needs around a text."""

    server: "_Server"
    space: Space
    window: int
    before: Sequence[int]
    after: Sequence[int]

    def close(self) -> None:
        self.server.client.close()


@dataclass(frozen=True, slots=True)
class _Server:
    client: "httpx2.Client"
    endpoint: Endpoint
    retries: RetryPolicy

    def tokens_of(self, text: str, *, special: bool = False) -> tuple[list[int], list[bytes]]:
        """Return numbers and pieces of a text's tokens, with or without the control tokens around them."""
        body = {"content": text, "add_special": special, "parse_special": False, "with_pieces": True}

        def read(answer: Any) -> tuple[list[int], list[bytes]]:  # noqa: ANN401 - JSON
            # A piece in invalid UTF-8 comes as a list of bytes.
            pieces = [token["piece"] for token in answer["tokens"]]
            encoded = [piece.encode() if isinstance(piece, str) else bytes([*piece]) for piece in pieces]
            return [int(token["id"]) for token in answer["tokens"]], encoded

        return self.ask("/tokenize", read, body)

    def embeddings_of(self, ids: Sequence[int]) -> "NDArray[np.float32]":
        """Return one row per token, including control tokens."""
        import numpy as np

        def read(answer: Any) -> "NDArray[np.float32]":  # noqa: ANN401 - JSON
            return np.array(answer[0]["embedding"], np.float32, ndmin=2)

        rows = self.ask("/embeddings", read, {"input": [list(ids)]})
        if len(rows) != len(ids):
            message = f"{self.endpoint} returned {len(rows)} vectors for {len(ids)} tokens: it pools them."
            raise EmbeddingError(message, remedy=_START)
        if not (np.isfinite(rows).all() and rows.any(axis=1).all()):
            message = f"{self.endpoint} returned vectors without a direction."
            raise EmbeddingError(message, remedy="Start it with a model that embeds.")
        return rows

    def ask(self, path: str, read: Callable[[Any], Answer], body: Mapping[str, object] | None = None) -> Answer:
        """Send a request and return `read` of its answer; uses POST if there is a body."""
        return with_retries(lambda: self._ask_once(path, read, body), self.retries)

    def _ask_once(self, path: str, read: Callable[[Any], Answer], body: Mapping[str, object] | None) -> Answer:
        import httpx2

        try:
            response = self.client.request("GET" if body is None else "POST", self.endpoint.url + path, json=body)
            if response.is_success:
                return read(response.json())
        except httpx2.TimeoutException as error:
            message = f"The llama.cpp server at {self.endpoint} did not answer in time."
            raise TransientError(message) from error
        except (httpx2.TransportError, httpx2.DecodingError, httpx2.InvalidURL) as error:
            message = f"The connection to a llama.cpp server at {self.endpoint} failed: {error}."
            raise TransientError(message, remedy=_START) from error
        except (ValueError, TypeError, LookupError, OverflowError, RecursionError) as error:
            message = f"{self.endpoint} answered {path} with something else than a llama.cpp server does: {error!r}."
            raise EmbeddingError(message, remedy=_START) from error
        raise self._explained(path, response)

    def _explained(self, path: str, response: "httpx2.Response") -> EmbeddingError:
        status, said = response.status_code, response.text
        answer = f"{self.endpoint} answered {path} with {status}: {self.endpoint.quoted(said)}"
        if _TOO_LARGE in said:
            refusal = RefusedInputError(answer, too_long=True)
            refusal.remedy = "Start the server with an `--ubatch-size` as large as its context."
            return refusal
        if status in REFUSES_INPUT:
            return RefusedInputError(answer)
        if status in {_UNAUTHORIZED, _FORBIDDEN}:
            return EmbeddingError(answer, remedy=_GIVE_KEY)
        if status in ASKS_TO_WAIT or (status >= _SERVER_FAULT and status != _UNSUPPORTED):
            return TransientError(answer)
        return EmbeddingError(answer, remedy=_START)


def _closed() -> EmbeddingError:
    return EmbeddingError("The token encoder was closed meanwhile.", retryable=True)


def _find(endpoint: Endpoint, timeout: float, variables: Variables, retries: RetryPolicy) -> _ServedModel:
    """Ask the server for its model, context length and control tokens."""
    import httpx2

    if not _KEY.fullmatch(endpoint.key):
        message = f"The key for {endpoint} has blanks or other characters that no header holds."
        raise EmbeddingError(message, remedy=_GIVE_KEY)
    headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
    with making(endpoint, EmbeddingError):
        client = httpx2.Client(timeout=timeout, headers=headers, **client_options(endpoint, variables))
    with ExitStack() as unless_met:
        unless_met.callback(client.close)
        model = _met(_Server(client, endpoint, retries.brief()), retries)
        unless_met.pop_all()
        return model


def _met(server: _Server, retries: RetryPolicy) -> _ServedModel:
    model, trained = server.ask("/v1/models", _model_told)
    context = server.ask("/props", _context_told)
    ids, _ = server.tokens_of(_PROBE, special=True)
    before, after = _around(ids, server.tokens_of(_PROBE)[0])
    space = Space("llama.cpp", model, server.embeddings_of(ids).shape[1], server.endpoint.authority)
    window = min(filter(None, (context, trained)), default=_CONTEXT) - len(before) - len(after)
    if window <= 0:
        message = (
            f"{server.endpoint} reads at most {window + len(before) + len(after)} tokens at once: too few to embed."
        )
        raise EmbeddingError(message, remedy="Start it with a larger `--ctx-size`.")
    return _ServedModel(replace(server, retries=retries), space, window, before, after)


def _model_told(answer: Any) -> tuple[str, int | None]:  # noqa: ANN401 - JSON
    """Return a model's name, without the folder of its file, and its trained context length in tokens."""
    model = answer["data"][0]
    return PurePath(model["id"]).name.removesuffix(".gguf"), _count_told(_told(model, "meta"), "n_ctx_train")


def _context_told(answer: Any) -> int | None:  # noqa: ANN401 - JSON
    return _count_told(_told(answer, "default_generation_settings"), "n_ctx")


def _count_told(answer: Any, name: str) -> int | None:  # noqa: ANN401 - JSON
    told = None if answer is None else _told(answer, name)
    return None if told is None else index(told)


def _told(answer: Any, name: str) -> Any:  # noqa: ANN401 - JSON
    """Return a member of an object; None if the server doesn't send it."""
    if not isinstance(answer, Mapping):
        message = f"{answer!r} is no object"
        raise TypeError(message)
    return answer.get(name)


def _around(ids: Sequence[int], own: Sequence[int]) -> tuple[Sequence[int], Sequence[int]]:
    """Split off the tokens before and after a text's own tokens; nothing if they can't be found."""
    for start in range(len(ids) - len(own) + 1):
        if ids[start : start + len(own)] == own:
            return ids[:start], ids[start + len(own) :]
    return [], []
