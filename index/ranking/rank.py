"""Ranking: from what the store's searches found to an order of chunks, every score explained by named parts.

A score is a sum over the features of a chunk and of its file (`features`), each times its weight. How the question is
put decides between the weights for topics and those for sentences, by degrees (`phrasing`). Weights are learned from
questions about packages that no reported figure is of; see `training/ranking.py`.
"""

from bisect import bisect
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from operator import mul
from typing import NamedTuple

from cqm.index.ranking.evidence import Candidate, Evidence
from cqm.index.ranking.features import ChunkFeatures, FileFeatures, OfFile, features, relative
from cqm.index.ranking.question import read_question
from cqm.index.ranking.question_form import sentence_likeness
from cqm.index.ranking.weights import SENTENCE, TOPIC

CHUNK_DEPTH = 100
"""How many chunks a search for chunks gives. Twice as many of all these moved NDCG@10 by .001, and cost 3 ms more."""
FILE_DEPTH = 50
"""How many files a search for files gives."""
FILL_DEPTH = 60
"""How many chunks of the best files are looked at beside the best chunks."""
FILL_FILES = 20
"""Of how many of the best files the chunks are looked at, whether or not they are among the best chunks."""
_MEANING = 3.0
"""Times as much does the cosine count for questions that words shall not decide."""
_TOPIC_REPEAT, _SENTENCE_REPEAT = 0.5, 0.1
"""What a further chunk of a file already shown loses of its score when the order to show is made. To topics, it brings
more files (file Recall@10 .909 to .919; .3 and .7 are as good). Sentences ask for lines: .3 costs .008 of Recall@10, 0
costs .014 of the files that 2,000 tokens show."""
# From here on a file's further chunks move down no more.
_MOST_REPEATS = 6


class Weights(NamedTuple):
    """How much each feature counts, in the order of `ChunkFeatures` and `FileFeatures`, and what a repeat costs."""

    own: tuple[float, ...]
    of_file: tuple[float, ...]
    repeat: float = 0.0


class Ranked(NamedTuple):
    """A candidate with its score, and what that is the sum of.

    Attributes:
        own: the chunk's features.
        of_file: its file's.
        weights: what they were multiplied with.
        further: what was added to the score afterwards, by name.
    """

    candidate: Candidate
    score: float
    own: ChunkFeatures
    of_file: OfFile
    weights: Weights
    further: tuple[tuple[str, float], ...] = ()

    @property
    def parts(self) -> dict[str, float]:
        """The named parts that sum up to the score, without those that are 0."""
        names = {name: name for name in (*ChunkFeatures._fields, *FileFeatures._fields)}
        if role := self.of_file.role:
            names["role"] = role.name
        numbers = map(mul, chain(self.own, self.of_file.features), chain(self.weights.own, self.weights.of_file))
        parts = {name: part for name, part in zip(names.values(), numbers, strict=True) if part}
        return parts | dict(self.further)


def weights_of(named: Mapping[str, float], repeat: float = 0.0) -> Weights:
    """Weights by the names of features; what is not named counts nothing."""
    return Weights(
        tuple(named.get(name, 0.0) for name in ChunkFeatures._fields),
        tuple(named.get(name, 0.0) for name in FileFeatures._fields),
        repeat,
    )


def weights_for(question: str, topic: Mapping[str, float] = TOPIC, sentence: Mapping[str, float] = SENTENCE) -> Weights:
    """The weights for a question as it is put, between those for topics and those for sentences."""
    share = sentence_likeness(question)
    between = {name: (1 - share) * weight + share * sentence[name] for name, weight in topic.items()}
    return weights_of(between, (1 - share) * _TOPIC_REPEAT + share * _SENTENCE_REPEAT)


def by_meaning(question: str) -> Weights:
    """The weights for questions that words shall not decide: the cosine counts most, the rest as it does."""
    usual = weights_for(question)
    own = ChunkFeatures(*usual.own)
    return usual._replace(own=tuple(own._replace(dense=_MEANING * own.dense)))


ALIKE = weights_of({"terms": 1.0, "dense": 1.0})
"""For a chunk in place of a question: its words and its vector alone tell what is like it."""


def fill_paths(evidence: Evidence) -> tuple[str, ...]:
    """The files that look best as a whole, best first: their chunks are worth a look even when none was found yet."""
    by_text, by_path = relative(evidence.file_terms), relative(evidence.path_terms)
    total = {path: by_text.get(path, 0.0) + 0.5 * by_path.get(path, 0.0) for path in by_text | by_path}
    return tuple(sorted(total, key=lambda path: (-total[path], path))[:FILL_FILES])


def rank(question: str, evidence: Evidence, weights: Weights | None = None) -> tuple[Ranked, ...]:
    """Candidates in the order to show them, each text once.

    The order is that of the scores, but for `Weights.repeat`, which spreads the first results over files.

    Parameters:
        question: as the user put it.
        evidence: what the searches found for it.
        weights: None for those that fit the question.
    """
    weights = weights or weights_for(question)
    chunks, of_files = features(read_question(question), evidence)
    totals = {path: sum(map(mul, found.features, weights.of_file)) for path, found in of_files.items()}
    scored = [
        Ranked(chunk, sum(map(mul, own, weights.own)) + totals[chunk.path], own, of_files[chunk.path], weights)
        for chunk, own in zip(evidence.candidates, chunks, strict=True)
    ]
    scored.sort(key=lambda entry: (-entry.score, entry.candidate.path, entry.candidate.start_line, entry.candidate.id))
    return tuple(_spread(_distinct(scored), weights.repeat))


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


def _spread(ranked: Sequence[Ranked], cost: float) -> list[Ranked]:
    """The order to show: a file's further chunks as if they had `cost` less, per chunk of it before them."""
    shown: dict[str, int] = {}
    scores = []
    for entry in ranked:
        before = shown.get(entry.candidate.path, 0)
        scores.append(entry.score - cost * min(before, _MOST_REPEATS))
        shown[entry.candidate.path] = before + 1
    return [ranked[place] for place in sorted(range(len(ranked)), key=scores.__getitem__, reverse=True)]
