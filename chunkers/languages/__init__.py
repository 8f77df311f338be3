"""Define the rows of languages by family, and what rows are made of."""

__all__ = [
    "c_family",
    "data",
    "ecmascript",
    "functional",
    "hazards",
    "managed",
    "model",
    "native",
    "parts",
    "scripting",
    "testing",
    "unread",
]
