from pathlib import Path

import numpy as np
import pytest

from cqm.index.store.base import Nearest, Point
from cqm.index.store.edge import EdgeStore


def unit_vectors(count: int, dimensions: int, seed: int) -> "np.ndarray":
    rows = np.random.default_rng(seed).standard_normal((count, dimensions)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def fill(store: EdgeStore, rows: "np.ndarray") -> None:
    store.upsert([Point(f"{n:032x}", {"path": "a.py"}, {}, row, "space") for n, row in enumerate(rows)])


@pytest.mark.parametrize(
    ("made", "is_first"),
    [({"space": 64}, True), ({}, True), ({}, False)],
    ids=["of a space made with the store", "of the first space", "of a space that came after the first point"],
)
def test_the_nearest_vectors_and_their_cosines_are_those_of_an_exact_scan(
    tmp_path: Path, made: dict[str, int], is_first: bool
) -> None:
    rows, questions = unit_vectors(3000, 64, 1), unit_vectors(20, 64, 2)
    store = EdgeStore(tmp_path / "shard")
    store.create(made)
    if not is_first:
        store.upsert([Point("f" * 32, {"path": "b.py"}, {})])
    store.ensure_space("space", 64)
    fill(store, rows)
    store.close()
    store.load()
    found = 0
    for question in questions:
        exact = rows @ question
        wanted = {f"{n:032x}" for n in np.argsort(-exact)[:50]}
        (hits,) = store.search([Nearest("space", question, 50)])
        found += len(wanted & hits.keys())
        assert [*hits.values()] == pytest.approx([exact[int(name, 16)] for name in hits], abs=2e-3)
    store.close()
    assert found >= 0.99 * 50 * len(questions)
