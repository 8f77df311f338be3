"""Passages of an answer under a token budget, made of its hits and their parents.

The ranking decides the order. This module decides how many lines of each hit are shown, and joins chunks standing side
by side in a file.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import fsum
from typing import NamedTuple

from cqm.index.model.query import Answer, Hit, Parent
from cqm.server.answers.budget import most_tokens, tokens_by_line
from cqm.server.answers.excerpts import MARK_TOKENS, Asked, Source, best_lines, core_of, read_texts
from cqm.server.answers.worth import LEAST_GAIN, Worth, allot, worths_of
from cqm.server.boundary import SAMPLE_MARK
from cqm.server.console import one_line, visible

_CODE = "code"
"""`chunkers.source_types.CODE`: that module loads others a client does not need."""

_SURROUNDING_TOKENS = 2 * MARK_TOKENS + 1
"""For the marks of left-out lines around the lines asked for."""
_SPARE_TOKENS = 10
"""Tokens too few for a line."""


class Piece(NamedTuple):
    """Consecutive shown lines, with the number of the first in the file or, for a content, in the content."""

    start: int
    lines: tuple[str, ...]

    @property
    def last(self) -> int:
        """Number of the last line."""
        return self.start + len(self.lines) - 1


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines shown in one place.

    Attributes:
        hits: best first; several where they stand side by side in a file.
        pieces: its lines, in order.
        first, last: numbers of the first and last line shown, or left out of a definition asked for; see `Piece`.
        is_source: whether the lines are the file's, not those of a content the file encodes.
        enclosing: its enclosing declarations in one line, escaped; empty for none, and where there is no room.
        parent: name of the parent shown whole, though only parts are hits; empty for none.
    """

    hits: tuple[Hit, ...]
    pieces: tuple[Piece, ...]
    first: int
    last: int
    is_source: bool = True
    enclosing: str = ""
    parent: str = ""


@dataclass(frozen=True, slots=True)
class _Part:
    """A chunk of a passage.

    Attributes:
        chunk: a hit, or a chunk of a parent beside its hits.
        rank: of the hit; for another chunk, of the parent's best hit.
        lines: of its text, without blank ones at the end.
        shown: ranges of the shown lines, in order.
    """

    chunk: Hit
    rank: int
    lines: Sequence[str]
    shown: Sequence[range]
    is_hit: bool = True
    enclosing: str = ""
    parent: str = ""

    @property
    def first(self) -> int:
        return 1 if self.chunk.content else self.chunk.start_line

    @property
    def due(self) -> tuple[int, int]:
        """First and last line of the definition it was found for, or of the chunk where none is known.

        Other lines left out of the chunk are not worth a word.
        """
        extent = _extent(self.chunk)
        start, stop = max(extent.start, 0), min(extent.stop, len(self.lines))
        return (
            (self.first + start, self.first + stop - 1)
            if start < stop
            else (self.first, self.first + len(self.lines) - 1)
        )

    def tokens(self, source: Source) -> float:
        """Tokens of its lines, with the marks of left-out ones and its enclosing declarations."""
        first, last = self.due
        ends = [first - self.first, *(it.stop for it in self.shown)]
        starts = [*(it.start for it in self.shown), last + 1 - self.first]
        marks = sum(start > end for start, end in zip(starts, ends, strict=True))
        return fsum(map(source.tokens, self.shown)) + marks * MARK_TOKENS + _enclosing_cost(self.enclosing)

    @property
    def is_whole(self) -> bool:
        return sum(map(len, self.shown)) == len(self.lines)


@dataclass(frozen=True, slots=True)
class Read:
    """An answer read for its question: the material for a reply of any length.

    Attributes:
        sources: the lines of the hits.
        enclosing: their enclosing declarations, each in one line, escaped.
        needs: tokens of all lines of each hit, with its enclosing declarations.
        worths: of the first hits, those deserving lines.
    """

    question: str
    answer: Answer
    sources: Sequence[Source]
    enclosing: Sequence[str]
    needs: Sequence[float]
    worths: Sequence[Worth]

    def has_room(self, heads: Sequence[float], room: float) -> bool:
        """Whether all lines of all hits have room, and are worth it."""
        is_worth = all(worth.around >= LEAST_GAIN * need for worth, need in zip(self.worths, self.needs, strict=False))
        return is_worth and len(self.worths) == len(self.needs) and fsum(heads) + fsum(self.needs) <= room


def read_answer(question: str, answer: Answer) -> Read:
    """Read the lines of an answer's hits; the question decides which lines of a long chunk are shown."""
    hits = answer.hits
    sources = []
    for hit in hits:
        lines = chunk_lines(hit)
        language = hit.language if hit.metadata.get("source_type") == _CODE else ""
        sources.append(Source(lines, tokens_by_line(lines), _extent(hit), _asked_place(hit, len(lines)), language))
    enclosing = [one_line(" > ".join(filter(None, map(str.strip, hit.context.split("\n"))))) for hit in hits]
    needs = [fsum(source.costs) + _enclosing_cost(name) for source, name in zip(sources, enclosing, strict=True)]
    return Read(question, answer, sources, enclosing, needs, worths_of(question, answer))


def assemble(read: Read, heads: Sequence[float], room: float) -> tuple[list[Passage], float]:
    """Make the passages of all hits, or of the first ones with room, in the order of their best hits.

    Parameters:
        heads: tokens of the line above each hit.
        room: tokens for everything, with the names of left-over hits.

    Returns:
        The passages, and an upper estimate of their tokens.
    """
    parts, used = _whole_parts(read) if read.has_room(heads, room) else _best_parts(read, heads, room)
    tokens = fsum(heads[: len(parts)]) + fsum(used)
    if read.answer.parents and len(parts) == len(heads):
        others = list(_others(read.answer.parents, parts, room - tokens))
        runs = list(_runs([*parts, *others]))
        # Chunks meeting in the middle of a line don't join: a part of a parent may stand beside none of its hits.
        if all(any(part.is_hit for part in run) for run in runs):
            return _in_order(runs), tokens + fsum(fsum(tokens_by_line(part.lines)) for part in others)
    return _in_order(_runs(parts)), tokens


def _in_order(runs: Iterable[Sequence[_Part]]) -> list[Passage]:
    """Make passages of runs, in the order of their best hits."""
    return [_passage(run) for run in sorted(runs, key=lambda run: min(part.rank for part in run))]


def chunk_lines(hit: Hit) -> list[str]:
    """Split a chunk into lines, without blank ones at the end; invisible characters become visible."""
    return visible(hit.shown.rstrip()).split("\n")


def _extent(hit: Hit) -> range:
    """Return the lines of the definition a hit was found for, as positions in its text."""
    first, last = hit.extent if hit.extent and not hit.content else (0, -1)
    return range(first - hit.start_line, last + 1 - hit.start_line)


def _asked_place(hit: Hit, lines: int) -> int | None:
    """Return the line named in the question as a position in the hit's lines; None if it is none of them."""
    if hit.asked_line is None or hit.content:
        return None
    place = hit.asked_line - hit.start_line
    return place if 0 <= place < lines else None


def _whole_parts(read: Read) -> tuple[list[_Part], Sequence[float]]:
    """Make a part of each hit, with all its lines; and the tokens of each."""
    parts = [
        _Part(hit, rank, source.lines, [range(len(source.lines))], enclosing=enclosing)
        for rank, (hit, source, enclosing) in enumerate(
            zip(read.answer.hits, read.sources, read.enclosing, strict=True)
        )
    ]
    return parts, read.needs


def _best_parts(read: Read, heads: Sequence[float], room: float) -> tuple[list[_Part], Sequence[float]]:
    """Make parts of the first hits: their lines asked for, and surroundings with room; and the tokens of each.

    Room left over goes to the likeliest hits with more lines.
    """
    asked = read_texts(read.question, read.sources)
    sources = asked.sources
    cores = [core_of(source, asked, room) for source in sources]
    wanted = [
        min(need, source.tokens(core) + _SURROUNDING_TOKENS)
        for need, source, core in zip(read.needs, sources, cores, strict=True)
    ]
    allotted = allot(wanted, read.needs, heads, room, read.worths)
    parts = [_part(read, asked, rank, cores[rank], tokens) for rank, tokens in enumerate(allotted)]
    used = [part.tokens(source) for part, source in zip(parts, sources, strict=False)]
    spare = fsum(allotted) - fsum(used)
    for rank, (part, core, whole, worth) in enumerate(zip(parts, wanted, read.needs, read.worths, strict=False)):
        if spare < _SPARE_TOKENS:
            break
        # As in `allot`: surroundings of a definition are shown only where they are worth it.
        most = whole if worth.around >= LEAST_GAIN * (whole - core) else core
        if not part.is_whole and allotted[rank] < most:
            parts[rank] = _part(read, asked, rank, cores[rank], min(used[rank] + spare, most))
            before, used[rank] = used[rank], parts[rank].tokens(sources[rank])
            spare -= used[rank] - before
    return parts, used


def _part(read: Read, asked: Asked, rank: int, core: range, tokens: float) -> _Part:
    """Make a part of a hit, with as many lines as its tokens allow."""
    hit, source, enclosing = read.answer.hits[rank], asked.sources[rank], read.enclosing[rank]
    all_lines = fsum(source.costs)
    # The name of a cut hit has the enclosing names too.
    named = enclosing if _enclosing_cost(enclosing) <= tokens - all_lines else ""
    tokens -= _enclosing_cost(named)
    is_whole = all_lines <= tokens
    shown = [range(len(source.lines))] if is_whole else best_lines(source, hit.symbol, core, asked, tokens)
    return _Part(hit, rank, source.lines, shown, enclosing=named)


def _enclosing_cost(name: str) -> float:
    return most_tokens(f"{SAMPLE_MARK} [in {name}]\n") if name else 0.0


def _others(parents: Iterable[Parent], parts: Sequence[_Part], left: float) -> Iterator[_Part]:
    """Add the other chunks of parents while there is room, where all hits of the parent are shown whole."""
    for parent in parents:
        texts = [chunk_lines(chunk) for chunk in parent.others]
        ranks = {part.chunk.position: part.rank for part in parts if part.chunk.path == parent.path and part.is_whole}
        known = ranks.keys() | {chunk.position for chunk in parent.others}
        tokens = fsum(map(fsum, map(tokens_by_line, texts)))
        if tokens > left or not known >= set(range(parent.first, parent.last + 1)):
            continue
        left -= tokens
        best = min(ranks[place] for place in range(parent.first, parent.last + 1) if place in ranks)
        for chunk, lines in zip(parent.others, texts, strict=True):
            yield _Part(chunk, best, lines, [range(len(lines))], is_hit=False, parent=parent.symbol)


def _runs(parts: Iterable[_Part]) -> Iterator[list[_Part]]:
    """Group chunks standing side by side in a file; others stay alone."""
    run: list[_Part] = []
    for part in sorted(parts, key=lambda part: (part.chunk.path, part.chunk.position, part.rank)):
        if run and not _follows(part, run[-1]):
            yield run
            run = []
        run.append(part)
    if run:
        yield run


def _follows(part: _Part, before: _Part) -> bool:
    """Whether a chunk is the next of the same file, and both lines belong to one text."""
    one, other = before.chunk, part.chunk
    if one.path != other.path or other.position != one.position + 1 or one.position < 0 or one.content or other.content:
        return False
    # Chunks may overlap; each half of a line cut in two is in its own chunk.
    known = dict(enumerate(before.lines, before.first))
    return all(known.get(number, line) == line for number, line in enumerate(part.lines, part.first))


def _passage(run: Sequence[_Part]) -> Passage:
    hits = sorted((part for part in run if part.is_hit), key=lambda part: part.rank)
    due = [place for part in hits for place in part.due]
    pieces = _without_blank_ends(_pieces(run), min(due), max(due))
    return Passage(
        hits=tuple(part.chunk for part in hits),
        pieces=tuple(pieces),
        first=min(*due, *(piece.start for piece in pieces)),
        last=max(*due, *(piece.last for piece in pieces)),
        is_source=not run[0].chunk.content,
        enclosing=run[0].enclosing,
        parent=next((part.parent for part in run if part.parent), ""),
    )


def _pieces(run: Sequence[_Part]) -> list[Piece]:
    """Group the shown lines of a run into consecutive pieces."""
    if len(run) == 1:
        (part,) = run
        return [Piece(part.first + it.start, tuple(part.lines[it.start : it.stop])) for it in part.shown]
    shown = {part.first + place: part.lines[place] for part in run for it in part.shown for place in it}
    for before, after in pairwise(run):
        # Lines between two chunks are blank.
        last = before.first + len(before.lines) - 1
        if last in shown and after.first in shown:
            shown |= dict.fromkeys(range(last + 1, after.first), "")
    pieces, numbers = [], sorted(shown)
    starts = [at for at, number in enumerate(numbers) if not at or number != numbers[at - 1] + 1]
    for start, stop in pairwise([*starts, len(numbers)]):
        pieces.append(Piece(numbers[start], tuple(map(shown.__getitem__, numbers[start:stop]))))
    return pieces


def _without_blank_ends(pieces: Sequence[Piece], first: int, last: int) -> list[Piece]:
    """Leave out the blank lines at the ends, but not those of the definition asked for: lines `first` to `last`."""
    downwards = ((number, line) for it in pieces for number, line in enumerate(it.lines, it.start))
    upwards = ((it.last - up, line) for it in reversed(pieces) for up, line in enumerate(reversed(it.lines)))
    start = next((number for number, line in downwards if line.strip() or number >= first), last + 1)
    stop = next((number for number, line in upwards if line.strip() or number <= last), start - 1)
    return [
        Piece(max(piece.start, start), piece.lines[max(start - piece.start, 0) : stop + 1 - piece.start])
        for piece in pieces
        if piece.start <= stop and piece.last >= start
    ]
