"""Which model writes, and where it is: told by options and environment alone."""

import os

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
