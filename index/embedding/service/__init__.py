"""Texts to a service in batches: sizes, pace, pooling, and what came back."""

__all__ = ["base", "batches", "embedder", "meter", "models", "service"]
