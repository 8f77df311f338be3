"""Ranking: evidence from the store to an order of chunks, with named parts that sum up to each score. (First version.)"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

CHUNK_DEPTH = 200
FILE_DEPTH = 100
FILL_FILES = 20


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that may answer: what the manifest knows of it."""

    id: str
    path: str
    language: str
    kind: str
    symbol: str
    defines: tuple[str, ...]
    start_line: int
    end_line: int
    tokens: int
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the store's searches gave for a question; a mapping that was not asked for is empty."""

    candidates: tuple[Candidate, ...]
    terms: Mapping[str, float]
    dense: Mapping[str, float]
    file_terms: Mapping[str, float]
    path_terms: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its score and the parts that sum up to it."""

    candidate: Candidate
    score: float
    parts: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class RankOptions:
    """Weights of the parts."""

    dense: float = 0.3
    file: float = 0.5
    path: float = 0.3
    defines: float = 0.5


def fill_paths(evidence: Evidence) -> tuple[str, ...]:
    """The files that look best as a whole, best first."""
    total: dict[str, float] = {}
    for scores, weight in ((evidence.file_terms, 1.0), (evidence.path_terms, 0.5)):
        for path, score in _normalised(scores).items():
            total[path] = total.get(path, 0.0) + weight * score
    return tuple(sorted(total, key=lambda path: -total[path])[:FILL_FILES])


def rank(question: str, evidence: Evidence, options: RankOptions = RankOptions()) -> tuple[Ranked, ...]:
    """Order candidates, best first."""
    terms, dense = _normalised(evidence.terms), _normalised(evidence.dense, floor=True)
    files, paths = _normalised(evidence.file_terms), _normalised(evidence.path_terms)
    words = {word.lower() for word in re.findall(r"\w+", question)}
    ranked = []
    for c in evidence.candidates:
        names = {name.rsplit(".", 1)[-1].lower() for name in c.defines}
        parts = {
            "terms": terms.get(c.id, 0.0),
            "dense": options.dense * dense.get(c.id, 0.0),
            "file": options.file * files.get(c.path, 0.0),
            "path": options.path * paths.get(c.path, 0.0),
            "defines": options.defines if names & words else 0.0,
        }
        ranked.append(Ranked(c, sum(parts.values()), parts))
    return tuple(sorted(ranked, key=lambda r: (-r.score, r.candidate.path, r.candidate.start_line)))


def _normalised(scores: Mapping[str, float], *, floor: bool = False) -> dict[str, float]:
    if not scores:
        return {}
    low = min(scores.values()) if floor else 0.0
    high = max(scores.values())
    return {key: (value - low) / ((high - low) or 1.0) for key, value in scores.items()}
