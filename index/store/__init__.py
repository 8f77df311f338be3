"""Vectors and payloads: Qdrant Edge in a folder or a Qdrant server, behind one protocol."""

__all__ = ["base", "collection", "edge", "open", "qdrant_models"]
