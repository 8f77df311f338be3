"""Names of symbols as people write them: their parts, notations of languages and tools, lines declaring them."""

__all__ = ["declared", "joined", "keys", "notations", "parameters", "parts", "standard"]
