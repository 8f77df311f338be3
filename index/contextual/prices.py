"""Token prices of writing models."""

from collections.abc import Mapping
from dataclasses import dataclass

from cqm.index.model.options import ContextOptions
from cqm.index.remote.variables import Variables

RULES = "rules"
"""The provider without a model."""
OPENAI_URL = "https://api.openai.com/v1"
DEFAULT_MODELS = {"ollama": "gemma3:4b", "openai": "gpt-4o-mini"}
"""By provider. An endpoint other than OpenAI's own has no default: its models are unknown."""


def endpoint_url(options: ContextOptions, variables: Variables) -> str:
    """Return the address of an OpenAI-compatible endpoint: as configured, else OPENAI_BASE_URL, else OpenAI's own."""
    return (options.base_url or variables.get("OPENAI_BASE_URL") or OPENAI_URL).rstrip("/")


def is_openai(options: ContextOptions, variables: Variables) -> bool:
    """Whether the model runs at OpenAI's own endpoint."""
    return options.provider == "openai" and endpoint_url(options, variables) == OPENAI_URL


def model_of(options: ContextOptions, variables: Variables) -> str:
    """Return the configured model or the provider's default; empty if there is neither."""
    has_default = options.provider != "openai" or is_openai(options, variables)
    return options.model or (DEFAULT_MODELS.get(options.provider, "") if has_default else "")


_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for a million tokens of prompts, of answers, and of prompts in the provider's cache."""

    given: float
    got: float
    cached: float

    def usd(self, tokens: int, output_tokens: int, cached_tokens: int = 0) -> float:
        """Cost in dollars; `cached_tokens` are part of `tokens`."""
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


def price_of(options: ContextOptions, variables: Variables) -> Price | None:
    """Return the price of tokens; None if unknown. Each price in the options replaces ours.

    Ollama is free; a compatible endpoint elsewhere has no known price.
    """
    listed = _listed(options, variables)
    given, got = options.usd_per_million_input, options.usd_per_million_output
    if listed is None:
        return None if given is None or got is None else Price(given, got, given)
    # A price set by hand says nothing about caching: then all prompt tokens cost the same.
    inputs = (listed.given, listed.cached) if given is None else (given, given)
    return Price(inputs[0], listed.got if got is None else got, inputs[1])


def _listed(options: ContextOptions, variables: Variables) -> Price | None:
    if options.provider == "ollama":
        return FREE
    return PRICES.get(model_of(options, variables)) if is_openai(options, variables) else None
