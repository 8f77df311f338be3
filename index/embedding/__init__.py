"""Turn texts into vectors: one interface, one module per provider."""

from collections.abc import Callable, Mapping

from cqm.index.embedding.model_facts import known_facts
from cqm.index.embedding.service.base import Embedder
from cqm.index.model.errors import EmbeddingError
from cqm.index.model.options import EmbeddingOptions
from cqm.index.remote.presets import PRESETS
from cqm.index.remote.variables import Variables

__all__ = ["PROVIDERS", "known_facts", "model_facts", "open_embedder", "opening", "routes"]


def open_embedder(options: EmbeddingOptions, variables: Variables) -> Embedder | None:
    """Return the configured embedder; None for the provider "none". Loads and contacts nothing yet.

    Parameters:
        options: of the model.
        variables: of services.

    Raises:
        EmbeddingError: the provider is unknown.
    """
    provider = PROVIDERS.get(options.provider)
    if provider is None:
        message = f"There is no embedding provider {options.provider!r}."
        raise EmbeddingError(message, remedy=f"Set embedding.provider to one of: {', '.join(PROVIDERS)}.")
    return provider(options, variables)


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
