"""Chunks of source code: a symbol a piece, from the syntax tree of its language."""

from typing import TYPE_CHECKING

from cqm.chunkers.languages import BY_NAME, dialect_of
from cqm.chunkers.model import ChunkOptions, Piece
from cqm.chunkers.outline import Place, outline
from cqm.chunkers.packing import Draft, Scope, without_tiny
from cqm.chunkers.sections import Section, Walk, drafts_of
from cqm.chunkers.source import Source, source_of
from cqm.chunkers.syntax import grammar, lost_rows, parse

if TYPE_CHECKING:
    import re

    from tree_sitter import Node


def pieces_of_code(text: str, language: str, options: ChunkOptions) -> tuple[list[Piece], list[str]] | None:
    """Cut a program at its symbols.

    Parameters:
        text: the whole text.
        language: a name of `languages.LANGUAGES`.
        options: the limits.

    Returns:
        Pieces in order that hold every character that is not blank, and warnings for people; no pieces and the reason
        when the text could not be parsed; None when there is no grammar for the language.
    """
    row = BY_NAME.get(dialect_of(language, text))
    if row is None:
        return None
    data = text.encode("utf-8", "surrogatepass")
    if len(data) > options.max_parse_bytes:
        return [], [f"not parsed: larger than max_parse_bytes={options.max_parse_bytes}"]
    for pattern in row.removed:
        data = pattern.sub(_blanked, data)
    if row.unsafe and row.unsafe(data):
        return [], ["not parsed: nested too deep"]
    tree = parse(data, grammar(*row.grammar))
    if tree is None:
        return [], ["not parsed: it took too long"]
    source = source_of(text, data, options.max_tokens, options.min_tokens)
    marks = outline([tree.root_node], Place(), row, source)
    drafts = drafts_of(Section(marks, 0, len(source.lines), None, Scope(Place())), Walk(row, source))
    return [_piece(draft) for draft in without_tiny(drafts, source)], _warnings(tree.root_node, source)


def _blanked(found: "re.Match[bytes]") -> bytes:
    # Positions in the tree must stay those of the text.
    blanked = bytearray(found[0])
    for name in found.re.groupindex:
        first, end = found.span(name)
        blanked[first - found.start() : end - found.start()] = b" " * (end - first)
    return bytes(blanked)


def _warnings(root: "Node", source: Source) -> list[str]:
    rows = {row for first, last in lost_rows(root) for row in range(first, last + 1)}
    lost = sum(1 for row in rows if row < len(source.lines) and not source.is_blank(row))
    if not lost:
        return []
    return ["1 line could not be parsed" if lost == 1 else f"{lost} lines could not be parsed"]


def _piece(draft: Draft) -> Piece:
    return Piece(draft.start, draft.end, draft.kind, draft.symbol, draft.defines, draft.context)
