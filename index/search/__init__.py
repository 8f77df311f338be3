"""The read path: a question to its page of hits, similar chunks, whole symbols, usages."""

__all__ = ["answer_cache", "fairness", "search", "usages"]
