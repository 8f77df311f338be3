"""Ranking: order the results of the store's searches, with scores explained by named parts.

A score is the sum of the features of a chunk and its file, each times its weight (`features`). Weights lie between the
ones for topics and the ones for sentences, by the form of the question (`question_form`). They are learned from
questions about packages used for no reported figure; see `training/ranking.py`.
"""

from bisect import bisect
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate, chain
from math import inf
from operator import mul
from typing import NamedTuple

from cqm.index.ranking.evidence import Candidate, Evidence
from cqm.index.ranking.features import ChunkFeatures, FileFeatures, OfFile, features, of_chunk, relative
from cqm.index.ranking.question import Question
from cqm.index.ranking.weights import SENTENCE, TOPIC
from cqm.index.tracing import traced

CHUNK_DEPTH = 100
"""Chunks a search for chunks gives. Doubling all four depths moved NDCG@10 by .001 and cost 3 ms."""
FILE_DEPTH = 50
"""Files a search for files gives."""
FILL_DEPTH = 60
"""Chunks of the best files to look at beside the best chunks."""
FILL_FILES = 20
"""Best files to look into, even if none of their chunks is among the best."""
_MEANING = 3.0
"""Cosine multiplier in semantic mode."""
_TOPIC_REPEAT, _SENTENCE_REPEAT = 0.5, 0.1
"""Cost of a repeat: each further chunk of a file is ordered as if it had so much less. Topics get more files by it
(file Recall@10 .909 to .919; .3 and .7 are as good). Sentences ask for lines: .3 costs .008 of Recall@10, 0 costs .014
of the files shown in 2,000 tokens."""
_NOISE = 1e-5
"""Scores this near are equal; path and position decide. A store adds up in another order in another index of the same
files: scores of equal evidence differ by up to 1e-6."""
_MOST_REPEATS = 6
"""From here on, further chunks of a file move down no more."""


_PARTS = (*ChunkFeatures._fields, *FileFeatures._fields)


class Weights(NamedTuple):
    """Weights in the order of `ChunkFeatures` and `FileFeatures`, and the cost of a repeat."""

    own: tuple[float, ...]
    of_file: tuple[float, ...]
    repeat: float = 0.0


class Ranked(NamedTuple):
    """A candidate with its score and the terms of the sum.

    Attributes:
        further: parts added to the score afterwards, by name.
        number: the reader's score; None if it did not read this.
    """

    candidate: Candidate
    score: float
    own: ChunkFeatures
    of_file: OfFile
    weights: Weights
    further: tuple[tuple[str, float], ...] = ()
    number: float | None = None

    @property
    def parts(self) -> dict[str, float]:
        """The named parts of the score, without zeros; they sum up to it."""
        numbers = map(mul, chain(self.own, self.of_file.features), chain(self.weights.own, self.weights.of_file))
        parts = {name: part for name, part in zip(_PARTS, numbers, strict=True) if part}
        # The role is the last feature.
        if (role := self.of_file.role) and "role" in parts:
            parts[role.name] = parts.pop("role")
        return parts | dict(self.further)


def weights_of(named: Mapping[str, float], repeat: float = 0.0) -> Weights:
    """Make weights from those of features by name, such as {"terms": 1.0}; others are 0."""
    return Weights(
        tuple(named.get(name, 0.0) for name in ChunkFeatures._fields),
        tuple(named.get(name, 0.0) for name in FileFeatures._fields),
        repeat,
    )


def weights_for(
    question: Question, topic: Mapping[str, float] = TOPIC, sentence: Mapping[str, float] = SENTENCE
) -> Weights:
    """Weights for a question by its form, between those for topics and those for sentences."""
    share = question.sentence
    between = {name: (1 - share) * weight + share * sentence[name] for name, weight in topic.items()}
    return weights_of(between, (1 - share) * _TOPIC_REPEAT + share * _SENTENCE_REPEAT)


def by_meaning(question: Question) -> Weights:
    """Weights for semantic mode: the cosine counts most."""
    usual = weights_for(question)
    own = ChunkFeatures(*usual.own)
    return usual._replace(own=tuple(own._replace(dense=_MEANING * own.dense)))


ALIKE = weights_of({"terms": 1.0, "dense": 1.0})
"""Weights for a place in a file as a question: only words and vectors count."""


def fill_paths(evidence: Evidence) -> tuple[str, ...]:
    """Choose the best files as a whole, best first; their chunks are worth a look even if none was found."""
    by_text, by_path = relative(evidence.file_terms), relative(evidence.path_terms)
    total = {path: by_text.get(path, 0.0) + 0.5 * by_path.get(path, 0.0) for path in by_text | by_path}
    return tuple(sorted(total, key=lambda path: (-total[path], path))[:FILL_FILES])


@traced("cqm.rank")
def rank(
    question: Question, evidence: Evidence, weights: Weights | None = None, pinned: Collection[str] = ()
) -> tuple[Ranked, ...]:
    """Order the candidates by score, each text once; `Weights.repeat` spreads the first results over files.

    Parameters:
        question: read by `read_question`.
        weights: None for those of `weights_for`.
        pinned: ids of chunks to keep, even if others have their text.
    """
    weights = weights or weights_for(question)
    chunks, of_files = features(question, evidence)
    totals = {path: sum(map(mul, found.features, weights.of_file)) for path, found in of_files.items()}
    scored = []
    for chunk, own in zip(evidence.candidates, chunks, strict=True):
        of_file = of_files[chunk.path]
        found, total = of_chunk(question, chunk, of_file), totals[chunk.path]
        if found is not of_file:
            total = sum(map(mul, found.features, weights.of_file))
        scored.append(Ranked(chunk, sum(map(mul, own, weights.own)) + total, own, found, weights))
    return tuple(spread(_distinct(in_order(scored), pinned), weights.repeat))


def in_order(scored: Sequence[Ranked]) -> list[Ranked]:
    """Sort by score; path and position decide among equals."""
    leveled = enumerate(zip(levels([it.score for it in scored]), scored, strict=True))
    order = sorted(
        [
            (-level, it.candidate.path, it.candidate.start_line, it.candidate.id, number)
            for number, (level, it) in leveled
        ]
    )
    return [scored[place[-1]] for place in order]


def falling(ranked: Sequence[Ranked]) -> list[Ranked]:
    """Give no entry a higher score than the one before it: the part `order` takes the excess.

    Further chunks of one file stand below others of a lower score, see `Weights.repeat`.
    """
    falls = [*accumulate((entry.score for entry in ranked), min)]
    return [
        entry._replace(score=most, further=(*entry.further, ("order", most - entry.score)))
        if most < entry.score
        else entry
        for entry, most in zip(ranked, falls, strict=True)
    ]


def levels(scores: Sequence[float]) -> list[float]:
    """Replace equal scores by the best of them; a gap larger than noise ends a level.

    Rounding would do the same for most, but part two equal scores on either side of a half.
    """
    found = list(scores)
    level = before = inf
    for place in sorted(range(len(scores)), key=scores.__getitem__, reverse=True):
        if before - scores[place] > _NOISE:
            level = scores[place]
        before, found[place] = scores[place], level
    return found


def _distinct(ranked: Sequence[Ranked], pinned: Collection[str]) -> list[Ranked]:
    """Leave out chunks if a better one has their text or most of their lines."""
    digests = {entry.candidate.digest for entry in ranked if entry.candidate.id in pinned} - {""} if pinned else set()
    spans: dict[str, list[tuple[int, int]]] = {}
    kept = []
    for entry in ranked:
        chunk = entry.candidate
        if chunk.id in pinned:
            kept.append(entry)
            continue
        if chunk.digest in digests:
            continue
        span = (chunk.start_line, chunk.end_line)
        if (of_file := spans.get(chunk.path)) is None:
            spans[chunk.path] = [span]
        else:
            # Kept spans are in order and hardly overlap; only the neighbours can cover this one.
            place = bisect(of_file, span)
            if place and of_file[place - 1][1] >= span[0] and _is_mostly_within(span, of_file[place - 1]):
                continue
            if place < len(of_file) and of_file[place][0] <= span[1] and _is_mostly_within(span, of_file[place]):
                continue
            of_file.insert(place, span)
        if chunk.digest:
            digests.add(chunk.digest)
        kept.append(entry)
    return kept


def _is_mostly_within(span: tuple[int, int], other: tuple[int, int]) -> bool:
    (first, last), (other_first, other_last) = span, other
    common = min(last, other_last) - max(first, other_first) + 1
    return 2 * common > last - first + 1


def spread(ranked: Sequence[Ranked], cost: float) -> list[Ranked]:
    """Move a file's further chunks down, as if they had `cost` less for each of its chunks before them.

    Parameters:
        ranked: by score.
    """
    shown: dict[str, int] = {}
    scores = []
    for entry, level in zip(ranked, levels([entry.score for entry in ranked]), strict=True):
        before = shown.get(entry.candidate.path, 0)
        scores.append(level - cost * min(before, _MOST_REPEATS))
        shown[entry.candidate.path] = before + 1
    places = levels(scores)
    return [ranked[place] for place in sorted(range(len(ranked)), key=places.__getitem__, reverse=True)]
