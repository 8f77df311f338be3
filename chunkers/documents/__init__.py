"""Cut documents, logs and tables into chunks."""

__all__ = [
    "asciidoc",
    "headed",
    "logs",
    "markdown",
    "markup",
    "pdf",
    "pdf_text",
    "prose",
    "rst",
    "sectioning",
    "tabular",
]
