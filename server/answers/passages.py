"""Passages of an answer under a token budget, made of its hits and their parents.

The ranking decides the order. This module decides how many lines of each hit are shown, and joins chunks standing side
by side in a file.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import ge
from typing import NamedTuple

from cqm.index.model.query import Answer, Hit, Parent
from cqm.server.answers.excerpts import Asked, best_lines, core_of, cost, read_texts
from cqm.server.answers.worth import LEAST_GAIN, Worth, worths_of
from cqm.server.boundary import SAMPLE_MARK
from cqm.server.console import one_line, visible

_CODE = "code"
"""`chunkers.metadata.CODE`: that module knows all languages, and takes longer to load than a search takes."""

# Chosen on 200 training questions by span, of four languages, for the share of their lines shown within 500 to 6,000
# tokens; so is `_CORE_CHANCE` in worth.py.
_LEAST_TOKENS = 60
"""Least tokens for the lines of a hit; with fewer it is only named."""
_FIRST_TOKENS = 600
"""Tokens for the first hit; half as many for the second, a third for the third: as likely is each to be the answer."""
_FRAME_TOKENS = 100
"""For the lines around the call of a trace's second frame; the innermost has its whole function, later ones half."""
_SURROUNDING_TOKENS = 20
"""For the marks of left-out lines around what was asked for."""
NAMES_SHARE = 0.02
"""Largest share of the room for hits which are only named."""
_SEPARATOR_TOKENS = 1


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
        rank: of the hit; for another chunk, that of the parent's best hit.
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

    @property
    def is_whole(self) -> bool:
        return sum(map(len, self.shown)) == len(self.lines)


@dataclass(frozen=True, slots=True)
class Read:
    """An answer that was read for its question: all that a reply of any length is made from.

    Attributes:
        asked: the lines of the hits.
        enclosing: their enclosing declarations, each in one line, escaped.
        needs: tokens of all lines of each hit, with its enclosing declarations.
        worths: of the first hits, which deserve lines.
    """

    answer: Answer
    asked: Asked
    enclosing: Sequence[str]
    needs: Sequence[float]
    worths: Sequence[Worth]


def read_answer(question: str, answer: Answer) -> Read:
    """Read the lines of an answer's hits; the question decides which lines of a long chunk are shown."""
    hits = answer.hits
    texts = []
    for hit in hits:
        lines = chunk_lines(hit)
        language = hit.language if hit.metadata.get("source_type") == _CODE else ""
        texts.append((lines, _extent(hit), _asked_place(hit, len(lines)), language))
    asked = read_texts(question, texts)
    enclosing = [one_line(" > ".join(filter(None, map(str.strip, hit.context.split("\n"))))) for hit in hits]
    needs = [sum(source.costs) + _enclosing_cost(name) for source, name in zip(asked.sources, enclosing, strict=True)]
    return Read(answer, asked, enclosing, needs, worths_of(question, answer))


def assemble(read: Read, heads: Sequence[int], room: float) -> tuple[list[Passage], bool]:
    """Make the passages of all hits, or of the first ones with room, in the order of their best hits.

    Parameters:
        read: the answer.
        heads: tokens of the line above each hit.
        room: tokens for everything, with the names of left-over hits.

    Returns:
        The passages, and whether every line of the answer is among them: more room shows no more.
    """
    hits, sources, needs = read.answer.hits, read.asked.sources, read.needs
    cores = [core_of(source, read.asked, room) for source in sources]
    wanted = [
        min(need, source.tokens(core) + _SURROUNDING_TOKENS)
        for need, source, core in zip(needs, sources, cores, strict=True)
    ]
    allotted = allot(wanted, needs, [head + _SEPARATOR_TOKENS for head in heads], room, read.worths)
    parts = [_part(read, rank, core, tokens) for rank, (core, tokens) in enumerate(zip(cores, allotted, strict=False))]
    if len(parts) == len(hits):
        is_all = not read.answer.parents and all(map(ge, allotted, needs))
        left = room - sum(heads) - len(heads) * _SEPARATOR_TOKENS - sum(map(min, allotted, needs))
        runs = list(_runs([*parts, *_others(read.answer.parents, parts, left)]))
        # Chunks meeting in the middle of a line don't join: a part of a parent may stand beside none of its hits.
        if all(any(part.is_hit for part in run) for run in runs):
            return _in_order(runs), is_all
    return _in_order(_runs(parts)), False


def _in_order(runs: Iterable[Sequence[_Part]]) -> list[Passage]:
    """Make passages of runs, in the order of their best hits."""
    return [_passage(run) for run in sorted(runs, key=lambda run: min(part.rank for part in run))]


def chunk_lines(hit: Hit) -> list[str]:
    """Split a chunk into lines, without blank ones at the end; invisible characters become visible."""
    return visible(hit.shown.rstrip()).split("\n")


def _extent(hit: Hit) -> range:
    """The lines of the definition a hit was found for, as positions in its text."""
    first, last = hit.extent if hit.extent and not hit.content else (0, -1)
    return range(first - hit.start_line, last + 1 - hit.start_line)


def _asked_place(hit: Hit, lines: int) -> int | None:
    """The line that the question names, as a position in the hit's lines; None where it is none of them."""
    if hit.asked_line is None or hit.content:
        return None
    place = hit.asked_line - hit.start_line
    return place if 0 <= place < lines else None


def allot(
    wanted: Sequence[float], needs: Sequence[float], heads: Sequence[int], room: float, worths: Sequence[Worth]
) -> list[float]:
    """Share the room among the lines of the first hits, as many as fit and are worth it; the likeliest get more.

    Lines asked for come first, their surroundings then. Room is left over where nothing else may be asked for.

    Parameters:
        wanted: tokens of the lines of each hit that were asked for.
        needs: tokens of all its lines; none gets more.
        heads: tokens above them.
        room: tokens, with the heads.
        worths: of the first hits, which deserve lines; those after them are only named.
    """
    floors = [
        min(need, max(_LEAST_TOKENS, _FIRST_TOKENS / (1 + rank)) if worth.core else _FRAME_TOKENS / min(2, rank))
        for rank, (need, worth) in enumerate(zip(wanted, worths, strict=False))
    ]
    for count in range(len(worths), 0, -1):
        names = min(sum(heads[count:]), NAMES_SHARE * room)
        free = room - names - sum(heads[:count]) - sum(floors[:count])
        if free >= 0:
            return _filled(wanted[:count], needs[:count], floors[:count], free, worths)
    # There is no room for even the first hit's floor.
    left = room - heads[0] if heads else 0.0
    return [left] if needs and left >= min(needs[0], _LEAST_TOKENS) else []


def _filled(
    wanted: Sequence[float], needs: Sequence[float], floors: Sequence[float], free: float, worths: Sequence[Worth]
) -> list[float]:
    """Spend the free tokens above the floors where a token shows most of the answer."""
    allotted = list(floors)
    steps = []
    for rank, (core, whole, worth) in enumerate(zip(wanted, needs, worths, strict=False)):
        steps.append((worth.core / max(core, 1.0), rank, core))
        if whole > core:
            steps.append((worth.around / (whole - core), rank, whole))
    for gain, rank, most in sorted(steps, key=lambda it: (-it[0], it[1])):
        if gain < LEAST_GAIN:
            break
        more = min(max(0.0, most - allotted[rank]), free)
        allotted[rank] += more
        free -= more
    return allotted


def _part(read: Read, rank: int, core: range, tokens: float) -> _Part:
    """Make a part of a hit, with as many lines as its tokens allow."""
    hit, source, enclosing = read.answer.hits[rank], read.asked.sources[rank], read.enclosing[rank]
    all_lines = sum(source.costs)
    # The name of a cut hit has the enclosing names too.
    named = enclosing if _enclosing_cost(enclosing) <= tokens - all_lines else ""
    tokens -= _enclosing_cost(named)
    is_whole = all_lines <= tokens
    shown = [range(len(source.lines))] if is_whole else best_lines(source, hit.symbol, core, read.asked, tokens)
    return _Part(hit, rank, source.lines, shown, enclosing=named)


def _enclosing_cost(name: str) -> float:
    return cost([f"{SAMPLE_MARK} [in {name}]"]) if name else 0.0


def _others(parents: Iterable[Parent], parts: Sequence[_Part], left: float) -> Iterator[_Part]:
    """Add the other chunks of parents while there is room, where all hits of the parent are shown whole."""
    for parent in parents:
        texts = [chunk_lines(chunk) for chunk in parent.others]
        ranks = {part.chunk.position: part.rank for part in parts if part.chunk.path == parent.path and part.is_whole}
        known = ranks.keys() | {chunk.position for chunk in parent.others}
        tokens = sum(map(cost, texts))
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
