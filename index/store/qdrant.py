"""A collection on a Qdrant server or cluster as a store, through the official client.

Every write waits until the server has carried it out. All requests may be repeated: they state a result, not a change.
One collection holds one generation of one root. Document frequencies are counted per collection, so roots sharing one
would change each other's scores; and deleting a collection removes an obsolete generation at once.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cqm.index.batched import batched
from cqm.index.model.errors import DamagedIndexError, StoreError
from cqm.index.model.options import StoreOptions
from cqm.index.store import qdrant_models as shape
from cqm.index.store.base import KEYWORDS, NO_SPACES, Point, stored_id
from cqm.index.store.collection import CollectionNote, new_mark, write_note
from cqm.index.store.qdrant_client import QdrantServer, UnfinishedError, is_conflict
from cqm.index.store.qdrant_reader import QdrantReader

if TYPE_CHECKING:
    from qdrant_client import QdrantClient, models

    _Step = models.UpsertOperation | models.DeleteOperation

# A request with this many points stays far below the server's limit of 32 MB.
_BATCH = 64
_MARK_ID = "00000000-0000-0000-0000-000000000001"
"""The point carrying the mark: it has no vector, so no search finds it."""
_MARK = "mark"
_MARK_LOOKED_AT_EVERY_SECONDS = 5.0


class QdrantStore(QdrantReader):
    """A collection. Contacts nothing until it is created or loaded.

    Parameters:
        place: the folder of the generation with the note.
        server: of the collection; closed with the store.
        flushing: returns a context; it ends without an error once all earlier writes are safe.
        weighs: whether the server weighs words by their document frequencies.
    """

    in_folder = False

    def __init__(
        self,
        place: Path,
        note: CollectionNote,
        server: QdrantServer,
        options: StoreOptions,
        flushing: Callable[[], AbstractContextManager[None]] = nullcontext,
        *,
        weighs: bool = True,
    ) -> None:
        super().__init__(note.name, server, options)
        self._place = place
        self._note = note
        self._weighs = weighs
        self._flushing = flushing
        self._is_open = False
        self._looked_at = 0.0

    def create(self, spaces: Mapping[str, int] = NO_SPACES) -> None:  # noqa: ARG002 - made as soon as it is needed
        """Create the collection and open it. One created by a killed process under this name is empty, too."""
        self._ask("created", partial(_made, self._name, self._options, self._weighs))
        for key in KEYWORDS:
            self._write(partial(self._indexed, key))
        self._claim()

    def load(self) -> None:
        """Open the collection, and mark it as opened by this process."""
        if not self.exists("opened"):
            raise DamagedIndexError(f"The collection {self} is gone.")
        if (mark := self._mark()) not in self._note.marks:
            raise DamagedIndexError(f"The collection {self} is in use by another copy of this index.")
        self._claim(mark)

    def ensure_space(self, name: str, dimensions: int) -> None:
        """See `Store.ensure_space`. Needs a server of version 1.18 or later."""
        from qdrant_client import models

        config = shape.space(dimensions)
        self._write(lambda client: [client.create_vector_name(self._name, name, config, wait=True)])
        if self._options.on_disk:
            placed = {name: models.VectorParamsDiff(on_disk=True)}
            self._ask("written", lambda client: client.update_collection(self._name, vectors_config=placed))

    def upsert(self, points: Sequence[Point]) -> None:
        """See `Store.upsert`."""
        self._look_at_mark()
        for batch in batched(points, _BATCH):
            self._write(partial(self._upserted, [shape.point_struct(point) for point in batch]))
        self.flush_later()

    def delete(self, ids: Sequence[str]) -> None:
        """See `Store.delete`. As in Edge, each point is emptied first."""
        from qdrant_client import models

        if ids:
            self._look_at_mark()
        for batch in batched(ids, _BATCH):
            emptied = models.PointsList(points=[shape.emptied(name) for name in batch])
            deleted = models.PointIdsList(points=[*map(stored_id, batch)])
            steps = (models.UpsertOperation(upsert=emptied), models.DeleteOperation(delete=deleted))
            self._write(partial(self._done, steps))

    def lost(self, ids: AbstractSet[str]) -> int:
        """See `Store.lost`. Compares only the numbers of points."""
        from qdrant_client import models

        return max(0, len(ids) - self._count(models.Filter(must_not=[models.HasIdCondition(has_id=[_MARK_ID])])))

    def publish(self) -> None:
        """Point the alias to this collection, in one step."""
        from qdrant_client import models

        alias, name = self._note.alias, self._name
        steps: list[models.AliasOperations] = [
            models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=alias)),
            models.CreateAliasOperation(create_alias=models.CreateAlias(collection_name=name, alias_name=alias)),
        ]
        self._ask("published", lambda client: client.update_collection_aliases(steps))

    def flush(self) -> None:
        """Report committed writes as safe: the server carried them out before answering."""
        with self._flushing():
            pass

    def flush_later(self) -> None:
        """See `flush`, which costs nothing."""
        self.flush()

    def close(self) -> None:
        """Close the connection; harmless if it is not open."""
        if self._is_open:
            self._is_open = False
            self.flush_later()
        super().close()

    def drop(self) -> None:
        """Delete the collection, unless it is gone or belongs to another copy of this index."""
        if not self.exists("looked at", brief=True):
            return
        if self._mark() in {*self._note.marks, ""}:
            self._ask("deleted", lambda client: client.delete_collection(self._name), brief=True)

    def _write(self, request: "Callable[[QdrantClient], Sequence[models.UpdateResult]]") -> None:
        """Send a write and check it was completed: the server may give up waiting for it."""

        def done(client: "QdrantClient") -> None:
            states = {str(result.status) for result in request(client)}
            if states - {"completed"}:
                raise UnfinishedError(f"a write is not done yet, but {', '.join(sorted(states))}")

        self._ask("written", done)

    def _indexed(self, key: str, client: "QdrantClient") -> list["models.UpdateResult"]:
        from qdrant_client import models

        return [client.create_payload_index(self._name, key, models.PayloadSchemaType.KEYWORD, wait=True)]

    def _upserted(self, points: list["models.PointStruct"], client: "QdrantClient") -> list["models.UpdateResult"]:
        return [client.upsert(self._name, points, wait=True)]

    def _done(self, steps: Sequence["_Step"], client: "QdrantClient") -> list["models.UpdateResult"]:
        return client.batch_update_points(self._name, steps, wait=True)

    def _mark(self) -> str:
        """Return the collection's mark; empty without one."""
        records = self._ask("read", lambda client: client.retrieve(self._name, [_MARK_ID], with_payload=True))
        return str((records[0].payload or {}).get(_MARK, "")) if records else ""

    def _claim(self, before: str = "") -> None:
        """Give the collection a new mark. A copy of this index knowing only an older one may no longer use it.

        A kill in between leaves a note with both.
        """
        from qdrant_client import models

        mark = new_mark()
        self._noted(self._note.marked(*filter(None, (before, mark))))
        bearer = models.PointStruct(id=_MARK_ID, vector={}, payload={_MARK: mark})
        self._write(partial(self._upserted, [bearer]))
        self._noted(self._note.marked(mark))
        self._is_open, self._looked_at = True, time.monotonic()

    def _noted(self, note: CollectionNote) -> None:
        write_note(self._place, note)
        self._note = note

    def _look_at_mark(self) -> None:
        """Check now and then whether another copy of this index has taken over the collection."""
        now = time.monotonic()
        if now - self._looked_at < _MARK_LOOKED_AT_EVERY_SECONDS:
            return
        if self._mark() not in self._note.marks:
            message = f"The collection {self} was taken over by another copy of this index."
            raise StoreError(message, remedy="Start CQM anew: this index then gets a collection of its own.")
        self._looked_at = now


def _made(name: str, options: StoreOptions, weighs: bool, client: "QdrantClient") -> None:  # noqa: FBT001 - in a partial
    """Create a collection unless it exists."""
    from qdrant_client.http.exceptions import UnexpectedResponse

    try:
        client.create_collection(name, **shape.collection(options, weighs=weighs))
    except UnexpectedResponse as error:
        if not is_conflict(error):
            raise
