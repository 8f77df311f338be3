"""Store vectors and payloads in Qdrant Edge or on a Qdrant server, behind one protocol."""

__all__ = ["base", "collection", "edge", "open", "qdrant_models"]
