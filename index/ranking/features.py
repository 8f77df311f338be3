"""Features: numbers for the agreement of a chunk and its file with a question.

Raw scores of different searches are never compared. Each is divided by the best of its kind within the query, so most
features are from 0 to 1. A file's evidence counts equally for all of its chunks.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, repeat
from math import fsum, log, log1p, sqrt
from typing import NamedTuple

from cqm.chunkers.source_types import CALLABLE, REFERENCE
from cqm.index.ranking.evidence import Candidate, Evidence
from cqm.index.ranking.file_roles import GENERATED, IN_TESTS, SUPERSEDED, Role, is_test, role_of, superseded
from cqm.index.ranking.question import Question, roots_of
from cqm.index.text.names.parts import last_part
from cqm.index.text.terms import stems

# A chunk matches from this share of the best BM25; with less, the sum would depend on the depth of the search.
_LEAST_MATCH = 0.2
_HALF = 10
"""At this rank, from 0, a place in a search counts half as much as the first."""
_SAME = 1 + 1e-4
"""Places are equal for scores within this factor. The 1e-5 of `search.candidates` here moved 206 of 85,066 results, and
1e-4 there 737, all of them far down."""


class ChunkFeatures(NamedTuple):
    """Of a chunk itself.

    Attributes:
        terms: BM25, relative to the best.
        place: rank by BM25: 1 for the first, less for later ones.
        dense: cosine, from the least found (0) to the best (1).
        name: share of a defined name's words in the question, times the share of the question's words in the name.
        covered: the first of these two shares.
        callable: 1 for a function or method.
        lines: logarithm of the number of lines.
    """

    terms: float = 0.0
    place: float = 0.0
    dense: float = 0.0
    name: float = 0.0
    covered: float = 0.0
    callable: float = 0.0
    lines: float = 0.0


class FileFeatures(NamedTuple):
    """Of a chunk's file.

    Attributes:
        file: BM25 of the whole file, relative to the best.
        matches: root of the summed BM25 of its matching chunks; high for a file with many matches.
        file_dense: the best cosine of its chunks.
        path: BM25 of the path's words, relative to the best.
        stem: share of the file name's words in the question.
        role: logarithm of the role's factor; 0 where the question asks for the role.
    """

    file: float = 0.0
    matches: float = 0.0
    file_dense: float = 0.0
    path: float = 0.0
    stem: float = 0.0
    role: float = 0.0


class OfFile(NamedTuple):
    """A file's features, and its role if it ranks lower for it; None for plain source."""

    features: FileFeatures
    role: Role | None


def features(question: Question, evidence: Evidence) -> tuple[list[ChunkFeatures], dict[str, OfFile]]:
    """Compute the features of each candidate, in order, and those of their files by path."""
    candidates = evidence.candidates
    ids = [chunk.id for chunk in candidates]
    # By column: there are hundreds of chunks per search.
    terms, dense, placed = (
        list(map(scores.get, ids, repeat(0.0)))
        for scores in (relative(evidence.terms), fused(evidence.dense), _places(evidence.terms))
    )
    names, covered = _named(question, candidates)
    callables = [1.0 if chunk.kind in CALLABLE else 0.0 for chunk in candidates]
    lines = [log1p(chunk.end_line - chunk.start_line) for chunk in candidates]
    chunks = list(map(ChunkFeatures, terms, placed, dense, names, covered, callables, lines))
    return chunks, _of_files(question, evidence, terms, dense)


def of_chunk(question: Question, chunk: Candidate, of_file: OfFile) -> OfFile:
    """Return the features of a chunk's file; a test beside its program has the role of tests."""
    if of_file.role or IN_TESTS.name in question.roles or not is_test(chunk.language, chunk.kind, chunk.symbol):
        return of_file
    return OfFile(of_file.features._replace(role=log(IN_TESTS.factor)), IN_TESTS)


def _of_files(
    question: Question, evidence: Evidence, terms: Sequence[float], dense: Sequence[float]
) -> dict[str, OfFile]:
    texts, paths = relative(evidence.file_terms), relative(evidence.path_terms)
    matches, nearest = _sums([chunk.path for chunk in evidence.candidates], terms, dense)
    made = frozenset(chunk.path for chunk in evidence.candidates if chunk.kind == REFERENCE)
    generated = frozenset(chunk.path for chunk in evidence.candidates if chunk.is_generated)
    old = superseded(matches.keys() | texts.keys(), question.words)
    found = {}
    for path, matching in matches.items():
        stem, role = _told_by(path, path in generated)
        role = GENERATED if path in made else SUPERSEDED if path in old else role
        role = None if role is None or role.name in question.roles else role
        numbers = FileFeatures(
            texts.get(path, 0.0),
            matching,
            nearest[path],
            paths.get(path, 0.0),
            len(stem & question.words) / len(stem) if stem else 0.0,
            log(role.factor) if role else 0.0,
        )
        found[path] = OfFile(numbers, role)
    return found


def _sums(
    paths: Sequence[str], terms: Sequence[float], dense: Sequence[float]
) -> tuple[dict[str, float], dict[str, float]]:
    """Sum up each file's matches, and take the best cosine of its chunks; both by path."""
    matching: defaultdict[str, list[float]] = defaultdict(list)
    nearest = dict.fromkeys(paths, 0.0)
    for path, score, cosine in zip(paths, terms, dense, strict=True):
        if score >= _LEAST_MATCH:
            matching[path].append(score)
        nearest[path] = max(nearest[path], cosine)
    # Exact sums; others depend on the order.
    roots = {path: sqrt(fsum(scores)) for path, scores in matching.items()}
    return dict.fromkeys(nearest, 0.0) | relative(roots), nearest


def _named(question: Question, candidates: Sequence[Candidate]) -> tuple[list[float], list[float]]:
    """Compute `ChunkFeatures.name` and `covered` of each chunk, for its best fitting name."""
    asked = question.words
    names, covers = [0.0] * len(candidates), [0.0] * len(candidates)
    for number in _with_a_root(roots_of(question), [chunk.named for chunk in candidates]):
        best = (0.0, 0.0)
        for words in map(_name_words, candidates[number].defines):
            if not asked.isdisjoint(words):
                common = len(asked & words)
                covered = common / len(words)
                best = max(best, (covered * common / len(asked), covered))
        names[number], covers[number] = best
    return names, covers


def _with_a_root(roots: Sequence[str], texts: Sequence[str]) -> set[int]:
    """Return the places of the texts with one of the roots, which have no line breaks; of others than ASCII all.

    Looking for a word's root is far cheaper than splitting names, and in all names at once cheaper than in each.
    """
    starts = [*accumulate((len(text) + 1 for text in texts), initial=0)]
    joined = "\n".join(texts)
    found = set[int]() if joined.isascii() else {n for n, text in enumerate(texts) if not text.isascii()}
    for root in roots:
        at = joined.find(root) if texts else -1
        while at >= 0:
            number = bisect_right(starts, at) - 1
            found.add(number)
            # The last text ends one before the last start.
            at = joined.find(root, starts[number + 1])
    return found


@lru_cache(maxsize=1 << 15)
def _name_words(name: str) -> frozenset[str]:
    """Return the stemmed words of a name; none of a field's, which begins with a dot."""
    return frozenset() if name.startswith(".") else frozenset(stems(last_part(name)))


@lru_cache(maxsize=1 << 14)
def _told_by(path: str, is_generated: bool) -> tuple[frozenset[str], Role | None]:  # noqa: FBT001 - private
    """Return the words of a file's name, and its role."""
    name = path.rpartition("/")[2]
    # As of `PurePosixPath.stem`, in a tenth of its time: a question has dozens of new paths in a large index.
    stem, _, suffix = name.rpartition(".")
    return frozenset(stems(stem if stem and suffix else name)), role_of(path, is_generated=is_generated)


def relative(scores: Mapping[str, float]) -> dict[str, float]:
    """Divide scores by the best of them; empty if none is above 0."""
    best = max(scores.values(), default=0.0)
    return {key: score / best for key, score in scores.items()} if best > 0 else {}


def _places(scores: Mapping[str, float]) -> dict[str, float]:
    """Turn scores into places: 1 for the best, a half at rank `_HALF`. Equal scores have equal places."""
    ordered = sorted(scores.values())
    count = len(ordered)
    return {key: _HALF / (_HALF + count - bisect_right(ordered, score * _SAME)) for key, score in scores.items()}


def fused(spaces: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Bring the cosines of several spaces to one scale; cosines of two models cannot be compared.

    Each space's cosines are mapped to 0 to 1 within the query. The best of a few chunks says less than the best of
    many. So each space is weighed by its number of chunks beside the largest space's.
    """
    largest = max(map(len, spaces), default=0)
    found: dict[str, float] = {}
    for scores in spaces:
        share = len(scores) / largest if largest else 0.0
        for name, score in _above_least(scores).items():
            found[name] = max(share * score, found.get(name, 0.0))
    return found


def _above_least(scores: Mapping[str, float]) -> dict[str, float]:
    """Map scores to 0 for the least and 1 for the best; cosines have no natural zero."""
    least, best = min(scores.values(), default=0.0), max(scores.values(), default=0.0)
    return {key: (score - least) / (best - least) for key, score in scores.items()} if best > least else {}
