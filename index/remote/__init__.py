"""Talk to services: addresses, keys, retries, breakers, rates, time limits, clients of Ollama and OpenAI."""

__all__ = [
    "addresses",
    "breaker",
    "budget",
    "connection",
    "deadline",
    "endpoint",
    "http",
    "keys",
    "ollama",
    "openai",
    "presets",
    "rates",
    "retries",
    "variables",
]
