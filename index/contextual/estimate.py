"""What contexts of documents will take, in tokens and dollars, before any is written."""

from collections.abc import Iterable
from dataclasses import dataclass

from cqm.chunkers.tokens import estimate
from cqm.index.contextual.prices import RULES, price_of
from cqm.index.contextual.prompt import task_of
from cqm.index.contextual.writer import WHOLE_SHARE
from cqm.index.model.options import ContextOptions


@dataclass(frozen=True, slots=True)
class DocumentSize:
    """Estimated tokens of a document, and of each of its chunks."""

    tokens: int
    chunks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ContextEstimate:
    """What writing will take at most: contexts that are cached take nothing, cached prompts are cheaper.

    Attributes:
        requests: one a chunk that needs a context.
        tokens, output_tokens: given to the model, and given back by it.
        usd: what they cost; None where no price is known.
    """

    requests: int
    tokens: int
    output_tokens: int
    usd: float | None


def estimate_contexts(options: ContextOptions, documents: Iterable[DocumentSize]) -> ContextEstimate:
    """What contexts for all chunks of documents will take; nothing for "rules".

    Parameters:
        options: the model that will write; how much of a document it is shown.
        documents: their sizes.
    """
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
    price = price_of(options)
    return ContextEstimate(requests, tokens, output, price.usd(tokens, output) if price else None)
