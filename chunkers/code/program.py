"""Parse a program into its syntax tree and outline; text unreadable to the grammar is outlined by its lines."""

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from cqm.chunkers.code.guesses import rows_of_other, with_guesses, with_macros, with_other_branches
from cqm.chunkers.code.outline import Mark, Place, outline
from cqm.chunkers.code.source import Source, source_of
from cqm.chunkers.code.syntax import lost_rows, parse
from cqm.chunkers.errors import RuleError
from cqm.chunkers.grammars import MissingGrammarError, grammar
from cqm.chunkers.languages.guessed import without_grammar
from cqm.chunkers.languages.hazards import chains_operators
from cqm.chunkers.languages.model import Language
from cqm.chunkers.languages.table import BY_NAME, dialect_of
from cqm.chunkers.recovery.conflicts import has_conflicts, sides_of
from cqm.chunkers.recovery.errors import is_spoilt
from cqm.chunkers.recovery.hazards import without_hazards
from cqm.chunkers.recovery.mending import Mended, mended
from cqm.chunkers.recovery.reading import Read
from cqm.chunkers.recovery.segments import segments_of
from cqm.chunkers.recovery.torn_rows import without_torn_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from tree_sitter import Node, Tree

    from cqm.chunkers.model import ChunkOptions
    from cqm.chunkers.recovery.conflicts import Side
    from cqm.chunkers.recovery.segments import Segment


_LONGEST_CHARACTER = 4
_LEAST_PARSED = 100_000
_LONGEST_ROW = 1_000
"""Bytes of a row on average; longer ones are of a minified program."""


class Program(NamedTuple):
    """A text with its syntax tree.

    Attributes:
        language: the language of the grammar.
        root: of the tree.
        marks: of the outermost symbols and statements, in order.
        unread: rows, half-open and in order, without a true part in the tree: errors, and left-out text.
        further: marks of other branches, or of the other sides of conflicts; the tree has their rows under other marks.
        kept: the part of the text shown in the tree; of the further marks, names in its blank rows count. Empty without
            them.
    """

    language: Language
    root: "Node"
    marks: list[Mark]
    source: Source
    unread: "Sequence[tuple[int, int]]" = ()
    further: "Sequence[Mark]" = ()
    kept: bytes = b""


def program_of(text: str, language: str, options: "ChunkOptions") -> Program | str | None:
    """Parse a text; return the reason if it cannot be parsed or outlined, None without a grammar for the language.

    Parameters:
        language: a name of `languages.LANGUAGES`.
    """
    row = BY_NAME.get(dialect_of(language, text))
    if row is None:
        return None
    if row.extra and not _has_grammar(row):
        row = without_grammar(row)
    try:
        data = text.encode("utf-8", "surrogatepass")
        sides = sides_of(data) if has_conflicts(data) else []
        return _program_of_sides(text, sides, row, options) if sides else _program_of_row(text, row, options)
    except RuleError as error:
        return error.message


def _program_of_sides(text: str, sides: "list[Side]", row: Language, options: "ChunkOptions") -> Program | str:
    """Outline the better readable side of the conflicts, with the names of the other."""
    read = [(_program_of_row(it.data.decode("utf-8", "surrogatepass"), row, options), it) for it in sides]
    programs = sorted(((it, side) for it, side in read if isinstance(it, Program)), key=lambda it: _lost(it[0]))
    if not programs:
        return str(read[0][0])
    best, side = programs[0]
    data = best.source.data
    for other, lacking in programs[1:]:
        shown = other.source.data
        data = b"".join(
            [
                *(data[first:start] + shown[start:end] for first, start, end in _runs(lacking.own)),
                data[lacking.own[-1][1] :],
            ]
        )
    source = source_of(text, data, options)
    further = [*best.further]
    for other, _ in programs[1:]:
        with_other_branches(best.marks, other.marks, side.data, source)
        further += [*other.marks, *other.further]
    return best._replace(source=source, further=further, kept=best.kept or side.data)


def _lost(program: Program) -> int:
    return sum(end - first for first, end in program.unread) + program.root.has_error


def _runs(spans: "Sequence[tuple[int, int]]") -> "Iterator[tuple[int, int, int]]":
    """Yield each span with the end of the one before."""
    last = 0
    for start, end in spans:
        yield last, start, end
        last = end


def _program_of_row(text: str, row: Language, options: "ChunkOptions") -> Program | str:
    data = text.encode("utf-8", "surrogatepass")
    if len(data) > options.max_parse_bytes:
        return f"not parsed: larger than max_parse_bytes={options.max_parse_bytes}"
    shown = data
    for remove in row.removed:
        data = _without(remove, data, row)
    readable = _readable(data, row)
    if isinstance(readable, str):
        return f"not parsed: {readable}"
    data, lost = readable
    tree = parse(data, grammar(*row.grammar))
    if tree is None:
        return "not parsed: it took too long"
    root = tree.root_node
    if row.remembers and root.has_error:
        return _program_of_row(text, without_grammar(row), options)
    harms = root.has_error and is_spoilt(root, row, data)
    source = source_of(text, shown if row.names_from_text else data, options)
    if lost or harms:
        return _recovered(Read(data, tree), lost, row, source, harms=harms)
    marks = outline([root], Place(), row, source)
    if not row.rules:
        marks = with_guesses(marks, [(0, len(source.lines))], row, source)
    return Program(row, root, marks, source, lost_rows(root))


def _without(remove: "Callable[[bytes], bytes]", data: bytes, row: Language) -> bytes:
    try:
        return remove(data)
    except Exception as error:
        raise RuleError(f"{remove.__name__} of {row.name} failed ({type(error).__name__})") from error


def _has_grammar(row: Language) -> bool:
    try:
        grammar(*row.grammar)
    except MissingGrammarError:
        return False
    return True


def _readable(data: bytes, row: Language) -> tuple[bytes, list[tuple[int, int]]] | str:
    """Return a text with blanks for parts that may crash the parser, and their bytes; or why it cannot be parsed."""
    try:
        grammar(*row.grammar)
    except MissingGrammarError as error:
        return str(error)
    if not _is_unsafe(data, row):
        return data, []
    return without_hazards(data, row, lambda part: _is_unsafe(part, row)) or "nested too deep"


def parts_of(text: str, language: str, options: "ChunkOptions") -> list[str]:
    """Divide a program over the limit of parsing between its outermost declarations, into parts within the limit.

    A program within the limit is one part. So is any program with a limit below 100,000 bytes, since people set such
    limits to have nothing parsed; one in a language without rules to divide it; and a minified one. A declaration over
    the limit, such as `extern "C" { ... }` around a header, is divided too; names in it then lack its own.

    Parameters:
        language: a name of `languages.LANGUAGES`.
    """
    limit = options.max_parse_bytes
    row = BY_NAME.get(dialect_of(language, text)) if len(text) * _LONGEST_CHARACTER > limit >= _LEAST_PARSED else None
    data = text.encode("utf-8", "surrogatepass") if row is not None else b""
    is_minified = len(data) > _LONGEST_ROW * data.count(b"\n")
    if row is None or row.unread is None or len(data) <= limit or is_minified:
        return [text]
    begins, last, row_end = [0], 0, 0
    for end, is_border in _ends_of_rows(data, _ends(segments_of(data, row.unread), limit), limit):
        if end > row_end:
            row_end = data.find(b"\n", end) + 1 or len(data)
        # A comment above a declaration stays with it, so a part ends with the row of the declaration before.
        if row_end - begins[-1] > limit and last > begins[-1]:
            begins.append(last)
        last = row_end
        if is_border and begins[-1] < row_end < len(data):
            begins.append(row_end)
    ends = [*begins[1:], len(data)]
    return [data[first:end].decode("utf-8", "surrogatepass") for first, end in zip(begins, ends, strict=True)]


_BETWEEN_DIRECTIVES = re.compile(rb"[^\\\s][ \t]*\r?\n(?=[ \t]*\r?\n[ \t]*#)")


def _ends_of_rows(data: bytes, ends: "Iterable[tuple[int, bool]]", limit: int) -> "Iterator[tuple[int, bool]]":
    """Yield some ends; where there are none within the limit, those of rows above directives: macros are no code."""
    last = 0
    for end, is_border in (*ends, (len(data), False)):
        if end - last > limit:
            yield from ((it.start() + 1, False) for it in _BETWEEN_DIRECTIVES.finditer(data, last, end))
        yield end, is_border
        last = end


def _ends(segments: "Iterable[Segment]", limit: int) -> "Iterator[tuple[int, bool]]":
    """Yield the end of each segment, and whether a part has to end there: around the block of one over the limit."""
    for segment in segments:
        if segment.end - segment.start > limit and segment.inner:
            yield segment.opens + 1, True
            yield from _ends(segment.inner, limit)
            yield segment.inner[-1].end, True
        yield segment.end, False


def _is_unsafe(data: bytes, row: Language) -> bool:
    return chains_operators(data) or (row.unsafe is not None and row.unsafe(data))


def _recovered(
    program: Read, unsafe: "list[tuple[int, int]]", row: Language, source: Source, *, harms: bool
) -> Program:
    """Outline a program with errors: mended parts by their tree, the rest by its lines.

    Parameters:
        program: as its grammar reads it.
        unsafe: bytes blank there, since they may crash the parser.
        harms: whether its errors harm the outline.
    """
    data, tree = program.data, program.tree

    def reparse(part: bytes, before: "Read | None" = None) -> "Tree | None":
        return parse(part, grammar(*row.grammar), before)

    is_plain = row.unread is not None and row.unread.is_plain
    further: list[Mark] = []
    best = mended(data, tree, row, reparse) if harms else Mended(data, tree, [], [])
    if harms and (best.lost or is_spoilt(best.tree.root_node, row, best.data)):
        best = _without_torn_row(best, program, row, is_plain=is_plain)
    root = best.tree.root_node
    marks = outline([root], Place(), row, source)
    plain = best.simplified if is_plain else None
    for other in best.others:
        rows = rows_of_other(marks, other, best.data)
        shown_there = reparse(other, plain) if rows else None
        if shown_there is not None:
            others = outline([shown_there.root_node], Place(), row, source, None if row.nodes.opening else rows)
            further += with_other_branches(marks, others, best.data, source)
    if best.others:
        marks = with_macros(marks, best.data, row, source)
    lost = _joined([*_rows_of([*best.lost, *unsafe], source), *lost_rows(root)])
    unread = _joined([*lost, *_rows_of(best.unread, source)])
    kept = (best.simplified or best).data if further else b""
    return Program(row, root, with_guesses(marks, lost, row, source), source, unread, further, kept)


def _without_torn_row(best: Mended, program: Read, row: Language, *, is_plain: bool) -> Mended:
    """Prefer to blank one half-typed row: that costs only the row, while mending blanks declarations."""
    read = best.simplified or program
    before = read if is_plain else None
    torn = without_torn_row(
        read.data, read.tree, row, lambda part: parse(part, grammar(*row.grammar), before, only_whole=True)
    )
    return torn._replace(others=best.others, simplified=best.simplified) if torn is not None else best


def _rows_of(spans: "Iterable[tuple[int, int]]", source: Source) -> list[tuple[int, int]]:
    return [(bisect_right(source.offsets, first) - 1, bisect_right(source.offsets, end - 1)) for first, end in spans]


def _joined(found: "Iterable[tuple[int, int]]") -> list[tuple[int, int]]:
    """Return ranges in order, with overlapping ones joined."""
    rows: list[tuple[int, int]] = []
    for first, end in sorted(found):
        if rows and first < rows[-1][1]:
            rows[-1] = rows[-1][0], max(end, rows[-1][1])
        else:
            rows.append((first, end))
    return rows
