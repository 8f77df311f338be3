"""Turn texts into vectors: one interface, one module per provider."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from cqm.index.embedding.model_facts import known_facts
from cqm.index.embedding.service.base import Embedder
from cqm.index.model.errors import EmbeddingError
from cqm.index.model.options import EmbeddingOptions
from cqm.index.remote.presets import PRESETS
from cqm.index.remote.variables import NO_VARIABLES, Variables

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "PROVIDERS",
    "known_facts",
    "model_facts",
    "open_embedder",
    "opening",
    "routes",
    "rows_of",
    "sentence_vectors",
    "static_model",
]


def open_embedder(options: EmbeddingOptions, variables: Variables) -> Embedder | None:
    """Return the configured embedder; None for the provider "none". Loads and contacts nothing yet.

    Raises:
        EmbeddingError: the provider is unknown.
    """
    provider = PROVIDERS.get(options.provider)
    if provider is None:
        message = f"embedding.provider {options.provider!r}: expected one of {', '.join(PROVIDERS)}."
        raise EmbeddingError(message, remedy="Set one of them.")
    return provider(options, variables)


def rows_of(embedder: Embedder, texts: Sequence[str]) -> "NDArray[np.float32]":
    """Embed texts, a row each; a text without meaning (a rule, a lone sign) has zeros, similar to nothing.

    Parameters:
        embedder: of the vectors, shape (texts, dimensions).

    Raises:
        EmbeddingError: the model failed.
    """
    import numpy as np

    found = embedder.embed_documents(texts)
    rows = np.zeros((len(texts), embedder.space().dimensions), np.float32)
    if found.indices:
        rows[list(found.indices)] = found.vectors
    return rows


def sentence_vectors(texts: Sequence[str]) -> "NDArray[np.float32]":
    """Return vectors of sentences by the built-in model, for cutting files of an index; see `rows_of`."""
    return rows_of(_built_in(), texts)


@cache
def _built_in() -> Embedder:
    return _embedded(EmbeddingOptions(), NO_VARIABLES)


def _embedded(options: EmbeddingOptions, _: Variables) -> Embedder:
    from cqm.index.embedding.static_model import StaticEmbedder

    return StaticEmbedder(options)


def _ollama(options: EmbeddingOptions, variables: Variables) -> Embedder:
    from cqm.index.embedding.ollama import ollama_embedder

    return ollama_embedder(options, variables)


def _openai(options: EmbeddingOptions, variables: Variables) -> Embedder:
    from cqm.index.embedding.openai import openai_embedder

    return openai_embedder(options, variables)


def _none(_: EmbeddingOptions, __: Variables) -> None:
    return None


PROVIDERS: Mapping[str, Callable[[EmbeddingOptions, Variables], Embedder | None]] = {
    "embedded": _embedded,
    "ollama": _ollama,
    **dict.fromkeys(PRESETS, _openai),
    "none": _none,
}
"""Opens an embedder, by the provider's name in the settings."""
