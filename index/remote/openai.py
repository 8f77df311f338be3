"""An OpenAI-compatible endpoint through the official client: its address, its answers, and its errors."""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING

from cqm.chunkers.errors import CqmError
from cqm.chunkers.extras import how_to_add
from cqm.index.model.errors import EmbeddingError, RefusedInputError
from cqm.index.model.options import ContextOptions, EmbeddingOptions
from cqm.index.remote.endpoint import Endpoint, Purpose
from cqm.index.remote.http import bounded, client_options, making
from cqm.index.remote.keys import is_same_origin, read_key, variable_for
from cqm.index.remote.presets import PRESETS, Preset
from cqm.index.remote.retries import ASKS_TO_WAIT, REFUSES_INPUT, TimedOutError, TransientError
from cqm.index.remote.variables import NO_VARIABLES, OPENAI_VARIABLES, Variables

if TYPE_CHECKING:
    import openai

_TOO_LONG = re.compile(
    r"context.?(length|size|window)|too (large|long)|maximum (context|input|length)|less than \d+ tokens", re.IGNORECASE
)
_UNAUTHORIZED, _PAYMENT_REQUIRED, _FORBIDDEN, _NOT_FOUND = 401, 402, 403, 404
_SERVER_FAULT, _NOT_IMPLEMENTED = 500, 501
_ACCOUNT_HEADERS = ("openai-organization", "openai-project")
_OF_HTTP = frozenset({"accept", "connection", "content-length", "content-type", "host", "transfer-encoding"})
"""Headers a request needs; not to be removed."""
_OPENAI = PRESETS["openai"]
_PAY = "Check the plan and the billing details of the account."


@dataclass(frozen=True, slots=True)
class OpenAIServer:
    """An endpoint.

    Attributes:
        client: of the endpoint; repeats nothing.
        key_place: origin of its key, for people.
    """

    client: "openai.OpenAI"
    endpoint: Endpoint
    key_place: str
    purpose: Purpose

    def close(self) -> None:
        """Close its connections."""
        self.client.close()

    def told(self, path: str, body: Mapping[str, object] | None = None) -> object:
        """Return the endpoint's answer to a side request, as JSON; None if it refuses.

        Parameters:
            path: below its base url; a path beginning with "/" replaces the base url's "/v1".
            body: to post; None to get.

        Raises:
            EmbeddingError: it doesn't answer.
        """
        import openai

        url = f"{self.endpoint.url.removesuffix('/v1')}{path}" if path.startswith("/") else path
        with self.translating(str(self.endpoint)):
            try:
                if body is None:
                    return self.client.get(url, cast_to=object)
                return self.client.post(url, cast_to=object, body=dict(body))
            except openai.APIStatusError as error:
                if error.status_code in ASKS_TO_WAIT or error.status_code > _NOT_IMPLEMENTED:
                    raise
                return None  # a refused key shows when vectors are requested

    @contextmanager
    def translating(self, source: str) -> Iterator[None]:
        """Turn the client's errors into ours, which name the service."""
        import openai

        section = self.purpose.section
        try:
            yield
        except openai.APIStatusError as error:
            raise self._explained(error, source) from self.endpoint.cause(error)
        except openai.APITimeoutError as error:
            message = f"{source} did not answer in time."
            remedy = f"Raise {section}.timeout_seconds or lower {self.purpose.smaller}."
            raise TimedOutError(message, remedy=remedy) from error
        except (openai.APIConnectionError, RuntimeError) as error:
            # The client raises RuntimeError if another thread has closed it.
            message = f"The connection to {self.endpoint} failed: {error.__cause__ or error}."
            remedy = f"Start the service, or correct {section}.base_url."
            raise TransientError(message, remedy=remedy) from error
        except (openai.OpenAIError, ValueError, TypeError, AttributeError, LookupError) as error:
            said = self.endpoint.quoted(error)
            message = f"{source} answered with something else than {self.purpose.answer}: {said}"
            # Often a server's start page.
            raise TransientError(message, remedy=self._remedy(_NOT_FOUND)) from error

    def _explained(self, error: "openai.APIStatusError", source: str) -> CqmError:
        status, said = error.status_code, _said(error)
        answer = f"{source} answered {status}: {self.endpoint.quoted(said)}"
        too_long = error.code == "context_length_exceeded" or bool(_TOO_LONG.search(said))
        if error.code == "insufficient_quota":
            return self.purpose.error(answer, remedy=_PAY)
        if status in REFUSES_INPUT or (status >= _SERVER_FAULT and too_long):
            # Whatever the status: llama.cpp and others use the one of a fault.
            return RefusedInputError(answer, remedy=self.purpose.shorter if too_long else "", too_long=too_long)
        if status in ASKS_TO_WAIT or status >= _SERVER_FAULT:
            wait = retry_after(error.response.headers)
            return TransientError(answer, retry_after=wait, maybe_input=status >= _SERVER_FAULT)
        return self.purpose.error(answer, remedy=self._remedy(status))

    def _remedy(self, status: int) -> str:
        section, path = self.purpose.section, self.purpose.path
        if status == _PAYMENT_REQUIRED:
            return _PAY
        if status in {_UNAUTHORIZED, _FORBIDDEN}:
            return f"Check the key in {self.key_place}."
        if status == _NOT_FOUND:
            return f"Check {section}.model, and that {section}.base_url ends where {path} follows (often in /v1)."
        return f"Check {section}.base_url and {section}.model."


def connect_openai(
    options: EmbeddingOptions | ContextOptions,
    url: str,
    preset: Preset,
    purpose: Purpose,
    variables: Variables,
    *,
    needs_key: bool,
) -> OpenAIServer:
    """Return an endpoint; contacts nothing.

    Parameters:
        preset: its kind. The key in the preset's variable goes only to the preset's own host, or to the host named by
            a variable.
        needs_key: whether a key is required unless it is on this machine.

    Raises:
        EmbeddingError: the key file cannot be used.
        CqmError: the address is not valid, there is no key, or the extra `openai` is not installed.
    """
    if find_spec("openai") is None:
        message = "The client of OpenAI's protocol is not installed."
        raise purpose.error(message, remedy=f"Run `{how_to_add('openai')}`.")
    section = purpose.section
    variable = variable_for(preset.key_variable, preset.url, named=options.api_key_env, base_url=options.base_url)
    key = read_key(variable, options.api_key_file, variables)
    try:
        endpoint = Endpoint(url.rstrip("/"), key)
    except EmbeddingError as error:
        remedy = f"Correct {section}.base_url, or the environment variable that names the address."
        raise purpose.error(error.message, remedy=remedy) from error
    if needs_key and not endpoint.key and not endpoint.is_loopback:
        raise _lacks_key(endpoint, variable, purpose)
    place = _place_of_key(options, variable, variables, purpose, has_key=bool(key))
    is_openais = variable == _OPENAI.key_variable or is_same_origin(url, _OPENAI.url)
    further = _further_headers(variables if is_openais else NO_VARIABLES)
    with making(endpoint, purpose.error):
        client = _client(endpoint, options.timeout_seconds, variables, further)
    return OpenAIServer(client, endpoint, place, purpose)


def _lacks_key(endpoint: Endpoint, variable: str, purpose: Purpose) -> CqmError:
    section = purpose.section
    if variable:
        reason = f"the environment variable {variable} is not set."
        remedy = f"Set it, or name another variable in {section}.api_key_env or a file in {section}.api_key_file."
    else:
        reason = "no environment variable is named for this address."
        remedy = f"Name one in {section}.api_key_env or a file in {section}.api_key_file."
    return purpose.error(f"There is no key for {endpoint}: {reason}", remedy=remedy)


def _place_of_key(
    options: EmbeddingOptions | ContextOptions, variable: str, variables: Variables, purpose: Purpose, *, has_key: bool
) -> str:
    """Name the place where the key is, or should be, for messages."""
    if options.api_key_file and not variables.get(variable, "").strip():
        return f"the file {options.api_key_file}"
    if not variable:
        return f"the environment variable that {purpose.section}.api_key_env names, which names none"
    return f"the environment variable {variable}" + ("" if has_key else ", which is not set")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the wait requested by a response's `retry-after-ms` or `Retry-After` (seconds or a date), or None."""
    milliseconds, value = headers.get("retry-after-ms"), headers.get("retry-after")
    try:
        if milliseconds:
            return _waitable(float(milliseconds) / 1000)
        return _waitable(float(value)) if value else None
    except ValueError:
        return _seconds_until(value)


def _waitable(seconds: float) -> float | None:
    """Return a wait of at least 0; None for NaN."""
    return max(0.0, seconds) if seconds == seconds else None  # noqa: PLR0124 - NaN alone differs from itself


def _seconds_until(date: str | None) -> float | None:
    try:
        moment = parsedate_to_datetime(date or "")
    except ValueError:
        return None
    return max(0.0, (moment.astimezone(UTC) - datetime.now(UTC)).total_seconds())


def _said(error: "openai.APIStatusError") -> str:
    """Return the service's message: OpenAI sends an object with a message, Voyage and Jina one with a detail."""
    body = error.body
    message = body.get("message") or body.get("detail") or body if isinstance(body, dict) else body
    return str(message or error.message)


def _client(endpoint: Endpoint, timeout: float, variables: Variables, further: Mapping[str, str]) -> "openai.OpenAI":
    """Return the official client.

    Parameters:
        timeout: seconds, of a request.
        further: headers of requests beside the key.
    """
    import httpx2
    import openai

    bound = bounded(httpx2.SyncByteStream, lambda: httpx2.ReadTimeout("the answer did not end"), timeout)
    key = endpoint.key or "none"
    # The client adds headers from this process's environment, which may be another user's or for another host.
    foreign = {*map(str.lower, _custom_headers(os.environ)), *_ACCOUNT_HEADERS} - _OF_HTTP

    def with_own_headers(request: httpx2.Request) -> None:
        for name in foreign:
            request.headers.pop(name, None)
        request.headers.update({"Authorization": f"Bearer {key}", **further})

    return openai.OpenAI(
        base_url=endpoint.url,
        api_key=key,
        timeout=timeout,
        max_retries=0,
        http_client=openai.DefaultHttpxClient(
            **client_options(endpoint, variables),
            event_hooks={"request": [with_own_headers], "response": [bound]},
        ),
    )


def _further_headers(variables: Variables) -> dict[str, str]:
    """Return the headers for OpenAI itself, or a host receiving its key: organization, project and custom ones."""
    account = zip(_ACCOUNT_HEADERS, (variables.get(name, "") for name in OPENAI_VARIABLES), strict=False)
    return {header: value for header, value in account if value} | _custom_headers(variables)


def _custom_headers(variables: Variables) -> dict[str, str]:
    """Return the headers in OPENAI_CUSTOM_HEADERS: lines of "name: value"."""
    lines = (line.partition(":") for line in variables.get(OPENAI_VARIABLES[-1], "").split("\n") if ":" in line)
    return {name.strip(): value.strip() for name, _, value in lines}
