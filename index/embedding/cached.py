"""An embedder asking the cache first, so each text is paid for once, and keeping to a budget."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from hashlib import blake2b
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from cqm.index.cache.base import Cache
from cqm.index.embedding.budget import DocumentBudget
from cqm.index.embedding.service.base import Embedder, stacked
from cqm.index.model.errors import EmbeddingError
from cqm.index.model.progress import Usage
from cqm.index.model.spaces import Embeddings, PlacedVector, RejectedText, Space

if TYPE_CHECKING:
    from cqm.index.embedding.service.models import ModelFacts
    from cqm.index.embedding.service.service import Role
    from cqm.index.model.spaces import Vector, Vectors

_KIND = "vectors"
_NO_SERVICE = "embedded"
"""Its vectors are computed faster than fetched from a cache."""
_CUT, _POOLED = 1, 2
_FLOAT_BYTES = 2
_MOST_AT_ONCE = 256
"""Texts in one call of the other embedder; a killed process loses at most as many paid vectors."""


class CachedEmbedder:
    """An `Embedder` asking another one only for texts missing in the cache, each text once.

    Vectors are stored as 16-bit floats. Fresh ones are rounded the same way, so results don't depend on the cache's
    content. Refused texts are not stored. Without any cache layer, and for the embedded model, it passes everything on.

    Parameters:
        cache: may be shared; it stays open when the embedder is closed.
        budget: for documents missing in the cache; None for no limit.
    """

    def __init__(self, embedder: Embedder, cache: Cache, budget: DocumentBudget | None = None) -> None:
        self._embedder = embedder
        self._budget = budget
        self._cache = cache
        self._lock = Lock()
        self._cached = 0

    @property
    def cached(self) -> int:
        """Number of documents with a vector from the cache since this embedder was made."""
        return self._cached

    def space(self) -> Space:
        """See `Embedder.space`."""
        return self._embedder.space()

    def facts(self) -> "ModelFacts":
        """See `Embedder.facts`."""
        return self._embedder.facts()

    def refresh(self) -> None:
        """See `Embedder.refresh`."""
        self._embedder.refresh()

    def usage(self, role: "Role | None" = None) -> Usage:
        """See `Embedder.usage`. Cached texts were not requested, so they don't count."""
        return self._embedder.usage(role)

    def embed_documents(self, texts: Sequence[str]) -> Embeddings:
        """See `Embedder.embed_documents`.

        Raises:
            BudgetError: these texts may cost more than the rest of the budget.
        """
        space = self._cached_space() if texts else None
        if space is None:
            return self._paid(texts)
        distinct = list(dict.fromkeys(texts))
        found = self._find(_Keys(space, "document"), distinct)
        fresh = self._fresh([text for text in distinct if text not in found], space)
        if found and fresh.space != space:
            # The model was exchanged meanwhile: the found vectors are the old one's, and an answer has one space.
            found, fresh = {}, self._fresh(distinct, space)
        with self._lock:
            self._cached += sum(text in found for text in texts)
        return _together(texts, found | fresh.entries, fresh.rejected, fresh.space)

    def take_over(self, moved: Mapping[str, str]) -> None:
        """In the cache, give documents the vectors of their earlier texts, if known.

        Parameters:
            moved: the earlier text by each new one.

        Raises:
            EmbeddingError: the space can't be determined now.
        """
        space = self._cached_space()
        if space is None:
            return
        keys = _Keys(space, "document")
        missing = moved.keys() - self._find(keys, moved).keys()
        found = self._find(keys, {moved[text] for text in missing})
        self._keep(keys, {text: found[moved[text]] for text in missing if moved[text] in found})

    def embed_query(self, text: str) -> PlacedVector:
        """See `Embedder.embed_query`."""
        space = self._cached_space()
        if space is None:
            return self._embedder.embed_query(text)
        found = self._find(_Keys(space, "query"), [text])
        if not found:
            space, vector = self._embedder.embed_query(text)
            found = self._keep(_Keys(space, "query"), {text: _Entry(0, _halved(vector))})
        return PlacedVector(space, _vectors([found[text]], space.dimensions)[0])

    def close(self) -> None:
        """See `Embedder.close`."""
        self._embedder.close()

    def _cached_space(self) -> Space | None:
        """Return the space for cache keys; None if nothing is cached."""
        if not self._cache.enabled:
            return None
        space = self._embedder.space()
        return None if space.provider == _NO_SERVICE else space

    def _fresh(self, texts: Sequence[str], space: Space) -> "_Fresh":
        """Embed documents in groups and cache their vectors; without documents, the result has the given space."""
        entries: dict[str, _Entry] = {}
        rejected: dict[str, str] = {}
        for start in range(0, len(texts), _MOST_AT_ONCE):
            part = texts[start : start + _MOST_AT_ONCE]
            embeddings = self._embedded(part)
            if entries and embeddings.space != space:
                # The model was exchanged meanwhile: the vectors so far are the old one's.
                return self._fresh(texts, embeddings.space)
            space = embeddings.space
            rejected |= {part[text.index]: text.reason for text in embeddings.rejected}
            entries |= self._keep(_Keys(space, "document"), _entries(part, embeddings))
        return _Fresh(space, entries, rejected)

    def _embedded(self, texts: Sequence[str]) -> Embeddings:
        """Embed documents; on a failure, cache the vectors received before it, since they are paid for."""
        try:
            return self._paid(texts)
        except EmbeddingError as error:
            if error.partial is not None:
                self._keep(_Keys(error.partial.space, "document"), _entries(texts, error.partial))
            raise

    def _paid(self, texts: Sequence[str]) -> Embeddings:
        with self._budget.admitted(texts) if self._budget else nullcontext():
            return self._embedder.embed_documents(texts)

    def _find(self, keys: "_Keys", texts: Iterable[str]) -> "dict[str, _Entry]":
        by_key = {keys.of(text): text for text in texts}
        values = self._cache.get(_KIND, by_key)
        entries = {by_key[key]: _Entry(value[0], value[1:]) for key, value in values.items() if value}
        return {text: entry for text, entry in entries.items() if _is_usable(entry, keys.space.dimensions)}

    def _keep(self, keys: "_Keys", entries: "Mapping[str, _Entry]") -> "dict[str, _Entry]":
        self._cache.put(_KIND, {keys.of(text): bytes([entry.flags]) + entry.vector for text, entry in entries.items()})
        return dict(entries)


class _Keys(NamedTuple):
    """Cache keys for texts of one role."""

    space: Space
    role: str

    def of(self, text: str) -> str:
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()
        return f"{self.role} {digest} {self.space.name}"


class _Entry(NamedTuple):
    flags: int
    """Treatment of an overlong text: 0, `_CUT` or `_POOLED`."""
    vector: bytes
    """Little-endian 16-bit floats."""


class _Fresh(NamedTuple):
    """Results of embedding, by text."""

    space: Space
    entries: dict[str, _Entry]
    rejected: dict[str, str]


def _entries(texts: Sequence[str], embeddings: Embeddings) -> dict[str, _Entry]:
    cut, pooled = set(embeddings.cut), set(embeddings.pooled)
    return {
        texts[index]: _Entry(_CUT * (index in cut) + _POOLED * (index in pooled), _halved(vector))
        for index, vector in zip(embeddings.indices, embeddings.vectors, strict=True)
    }


def _together(
    texts: Sequence[str], found: Mapping[str, _Entry], rejected: Mapping[str, str], space: Space
) -> Embeddings:
    indices = tuple(index for index, text in enumerate(texts) if text in found)
    entries = [found[texts[index]] for index in indices]
    return Embeddings(
        indices,
        _vectors(entries, space.dimensions),
        space,
        tuple(RejectedText(index, rejected[text]) for index, text in enumerate(texts) if text in rejected),
        tuple(index for index, entry in zip(indices, entries, strict=True) if entry.flags & _CUT),
        tuple(index for index, entry in zip(indices, entries, strict=True) if entry.flags & _POOLED),
    )


def _is_usable(entry: _Entry, dimensions: int) -> bool:
    """Whether it is a vector with a direction: anyone writing to a shared cache can put anything into a valid frame."""
    import numpy as np

    if len(entry.vector) != _FLOAT_BYTES * dimensions:
        return False
    row = np.frombuffer(entry.vector, "<f2")
    return bool(np.isfinite(row).all() and row.any())


def _halved(vector: "Vector") -> bytes:
    return vector.astype("<f2").tobytes()


def _vectors(entries: Sequence[_Entry], dimensions: int) -> "Vectors":
    """Restore unit vectors. Each row is computed alone, so it doesn't depend on the others."""
    import numpy as np

    rows = stacked([np.frombuffer(entry.vector, "<f2").astype(np.float32) for entry in entries], dimensions)
    vectors: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return vectors
