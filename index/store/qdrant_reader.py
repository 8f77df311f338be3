"""Reading a collection on a Qdrant server or cluster: a store without its writing."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from cqm.index.model.options import StoreOptions
from cqm.index.store import qdrant_models as shape
from cqm.index.store.base import (
    WORDS,
    Indices,
    Nearest,
    Point,
    PointFilter,
    point_id,
    search_each,
    stored_id,
    stored_indices,
    stored_point,
)
from cqm.index.store.qdrant_client import QdrantServer

if TYPE_CHECKING:
    from qdrant_client import QdrantClient, models
    from qdrant_client.conversions.common_types import PointId

    _Offset = PointId | None

T = TypeVar("T")

_SCROLL_PAGE = 1000


class QdrantReader:
    """A read-only collection. Contacts nothing until it is asked.

    Parameters:
        server: of the collection; closed with the reader.
    """

    def __init__(self, name: str, server: QdrantServer, options: StoreOptions) -> None:
        self._name = name
        self._server = server
        self._options = options

    def __str__(self) -> str:
        """Name the collection and its server."""
        return f"{self._name} at {self._server}"

    @property
    def name(self) -> str:
        """The collection's name."""
        return self._name

    def load(self) -> None:
        """Do nothing: it is looked at when it is asked."""

    def exists(self, what: str, *, brief: bool = False) -> bool:
        """Whether the collection is there; see `QdrantServer.ask`."""
        return self._ask(what, lambda client: client.collection_exists(self._name), brief=brief)

    def ids_of_path(self, path: str) -> set[str]:
        """See `Store.ids_of_path`."""
        return set(self._scroll(shape.point_filter(PointFilter(paths=(path,)))))

    def search(self, searches: Sequence[Nearest]) -> list[dict[str, float]]:
        """See `Store.search`. Searches a large collection by its graph, which may miss a neighbour."""
        return search_each(searches, self._found)

    def _found(self, searches: list[Nearest]) -> list[dict[str, float]]:
        batch = [shape.query(search, self._options) for search in searches]
        answers = self._ask("searched", partial(self._searched, batch), brief=True)
        return [{point_id(point.id): point.score for point in answer.points} for answer in answers]

    def payloads(self, ids: Sequence[str], fields: Sequence[str]) -> dict[str, Mapping[str, Any]]:
        """See `Store.payloads`."""
        wanted, shown = [*map(stored_id, ids)], list(fields)
        records = self._ask("read", lambda it: it.retrieve(self._name, wanted, with_payload=shown), brief=True)
        return {point_id(record.id): record.payload or {} for record in records}

    def points(self, ids: Sequence[str]) -> list[Point]:
        """See `Store.points`."""
        retrieved = partial(self._retrieved, [*map(stored_id, ids)])
        return [
            stored_point(point_id(record.id), record.payload, record.vector)
            for record in self._ask("read", retrieved, brief=True)
        ]

    def indices(self, ids: Sequence[str]) -> dict[str, Indices]:
        """Return the terms of points by id; unknown ids are left out."""
        wanted, names = [*map(stored_id, ids)], [*WORDS]
        records = self._ask(
            "read", lambda it: it.retrieve(self._name, wanted, with_payload=False, with_vectors=names), brief=True
        )
        return {point_id(record.id): stored_indices(record.vector) for record in records}

    def count_vectors(self, space: str, but: Sequence[str] = ()) -> int:
        """See `Store.count_vectors`."""
        from qdrant_client import models

        keep = models.Filter(
            must=[models.HasVectorCondition(has_vector=space)],
            must_not=[models.HasIdCondition(has_id=[*map(stored_id, but)])] if but else None,
        )
        return self._count(keep)

    def count(self, what: str = "read") -> int:
        """Count all points; see `QdrantServer.ask`."""
        return self._count(None, what)

    def rest(self, seconds: float) -> bool:  # noqa: ARG002 - of every store
        """Do nothing: the memory is the server's."""
        return False

    def close(self) -> None:
        """Close the connection; harmless if it is not open."""
        self._server.close()

    def _ask(self, what: str, request: "Callable[[QdrantClient], T]", *, brief: bool = False) -> T:
        return self._server.ask(what, request, brief=brief)

    def _searched(self, batch: list["models.QueryRequest"], client: "QdrantClient") -> list["models.QueryResponse"]:
        return client.query_batch_points(self._name, batch)

    def _scroll(self, keep: "models.Filter") -> Iterator[str]:
        offset: _Offset = None
        while True:
            records, offset = self._ask("read", partial(self._page, keep, offset))
            yield from (point_id(record.id) for record in records)
            if offset is None:
                return

    def _retrieved(self, ids: list[int | str], client: "QdrantClient") -> list["models.Record"]:
        return client.retrieve(self._name, ids, with_payload=True, with_vectors=True)

    def _page(
        self, keep: "models.Filter", offset: "_Offset", client: "QdrantClient"
    ) -> tuple[list["models.Record"], "_Offset"]:
        return client.scroll(self._name, keep, limit=_SCROLL_PAGE, offset=offset, with_payload=False)

    def _count(self, keep: "models.Filter | None", what: str = "read") -> int:
        return self._ask(what, lambda client: client.count(self._name, keep, exact=True)).count
