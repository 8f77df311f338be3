"""Read from the store of an index which vectors it holds, to compare with what the index says of them."""

from collections import Counter

from cqm.index import Index
from cqm.index.store.edge import EdgeStore


def stored_spaces(index: Index) -> dict[str, str]:
    """Return the space of each chunk's vector, empty for none, by the chunk's id; no chunk has two vectors."""
    generation = index._lineage.serving
    assert isinstance(generation.store, EdgeStore)
    points = generation.store.points([*generation.manifest.chunks(generation.store.ids())])
    spaces = {point.id: point.space for point in points}
    held = Counter(filter(None, spaces.values()))
    assert {name: generation.store.count_vectors(name) for name in held} == held, "a chunk has two vectors"
    return spaces
