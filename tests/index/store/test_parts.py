"""A base of many shards answers as one shard would."""

from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from cqm.index.store.base import Nearest, Point
from cqm.index.store.edge import EdgeStore
from cqm.index.store.frozen import Parts
from cqm.index.text.terms import SparseTerms

SHARDS, POINTS, WANTED = 12, 60, 48


@pytest.mark.parametrize("is_scattered", [True, False], ids=["scattered", "in one shard"])
def test_the_best_of_many_shards_are_found_wherever_they_are(tmp_path: Path, *, is_scattered: bool) -> None:
    random = np.random.default_rng(5)
    rows = random.standard_normal((SHARDS * POINTS, 32)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    question = rows[0]
    rows = rows[np.argsort(-(rows @ question))]
    weights = [float(len(rows) - number) for number in range(len(rows))]
    places = random.permutation(len(rows)) if is_scattered else np.arange(len(rows))
    with ExitStack() as opened:
        shards = {}
        for shard, some in enumerate(np.array_split(places, SHARDS)):
            store = EdgeStore(tmp_path / str(shard), weighs=False)
            store.create({"space": 32})
            opened.callback(store.close)
            terms = [SparseTerms((7,), (weights[number],)) for number in some]
            store.upsert(
                [
                    Point(f"{number:016x}", {"path": "a.py"}, {"terms": its}, rows[number], "space")
                    for number, its in zip(some, terms, strict=True)
                ]
            )
            shards[str(shard)] = (store, ["space"])
        parts = Parts(shards)
        searches = [Nearest("space", question, WANTED), Nearest("terms", SparseTerms((7,), (1.0,)), WANTED)]
        near, worded = parts.search(searches)
        assert parts.search([Nearest("elsewhere", question, WANTED)]) == [{}]
    best = [f"{number:016x}" for number in range(WANTED)]
    assert [*worded] == best
    assert [*near.values()] == pytest.approx([float(rows[number] @ question) for number in range(WANTED)], abs=2e-3)
