"""Find lines quoted from a file, as in a diff: the numbers beside them may be of another version."""

from collections import Counter, defaultdict
from collections.abc import Sequence

from cqm.index.generations.generation import Generation
from cqm.index.manifest.rows import ChunkRow
from cqm.index.text.reports.traces import NamedPlace, Quoted

_MOST_REPEATED = 50
"""Most equal lines of a file: more, such as "}", tell no place."""
_LEAST_SHARE = 0.5


def with_quoted_line(generation: Generation, place: NamedPlace, rows: Sequence[ChunkRow]) -> NamedPlace:
    """Return a place at the present line of its quoted lines; unchanged if the file lacks them."""
    if not place.quoted:
        return place
    lines = _lines_of(generation, rows)
    placed = [it for it in (_placed(quoted, lines, place.first) for quoted in place.quoted) if it]
    if not placed:
        return place
    _, line = max(placed, key=lambda it: it[0])
    return place._replace(first=line, last=line)


def _lines_of(generation: Generation, rows: Sequence[ChunkRow]) -> dict[str, list[int]]:
    """Return the numbers of the lines of a file by their text, without blank ones."""
    payloads = generation.store.payloads([row.id for row in rows], ["text"])
    lines: defaultdict[str, dict[int, None]] = defaultdict(dict)
    for row in rows:
        for number, line in enumerate(str(payloads.get(row.id, {}).get("text", "")).split("\n"), row.start_line):
            if plain := line.strip():
                lines[plain][number] = None
    return {line: [*numbers] for line, numbers in lines.items() if len(numbers) <= _MOST_REPEATED}


def _placed(quoted: Quoted, lines: dict[str, list[int]], told: int) -> tuple[float, int] | None:
    """Return the share of quoted lines in a part of the file, and the number of the first line that counts."""
    votes = Counter(number - at for at, line in enumerate(quoted.lines) if line for number in lines.get(line, ()))
    if not votes:
        return None
    start, count = max(votes.items(), key=lambda it: (it[1], -abs(it[0] - told)))
    share = count / sum(map(bool, quoted.lines))
    return (share, start + quoted.changed) if share >= _LEAST_SHARE else None
