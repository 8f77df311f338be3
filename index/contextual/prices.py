"""What the tokens of models that write cost."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from cqm.index.model.options import ContextOptions

RULES = "rules"
"""The provider that needs no model."""
OPENAI_URL = "https://api.openai.com/v1"
DEFAULT_MODELS = {"ollama": "gemma3:4b", "openai": "gpt-4o-mini"}
"""By provider. Another endpoint than OpenAI's own has no default: nobody knows what it serves."""


def endpoint_url(options: ContextOptions) -> str:
    """Where an endpoint of OpenAI's protocol is: as configured, else the environment's OPENAI_BASE_URL, else OpenAI."""
    return (options.base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL).rstrip("/")


def is_openai(options: ContextOptions) -> bool:
    """Whether the model runs at OpenAI's own endpoint."""
    return options.provider == "openai" and endpoint_url(options) == OPENAI_URL


def model_of(options: ContextOptions) -> str:
    """The model's name there; empty where one must be named and is not."""
    has_default = options.provider != "openai" or is_openai(options)
    return options.model or (DEFAULT_MODELS.get(options.provider, "") if has_default else "")


_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for a million tokens: of prompts, of answers, and of what of a prompt the provider's cache knew."""

    given: float
    got: float
    cached: float

    def usd(self, tokens: int, output_tokens: int, cached_tokens: int = 0) -> float:
        """What so many tokens cost; the cached ones are among the tokens."""
        fresh = tokens - cached_tokens
        return (fresh * self.given + cached_tokens * self.cached + output_tokens * self.got) / _MILLION


FREE = Price(0, 0, 0)
PRICES: Mapping[str, Price] = {
    "gpt-4o": Price(2.50, 10.00, 1.25),
    "gpt-4o-mini": Price(0.15, 0.60, 0.075),
    "gpt-4.1": Price(2.00, 8.00, 0.50),
    "gpt-4.1-mini": Price(0.40, 1.60, 0.10),
    "gpt-4.1-nano": Price(0.10, 0.40, 0.025),
}
"""By model at OpenAI's own endpoint: https://platform.openai.com/docs/pricing, the standard tier in 2025."""


def price_of(options: ContextOptions) -> Price | None:
    """The price of the tokens, None where none is known; the options' own prices win, each over ours.

    Ollama's are free; an endpoint of OpenAI's protocol elsewhere may ask whatever it likes.
    """
    listed = _listed(options)
    given, got = options.usd_per_million_input, options.usd_per_million_output
    if listed is None:
        return None if given is None or got is None else Price(given, got, given)
    # A price that is set by hand says nothing of a cache: then all tokens are counted at it.
    inputs = (listed.given, listed.cached) if given is None else (given, given)
    return Price(inputs[0], listed.got if got is None else got, inputs[1])


def _listed(options: ContextOptions) -> Price | None:
    if options.provider == "ollama":
        return FREE
    return PRICES.get(model_of(options)) if is_openai(options) else None
