"""Measures of retrieval over ranks.

A rank is a target's place among the results, from 1, or None if it was not found. All measures are from 0 to 1, use
binary relevance and ignore results below a depth. NDCG (Järvelin and Kekäläinen 2002) is as in semble's public
benchmark: targets answered by one result count once in the gain, and each in the ideal.
"""

import math
from collections.abc import Sequence

Rank = int | None


def ndcg(ranks: Sequence[Rank], depth: int) -> float:
    """Compute the normalised discounted cumulative gain from the rank of each target."""
    found = {rank for rank in ranks if rank is not None and rank <= depth}
    ideal = math.fsum(map(_discount, range(1, min(depth, len(ranks)) + 1)))
    return math.fsum(map(_discount, found)) / ideal


def recall(ranks: Sequence[Rank], depth: int) -> float:
    """Compute the share of targets among the first results; there is at least one target."""
    return sum(rank is not None and rank <= depth for rank in ranks) / len(ranks)


def reciprocal_rank(ranks: Sequence[Rank], depth: int) -> float:
    """Divide one by the rank of the first target; the mean over questions is MRR."""
    best = min((rank for rank in ranks if rank is not None), default=depth + 1)
    return 1 / best if best <= depth else 0.0


def passes(ranks: Sequence[Rank], depth: int) -> float:
    """Return 1 if any target is among the first results, else 0; the mean over questions is Pass@k."""
    return float(any(rank is not None and rank <= depth for rank in ranks))


def _discount(rank: int) -> float:
    return 1 / math.log2(rank + 1)
