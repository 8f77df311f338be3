"""Measures of retrieval over ranks: what a list of results is worth to who asked.

A rank is a target's place among the results, from 1; None for a target that was not found. All measures are from 0 to
1, of binary relevance, and count no result below a depth. NDCG (Järvelin and Kekäläinen 2002) is as in semble's public
benchmark: targets that one result answers count once in the gain, and each in the ideal.
"""

import math
from collections.abc import Sequence

Rank = int | None


def ndcg(ranks: Sequence[Rank], depth: int) -> float:
    """Normalised discounted cumulative gain.

    Parameters:
        ranks: one for each target, at least one.
    """
    found = {rank for rank in ranks if rank is not None and rank <= depth}
    ideal = math.fsum(map(_discount, range(1, min(depth, len(ranks)) + 1)))
    return math.fsum(map(_discount, found)) / ideal


def recall(ranks: Sequence[Rank], depth: int) -> float:
    """The share of the targets, of which there is at least one, among the first results."""
    return sum(rank is not None and rank <= depth for rank in ranks) / len(ranks)


def reciprocal_rank(ranks: Sequence[Rank], depth: int) -> float:
    """One divided by the rank of the first target; its mean over questions is MRR."""
    best = min((rank for rank in ranks if rank is not None), default=depth + 1)
    return 1 / best if best <= depth else 0.0


def passes(ranks: Sequence[Rank], depth: int) -> float:
    """1 when any target is among the first results, else 0; its mean over questions is Pass@k."""
    return float(any(rank is not None and rank <= depth for rank in ranks))


def _discount(rank: int) -> float:
    return 1 / math.log2(rank + 1)
