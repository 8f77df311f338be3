"""Whatever speaks to a service: addresses, keys, clients, retries, rates, time limits."""

__all__ = [
    "addresses",
    "breaker",
    "deadline",
    "endpoint",
    "keys",
    "ollama",
    "openai",
    "presets",
    "purposes",
    "rates",
    "retries",
]
