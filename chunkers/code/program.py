"""Parse a program into its syntax tree and outline."""

from typing import TYPE_CHECKING, NamedTuple

from cqm.chunkers.code.outline import Mark, Place, outline
from cqm.chunkers.code.source import Source, source_of
from cqm.chunkers.code.syntax import parse
from cqm.chunkers.languages import BY_NAME, dialect_of
from cqm.chunkers.languages.grammars import MissingGrammarError, grammar
from cqm.chunkers.languages.hazards import chains_operators
from cqm.chunkers.languages.model import Language

if TYPE_CHECKING:
    from tree_sitter import Node

    from cqm.chunkers.model import ChunkOptions


class Program(NamedTuple):
    """A text with its syntax tree.

    Attributes:
        language: the language of the grammar.
        root: of the tree.
        marks: of the outermost symbols and statements, in order.
        source: the text's rows.
    """

    language: Language
    root: "Node"
    marks: list[Mark]
    source: Source


def program_of(text: str, language: str, options: "ChunkOptions") -> Program | str | None:
    """Parse a text; return the reason if it cannot be parsed, None without a grammar for the language.

    Parameters:
        text: the whole text.
        language: a name of `languages.LANGUAGES`.
        options: the limits.
    """
    row = BY_NAME.get(dialect_of(language, text))
    if row is None:
        return None
    data = text.encode("utf-8", "surrogatepass")
    if len(data) > options.max_parse_bytes:
        return f"not parsed: larger than max_parse_bytes={options.max_parse_bytes}"
    shown = data
    for remove in row.removed:
        data = remove(data)
    if chains_operators(data) or (row.unsafe and row.unsafe(data)):
        return "not parsed: nested too deep"
    try:
        tree = parse(data, grammar(*row.grammar))
    except MissingGrammarError as error:
        return f"not parsed: its grammar is in the extra `{row.extra}`" if row.extra else f"not parsed: {error}"
    if tree is None:
        return "not parsed: it took too long"
    source = source_of(text, shown if row.names_from_text else data, options)
    return Program(row, tree.root_node, outline([tree.root_node], Place(), row, source), source)
