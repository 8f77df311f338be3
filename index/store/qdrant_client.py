"""A Qdrant server or cluster: its connection, retries, and errors in our words.

Only this module knows the errors of qdrant-client. The package is optional and takes a second to import, so it is
loaded with the first request.
"""

import logging
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from cqm.chunkers.errors import CqmError
from cqm.chunkers.extras import how_to_add
from cqm.index.model.errors import REBUILD, DamagedIndexError, EmbeddingError, StoreError
from cqm.index.model.options import StoreOptions
from cqm.index.remote.endpoint import Endpoint
from cqm.index.remote.http import client_options, making
from cqm.index.remote.keys import read_key
from cqm.index.remote.variables import Variables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import stamina
    from qdrant_client import QdrantClient

Result = TypeVar("Result")

CONFLICT = 409
"""HTTP status for creating something already there."""
_ATTEMPTS = 5
_ATTEMPTS_OF_A_SEARCH = 2
_FIRST_WAIT_SECONDS = 0.2
_LONGEST_WAIT_SECONDS = 5.0
_REFUSES_KEY = {401, 403}
_NOT_FOUND = 404
_ASKS_TO_WAIT = {408, 425, 429}
_SERVER_FAULT = 500
_FULL = 507
_NEVER_PASSES = {501, 505, _FULL}
# Qdrant's messages for a full disk, with status 500.
_SAYS_FULL = ("no space left", "disk space", "disk is full", "out of disk")
_NO_QDRANT = "it does not answer as Qdrant does"
_NO_SUCH_REQUEST = {_NOT_FOUND, 405}
_TOO_OLD = "Correct store.url, or upgrade the server: it has to be Qdrant 1.18 or later."
_OTHER_URL = "Correct store.url."

_log = logging.getLogger(__name__)


class UnfinishedError(Exception):
    """The server accepted a write and didn't carry it out within its own time limit: it is sent again."""


class QdrantServer:
    """A server with collections. Contacts nothing until the first request.

    Parameters:
        options: its address, key, time limits and retries.
        client: sends requests; None to create it from the options.

    Raises:
        StoreError: the address is not valid, or the key cannot be read.
    """

    def __init__(self, options: StoreOptions, variables: Variables, client: "QdrantClient | None" = None) -> None:
        self._options = options
        self._variables = variables
        self._client = client
        self._lock = threading.Lock()
        try:
            self._endpoint = Endpoint(options.url, read_key(options.api_key_env, options.api_key_file, variables))
        except EmbeddingError as error:
            raise StoreError(error.message, remedy=error.remedy) from error

    def __str__(self) -> str:
        """Return its address without secrets."""
        return str(self._endpoint)

    def ask(self, what: str, request: "Callable[[QdrantClient], Result]", *, brief: bool = False) -> Result:
        """Send a request, again after passing failures, so it must be repeatable; return its answer.

        Parameters:
            what: completes "cannot be ..." in messages: "searched".
            brief: a caller waits: allow only one retry.

        Raises:
            DamagedIndexError: the collection doesn't exist.
            StoreError: anything else; its message names the server.
        """
        client = self._connected()
        from qdrant_client.common.client_exceptions import QdrantException
        from qdrant_client.http.exceptions import ApiException

        try:
            for attempt in self._attempts(brief=brief):
                with attempt:
                    return request(client)
        # The client asserts that an answer has a result.
        except (ApiException, QdrantException, UnfinishedError, ValueError, AssertionError) as error:
            raise self._explained(what, error) from self._endpoint.cause(error)
        raise RuntimeError  # unreachable: stamina lets the last error pass

    def version(self) -> str:
        """Return the server's version; see `ask` for the errors."""
        return self.ask("looked at", lambda client: client.info()).version

    def _attempts(self, *, brief: bool) -> "Iterable[stamina.Attempt]":
        import stamina

        patience, most = self._options.retry_seconds, _ATTEMPTS_OF_A_SEARCH if brief else _ATTEMPTS
        return stamina.retry_context(
            on=self._wait_for,
            attempts=most if patience else 1,
            timeout=patience or None,
            wait_initial=_FIRST_WAIT_SECONDS,
            wait_max=_LONGEST_WAIT_SECONDS,
            wait_jitter=_FIRST_WAIT_SECONDS,
        )

    def close(self) -> None:
        """Close the connections; harmless without any."""
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    def _connected(self) -> "QdrantClient":
        with self._lock:
            if self._client is None:
                self._client = self._connect()
            return self._client

    def _connect(self) -> "QdrantClient":
        try:
            from qdrant_client import QdrantClient
        except ImportError as error:
            message = f"store.url is {self}, and the package qdrant-client is not installed."
            raise StoreError(message, remedy=f"Run `{how_to_add('server')}`.") from error
        key = self._endpoint.key
        if key and self._endpoint.url.startswith("http:") and not self._endpoint.is_loopback:
            _log.warning("The API key of Qdrant at %s is sent unencrypted: give store.url with https.", self)
        with making(self._endpoint, StoreError):
            # As a header: given as the key, the client would warn in its own words, even without crossing a network.
            return QdrantClient(
                url=self._options.url,
                headers={"api-key": key} if key else None,
                timeout=max(1, -int(-self._options.timeout_seconds // 1)),
                check_compatibility=False,
                **client_options(self._endpoint, self._variables) | self._verification(),
            )

    def _verification(self) -> dict[str, Any]:
        """Return the configured certificate authorities for the client."""
        import ssl

        if not self._options.ca_file:
            return {}
        try:
            return {"verify": ssl.create_default_context(cafile=self._options.ca_file)}
        except OSError as error:
            message = f"The certificates in {self._options.ca_file} cannot be used: {error.strerror or error}."
            raise StoreError(message, remedy="Correct store.ca_file.") from error

    def _wait_for(self, error: Exception) -> bool | float:
        """Return seconds to wait, True for our own wait, False for no further attempt."""
        import httpx
        from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
        from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

        match error:
            case UnfinishedError():
                return True
            case ResponseHandlingException(source=source):
                return isinstance(source, httpx.TransportError) and not _is_about_certificates(source)
            case ResourceExhaustedResponse(retry_after_s=seconds):
                return max(_FIRST_WAIT_SECONDS, float(seconds)) if seconds <= self._options.retry_seconds else False
            case UnexpectedResponse(status_code=status):
                return _may_pass(status or 0) and not _is_full(error)
            case _:
                return False

    def _explained(self, what: str, error: Exception) -> CqmError:
        """Turn a client's error into ours."""
        from qdrant_client.common.client_exceptions import QdrantException
        from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

        match error:
            case UnexpectedResponse():
                return self._refused(what, error)
            case ResponseHandlingException(source=source):
                return self._unanswered(what, source)
            case UnfinishedError() | QdrantException():
                return self._failed(what, error or "it is overloaded", retryable=True)
            case _:
                return self._failed(what, _NO_QDRANT, _OTHER_URL)

    def _unanswered(self, what: str, source: Exception) -> StoreError:
        """Explain a request without an answer, or with an unreadable one."""
        import httpx

        match source:
            case httpx.TimeoutException():
                why = f"it did not answer within {self._options.timeout_seconds:g} s"
                return self._failed(what, why, "Look at its load, or raise store.timeout_seconds.", retryable=True)
            case httpx.TransportError() if _is_about_certificates(source):
                return self._failed(what, source, "Name its authority's certificate in store.ca_file.")
            case httpx.TransportError():
                remedy = "Start it, or correct store.url. The index catches up with the next update."
                return self._failed(what, f"it cannot be reached: {source}", remedy, retryable=True)
            case _:
                return self._failed(what, _NO_QDRANT, _OTHER_URL)

    def _refused(self, what: str, error: Any) -> CqmError:  # noqa: ANN401 - of a package that is loaded late
        status, said = error.status_code or 0, _said(error)
        if status in _REFUSES_KEY:
            remedy = "Give a key that may write, in store.api_key_env or store.api_key_file."
            return self._failed(what, f"it refuses the API key: {said}", remedy)
        if _is_full(error):
            remedy = "Free space on the server. The index catches up with the next update."
            return self._failed(what, f"it is full: {said}", remedy, retryable=True)
        if status == _NOT_FOUND and "collection" in said.lower():
            return DamagedIndexError(f"Qdrant at {self} has lost a collection: {said}.", remedy=REBUILD)
        remedy = _TOO_OLD if status in _NO_SUCH_REQUEST else ""
        return self._failed(what, f"it answers {status}: {said}", remedy, retryable=_may_pass(status))

    def _failed(self, what: str, why: object, remedy: str = "", *, retryable: bool = False) -> StoreError:
        said = self._endpoint.quoted(why).rstrip(".")
        return StoreError(f"The store at {self} cannot be {what}: {said}.", remedy=remedy, retryable=retryable)


def is_conflict(error: Exception) -> bool:
    """Whether a request failed because its target already exists."""
    return getattr(error, "status_code", None) == CONFLICT


def _may_pass(status: int) -> bool:
    return status in _ASKS_TO_WAIT or (status >= _SERVER_FAULT and status not in _NEVER_PASSES)


def _is_full(error: Any) -> bool:  # noqa: ANN401 - of a package that is loaded late
    said = _said(error).lower()
    return error.status_code == _FULL or any(words in said for words in _SAYS_FULL)


def _is_about_certificates(error: Exception) -> bool:
    return "CERTIFICATE" in str(error)


def _said(error: Any) -> str:  # noqa: ANN401 - of a package that is loaded late
    """Return a server's reason for a refusal, in its own form or any other."""
    with suppress(ValueError, TypeError, KeyError):
        return str(error.structured()["status"]["error"])
    return str(error.reason_phrase or error.content.decode("utf-8", "replace"))
