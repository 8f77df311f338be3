"""Reorder the best results of a search: by their words, and by models reading question and text together."""

from collections.abc import Callable, Mapping

from cqm.index.model.errors import RerankError
from cqm.index.model.options import RerankOptions
from cqm.index.remote.variables import Variables
from cqm.index.rerank.base import Reranker
from cqm.index.rerank.shapes import SHAPES

__all__ = ["PROVIDERS", "SHAPES", "Reranker", "open_reranker", "order", "reader", "shapes", "words"]


def open_reranker(options: RerankOptions, variables: Variables) -> Reranker | None:
    """Return the configured reranker; None for the provider "none". Loads and contacts nothing yet.

    Raises:
        RerankError: the provider is unknown, or the options lack something it needs.
    """
    provider = PROVIDERS.get(options.provider)
    if provider is None:
        message = f"rerank.provider {options.provider!r}: expected one of {', '.join(PROVIDERS)}."
        raise RerankError(message, remedy="Set one of them.")
    return provider(options, variables)


def _http(options: RerankOptions, variables: Variables) -> Reranker:
    from cqm.index.rerank.http import http_reranker

    return http_reranker(options, variables)


def _onnx(options: RerankOptions, _: Variables) -> Reranker:
    from cqm.index.rerank.onnx import OnnxReranker

    if not options.folder:
        raise RerankError("The reranker has no model.", remedy="Name its folder in rerank.folder.")
    return OnnxReranker(options.folder)


def _none(_: RerankOptions, __: Variables) -> None:
    return None


PROVIDERS: Mapping[str, Callable[[RerankOptions, Variables], Reranker | None]] = {
    "none": _none,
    "http": _http,
    "onnx": _onnx,
}
"""Opens a reranker, by its name in the settings."""
