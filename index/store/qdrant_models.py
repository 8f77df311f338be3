"""Requests to a Qdrant server: collections, points, filters and searches in its client's form."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from cqm.index.model.options import StoreOptions
from cqm.index.store.base import WORDS, Nearest, Point, PointFilter, check, stored_id
from cqm.index.text.terms import SparseTerms

if TYPE_CHECKING:
    from qdrant_client import models

_LEAST_EF = 128
# Quantized vectors select twice the wanted number of candidates, which are then compared by their full vectors.
_OVERSAMPLING = 2.0


def _int8() -> "models.QuantizationConfig":
    from qdrant_client import models

    form = models.ScalarQuantizationConfig(type=models.ScalarType.INT8, quantile=0.99, always_ram=True)
    return models.ScalarQuantization(scalar=form)


def _binary() -> "models.QuantizationConfig":
    from qdrant_client import models

    return models.BinaryQuantization(binary=models.BinaryQuantizationConfig(always_ram=True))


QUANTIZATIONS: dict[str, "Callable[[], models.QuantizationConfig | None]"] = {
    "none": lambda: None,
    "int8": _int8,
    "binary": _binary,
}
"""Quantizations of vectors a server can search first."""


def collection(options: StoreOptions, *, weighs: bool) -> dict[str, Any]:
    """Return the parameters of a new collection without its name; words may be weighed by document frequency."""
    from qdrant_client import models

    idf = models.SparseVectorParams(modifier=models.Modifier.IDF if weighs else None)
    return {
        "vectors_config": {},
        "sparse_vectors_config": dict.fromkeys(WORDS, idf),
        "shard_number": options.shard_number,
        "replication_factor": options.replication_factor,
        "write_consistency_factor": options.write_consistency_factor,
        "quantization_config": QUANTIZATIONS[options.quantization](),
        "hnsw_config": models.HnswConfigDiff(on_disk=True) if options.on_disk else None,
        "on_disk_payload": True,
    }


def space(dimensions: int) -> "models.DenseVectorNameConfig":
    """Return the parameters of an embedding space."""
    from qdrant_client import models

    form = models.VectorStorageDatatype.FLOAT16
    return models.DenseVectorNameConfig(
        dense=models.DenseVectorConfig(size=dimensions, distance=models.Distance.DOT, datatype=form)
    )


def point_struct(point: Point) -> "models.PointStruct":
    """Convert a point for writing.

    Raises:
        StoreError: one of its vectors is malformed.
    """
    from qdrant_client import models

    check(point)
    vectors: dict[str, Any] = {
        name: models.SparseVector(indices=list(terms.indices), values=list(terms.values))
        for name, terms in point.sparse.items()
        if terms.indices
    }
    if point.dense is not None:
        vectors[point.space] = point.dense.tolist()
    return models.PointStruct(id=stored_id(point.id), vector=vectors, payload=dict(point.payload))


def emptied(name: str) -> "models.PointStruct":
    """Return a point without words, written in a point's place before its deletion."""
    from qdrant_client import models

    empty = models.SparseVector(indices=[], values=[])
    none: dict[str, Any] = dict.fromkeys(WORDS, empty)
    return models.PointStruct(id=stored_id(name), vector=none, payload={})


def point_filter(keep: PointFilter) -> "models.Filter":
    """Convert a filter."""
    from qdrant_client import models

    def any_of(key: str, values: Sequence[str]) -> list[Any]:
        return [models.FieldCondition(key=key, match=models.MatchAny(any=list(values)))] if values else []

    wanted = (
        ("language", keep.languages),
        ("kind", keep.kinds),
        ("source_type", keep.sources),
        ("issues", keep.issues),
    )
    must = [condition for key, values in wanted for condition in any_of(key, values)]
    must += [models.HasIdCondition(has_id=[*map(stored_id, keep.ids)])] if keep.ids else []
    places = [*any_of("path", keep.paths), *any_of("dirs", keep.folders)]
    return models.Filter(must=must or None, should=places or None, must_not=any_of("path", keep.not_paths) or None)


def query(search: Nearest, options: StoreOptions) -> "models.QueryRequest":
    """Convert a search."""
    from qdrant_client import models

    vector, params = search.vector, None
    if isinstance(vector, SparseTerms):
        wanted: Any = models.SparseVector(indices=list(vector.indices), values=list(vector.values))
    else:
        wanted, params = vector.tolist(), _search_params(options, search.limit)
    return models.QueryRequest(
        query=models.NearestQuery(nearest=wanted),
        using=search.using,
        limit=search.limit,
        filter=point_filter(search.keep) if search.keep else None,
        params=params,
        with_payload=False,
    )


def _search_params(options: StoreOptions, limit: int) -> "models.SearchParams":
    """Return the search effort for a graph of vectors: it grows with the number of results."""
    from qdrant_client import models

    rescored = models.QuantizationSearchParams(rescore=True, oversampling=_OVERSAMPLING)
    quantized = options.quantization != "none"
    return models.SearchParams(hnsw_ef=max(_LEAST_EF, 2 * limit), quantization=rescored if quantized else None)
