"""Send texts to an embedding service in batches, within its limits and at its pace."""

__all__ = ["base", "batches", "embedder", "models", "service"]
