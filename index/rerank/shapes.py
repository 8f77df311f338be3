"""The dialects of /rerank endpoints: names of the fields in requests and answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class RerankShape:
    """Form of requests and answers at a kind of endpoint.

    Attributes:
        url: of the service's own endpoint; empty for a kind without a public service.
        path: identifies the kind at another host; empty for none.
        model: the service's default; empty if the endpoint has one model or the user must name it.
        key_variable: the service's usual environment variable for the key; empty for none.
        documents: the request's field for the texts.
        top: the request's field for the wanted number of scores; empty if it returns all.
        fixed: further fields of every request.
        entries: the answer's field with the list of scores; empty if the answer is the list.
        score: an entry's field for its score.
        most: largest number of texts per request; 0 for no limit.
    """

    url: str = ""
    path: str = ""
    model: str = ""
    key_variable: str = ""
    documents: str = "documents"
    top: str = "top_n"
    fixed: Mapping[str, object] = field(default_factory=dict)
    entries: str = "results"
    score: str = "relevance_score"
    most: int = 0


SHAPES: Mapping[str, RerankShape] = {
    # https://docs.cohere.com/reference/rerank
    "cohere": RerankShape(
        url="https://api.cohere.com/v2/rerank", path="/v2/rerank", model="rerank-v3.5", key_variable="CO_API_KEY"
    ),
    # https://api.jina.ai/redoc; without return_documents=False it sends every text back.
    "jina": RerankShape(
        url="https://api.jina.ai/v1/rerank",
        model="jina-reranker-v2-base-multilingual",
        key_variable="JINA_API_KEY",
        fixed={"return_documents": False},
    ),
    # https://docs.voyageai.com/reference/reranker-api
    "voyage": RerankShape(
        url="https://api.voyageai.com/v1/rerank",
        model="rerank-2.5",
        key_variable="VOYAGE_API_KEY",
        top="top_k",
        entries="data",
    ),
    # https://huggingface.github.io/text-embeddings-inference; without truncate, one text over the model's window fails
    # the whole request. Raw scores are the model's logits, as from llama.cpp: probabilities crowd at 1. 32 is the
    # default of its --max-client-batch-size.
    "tei": RerankShape(
        path="/rerank",
        documents="texts",
        top="",
        fixed={"truncate": True, "raw_scores": True},
        entries="",
        score="score",
        most=32,
    ),
    # tools/server/README.md of llama.cpp; vLLM, Infinity and LocalAI understand it too.
    "llamacpp": RerankShape(path="/v1/rerank"),
}
"""Kinds of endpoints, by their names in the settings."""

DEFAULT_SHAPE = "llamacpp"
"""Shape of an endpoint unknown by host and path: most self-hosted ones have it."""


def shape_by_url(url: str) -> str:
    """Return the shape's name for an address: by its host, else by its path."""
    parts = urlsplit(url)
    for name, shape in SHAPES.items():
        if shape.url and urlsplit(shape.url).hostname == parts.hostname:
            return name
    for name, shape in SHAPES.items():
        if shape.path and shape.path == parts.path.rstrip("/"):
            return name
    return DEFAULT_SHAPE


def shape_at(shape: RerankShape, url: str) -> RerankShape:
    """Adapt a shape to an address: only the service itself gets its default model and its variable's key."""
    asked, own = urlsplit(url), urlsplit(shape.url)
    if (asked.scheme, asked.netloc) == (own.scheme, own.netloc):
        return shape
    return replace(shape, model="", key_variable="")


def request_body(shape: RerankShape, model: str, question: str, texts: Sequence[str]) -> dict[str, object]:
    """Return the request body as a JSON object.

    Parameters:
        model: empty for the service's default.
        question, texts: as in `Reranker.scores`.
    """
    body: dict[str, object] = {"query": question, shape.documents: list(texts), **shape.fixed}
    if named := model or shape.model:
        body["model"] = named
    if shape.top:
        body[shape.top] = len(texts)
    return body


def scores_in(shape: RerankShape, answer: Any, count: int) -> tuple[float, ...]:  # noqa: ANN401 - JSON
    """Return the score of each text, in the order of the request.

    Parameters:
        answer: parsed from JSON.
        count: number of texts in the request.

    Raises:
        ValueError: not every text has one finite score.
        TypeError, LookupError, OverflowError: the answer has another form.
    """
    entries = answer[shape.entries] if shape.entries else answer
    scores: dict[int, float] = {}
    for entry in entries:
        index, score = entry["index"], float(entry[shape.score])
        if index in scores or index not in range(count) or not isfinite(score):
            message = f"the score {score} for text {index!r} of {count}"
            raise ValueError(message)
        scores[index] = score
    if len(scores) != count:
        message = f"{len(scores)} scores for {count} texts"
        raise ValueError(message)
    return tuple(scores[index] for index in range(count))
