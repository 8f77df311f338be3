"""HTTP clients of services: their proxy, their certificates, and a time limit for whole answers."""

import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from ipaddress import ip_address, ip_network
from typing import Any
from urllib import request
from urllib.parse import urlsplit

from cqm.chunkers.errors import CqmError
from cqm.index.remote.endpoint import Endpoint
from cqm.index.remote.variables import CERTIFICATE_VARIABLES, PROXY_VARIABLES, Variables

_SYSTEMS = ("getproxies_macosx_sysconf", "getproxies_registry")
"""Functions of `urllib.request` for a system's own proxies: on macOS, on Windows."""


def client_options(endpoint: Endpoint, variables: Variables) -> dict[str, Any]:
    """Return the keyword arguments of an httpx client, which reads no environment by itself.

    Data for this machine must not leave it through a redirect or a proxy.

    Parameters:
        endpoint: the only one the client will be used for.
        variables: name proxies and certificates.

    Raises:
        OSError: the certificates cannot be read.
    """
    options: dict[str, Any] = {"trust_env": False, "follow_redirects": False}
    if endpoint.is_loopback:
        return options
    return options | {"proxy": proxy_of(endpoint, variables), "verify": _certificates(variables)}


@contextmanager
def making(endpoint: Endpoint, kind: type[CqmError]) -> Iterator[None]:
    """Explain a client which cannot be made.

    Raises:
        CqmError: of this kind; a proxy or a certificate is not usable.
    """
    try:
        yield
    except (ValueError, ImportError, OSError) as error:
        message = f"A connection to {endpoint} cannot be made: {endpoint.quoted(error)}."
        raise kind(message, remedy="Check the environment's proxies and certificates.") from error


def proxy_of(endpoint: Endpoint, variables: Variables) -> str | None:
    """Return the proxy for an endpoint; None for a direct connection.

    Parameters:
        variables: name proxies; without any, the system's settings count (macOS, Windows).
    """
    given = _proxies(variables)
    if _is_excepted(endpoint, given.get("no", "")):
        return None
    proxy = given.get(urlsplit(endpoint.url).scheme) or given.get("all") or None
    return f"http://{proxy}" if proxy and "://" not in proxy else proxy


def _proxies(variables: Variables) -> Mapping[str, str]:
    """Return proxies and exceptions by "http", "https", "all" and "no"."""
    given = {name.partition("_")[0]: variables.get(name, variables.get(name.upper(), "")) for name in PROXY_VARIABLES}
    if any(given.values()):
        return given
    system: Callable[[], dict[str, str]] = next(
        (getattr(request, name) for name in _SYSTEMS if hasattr(request, name)), dict
    )
    return system()


def _is_excepted(endpoint: Endpoint, listed: str) -> bool:
    """Whether no_proxy lists an endpoint.

    Entries are separated by commas: "*" for all; a domain for itself and those below, perhaps with a port; an address
    or a network such as 10.0.0.0/8. A scheme in front restricts an entry to it.
    """
    parts = urlsplit(endpoint.url)
    entries = []
    for entry in listed.split(","):
        scheme, _, name = entry.strip().rpartition("://")
        if scheme in {"", "all", parts.scheme}:
            entries.append(name.removeprefix("*."))
    if "*" in entries or any(_contains(entry, parts.hostname or "") for entry in entries):
        return True
    return bool(request.proxy_bypass_environment(endpoint.authority, {"no": ",".join(entries)}))  # type: ignore[attr-defined] # missing in typeshed


def _contains(network: str, host: str) -> bool:
    try:
        return ip_address(host) in ip_network(network.strip("[]"), strict=False)
    except ValueError:
        return False


def _certificates(variables: Variables) -> ssl.SSLContext | bool:
    """Return the named certificates; True for the client's own."""
    file, folder = (variables.get(name) for name in CERTIFICATE_VARIABLES)
    if file or folder:
        return ssl.create_default_context(cafile=file or None, capath=None if file else folder)
    return True


def bounded(stream_class: Any, late: Callable[[], Exception], seconds: float) -> Callable[[Any], None]:  # noqa: ANN401 - of httpx or httpx2
    """Return a response hook limiting the time for reading a body.

    A client's time-out applies to each piece, so an answer could trickle for ever.

    Parameters:
        stream_class: `SyncByteStream` of the client's httpx.
        late: makes the error raised after the limit.
        seconds: from the response's head to its last byte.
    """

    class Bounded(stream_class):  # type: ignore[misc] # a class that is only known here
        """A body with a time limit."""

        def __init__(self, stream: Any) -> None:  # noqa: ANN401 - see above
            self._stream = stream
            self._ends = time.monotonic() + seconds

        def __iter__(self) -> Iterator[bytes]:
            for part in self._stream:
                if time.monotonic() > self._ends:
                    raise late()
                yield part

        def close(self) -> None:
            self._stream.close()

    def bound(response: Any) -> None:  # noqa: ANN401 - see above
        response.stream = Bounded(response.stream)

    return bound
