"""Reranker using a /rerank endpoint over HTTP."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING

from cqm.index.model.errors import EmbeddingError, RerankError
from cqm.index.model.options import RerankOptions
from cqm.index.remote.addresses import is_address
from cqm.index.remote.breaker import Breaker
from cqm.index.remote.connection import Connection
from cqm.index.remote.endpoint import Endpoint
from cqm.index.remote.http import client_options, making
from cqm.index.remote.keys import read_key
from cqm.index.remote.variables import Variables
from cqm.index.rerank.base import MAX_CHARACTERS, Deadline, Reranker, in_time, readable
from cqm.index.rerank.shapes import SHAPES, RerankShape, request_body, scores_in, shape_at, shape_by_url

if TYPE_CHECKING:
    import httpx2

RETRY_SECONDS = 60.0
"""Seconds to leave a failed endpoint alone: otherwise each search would wait until its deadline."""
_MAX_ANSWER = 16 << 20
"""Bytes of an answer; one containing the texts of 100 chunks has less than a tenth of this."""
_SUCCESS, _REDIRECT, _UNAUTHORIZED, _FORBIDDEN, _TOO_MANY, _SERVER_FAULT = 200, 300, 401, 403, 429, 500
_KEPT = 0.7
"""Share kept of texts each time an endpoint refuses them as too long."""
_MIN_CHARACTERS = 400
"""Texts this short are refused for another reason than their length."""
_TOO_LARGE = re.compile(r"too large|too long|--(u)?batch-size", re.IGNORECASE)
_CHECK = "Check rerank.url (the endpoint in full), rerank.shape and rerank.model."


def http_reranker(options: RerankOptions, variables: Variables, clock: Callable[[], float] = monotonic) -> Reranker:
    """Return a reranker over an endpoint, contacted at its first use.

    Parameters:
        options: url (default: the shape's own service), shape (default: found from the url), model, key.
        clock: monotonic seconds; decides when a failed endpoint is tried again.

    Raises:
        RerankError: the shape is unknown, or there is no address.
    """
    if options.shape and options.shape not in SHAPES:
        message = f"rerank.shape {options.shape!r}: expected one of {', '.join(SHAPES)}."
        raise RerankError(message, remedy="Set one of them.")
    url = options.url or (SHAPES[options.shape].url if options.shape else "")
    if not is_address(url):
        raise RerankError(
            f"rerank.url {'is no address' if url else 'is empty'}.",
            remedy="Set it to an endpoint such as https://api.example.com/v1/rerank.",
        )
    shape = SHAPES[options.shape or shape_by_url(url)]
    return HttpReranker(replace(options, url=url), shape_at(shape, url), variables, Breaker(RETRY_SECONDS, clock))


class HttpReranker:
    """A `Reranker` over an endpoint; after a failure it is left alone for a while.

    Parameters:
        options: url and model of the endpoint, location of its key.
    """

    def __init__(self, options: RerankOptions, shape: RerankShape, variables: Variables, breaker: Breaker) -> None:
        self._endpoint = Endpoint(options.url)
        self._breaker = breaker
        self._connection = Connection(lambda: _connect(options, shape, variables), _closed, reopens=True)

    def scores(self, question: str, texts: Sequence[str], deadline_seconds: float) -> tuple[float, ...]:
        """See `Reranker.scores`."""
        if not texts:
            return ()
        source = _source(self._endpoint)
        if not self._breaker.admits():
            message = f"{source} is left alone for {RETRY_SECONDS:g} s since it failed: {self._breaker.reason}"
            raise RerankError(message, retryable=True)
        try:
            # Before the clock starts: the first use takes tenths of a second on this machine.
            service = self._connection.server()
            scores = in_time(deadline_seconds, source, lambda it: service.scores(question, texts, it))
        except RerankError as error:
            self._breaker.failed(str(error))
            raise
        self._breaker.worked()
        return scores

    def close(self) -> None:
        """See `Reranker.close`."""
        self._connection.close()


class _TooLongError(RerankError):
    """The endpoint refuses texts of this length."""


@dataclass(slots=True)
class _Service:
    client: "httpx2.Client"
    endpoint: Endpoint
    shape: RerankShape
    model: str
    key_place: str
    """Location of the key, for a remedy."""
    characters: int = MAX_CHARACTERS
    """Characters shown of a text; reduced when longer ones were refused, as llama.cpp does above 512 tokens."""

    @property
    def source(self) -> str:
        return _source(self.endpoint)

    def close(self) -> None:
        self.client.close()

    def scores(self, question: str, texts: Sequence[str], deadline: Deadline) -> tuple[float, ...]:
        """See `Reranker.scores`."""
        while True:
            characters = self.characters
            shown = [readable(text, characters) for text in texts]
            most = self.shape.most or len(shown)
            batches = [shown[start : start + most] for start in range(0, len(shown), most)]
            try:
                asked = readable(question, characters)
                return tuple(score for batch in batches for score in self._scores_of(asked, batch, deadline))
            except _TooLongError:
                if characters < _MIN_CHARACTERS:
                    raise
                self.characters = int(_KEPT * characters)

    def _scores_of(self, question: str, texts: Sequence[str], deadline: Deadline) -> tuple[float, ...]:
        body = request_body(self.shape, self.model, question, texts)
        status, content = self._answer_to(body, deadline)
        if not _SUCCESS <= status < _REDIRECT:
            raise self._explained(status, content.decode(errors="replace"))
        try:
            return scores_in(self.shape, json.loads(content), len(texts))
        except (ValueError, TypeError, LookupError, OverflowError, RecursionError) as error:
            message = f"{self.source} answered with something else than a score for each text: {self._quoted(error)}."
            raise RerankError(message, remedy=_CHECK) from self.endpoint.cause(error)

    def _answer_to(self, body: dict[str, object], deadline: Deadline) -> tuple[int, bytes]:
        """Return status and content of the answer."""
        import httpx2

        left = deadline.left()
        try:
            with self.client.stream("POST", self.endpoint.url, json=body, timeout=left) as response:
                return response.status_code, self._content(response.iter_bytes(), deadline)
        except httpx2.TimeoutException as error:
            raise deadline.missed() from error
        except (httpx2.HTTPError, httpx2.InvalidURL, RuntimeError) as error:
            # The client raises RuntimeError if another thread has closed it.
            message = f"The connection to {self.endpoint} failed: {self._quoted(error)}."
            remedy = "Start the reranker, or correct rerank.url."
            raise RerankError(message, remedy=remedy, retryable=True) from self.endpoint.cause(error)

    def _content(self, pieces: Iterable[bytes], deadline: Deadline) -> bytes:
        """Read a whole body within the deadline: the client's time-outs limit the wait for each piece only."""
        content = bytearray()
        for piece in pieces:
            content += piece
            deadline.left()
            if len(content) > _MAX_ANSWER:
                raise RerankError(f"{self.source} answered with more than {_MAX_ANSWER >> 20} MB.", remedy=_CHECK)
        return bytes(content)

    def _explained(self, status: int, said: str) -> RerankError:
        quoted = self.endpoint.quoted(said)
        message = f"{self.source} answered {status}{': ' if quoted else ''}{quoted}."
        if _TOO_LARGE.search(said):
            return _TooLongError(message, remedy="Start the server with an `--ubatch-size` as large as its context.")
        if status in {_UNAUTHORIZED, _FORBIDDEN}:
            return RerankError(message, remedy=f"Check the key: {self.key_place}.")
        if status == _TOO_MANY or status >= _SERVER_FAULT:
            return RerankError(message, retryable=True)
        return RerankError(message, remedy=_CHECK)

    def _quoted(self, said: object) -> str:
        return self.endpoint.quoted(said) or type(said).__name__


def _closed() -> RerankError:
    return RerankError("The reranker was closed meanwhile.", retryable=True)


def _source(endpoint: Endpoint) -> str:
    return f"The reranker at {endpoint}"


def _connect(options: RerankOptions, shape: RerankShape, variables: Variables) -> _Service:
    import httpx2

    endpoint = Endpoint(options.url, _key(options, shape, variables))
    headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
    with making(endpoint, RerankError):
        client = httpx2.Client(headers=headers, **client_options(endpoint, variables))
    return _Service(client, endpoint, shape, options.model, _key_place(options, shape))


def _key(options: RerankOptions, shape: RerankShape, variables: Variables) -> str:
    try:
        return read_key(options.api_key_env or shape.key_variable, options.api_key_file, variables)
    except EmbeddingError as error:
        raise RerankError(error.message, remedy=error.remedy) from error


def _key_place(options: RerankOptions, shape: RerankShape) -> str:
    """Describe the location of the key, for a remedy."""
    variable = options.api_key_env or shape.key_variable
    places = [f"the environment variable {variable}" if variable else "", options.api_key_file]
    return " and ".join(filter(None, places)) or "the one that rerank.api_key_env names"
