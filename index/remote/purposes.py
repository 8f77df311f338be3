"""Uses of a service, for messages about it."""

from dataclasses import dataclass

from cqm.chunkers.errors import CqmError
from cqm.index.model.errors import ContextError, EmbeddingError


@dataclass(frozen=True, slots=True)
class Purpose:
    """A use of services.

    Attributes:
        section: of the settings.
        error: raised if the user must correct something.
        answer: the expected answer.
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
