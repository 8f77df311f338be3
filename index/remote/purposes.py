"""What a service is used for, as far as the messages about it depend on that."""

from dataclasses import dataclass

from cqm.chunkers.errors import CqmError
from cqm.index.model.errors import ContextError, EmbeddingError


@dataclass(frozen=True, slots=True)
class Purpose:
    """A use of services.

    Attributes:
        section: of the settings.
        error: of what somebody has to mend.
        answer: what a service shall answer with.
        path: what an endpoint of OpenAI's protocol has below its base url for it.
        smaller: the option that makes requests smaller.
        shorter: the remedy where a text is too long; empty where that is mended without anybody.
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
