"""Turn texts into vectors: one interface, one module per provider."""

from collections.abc import Callable, Mapping

from cqm.index.embedding.model_facts import known_facts
from cqm.index.embedding.service.base import Embedder
from cqm.index.model.errors import EmbeddingError
from cqm.index.model.options import EmbeddingOptions
from cqm.index.remote.presets import PRESETS

__all__ = ["PROVIDERS", "known_facts", "model_facts", "open_embedder", "opening", "routes"]


def open_embedder(options: EmbeddingOptions) -> Embedder | None:
    """Return the configured embedder; None for the provider "none". Loads and contacts nothing yet.

    Raises:
        EmbeddingError: the provider is unknown.
    """
    provider = PROVIDERS.get(options.provider)
    if provider is None:
        message = f"There is no embedding provider {options.provider!r}."
        raise EmbeddingError(message, remedy=f"Set embedding.provider to one of: {', '.join(PROVIDERS)}.")
    return provider(options)


def _embedded(options: EmbeddingOptions) -> Embedder:
    from cqm.index.embedding.static_model import StaticEmbedder

    return StaticEmbedder(options)


def _ollama(options: EmbeddingOptions) -> Embedder:
    from cqm.index.embedding.ollama import ollama_embedder

    return ollama_embedder(options)


def _openai(options: EmbeddingOptions) -> Embedder:
    from cqm.index.embedding.openai import openai_embedder

    return openai_embedder(options)


def _none(_: EmbeddingOptions) -> None:
    return None


PROVIDERS: Mapping[str, Callable[[EmbeddingOptions], Embedder | None]] = {
    "embedded": _embedded,
    "ollama": _ollama,
    **dict.fromkeys(PRESETS, _openai),
    "none": _none,
}
"""Opens an embedder, by the provider's name in the settings."""
