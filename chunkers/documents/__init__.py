"""Documents, records and tables to chunks."""

__all__ = [
    "asciidoc",
    "headed",
    "logs",
    "markdown",
    "markup",
    "notebook",
    "pdf",
    "pdf_text",
    "prose",
    "rst",
    "sectioning",
    "tabular",
]
