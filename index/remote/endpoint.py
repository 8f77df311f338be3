"""A service's address and key, printed without secrets, and its use, for messages."""

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from cqm.chunkers.errors import CqmError
from cqm.index.model.errors import ContextError, EmbeddingError
from cqm.index.remote.addresses import is_address, is_loopback

_QUOTED = 300
"""Characters quoted from a service's answer in our messages."""


@dataclass(frozen=True, slots=True, repr=False)
class Endpoint:
    """The address of a service. Its string omits user name, password and query.

    Attributes:
        url: absolute.
        key: authorises us there; empty for none.
        is_web: whether it speaks HTTP; other addresses are checked by their own client.

    Raises:
        EmbeddingError: the address cannot be used.
    """

    url: str
    key: str = field(default="")
    is_web: bool = True

    def __post_init__(self) -> None:
        if self.is_web and not is_address(self.url):
            # A malformed address may contain a password anywhere before its last "@".
            message = f"The address {self.url.rpartition('@')[2]!r} of a service is not valid."
            raise EmbeddingError(message, remedy="Give http:// or https://, a host, and perhaps a port and a path.")

    def __str__(self) -> str:
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{self.authority}{parts.path}".rstrip("/")

    def __repr__(self) -> str:
        return f"Endpoint({self})"

    @property
    def authority(self) -> str:
        """Host and port; without the port if the address has none."""
        return urlsplit(self.url).netloc.rpartition("@")[2]

    @property
    def is_loopback(self) -> bool:
        """Whether it is on this machine; see `addresses.is_loopback`."""
        return is_loopback(self.url)

    def quoted(self, said: object) -> str:
        """Quote the beginning of a service's answer without our secrets: some services repeat a refused key."""
        text = str(said).strip()
        for secret in self._secrets():
            text = text.replace(secret, "***")
        return text[:_QUOTED]

    def cause(self, error: Exception) -> Exception | None:
        """Return the error for chaining to ours; None if its traceback would print a secret."""
        return None if any(secret in str(error) for secret in self._secrets()) else error

    def _secrets(self) -> list[str]:
        return [secret for secret in (self.key, urlsplit(self.url).password) if secret]


@dataclass(frozen=True, slots=True)
class Purpose:
    """A use of services.

    Attributes:
        error: raised if the user must correct something.
        path: the use's path below an OpenAI-compatible base url.
        smaller: the option reducing the size of requests.
        shorter: the remedy for an overlong text; empty if handled automatically.
    """

    section: str
    error: type[CqmError]
    answer: str
    path: str
    smaller: str
    shorter: str = ""


EMBEDDING = Purpose("embedding", EmbeddingError, "vectors", "/embeddings", "embedding.batch_size")
CONTEXTS = Purpose(
    "context",
    ContextError,
    "a message",
    "/chat/completions",
    "context.window_tokens",
    "Lower context.window_tokens.",
)
