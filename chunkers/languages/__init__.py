"""Define the rows of languages by family, and the parts of rows."""

__all__ = [
    "c_family",
    "data",
    "dynamic",
    "ecmascript",
    "functional",
    "hazards",
    "kotlin",
    "line_patterns",
    "managed",
    "model",
    "native",
    "parts",
    "scripting",
    "testing",
    "unread",
    "usage_nodes",
]
