"""Cut documents, logs and tables into chunks."""

__all__ = [
    "asciidoc",
    "blocks",
    "headed",
    "logs",
    "markdown",
    "markup",
    "outlined",
    "pdf",
    "pdf_text",
    "prose",
    "rst",
    "sectioning",
    "tabular",
]
