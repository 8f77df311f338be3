"""Tell code, documents, settings and data apart by language or format. Loads no table of languages."""

from cqm.chunkers.detect import MARKDOWN, PROSE_FORMATS

CODE, DOCUMENTATION, JAVADOC, CONFIG, DATA, ISSUE = "code", "documentation", "javadoc", "config", "data", "issue"
SOURCE_TYPES = (CODE, DOCUMENTATION, CONFIG, DATA)
"""Types of languages and formats; see `source_type_of`."""

CALLABLE = frozenset({"function", "method", "constructor"})
"""Kinds of callable symbols."""

REFERENCE = "reference"
"""Kind of the sections of a page which a tool made of documentation comments."""

PROSE_TYPES = frozenset({DOCUMENTATION, JAVADOC, ISSUE})
"""Source types of nothing but prose; in the others, comments are prose."""

_CONFIGURATION = (
    "codeowners",
    "gomod",
    "ini",
    "json",
    "kdl",
    "lock",
    "nginx",
    "openapi",
    "properties",
    "toml",
    "xml",
    "yaml",
)

# Any other content type is code.
_SOURCE_TYPES = {
    **dict.fromkeys((MARKDOWN, "html", "jupyter", "pdf", *(row.name for row in PROSE_FORMATS)), DOCUMENTATION),
    **dict.fromkeys(_CONFIGURATION, CONFIG),
    **dict.fromkeys(("csv", "log"), DATA),
    JAVADOC: JAVADOC,
}


def source_type_of(content_type: str) -> str:
    """Return the source type of a language or format: "config" for "yaml", "code" for "python"."""
    return _SOURCE_TYPES.get(content_type, CODE)
