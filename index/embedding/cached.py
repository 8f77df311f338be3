"""An embedder that asks the cache first, so that a text is paid for once."""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from cqm.index.cache.base import Cache
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
"""The provider whose vectors are made faster than they could be fetched."""
_CUT, _POOLED = 1, 2
_FLOAT_BYTES = 2
_MOST_AT_ONCE = 256
"""Texts of one call of the other embedder: what a process may lose of what it paid for when it is killed."""


class CachedEmbedder:
    """An `Embedder` that asks another only for what the cache lacks, each text once.

    Vectors are kept as 16-bit floats, and pass through them when they are fresh too, so that results do not depend on
    what was cached. What was refused is not kept. Without any layer in the cache, and for the embedded model, it passes
    everything on as it is.

    Parameters:
        embedder: asked for the rest.
        cache: others may use it too; it stays open when the embedder is closed.
    """

    def __init__(self, embedder: Embedder, cache: Cache) -> None:
        self._embedder = embedder
        self._cache = cache
        self._lock = Lock()
        self._cached = 0

    @property
    def cached(self) -> int:
        """How many documents got their vector from the cache since this embedder was made."""
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
        """See `Embedder.usage`: what was cached was not asked for, so it is no part of it."""
        return self._embedder.usage(role)

    def embed_documents(self, texts: Sequence[str]) -> Embeddings:
        """See `Embedder.embed_documents`."""
        space = self._cached_space() if texts else None
        if space is None:
            return self._embedder.embed_documents(texts)
        distinct = list(dict.fromkeys(texts))
        found = self._find(_Keys(space, "document"), distinct)
        fresh = self._fresh([text for text in distinct if text not in found], space)
        if found and fresh.space != space:
            # The model was exchanged meanwhile: what was found is the other's, and an answer is of one space.
            found, fresh = {}, self._fresh(distinct, space)
        with self._lock:
            self._cached += sum(text in found for text in texts)
        return _together(texts, found | fresh.entries, fresh.rejected, fresh.space)

    def take_over(self, moved: Mapping[str, str]) -> None:
        """Give documents the vectors of others that they were before, in the cache, where those are known.

        Parameters:
            moved: the earlier text by each new one.

        Raises:
            EmbeddingError: which space is meant can't be told now.
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
        """The space by which vectors are kept; None where there is nothing to keep."""
        if not self._cache.enabled:
            return None
        space = self._embedder.space()
        return None if space.provider == _NO_SERVICE else space

    def _fresh(self, texts: Sequence[str], space: Space) -> "_Fresh":
        """Embed documents, so many at once, and keep their vectors; of the space that is given when there are none."""
        entries: dict[str, _Entry] = {}
        rejected: dict[str, str] = {}
        for start in range(0, len(texts), _MOST_AT_ONCE):
            part = texts[start : start + _MOST_AT_ONCE]
            embeddings = self._embedded(part)
            if entries and embeddings.space != space:
                # The model was exchanged meanwhile: what came before is the other's.
                return self._fresh(texts, embeddings.space)
            space = embeddings.space
            rejected |= {part[text.index]: text.reason for text in embeddings.rejected}
            entries |= self._keep(_Keys(space, "document"), _entries(part, embeddings))
        return _Fresh(space, entries, rejected)

    def _embedded(self, texts: Sequence[str]) -> Embeddings:
        """Embed documents; what was embedded before a failure is kept: it is paid for."""
        try:
            return self._embedder.embed_documents(texts)
        except EmbeddingError as error:
            if error.partial is not None:
                self._keep(_Keys(error.partial.space, "document"), _entries(texts, error.partial))
            raise

    def _find(self, keys: "_Keys", texts: Iterable[str]) -> "dict[str, _Entry]":
        by_key = {keys.of(text): text for text in texts}
        values = self._cache.get(_KIND, by_key)
        entries = {by_key[key]: _Entry(value[0], value[1:]) for key, value in values.items() if value}
        return {text: entry for text, entry in entries.items() if _is_usable(entry, keys.space.dimensions)}

    def _keep(self, keys: "_Keys", entries: "Mapping[str, _Entry]") -> "dict[str, _Entry]":
        self._cache.put(_KIND, {keys.of(text): bytes([entry.flags]) + entry.vector for text, entry in entries.items()})
        return dict(entries)


class _Keys(NamedTuple):
    """What texts of one role are called in the cache."""

    space: Space
    role: str

    def of(self, text: str) -> str:
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()
        return f"{self.role} {digest} {self.space.name}"


class _Entry(NamedTuple):
    flags: int
    """What became of a text that was too long: 0, `_CUT` or `_POOLED`."""
    vector: bytes
    """Little-endian 16-bit floats."""


class _Fresh(NamedTuple):
    """What became of texts that were embedded, by the text."""

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
    """Whether it is a vector with a direction: who can write to a shared cache can put anything into a valid frame."""
    import numpy as np

    if len(entry.vector) != _FLOAT_BYTES * dimensions:
        return False
    row = np.frombuffer(entry.vector, "<f2")
    return bool(np.isfinite(row).all() and row.any())


def _halved(vector: "Vector") -> bytes:
    return vector.astype("<f2").tobytes()


def _vectors(entries: Sequence[_Entry], dimensions: int) -> "Vectors":
    """Unit vectors again: each row is computed alone, so that it is the same whatever comes with it."""
    import numpy as np

    rows = stacked([np.frombuffer(entry.vector, "<f2").astype(np.float32) for entry in entries], dimensions)
    vectors: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return vectors
