"""Store vectors and payloads in Qdrant Edge or on a Qdrant server, behind one protocol."""

__all__ = [
    "base",
    "bases",
    "collection",
    "edge",
    "frequencies",
    "frozen",
    "layered",
    "open",
    "qdrant",
    "qdrant_models",
    "qdrant_reader",
]
