"""The order that a reranker's scores make of the first stage's."""

from collections.abc import Sequence
from itertools import accumulate

from cqm.index.ranking.rank import Ranked


def reordered(ranked: Sequence[Ranked], scores: Sequence[float], weight: float) -> list[Ranked]:
    """The results in their new order: those with a reranker's score first, the rest after them as they were.

    Neither scale says anything about the other, so each is mapped to 0 to 1 among these results and they are blended
    by weight (min-max normalisation and convex combination: Bruch, Gai and Ingber, doi:10.1145/3596512). The blend is
    told on the first stage's scale, between its best and its least score here, so that it still stands above the rest.

    The first stage counts by its order: where that departs from its scores, because a file's further chunks were moved
    down, a score counts no more than those before it. So with weight 0 the order stays, and equals stay as they were.

    Parameters:
        ranked: the first stage's results, best first.
        scores: the reranker's for the first of them, in their order, finite, the higher the better.
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
    """Scores between the least (0) and the best (1) of them."""
    least, best = min(scores), max(scores)
    return [(score - least) / (best - least) if best > least else 0.0 for score in scores]


def _rescored(entry: Ranked, score: float) -> Ranked:
    return entry._replace(score=score, further=(*entry.further, ("rerank", score - entry.score)))
