from pathlib import Path

import numpy as np
import pytest

from cqm.index.store import edge_shards
from cqm.index.store.base import Nearest, Point, PointFilter
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


def test_the_graph_of_a_base_finds_nearly_all_and_a_filter_nothing_less(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edge_shards, "_SCANNED", 1500)
    rows, questions = unit_vectors(3000, 64, 1), unit_vectors(20, 64, 2)
    languages = ["go" if number % 3 else "zig" for number in range(len(rows))]
    store = EdgeStore(tmp_path / "base-1", weighs=False, is_base=True, has_graph=True)
    store.create({"space": 64})
    store.upsert(
        [
            Point(f"{number:032x}", {"path": "a.py", "language": language}, {}, row, "space")
            for number, (row, language) in enumerate(zip(rows, languages, strict=True))
        ]
    )
    store.optimize()
    store.close()
    assert max(path.stat().st_size for path in tmp_path.rglob("vector_index-space/links_compressed.bin")) > len(rows)
    store.load()
    for keep, least in ((None, 0.95), (PointFilter(languages=("zig",)), 0.99)):
        found = 0
        for question in questions:
            exact = rows @ question
            allowed = [number for number in np.argsort(-exact) if keep is None or languages[number] == "zig"]
            (hits,) = store.search([Nearest("space", question, 50, keep)])
            found += len({f"{number:032x}" for number in allowed[:50]} & hits.keys())
            assert [*hits.values()] == pytest.approx([exact[int(name, 16)] for name in hits], abs=2e-3)
        assert found >= least * 50 * len(questions)
    store.close()
