"""Choose a chunker: among the rows for a text's language, the first to recognise its form wins."""

from collections.abc import Callable
from dataclasses import dataclass

from cqm.chunkers.code.pieces import pieces_of_code
from cqm.chunkers.detect import MARKDOWN, PROSE_FORMATS, TEXT
from cqm.chunkers.documents.asciidoc import pieces_of_asciidoc
from cqm.chunkers.documents.logs import is_log, pieces_of_log
from cqm.chunkers.documents.markdown import pieces_of_markdown
from cqm.chunkers.documents.outlined import LANGUAGES as OUTLINED
from cqm.chunkers.documents.outlined import pieces_of_outlined
from cqm.chunkers.documents.pdf import pieces_of_pdf
from cqm.chunkers.documents.prose import pieces_of_lines, pieces_of_prose
from cqm.chunkers.documents.rst import pieces_of_rst
from cqm.chunkers.documents.tabular import pieces_of_table
from cqm.chunkers.embedded.cells import with_cells
from cqm.chunkers.embedded.components import ASTRO, SVELTE, VUE, pieces_of_component
from cqm.chunkers.embedded.configuration import with_functions, with_programs
from cqm.chunkers.embedded.mixed import CPP, OBJC, is_mixed, pieces_of_mixed
from cqm.chunkers.embedded.page_scripts import with_exports, with_scripts
from cqm.chunkers.embedded.strings import with_strings
from cqm.chunkers.embedded.templates import LANGUAGES as TEMPLATES
from cqm.chunkers.embedded.templates import is_templated, pieces_of_template
from cqm.chunkers.github.pieces import pieces_of_github
from cqm.chunkers.github.records import is_about_issues
from cqm.chunkers.languages.table import BY_NAME
from cqm.chunkers.model import ChunkOptions, Cut
from cqm.chunkers.notebooks.notebook import pieces_of_notebook
from cqm.chunkers.pages.html import pieces_of_html
from cqm.chunkers.pages.xml import pieces_of_xml
from cqm.chunkers.structured.data import YAML, pieces_of_data, tree_of
from cqm.chunkers.structured.openapi import is_openapi, pieces_of_openapi


@dataclass(frozen=True, slots=True)
class Chunker:
    """A row of the table.

    Attributes:
        name: value of `Chunk.strategy`.
        languages: accepted by this chunker.
        cut: from text, language and options to pieces; no pieces, or None, for unreadable text.
        parses: whether `ChunkOptions.max_parse_bytes` applies; the chunker of code applies it to parts of a text.
        reach: for a parsing one, how many times as long a text may be.
        reads: tests the form of a text; None if the language says enough. Runs on every text of the languages, so it
            looks at little of it.
        cut_file: as `cut`, for files with a telling path: the path comes before the options.
    """

    name: str
    languages: frozenset[str]
    cut: Callable[[str, str, ChunkOptions], Cut | None]
    parses: bool = True
    reach: int = 1
    reads: Callable[[str], bool] | None = None
    cut_file: Callable[[str, str, str, ChunkOptions], Cut | None] | None = None


def _cut_code(text: str, language: str, options: ChunkOptions) -> Cut | None:
    if not options.details:
        found = pieces_of_code(text, language, options)
    else:
        # Only on demand: importing the rows takes time too.
        from cqm.chunkers.facts.collecting import facts_of

        found = pieces_of_code(text, language, options, facts_of)
    if found is None:
        return None
    pieces, warnings = found
    return with_functions(text, pieces) if language == "dockerfile" else with_strings(text, pieces), warnings


def _cut_markdown(text: str, _language: str, options: ChunkOptions) -> Cut:
    return pieces_of_markdown(text, options), []


def _cut_markdown_file(text: str, _language: str, path: str, options: ChunkOptions) -> Cut:
    pieces = pieces_of_markdown(text, options)
    return with_exports(text, pieces, options, _cut_part) if path.endswith(".mdx") else pieces, []


def _cut_prose(text: str, _language: str, options: ChunkOptions) -> Cut:
    return pieces_of_prose(text, options), []


def _cut_lines(text: str, _language: str, options: ChunkOptions) -> Cut:
    return pieces_of_lines(text, options), []


def _cut_part(text: str, language: str, options: ChunkOptions) -> Cut:
    """Cut a part of a file by its language, at lines where its chunker cannot read it."""
    chunker = chunker_of(language, text)
    cut = chunker.cut(text, language, options) if len(text) <= options.max_parse_bytes or not chunker.parses else None
    pieces, warnings = cut or ([], [f"not parsed: a part in {language}"])
    return (pieces, warnings) if pieces or not text.strip() else (pieces_of_lines(text, options), warnings)


def _cut_mixed(text: str, _language: str, options: ChunkOptions) -> Cut:
    return pieces_of_mixed(text, options, _cut_part)


def _cut_component(text: str, language: str, options: ChunkOptions) -> Cut:
    return pieces_of_component(text, language, "", options, _cut_part)


def _cut_component_file(text: str, language: str, path: str, options: ChunkOptions) -> Cut:
    return pieces_of_component(text, language, path, options, _cut_part)


def _cut_data(text: str, language: str, options: ChunkOptions) -> Cut:
    root, warnings = tree_of(text, language)
    if root is None:
        return [], warnings
    pieces = pieces_of_data(text, root, options)
    return with_programs(text, pieces, root) if language == YAML else pieces, warnings


def _cut_notebook(text: str, language: str, options: ChunkOptions) -> Cut:
    pieces, warnings = pieces_of_notebook(text, language, options)
    return with_cells(text, pieces, options, _cut_part), warnings


def _cut_page(text: str, language: str, options: ChunkOptions) -> Cut:
    return with_scripts(text, pieces_of_html(text, language, options), options, _cut_part)


def _cut_template(text: str, _language: str, options: ChunkOptions) -> Cut:
    return pieces_of_template(text, "", options, _cut_part)


def _cut_template_file(text: str, _language: str, path: str, options: ChunkOptions) -> Cut:
    return pieces_of_template(text, path, options, _cut_part)


_DATA_REACH = 4
"""A tree of data takes up to 45 times the text's size in memory, and up to 2 s a megabyte."""
_OPENAPI_REACH = 8
"""Descriptions of interfaces of several MB are common, and each of their operations is asked for."""


LINES = Chunker("lines", frozenset(), _cut_lines, parses=False)
"""For languages without a row, and for texts unreadable for their own chunker."""

CHUNKERS = (
    Chunker("issue", frozenset({"json"}), pieces_of_github, parses=False, reads=is_about_issues),
    Chunker("openapi", frozenset({"json", "yaml"}), pieces_of_openapi, reach=_OPENAPI_REACH, reads=is_openapi),
    Chunker("data", frozenset({"json", "yaml", "toml"}), _cut_data, reach=_DATA_REACH),
    Chunker("notebook", frozenset({"jupyter"}), _cut_notebook, parses=False),
    Chunker("table", frozenset({"csv"}), pieces_of_table, parses=False),
    Chunker("log", frozenset({"log", TEXT}), pieces_of_log, parses=False, reads=is_log),
    Chunker("code", frozenset({OBJC, CPP}), _cut_mixed, parses=False, reads=is_mixed),
    Chunker("code", frozenset(BY_NAME), _cut_code, parses=False),
    Chunker("component", frozenset({VUE, SVELTE, ASTRO}), _cut_component, cut_file=_cut_component_file),
    Chunker("template", TEMPLATES, _cut_template, cut_file=_cut_template_file),
    Chunker("template", frozenset({"html"}), _cut_template, reads=is_templated, cut_file=_cut_template_file),
    Chunker("html", frozenset({"html"}), _cut_page, parses=False),
    Chunker("xml", frozenset({"xml"}), pieces_of_xml, parses=False),
    Chunker("markdown", frozenset({MARKDOWN}), _cut_markdown, parses=False, cut_file=_cut_markdown_file),
    Chunker("rst", frozenset({"restructuredtext"}), pieces_of_rst, parses=False),
    Chunker("asciidoc", frozenset({"asciidoc"}), pieces_of_asciidoc, parses=False),
    Chunker("outlined", OUTLINED, pieces_of_outlined, parses=False),
    Chunker("pdf", frozenset({"pdf"}), pieces_of_pdf, parses=False),
    Chunker("prose", frozenset(row.name for row in PROSE_FORMATS), _cut_prose, parses=False),
)


def chunker_of(language: str, text: str) -> Chunker:
    """Return the chunker for a text in a language."""
    rows = (row for row in CHUNKERS if language in row.languages)
    return next((row for row in rows if row.reads is None or row.reads(text)), LINES)
