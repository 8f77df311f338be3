"""Split code and prose into terms, read pasted and foreign texts, write headers and definitions, match path globs."""

__all__ = [
    "addresses",
    "calls",
    "declarations",
    "diagnostics",
    "exact_words",
    "foreign",
    "format_strings",
    "globs",
    "headers",
    "issues",
    "names",
    "pasted",
    "places",
    "relations",
    "reports",
    "routes",
    "said",
    "stored_definitions",
    "terms",
]
