"""Blend a reranker's scores with the first stage's order."""

from collections.abc import Sequence
from itertools import accumulate

from cqm.index.ranking.rank import Ranked


def reordered(ranked: Sequence[Ranked], scores: Sequence[float], weight: float) -> list[Ranked]:
    """Return the results in their new order: those with a reranker's score first, the rest after them unchanged.

    The two scales are not comparable. So each is mapped to 0 to 1 among these results, and they are blended by weight
    (min-max normalisation and convex combination: Bruch, Gai and Ingber, doi:10.1145/3596512). The blend is mapped back
    to the first stage's scale, between its best and its least score here, so these results stay above the rest.

    The first stage counts by its order. Its order departs from its scores when a file's further chunks were moved down;
    then a score counts no more than those before it. So with weight 0 the order stays, and ties keep their order.

    Parameters:
        ranked: the first stage's results, best first.
        scores: the reranker's for the first of them, in their order, finite, higher is better.
        weight: the reranker's share, 0 to 1.
    """
    head = ranked[: len(scores)]
    if not head:
        return list(ranked)
    first = list(accumulate((entry.score for entry in head), min))
    blend = [(1 - weight) * a + weight * b for a, b in zip(_normal(first), _normal(scores), strict=True)]
    best, least = first[0], first[-1]
    new = [_rescored(entry, least + share * (best - least)) for entry, share in zip(head, blend, strict=True)]
    order = sorted(range(len(head)), key=lambda place: -blend[place])
    return [*(new[place] for place in order), *ranked[len(head) :]]


def _normal(scores: Sequence[float]) -> list[float]:
    """Scale scores to 0 (the least) to 1 (the best)."""
    least, best = min(scores), max(scores)
    return [(score - least) / (best - least) if best > least else 0.0 for score in scores]


def _rescored(entry: Ranked, score: float) -> Ranked:
    return entry._replace(score=score, further=(*entry.further, ("rerank", score - entry.score)))
