"""The embedder of a model that a service runs: found at its first use, then asked in batches."""

from collections.abc import Callable, Sequence
from threading import Lock
from typing import TYPE_CHECKING

from cqm.index.embedding.base import Embeddings, Space
from cqm.index.embedding.batches import Service, embed_all, embed_one

if TYPE_CHECKING:
    from cqm.index.embedding.base import Vector


class ServedEmbedder:
    """An `Embedder` over a service. A text over the model's context is cut to it, and reported as cut.

    Parameters:
        find: finds the service and its model; called at the first use, and again after `close` or when it failed.
    """

    def __init__(self, find: Callable[[], Service]) -> None:
        self._find = find
        self._lock = Lock()
        self._service: Service | None = None

    def space(self) -> Space:
        """See `Embedder.space`."""
        return self._found().space

    def embed_documents(self, texts: Sequence[str]) -> Embeddings:
        """See `Embedder.embed_documents`."""
        return embed_all(self._found(), texts)

    def embed_query(self, text: str) -> "Vector":
        """See `Embedder.embed_query`."""
        return embed_one(self._found(), text)

    def close(self) -> None:
        """See `Embedder.close`."""
        with self._lock:
            service, self._service = self._service, None
        if service is not None:
            service.close()

    def _found(self) -> Service:
        with self._lock:
            if self._service is None:
                self._service = self._find()
            return self._service
