"""Cut source code by its syntax tree, one symbol a piece."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from cqm.chunkers.code.definitions import definitions_of
from cqm.chunkers.code.outline import Place
from cqm.chunkers.code.packages import Packages, packages_of
from cqm.chunkers.code.packing import Draft, Scope, without_tiny
from cqm.chunkers.code.program import Program, parts_of, program_of
from cqm.chunkers.code.sections import Section, Walk, drafts_of
from cqm.chunkers.code.source import Source
from cqm.chunkers.errors import RuleError
from cqm.chunkers.model import ChunkOptions, Definition, Fact, Piece, SymbolFacts

if TYPE_CHECKING:
    from tree_sitter import Node

    from cqm.chunkers.code.outline import Mark
    from cqm.chunkers.languages.model import Language

    FactsOf = Callable[[Node, list[Mark], Language, Source], Iterable[tuple[int, SymbolFacts]]]
    """Returns the facts of symbols, each with its first character, in order, from a tree and its outline."""

Located = TypeVar("Located")


def pieces_of_code(
    text: str, language: str, options: ChunkOptions, facts_of: "FactsOf | None" = None
) -> tuple[list[Piece], list[str]] | None:
    """Cut a program at its symbols.

    Parameters:
        language: a name of `languages.LANGUAGES`.
        facts_of: returns the facts of symbols; None for pieces without them.

    Returns:
        Pieces in order with every non-blank character, and warnings for people; no pieces and the reason if the text
            could not be parsed or a rule of its language failed; None without a grammar for the language.
    """
    parts = parts_of(text, language, options)
    if len(parts) > 1:
        return _joined_parts(parts, language, options, facts_of)
    return _pieces_of_part(text, language, options, facts_of)


def _pieces_of_part(
    text: str, language: str, options: ChunkOptions, facts_of: "FactsOf | None"
) -> tuple[list[Piece], list[str]] | None:
    program = program_of(text, language, options)
    if not isinstance(program, Program):
        return ([], [program]) if program else None
    try:
        return _pieces_of_program(program, facts_of), _warnings(program.unread, program.source)
    except RuleError as error:
        return [], [error.message]


def _pieces_of_program(program: Program, facts_of: "FactsOf | None") -> list[Piece]:
    row, marks, source = program.language, program.marks, program.source
    drafts = drafts_of(Section(marks, 0, len(source.lines), None, Scope(Place())), Walk(row, source))
    packages = packages_of(marks, row, source)
    drafts = without_tiny(drafts, source)
    starts = [draft.start for draft in drafts]
    defined = _by_piece(starts, _definitions(program) if program.further else definitions_of(marks, row, source))
    told = _by_piece(starts, _facts(program, facts_of) if facts_of else ())
    return [
        _piece(draft, packages, source, (*told.get(place, ()),), (*defined.get(place, ()),))
        for place, draft in enumerate(drafts)
    ]


def _definitions(program: Program) -> list[tuple[int, Definition]]:
    """Return the definitions of the tree, and those of other branches in rows missing there, or inside of these."""
    row, source = program.language, program.source
    found = [*definitions_of(program.marks, row, source)]
    told = {(it.name, it.line) for _, it in found}
    new: set[str] = set()
    for start, it in definitions_of(program.further, row, source):
        first, end = source.offsets[it.line - 1], source.offsets[it.line]
        is_new = program.kept[first:end].isspace() or it.name.rpartition(".")[0] in new
        if is_new and (it.name, it.line) not in told:
            told.add((it.name, it.line))
            new.add(it.name)
            found.append((start, it))
    return sorted(found, key=lambda located: located[0])


def _facts(program: Program, facts_of: "FactsOf") -> "list[tuple[int, SymbolFacts]]":
    row, source = program.language, program.source
    try:
        return [*facts_of(program.root, program.marks, row, source)]
    except Exception as error:
        raise RuleError(f"a rule of {row.name} for facts failed ({type(error).__name__})") from error


def _joined_parts(
    parts: Iterable[str], language: str, options: ChunkOptions, facts_of: "FactsOf | None"
) -> tuple[list[Piece], list[str]]:
    """Cut each part of a large program by itself; one tree at a time is in memory."""
    pieces: list[Piece] = []
    warnings: dict[str, None] = {}
    place = line = 0
    for part in parts:
        # Not divided again: a part over the limit by itself has no declarations to divide it at.
        cut = _pieces_of_part(part, language, options, facts_of)
        if cut is not None:
            pieces += [_moved(piece, place, line) for piece in cut[0]]
            warnings.update(dict.fromkeys(cut[1]))
        place += len(part)
        line += part.count("\n")
    return pieces, [*warnings]


def _moved(piece: Piece, place: int, line: int) -> Piece:
    """Move a piece by characters and lines."""
    definitions = [
        replace(it, first_line=it.first_line + line, line=it.line + line, end_line=it.end_line + line)
        for it in piece.definitions
    ]
    symbols = [replace(it, start_line=it.start_line + line, end_line=it.end_line + line) for it in piece.symbols]
    start, end = piece.start + place, piece.end + place
    return piece._replace(start=start, end=end, definitions=tuple(definitions), symbols=tuple(symbols))


def _warnings(unread: Iterable[tuple[int, int]], source: Source) -> list[str]:
    rows = {row for first, end in unread for row in range(first, min(end, len(source.lines)))}
    lost = sum(not source.is_blank(row) for row in rows)
    if not lost:
        return []
    return ["1 line could not be parsed" if lost == 1 else f"{lost} lines could not be parsed"]


def _piece(
    draft: Draft,
    packages: Packages,
    source: Source,
    symbols: tuple[SymbolFacts, ...],
    definitions: tuple[Definition, ...],
) -> Piece:
    package = packages.at(bisect_right(source.starts, draft.start) - 1) if packages.names else ""
    facts: dict[str, Fact] = {"package": package} if package else {}
    if draft.methods:
        facts["methods"] = draft.methods
    return Piece(
        draft.start,
        draft.end,
        draft.kind,
        draft.symbol,
        draft.defines,
        draft.context,
        facts=facts,
        symbols=symbols,
        definitions=definitions,
    )


def _by_piece(starts: Sequence[int], located: Iterable[tuple[int, Located]]) -> defaultdict[int, list[Located]]:
    """Group located things by the last piece beginning at or before them: none is lost or repeated."""
    found: defaultdict[int, list[Located]] = defaultdict(list)
    for start, it in located:
        found[max(bisect_right(starts, start) - 1, 0)].append(it)
    return found
