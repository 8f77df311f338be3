"""Quality gates for finished chunks, and the joining of meaninglessly small pieces.

Q1: a chunk under 50 characters. Q2: a chunk over 2,048 characters or 512 tokens. Q3: missing required metadata. Q4: a
chunk of nothing but symbols. Q5: text other than UTF-8, found when files are read (`decode`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from cqm.chunkers.errors import QualityError
from cqm.chunkers.model import Chunk, ChunkOptions, ChunkReport, Fact, Piece
from cqm.chunkers.tokens import QUARTERS, estimate, quarters

LEAST_CHARACTERS = 50
MOST_CHARACTERS, MOST_TOKENS = 2_048, 512
"""The limits of the design documents (Q1 and Q2)."""

REQUIRED = ("path", "source_type", "content_type")
"""Chunks without these can be neither filtered nor shown. Not every document has a source and an address."""

_MOST_EXAMPLES = 5

# Facts which differ between the documents inside one text: issues of a list, pages of a PDF.
_DOCUMENT_FACTS = ("number", "page", "url")


@dataclass(frozen=True, slots=True)
class Finding:
    """A gate's result for the chunks of one or many documents.

    Attributes:
        gate: "Q1" to "Q5".
        message: for people; findings with the same message may be added up.
        count: number of chunks, or files.
        is_error: whether it must be repaired; otherwise it is for information.
        examples: the first few places, "path:line".
    """

    gate: str
    message: str
    count: int
    is_error: bool = False
    examples: tuple[str, ...] = ()


def gates(report: ChunkReport, options: ChunkOptions) -> tuple[Finding, ...]:
    """Run the gates on the chunks of a document.

    Parameters:
        report: a result of `chunk`.
        options: the options used for it; a limit below the design's 512 tokens counts as 512.
    """
    chunks, most = report.chunks, max(options.max_tokens, MOST_TOKENS)
    characters = max(MOST_CHARACTERS, QUARTERS * options.max_tokens)
    small = [chunk for chunk in chunks if is_small(chunk.text)]
    parts, wholes = [it for it in small if it.total > 1], [it for it in small if it.total == 1]
    # For an encoded text, its readable content counts.
    read = [(chunk, chunk.content or chunk.text) for chunk in chunks]
    large = [chunk for chunk, own in read if estimate(own) > most or len(own) > characters]
    bare = [chunk for chunk in chunks if is_meaningless(chunk.text)]
    found = (
        _finding("Q1", f"under {LEAST_CHARACTERS} characters, in a document with more", parts),
        _finding("Q1", f"under {LEAST_CHARACTERS} characters, all of its document", wholes),
        _finding("Q2", f"over {characters:,} characters or {most:,} tokens", large),
        *_missing(chunks),
        _finding("Q4", "nothing but symbols, left out of an index", bare),
    )
    return tuple(finding for finding in found if finding.count)


def added(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Add up the findings of many documents by gate and message."""
    sums: dict[tuple[str, str, bool], Finding] = {}
    for it in findings:
        key = (it.gate, it.message, it.is_error)
        known = sums.get(key, replace(it, count=0, examples=()))
        examples = (*known.examples, *it.examples)[:_MOST_EXAMPLES]
        sums[key] = replace(known, count=known.count + it.count, examples=examples)
    return tuple(sums[key] for key in sorted(sums))


def check_metadata(chunk: Chunk) -> None:
    """Check a chunk for all fields in `REQUIRED`.

    Raises:
        QualityError: a field is missing; the message names the chunk and the fields.
    """
    if missing := _missing_names(chunk):
        message = f"The chunk at {_place(chunk)} lacks {', '.join(missing)}."
        raise QualityError(message, remedy="Report the file: a chunker must tell these of every chunk.")


def is_small(text: str) -> bool:
    """Tell if gate Q1 stops the text; surrounding white space doesn't count."""
    return len(text) < 2 * LEAST_CHARACTERS and len(text.strip()) < LEAST_CHARACTERS


def is_meaningless(text: str) -> bool:
    """Tell if the text has neither letter, digit nor picture: blank lines, braces, rules."""
    return not any(character.isalnum() or character > "\uffff" for character in text)


def without_small(text: str, pieces: Sequence[Piece], options: ChunkOptions) -> list[Piece]:
    """Join pieces stopped by gates Q1 and Q4 with a neighbour.

    The neighbour must be of the same document and level, and both together within the limit. Pieces with a symbol stay
    as they are if the options keep symbols apart. Pieces with letters stay if the options ask for no packing
    (`min_tokens` 0).
    """
    result: list[Piece] = []
    waiting = list(reversed(pieces))
    while waiting:
        piece = waiting.pop()
        before, after = result[-1] if result else None, waiting[-1] if waiting else None
        is_parent = after is not None and after.level > piece.level
        if is_parent or not _is_stopped(text, piece, options):
            result.append(piece)
        elif before and _may_join(text, before, piece, options) and not _leads(piece, after):
            result[-1] = _joined(text, before, piece)
        elif after and _may_join(text, piece, after, options):
            waiting[-1] = _joined(text, piece, after)
        elif before and _may_join(text, before, piece, options):
            result[-1] = _joined(text, before, piece)
        else:
            result.append(piece)
    return result


def _is_stopped(text: str, piece: Piece, options: ChunkOptions) -> bool:
    if piece.end - piece.start >= 2 * LEAST_CHARACTERS:
        return False
    own = text[piece.start : piece.end]
    if is_meaningless(own):
        return True
    keeps = not options.min_tokens or (options.apart and piece.defines)
    return not keeps and is_small(own)


def _leads(piece: Piece, after: Piece | None) -> bool:
    """Tell if the piece introduces the next one: a section's heading, the beginning of a type."""
    within = (f"{piece.symbol} > ", f"{piece.symbol}.")
    return (
        after is not None and bool(piece.symbol) and (after.symbol == piece.symbol or after.symbol.startswith(within))
    )


def _may_join(text: str, before: Piece, after: Piece, options: ChunkOptions) -> bool:
    if before.level != after.level or any(before.facts.get(it) != after.facts.get(it) for it in _DOCUMENT_FACTS):
        return False
    return quarters(text[before.start - before.overlap : after.end]) <= options.max_tokens * QUARTERS


def _joined(text: str, before: Piece, after: Piece) -> Piece:
    """Join two pieces under the kind and name of the larger one."""
    larger = max(before, after, key=lambda piece: piece.end - piece.start)
    parts = [piece.content or text[piece.start : piece.end] for piece in (before, after)]
    return larger._replace(
        start=before.start,
        end=after.end,
        overlap=before.overlap,
        defines=tuple(dict.fromkeys((*before.defines, *after.defines))),
        content="\n".join(parts) if before.content or after.content else "",
        symbols=(*before.symbols, *after.symbols),
        definitions=(*before.definitions, *after.definitions),
        facts=_joined_facts(before.facts, after.facts)
        | {name: value for name, value in larger.facts.items() if not isinstance(value, bool | tuple)},
    )


def _joined_facts(before: Mapping[str, Fact], after: Mapping[str, Fact]) -> dict[str, Fact]:
    """Merge facts true of both: flags set in either, and lists as one."""
    facts: dict[str, Fact] = {}
    for name, value in (*before.items(), *after.items()):
        known = facts.get(name)
        if isinstance(value, bool):
            facts[name] = value or known is True
        elif isinstance(value, tuple):
            facts[name] = tuple(dict.fromkeys((*known, *value) if isinstance(known, tuple) else value))
    return facts


def _missing(chunks: Iterable[Chunk]) -> list[Finding]:
    by_name: Mapping[str, list[Chunk]] = {name: [] for name in REQUIRED}
    for chunk in chunks:
        for name in _missing_names(chunk):
            by_name[name].append(chunk)
    return [_finding("Q3", f"without {name}", found, is_error=True) for name, found in by_name.items()]


def _missing_names(chunk: Chunk) -> list[str]:
    values = (chunk.path, chunk.metadata.source_type, chunk.metadata.content_type)
    return [name for name, value in zip(REQUIRED, values, strict=True) if not value]


def _finding(gate: str, message: str, chunks: Sequence[Chunk], *, is_error: bool = False) -> Finding:
    examples = tuple(_place(chunk) for chunk in chunks[:_MOST_EXAMPLES])
    return Finding(gate, message, len(chunks), is_error, examples)


def _place(chunk: Chunk) -> str:
    return f"{chunk.path}:{chunk.start_line}"
