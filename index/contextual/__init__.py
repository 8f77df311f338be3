"""Have a language model write a context for each chunk: a sentence or two placing it in its document."""

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from cqm.index.contextual.prices import RULES, model_of, price_of
from cqm.index.contextual.prompt import PROMPT_VERSION
from cqm.index.contextual.spending import Spending
from cqm.index.contextual.workers import RETRY_SECONDS, Health, Workers
from cqm.index.contextual.writer import ContextWriter, Written
from cqm.index.model.errors import ContextError
from cqm.index.model.options import ContextOptions
from cqm.index.remote.breaker import Breaker
from cqm.index.remote.retries import RetryPolicy
from cqm.index.remote.variables import NO_VARIABLES, Variables

if TYPE_CHECKING:
    from cqm.index.cache.base import Cache
    from cqm.index.contextual.chat import Chat

__all__ = ["CHATS", "RULES", "ContextWriter", "Written", "estimate", "open_writer", "writer_name"]


def _ollama(options: ContextOptions, variables: Variables) -> "Chat":
    from cqm.index.contextual.chat_ollama import OllamaChat

    return OllamaChat(options, variables)


def _openai(options: ContextOptions, variables: Variables) -> "Chat":
    from cqm.index.contextual.chat_openai import OpenAIChat

    return OpenAIChat(options, variables)


CHATS: "Mapping[str, Callable[[ContextOptions, Variables], Chat]]" = {"ollama": _ollama, "openai": _openai}
"""Opens the chat of a provider, by its name in the settings."""


def open_writer(
    options: ContextOptions,
    cache: "Cache | None",
    variables: Variables,
    retries: RetryPolicy = RetryPolicy(attempts=3),  # noqa: B008 - frozen
    clock: Callable[[], float] = time.monotonic,
) -> ContextWriter | None:
    """Return the configured writer of contexts; None for "rules". Contacts nothing yet.

    Parameters:
        options: provider, model, sizes, prices, budget.
        cache: stores contexts; None to write each again.
        clock: seconds; decides when a failed service is tried again.

    Raises:
        ContextError: the provider is unknown; or there is a budget, but no known price.
    """
    if options.provider == RULES:
        return None
    chat = CHATS.get(options.provider)
    if chat is None:
        message = f"context.provider {options.provider!r}: expected one of {', '.join([RULES, *CHATS])}."
        raise ContextError(message, remedy="Set one of them.")
    price = price_of(options, variables)
    if options.budget_usd and price is None:
        message = f"context.budget_usd {options.budget_usd:g}: expected a model with a known price."
        raise ContextError(message, remedy="Set context.usd_per_million_input and context.usd_per_million_output.")
    return ContextWriter(
        writer_name(options),
        options,
        chat(options, variables),
        cache,
        retries,
        Spending(price, options.max_tokens, options.budget_usd),
        Health(Breaker(RETRY_SECONDS, clock)),
        Workers(options.concurrency),
    )


def writer_name(options: ContextOptions) -> str:
    """Identify provider, model and prompt: contexts under another name are rewritten. Empty for "rules".

    It is part of a generation's recipe, so it depends on options alone: variables differ between clients.
    """
    model = model_of(options, NO_VARIABLES)
    return "" if options.provider == RULES else f"{options.provider}/{model}@{PROMPT_VERSION}"
