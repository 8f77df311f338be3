"""Where a service is and the key it wants, shown without anything secret."""

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from cqm.index.model.errors import EmbeddingError
from cqm.index.remote.addresses import is_address, is_loopback

_QUOTED = 300
"""Characters of a service's own words in our messages."""


@dataclass(frozen=True, slots=True, repr=False)
class Endpoint:
    """The address of a service. As a string it has no user name, password or query.

    Attributes:
        url: absolute.
        key: what authorises us there; empty for none.
        is_web: whether it speaks HTTP; the address of another is for its own client to check.

    Raises:
        EmbeddingError: the address cannot be used.
    """

    url: str
    key: str = field(default="")
    is_web: bool = True

    def __post_init__(self) -> None:
        if self.is_web and not is_address(self.url):
            # What cannot be taken apart may hold a password anywhere before its last "@".
            message = f"The address {self.url.rpartition('@')[2]!r} of a service is not valid."
            raise EmbeddingError(message, remedy="Give http:// or https://, a host, and perhaps a port and a path.")

    def __str__(self) -> str:
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{self.authority}{parts.path}".rstrip("/")

    def __repr__(self) -> str:
        return f"Endpoint({self})"

    @property
    def authority(self) -> str:
        """Host and port, the port only where it is given."""
        return urlsplit(self.url).netloc.rpartition("@")[2]

    @property
    def is_loopback(self) -> bool:
        """Whether it is on this machine; see `addresses.is_loopback`."""
        return is_loopback(self.url)

    def quoted(self, said: object) -> str:
        """The beginning of what the service said, without our secrets: some services repeat the key they refuse."""
        text = str(said).strip()
        for secret in self._secrets():
            text = text.replace(secret, "***")
        return text[:_QUOTED]

    def cause(self, error: Exception) -> Exception | None:
        """The error to chain to ours: none when a traceback of it would print a secret."""
        return None if any(secret in str(error) for secret in self._secrets()) else error

    def _secrets(self) -> list[str]:
        return [secret for secret in (self.key, urlsplit(self.url).password) if secret]
