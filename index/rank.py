"""Ranking: from what the store's searches found to an order of chunks, every score explained by named parts.

Evidence counts on two levels. A chunk has its own BM25 and cosine; its file adds a prior to all its chunks: BM25 of the
whole file, BM25 of the path's words, and how much of the file matches. So a file's evidence lifts its best chunk most,
and no chunk is lifted for standing beside a good one. Raw scores of different searches are never compared: each is
divided by the best of its kind within the query.
"""

import re
from bisect import bisect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import sqrt
from pathlib import PurePosixPath
from typing import NamedTuple

from cqm.index.lexical import stems
from cqm.index.question import Question, last_part, name_key, read_question
from cqm.index.roles import Role, role_of
from cqm.index.superseded import SUPERSEDED, superseded

CHUNK_DEPTH = 100
"""How many chunks a search for chunks gives. Twice as many of all these moved NDCG@10 by .001, and cost 3 ms more."""
FILE_DEPTH = 50
"""How many files a search for files gives."""
FILL_DEPTH = 60
"""How many chunks of the best files are looked at beside the best chunks."""
FILL_FILES = 20
"""Of how many of the best files the chunks are looked at, whether or not they are among the best chunks."""

# The share of the best BM25 from which on a chunk matches; below it the sum would depend on how deep the search went.
_LEAST_MATCH = 0.2
# From here on a file's further chunks move down no more.
_MOST_REPEATS = 6


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that may answer: what its rank depends on, and what is shown of it beside its text.

    Attributes:
        id: of the chunk.
        path, defines, start_line, end_line, symbol, kind, language: as in `Chunk`.
        digest: equal for equal texts; empty when unknown.
        position: among the chunks of its file.
        said: the names that it defines, in lower case, to look for words in all of them at once.
    """

    id: str
    path: str
    defines: Sequence[str]
    start_line: int
    end_line: int
    digest: str = ""
    symbol: str = ""
    kind: str = ""
    language: str = ""
    position: int = -1
    said: str = field(init=False)

    def __post_init__(self) -> None:
        """Take the names together."""
        object.__setattr__(self, "said", "\n".join(self.defines).lower())


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the store's searches gave for a question. A search that was not asked for leaves its mapping empty.

    Attributes:
        candidates: the chunks to rank.
        terms: BM25 by chunk id; a missing one counts as 0.
        dense: cosine by chunk id of the nearest chunks, in each space that holds vectors; a missing one counts as the
            least of them.
        file_terms, path_terms: BM25 by path, of the file's text and of the path's words.
    """

    candidates: tuple[Candidate, ...]
    terms: Mapping[str, float]
    dense: tuple[Mapping[str, float], ...]
    file_terms: Mapping[str, float]
    path_terms: Mapping[str, float]


class FileEvidence(NamedTuple):
    """What a file adds to the scores of all its chunks, and by what its role multiplies them."""

    file: float
    matches: float
    path: float
    stem: float
    total: float
    role: Role | None


class Ranked(NamedTuple):
    """A candidate with its score, and the evidence that it comes of.

    Attributes:
        terms, dense, defines, name: the chunk's own parts; see `RankOptions`.
        of_file: its file's parts.
        further: what was added to the score afterwards, by name.
    """

    candidate: Candidate
    score: float
    terms: float = 0.0
    dense: float = 0.0
    defines: float = 0.0
    name: float = 0.0
    of_file: FileEvidence = FileEvidence(0.0, 0.0, 0.0, 0.0, 0.0, None)
    further: tuple[tuple[str, float], ...] = ()

    @property
    def parts(self) -> dict[str, float]:
        """The named parts that sum up to the score."""
        own = {"terms": self.terms, "dense": self.dense, "defines": self.defines, "name": self.name}
        file, matches, path, stem, _, role = self.of_file
        parts = own | {"file": file, "matches": matches, "path": path, "stem": stem}
        if role:
            parts[role.name] = sum(parts.values()) * (role.factor - 1)
        return parts | dict(self.further)


@dataclass(frozen=True, slots=True)
class RankOptions:
    """Weights of the parts of a score, relative to the chunk's own BM25, which weighs 1.

    Fitted by coordinate search on half of the repositories and checked on the other half, both ways; see "Measured" in
    the README.

    Attributes:
        dense: the chunk's cosine. Small: the embedded vectors are weak, and more of them costs changed lines found.
        file: BM25 of the whole file.
        matches: root of the summed BM25 of the file's matching chunks: a file that matches in many places.
        path: BM25 of the path's words.
        stem: the share of the file name's words that the question says.
        defines: the chunk defines an identifier that the question names.
        name: how well the words of a name defined in the chunk and those of the question cover each other.
        repeat: what a further chunk of a file already shown keeps of its score when the order to show is made. It moves
            whole files up in the first ten at no cost in spans; stronger values lose spans.
    """

    dense: float = 0.15
    file: float = 0.4
    matches: float = 0.45
    path: float = 0.25
    stem: float = 0.25
    defines: float = 0.25
    name: float = 1.0
    repeat: float = 0.96


DEFAULTS = RankOptions()
BY_MEANING = RankOptions(dense=1.0)
"""For questions that words shall not decide. On 1,062 questions asked of functions without their docs, by
`tests/bench/spans.py --dense`, NDCG@10 of spans .469 becomes .524 with the embedded vectors and .479 becomes .550 with
MiniLM's; where no word of the question is in the function's name or path, .127 becomes .256 and .145 becomes .315."""


ALIKE = RankOptions(dense=1.0, file=0.0, matches=0.0, path=0.0, stem=0.0, defines=0.0, name=0.0, repeat=1.0)
"""For a chunk in place of a question: its words and its vector alone tell what is like it."""


def fill_paths(evidence: Evidence) -> tuple[str, ...]:
    """The files that look best as a whole, best first: their chunks are worth a look even when none was found yet."""
    by_text, by_path = _relative(evidence.file_terms), _relative(evidence.path_terms)
    total = {path: by_text.get(path, 0.0) + 0.5 * by_path.get(path, 0.0) for path in by_text | by_path}
    return tuple(sorted(total, key=lambda path: (-total[path], path))[:FILL_FILES])


def rank(question: str, evidence: Evidence, options: RankOptions = DEFAULTS) -> tuple[Ranked, ...]:
    """Candidates in the order to show them, each text once.

    The order is that of the scores, but for `options.repeat`, which spreads the first results over files.

    Parameters:
        question: as the user put it.
        evidence: what the searches found for it.
        options: weights.
    """
    scored = _scored(read_question(question), evidence, options)
    scored.sort(key=lambda entry: (-entry.score, entry.candidate.path, entry.candidate.start_line))
    return tuple(_spread(_distinct(scored), options.repeat))


def _scored(question: Question, evidence: Evidence, options: RankOptions) -> list[Ranked]:
    terms, dense = _relative(evidence.terms), _fused(evidence.dense)
    of_files = _file_evidence(question, evidence, terms, options)
    may_agree = _names_that_may_agree(question)
    ranked = []
    for chunk in evidence.candidates:
        of_file = of_files[chunk.path]
        own_terms, own_dense = terms.get(chunk.id, 0.0), options.dense * dense.get(chunk.id, 0.0)
        defines = name = 0.0
        if chunk.said and may_agree(chunk.said):
            defines, name = _name_evidence(question, chunk.defines)
            defines, name = options.defines * defines, options.name * name
        score = own_terms + own_dense + defines + name + of_file.total
        if of_file.role:
            score *= of_file.role.factor
        ranked.append(Ranked(chunk, score, own_terms, own_dense, defines, name, of_file))
    return ranked


def _file_evidence(
    question: Question, evidence: Evidence, terms: Mapping[str, float], options: RankOptions
) -> dict[str, FileEvidence]:
    """What each file with a candidate adds to the score of all its chunks, by path."""
    texts, paths = _relative(evidence.file_terms), _relative(evidence.path_terms)
    totals = dict.fromkeys((chunk.path for chunk in evidence.candidates), 0.0)
    for chunk in evidence.candidates:
        if (score := terms.get(chunk.id, 0.0)) >= _LEAST_MATCH:
            totals[chunk.path] += score
    matches = _relative({path: sqrt(total) for path, total in totals.items()})
    old = superseded(totals.keys() | texts.keys(), question.words)
    found = {}
    for path in totals:
        role = SUPERSEDED if path in old else role_of(path)
        parts = (
            options.file * texts.get(path, 0.0),
            options.matches * matches.get(path, 0.0),
            options.path * paths.get(path, 0.0),
            options.stem * _share(_stem_words(path), question.words),
        )
        found[path] = FileEvidence(*parts, sum(parts), role if role and role.name not in question.roles else None)
    return found


def _name_evidence(question: Question, defines: Sequence[str]) -> tuple[float, float]:
    """Whether the question names one of the names (0 or 1), and how well the best of them agrees with it (0 to 1)."""
    defined = best = 0.0
    for name in defines:
        key, words = _name_words(name)
        if key in question.names:
            defined = 1.0
        if common := len(words & question.words):
            best = max(best, common * common / (len(words) * len(question.words)))
    return defined, best


def _names_that_may_agree(question: Question) -> Callable[[str], bool]:
    """Tells whether one of some names can have a word of the question or be one that it names.

    That is far cheaper than to take names apart. A stem is the beginning of its word, but for "queries", whose stem is
    "query": without the y its root is, too.
    """
    roots = [re.escape(word.removesuffix("y")) for word in question.words]
    # The names of the question are without marks, between which those of a chunk may have any.
    named = [r"[\W_]*".join(map(re.escape, name)) for name in question.names]
    pattern = re.compile("|".join([*roots, *named]) or "(?!)")

    def may_agree(said: str) -> bool:
        return pattern.search(said) is not None or not said.isascii()

    return may_agree


@lru_cache(maxsize=1 << 15)
def _name_words(name: str) -> tuple[str, frozenset[str]]:
    return name_key(name), frozenset(stems(last_part(name)))


@lru_cache(maxsize=1 << 14)
def _stem_words(path: str) -> frozenset[str]:
    return frozenset(stems(PurePosixPath(path).stem))


def _share(words: frozenset[str], of: frozenset[str]) -> float:
    return len(words & of) / len(words) if words else 0.0


def _relative(scores: Mapping[str, float]) -> dict[str, float]:
    """Scores divided by the best of them."""
    best = max(scores.values(), default=0.0)
    return {key: score / best for key, score in scores.items()} if best > 0 else {}


def _fused(spaces: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The cosines of several spaces on one scale: cosines of two models say nothing about each other.

    Each space's are mapped to 0 to 1 within the query. The best of a few chunks says less than the best of many, so a
    space counts by how many chunks it was found to have beside the largest.
    """
    largest = max(map(len, spaces), default=0)
    fused: dict[str, float] = {}
    for scores in spaces:
        share = len(scores) / largest if largest else 0.0
        for name, score in _above_least(scores).items():
            fused[name] = max(share * score, fused.get(name, 0.0))
    return fused


def _above_least(scores: Mapping[str, float]) -> dict[str, float]:
    """Scores between the least (0) and the best (1) of them: cosines have no natural zero."""
    least, best = min(scores.values(), default=0.0), max(scores.values(), default=0.0)
    return {key: (score - least) / (best - least) for key, score in scores.items()} if best > least else {}


def _distinct(ranked: Iterable[Ranked]) -> list[Ranked]:
    """Without chunks whose text, or most of whose lines, a better one has."""
    digests: set[str] = set()
    spans: dict[str, list[tuple[int, int]]] = {}
    kept = []
    for entry in ranked:
        chunk = entry.candidate
        if chunk.digest in digests:
            continue
        span = (chunk.start_line, chunk.end_line)
        of_file = spans.setdefault(chunk.path, [])
        # Kept spans are in order and hardly overlap: only the neighbours can cover this one.
        place = bisect(of_file, span)
        if place and of_file[place - 1][1] >= span[0] and _is_mostly_within(span, of_file[place - 1]):
            continue
        if place < len(of_file) and of_file[place][0] <= span[1] and _is_mostly_within(span, of_file[place]):
            continue
        if chunk.digest:
            digests.add(chunk.digest)
        of_file.insert(place, span)
        kept.append(entry)
    return kept


def _is_mostly_within(span: tuple[int, int], other: tuple[int, int]) -> bool:
    (first, last), (other_first, other_last) = span, other
    common = min(last, other_last) - max(first, other_first) + 1
    return 2 * common > last - first + 1


def _spread(ranked: Sequence[Ranked], keep: float) -> list[Ranked]:
    """The order to show: a file's further chunks as if they had `keep` of their score, per chunk of it before them."""
    shares = [keep**repeats for repeats in range(_MOST_REPEATS + 1)]
    shown: dict[str, int] = {}
    scores = []
    for entry in ranked:
        before = shown.get(entry.candidate.path, 0)
        scores.append(entry.score * shares[min(before, _MOST_REPEATS)])
        shown[entry.candidate.path] = before + 1
    return [ranked[place] for place in sorted(range(len(ranked)), key=scores.__getitem__, reverse=True)]
