"""Addresses of services: valid ones, local ones, and those named by the environment."""

import ipaddress
from urllib.parse import urlsplit

from cqm.index.remote.variables import Variables

_OLLAMA_PORT = 11434
OLLAMA_URL = f"http://127.0.0.1:{_OLLAMA_PORT}"
OLLAMA_VARIABLE = "OLLAMA_HOST"

MAY_HOLD_A_SECRET = frozenset("@?")
"""An address with one of these characters may contain a password or a key, so CQM never writes it down."""


def is_address(url: str) -> bool:
    """Whether a URL is http or https with a host and, if given, a valid port."""
    try:
        parts = urlsplit(url)
        # Reading the port validates it.
        is_reachable = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return is_reachable and parts.scheme in {"http", "https"} and url.isprintable() and " " not in url


def is_loopback(url: str) -> bool:
    """Whether a URL or HOST[:PORT] is on this machine; the only name recognised is "localhost".

    As targets of a connection, 0.0.0.0 and [::] are this machine too: OLLAMA_HOST is often set to them for the service.
    """
    try:
        host = urlsplit(url if "//" in url else f"//{url}").hostname or ""
    except ValueError:
        return False
    if host == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def ollama_url(base_url: str, variables: Variables) -> str:
    """Return Ollama's address: as configured, else from OLLAMA_HOST, else on this machine.

    In OLLAMA_HOST scheme and port may be missing, and 0.0.0.0 is the server's listening address.

    Parameters:
        base_url: from the options; empty for none.
    """
    host = base_url or variables.get(OLLAMA_VARIABLE) or OLLAMA_URL
    if "://" in host or not is_address(f"http://{host}"):
        return host
    parts = urlsplit(f"http://{host}")
    name = "127.0.0.1" if parts.hostname in {None, "0.0.0.0"} else parts.hostname  # noqa: S104 - no bind
    return f"http://{f'[{name}]' if ':' in name else name}:{parts.port or _OLLAMA_PORT}{parts.path}"
