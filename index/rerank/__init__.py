"""A second look at the best results of a search, by a model that reads question and text together."""

from collections.abc import Callable, Mapping

from cqm.index.model.errors import RerankError
from cqm.index.model.options import RerankOptions
from cqm.index.rerank.base import Reranker
from cqm.index.rerank.shapes import SHAPES

__all__ = ["PROVIDERS", "SHAPES", "Reranker", "open_reranker", "order", "shapes"]


def open_reranker(options: RerankOptions) -> Reranker | None:
    """The reranker that the options describe; None for the provider "none". Loads and contacts nothing yet.

    Raises:
        RerankError: there is no such provider, or the options lack what it needs.
    """
    provider = PROVIDERS.get(options.provider)
    if provider is None:
        message = f"There is no reranker {options.provider!r}."
        raise RerankError(message, remedy=f"Set rerank.provider to one of: {', '.join(PROVIDERS)}.")
    return provider(options)


def _http(options: RerankOptions) -> Reranker:
    from cqm.index.rerank.http import http_reranker

    return http_reranker(options)


def _onnx(options: RerankOptions) -> Reranker:
    from cqm.index.rerank.onnx import OnnxReranker

    if not options.folder:
        raise RerankError("The reranker has no model.", remedy="Name its folder in rerank.folder.")
    return OnnxReranker(options.folder)


def _none(_: RerankOptions) -> None:
    return None


PROVIDERS: Mapping[str, Callable[[RerankOptions], Reranker | None]] = {"none": _none, "http": _http, "onnx": _onnx}
"""How each reranker is opened, by its name in the settings."""
