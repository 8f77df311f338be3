"""Split code and prose into search terms, read pasted texts, write chunk headers and definitions, match path globs."""

__all__ = [
    "calls",
    "declarations",
    "diagnostics",
    "exact_words",
    "globs",
    "headers",
    "issues",
    "names",
    "pasted",
    "places",
    "routes",
    "said",
    "stored_definitions",
    "terms",
]
