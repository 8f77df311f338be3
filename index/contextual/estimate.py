"""Estimate tokens and dollars for contexts before any is written."""

from collections.abc import Iterable
from dataclasses import dataclass

from cqm.chunkers.tokens import estimate
from cqm.index.contextual.prices import RULES, price_of
from cqm.index.contextual.prompt import task_of
from cqm.index.contextual.writer import WHOLE_SHARE
from cqm.index.model.options import ContextOptions
from cqm.index.remote.variables import Variables


@dataclass(frozen=True, slots=True)
class DocumentSize:
    """Estimated tokens of a document, and of each of its chunks."""

    tokens: int
    chunks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ContextEstimate:
    """Upper bounds: cached contexts cost nothing, cached prompts less.

    Attributes:
        requests: one per chunk needing a context.
        tokens, output_tokens: of prompts, and of answers.
        usd: their cost; None if no price is known.
    """

    requests: int
    tokens: int
    output_tokens: int
    usd: float | None


def estimate_contexts(
    options: ContextOptions, documents: Iterable[DocumentSize], variables: Variables
) -> ContextEstimate:
    """Estimate the cost of contexts for all chunks of some documents; nothing for "rules"."""
    if options.provider == RULES:
        return ContextEstimate(0, 0, 0, 0.0)
    task = estimate(task_of("en", options.max_tokens))
    requests = tokens = 0
    for document in documents:
        asked = [size for size in document.chunks if size < WHOLE_SHARE * document.tokens]
        shown = min(document.tokens, options.window_tokens)
        requests += len(asked)
        tokens += sum(asked) + len(asked) * (shown + task)
    output = requests * options.max_tokens
    price = price_of(options, variables)
    return ContextEstimate(requests, tokens, output, price.usd(tokens, output) if price else None)
