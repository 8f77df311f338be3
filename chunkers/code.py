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
        Pieces in order that hold every character that is not blank, with warnings for people; None when there is no
        grammar for the language, the text is over `max_parse_bytes`, or the parser can make nothing of it.
    """
    row = BY_NAME.get(dialect_of(language, text))
    data = text.encode("utf-8", "surrogatepass")
    if row is None or len(data) > options.max_parse_bytes:
        return None
    for pattern in row.removed:
        data = pattern.sub(_blanked, data)
    tree = parse(data, grammar(*row.grammar))
    if tree is None:
        return None
    source = source_of(text, options.max_tokens, options.min_tokens)
    marks = outline([tree.root_node], Place(), row, source)
    drafts = drafts_of(Section(marks, 0, len(source.lines), None, Scope(Place())), Walk(row, source))
    return [_piece(draft) for draft in without_tiny(drafts, source)], _warnings(tree.root_node, source)


def _blanked(found: "re.Match[bytes]") -> bytes:
    # Positions in the tree must stay those of the text.
    kept = found.start(1) - found.start()
    return found[0][:kept] + b" " * len(found[1])


def _warnings(root: "Node", source: Source) -> list[str]:
    rows = {row for first, last in lost_rows(root) for row in range(first, last + 1)}
    lost = sum(1 for row in rows if row < len(source.lines) and not source.is_blank(row))
    if not lost:
        return []
    return ["1 line could not be parsed" if lost == 1 else f"{lost} lines could not be parsed"]


def _piece(draft: Draft) -> Piece:
    return Piece(draft.start, draft.end, draft.kind, draft.symbol, draft.defines, draft.context)
