"""Find the chunks at the places and paths a question names: they answer it first."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from cqm.index.generations.generation import Generation
from cqm.index.manifest.rows import ChunkRow
from cqm.index.ranking.question import Question
from cqm.index.store.base import PointFilter
from cqm.index.text.places import NamedPlace, path_in

_MOST_CHUNKS = 50
"""Most chunks that come first: half of the largest page."""
_FOREIGN = (
    "/site-packages/",
    "/dist-packages/",
    "/node_modules/",
    "/pkg/mod/",
    "/.cargo/registry/",
    "/rustc/",
    "/gems/",
    "/lib/python",
    "/lib/ruby/",
    "/go/src/runtime/",
    "/usr/local/go/src/",
    "/rustlib/src/",
    "/usr/include/",
)
"""Folders of packages and compilers: a file there is no file of the project, unless all of its path is."""


@dataclass(frozen=True, slots=True)
class Pinned:
    """Chunks that come first.

    Attributes:
        ids: in order.
        lines: first line asked for in each, by id; missing where the question names a file.
    """

    ids: tuple[str, ...]
    lines: Mapping[str, int]


NOTHING = Pinned((), {})


def pinned_by(generation: Generation, question: Question, keep: PointFilter | None) -> Pinned:
    """Find the chunks at the places a question names, innermost call first, or those of the file it consists of.

    A path is resolved by its end: "/app/src/run.py" in a trace and "run.py" are "src/run.py" in the index.

    Parameters:
        generation: to search.
        question: with its places.
        keep: chunks that count; None for all.

    Raises:
        ManifestError: the index cannot be read.
    """
    if not (question.places or path_in(question.text)) or (keep and keep.sources):
        return NOTHING
    files = by_name(generation.manifest.file_paths())
    if question.places:
        return _at_places(generation, files, question.places, keep)
    found = [rows for path in files_of(files, path_in(question.text)) if (rows := generation.manifest.chunks_of(path))]
    # Of several files with such a path, the ranking chooses.
    rows = found[0] if len(found) == 1 else ()
    return Pinned(tuple(row.id for row in rows if _counts(row, keep))[:_MOST_CHUNKS], {})


def _at_places(
    generation: Generation, files: Mapping[str, Sequence[str]], places: Iterable[NamedPlace], keep: PointFilter | None
) -> Pinned:
    lines: dict[str, int] = {}
    for place in places:
        for path in files_of(files, place.path):
            rows = generation.manifest.chunks_of(path)
            at = {row.id: max(place.first, row.start_line) for row in _rows_at(rows, place) if _counts(row, keep)}
            lines |= {name: line for name, line in at.items() if name not in lines}
        if len(lines) >= _MOST_CHUNKS:
            break
    return Pinned(tuple(lines)[:_MOST_CHUNKS], lines)


def _counts(row: ChunkRow, keep: PointFilter | None) -> bool:
    if keep is None:
        return True
    is_there = row.path in keep.paths or any(row.path.startswith(f"{folder}/") for folder in keep.folders)
    is_asked = is_there or not (keep.paths or keep.folders)
    is_kind = row.language in (keep.languages or {row.language}) and row.kind in (keep.kinds or {row.kind})
    return is_asked and is_kind and row.path not in keep.not_paths and not keep.nothing


def _rows_at(rows: Sequence[ChunkRow], place: NamedPlace) -> list[ChunkRow]:
    """The chunks with one of the lines; for blank lines the next one; none if the file is shorter."""
    if not rows or place.first > rows[-1].end_line:
        return []
    at = [row for row in rows if row.start_line <= place.last and row.end_line >= place.first]
    # Chunks of a tree contain each other: the smallest is the most exact.
    at.sort(key=lambda row: (row.end_line - row.start_line) if place.first == place.last else row.start_line)
    return at or [row for row in rows if row.start_line > place.first][:1]


def by_name(paths: Iterable[str]) -> Mapping[str, Sequence[str]]:
    """Group paths by the name of the file, in lower case."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for path in paths:
        found[path.rpartition("/")[2].lower()].append(path)
    return found


def files_of(files: Mapping[str, Sequence[str]], path: str) -> list[str]:
    """Return the files whose path fits best from its end; several where they fit equally well.

    Parameters:
        files: paths by name, see `by_name`.
        path: with "/" between parts; parts of its beginning may be of another machine.
    """
    asked = path.split("/")
    known = files.get(asked[-1].lower(), ())
    common = {each: _common(asked, each.split("/")) for each in known}
    best = max(common.values(), default=0)
    is_foreign = any(folder in f"/{path}" for folder in _FOREIGN)
    found = [each for each, count in common.items() if count == best]
    if is_foreign:
        return [each for each in found if best == len(asked)]
    # All of one path ends the other, or at least the folder is the same.
    whole = [each for each in found if best in {len(asked), each.count("/") + 1}]
    return whole or (found if best > 1 and len(found) == 1 else [])


def _common(asked: Sequence[str], known: Sequence[str]) -> int:
    """Number of equal parts at the end of two paths."""
    pairs = zip(reversed(asked), reversed(known), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0].lower() == pair[1].lower(), pairs))
