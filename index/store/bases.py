"""Bases of a team on a Qdrant server: made whole, found by name, deleted when there are newer ones.

A base is a collection never changed after it is made; its alias names the last one. The collection also holds
everything else a machine needs, as the bytes of a file in parts.
"""

import base64
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from itertools import count, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING
from uuid import UUID

from cqm.chunkers.errors import CqmError
from cqm.index.model.errors import StoreError
from cqm.index.model.options import StoreOptions
from cqm.index.remote.variables import Variables
from cqm.index.store.base import Point
from cqm.index.store.collection import CollectionNote
from cqm.index.store.qdrant import QdrantStore
from cqm.index.store.qdrant_client import QdrantServer
from cqm.index.store.qdrant_reader import QdrantReader

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

_NAME = re.compile("[A-Za-z0-9_-]{1,60}")
_PART_BYTES = 1 << 17
_PARTS_AT_ONCE = 16
"""In a request: 2.8 MB as text. Qdrant takes 32."""
_MOST_PARTS = 1 << 16
_FIRST_PART = 1 << 64
"""Ids of parts count from here: the id of a chunk or a file is a hash."""
_BYTES = "bytes"
MARKS = 1
"""Points of a base besides those of the index and the parts of the file; see `QdrantStore`."""


class SharedBase:
    """A base by its name on the configured server. Contacts nothing until it is asked.

    Raises:
        StoreError: no server is configured, its address or key cannot be used, or the name is invalid.
    """

    def __init__(self, name: str, options: StoreOptions, variables: Variables) -> None:
        if not options.url:
            remedy = "Name the team's server in your own cqm.yml."
            raise StoreError("A base is on a Qdrant server, and store.url names none.", remedy=remedy)
        if not _NAME.fullmatch(name):
            remedy = "A name has 1 to 60 letters, digits, _ and -."
            raise StoreError(f"{name!r} is no name of a base.", remedy=remedy)
        self._name = name
        self._options = options
        self._alias = f"{_beginning(options)}{name}"
        self._server = QdrantServer(options, variables)

    def close(self) -> None:
        """Close the connections."""
        self._server.close()

    @contextmanager
    def making(self) -> Iterator[QdrantStore]:
        """Yield a new collection; at the end the alias stands for it. It is deleted where the block fails.

        Raises:
            StoreError: the server refuses.
        """
        alias = self._alias
        made_at = datetime.now(UTC).strftime("%Y%m%d%H%M%S%f")
        note = CollectionNote(self._options.url, f"{alias}-{made_at}-{secrets.token_hex(4)}", alias)
        with TemporaryDirectory() as folder:
            store = QdrantStore(Path(folder), note, self._server, self._options, weighs=False)
            try:
                store.create()
                yield store
            except BaseException:
                with suppress(CqmError):
                    store.drop()
                raise
            # If this fails, the alias may stand for it: it goes with an older one's deletion.
            store.publish()

    def find(self) -> str:
        """Return the present collection of the name.

        Raises:
            StoreError: there is no such base.
        """
        known = bases_on(self._server, self._options)
        if self._name not in known:
            remedy = f"There are: {', '.join(sorted(known))}." if known else "`cqm publish NAME` makes one."
            raise StoreError(f"There is no base {self._name} at {self._server}.", remedy=remedy)
        return known[self._name]

    def reader(self, collection: str) -> QdrantReader:
        """Return a reader of a collection of the base."""
        return QdrantReader(collection, self._server, self._options)

    def delete_older(self, keep: int) -> list[str]:
        """Delete all but the `keep` newest collections of the base; return their names. One just being made stays."""
        now = self.find()
        of_base = re.compile(f"{re.escape(self._alias)}-[0-9]{{20}}-[0-9a-f]{{8}}")
        answer = self._server.ask("looked at", lambda client: client.get_collections())
        older = sorted(it.name for it in answer.collections if of_base.fullmatch(it.name) and it.name < now)
        obsolete = older[: max(0, len(older) + 1 - keep)]
        for collection in obsolete:
            self._server.ask("deleted", partial(_deleted, collection))
        return obsolete


def bases_on(server: QdrantServer, options: StoreOptions) -> dict[str, str]:
    """Return the collections of bases, by their names."""
    answer, begin = server.ask("looked at", lambda client: client.get_aliases()), _beginning(options)
    return {
        it.alias_name.removeprefix(begin): it.collection_name
        for it in answer.aliases
        if it.alias_name.startswith(begin)
    }


def _beginning(options: StoreOptions) -> str:
    """Return the beginning of all aliases of bases. No index has such a one: there "-" stands behind the prefix."""
    return f"{options.prefix}_base-"


def _deleted(collection: str, client: "QdrantClient") -> bool:
    return client.delete_collection(collection)


def put_parts(store: QdrantStore, file: IO[bytes]) -> int:
    """Write a file into a base; return the number of its parts."""
    number = 0
    points = map(_part, count(), iter(partial(file.read, _PART_BYTES), b""))
    while some := [*islice(points, _PARTS_AT_ONCE)]:
        store.upsert(some)
        number += len(some)
    return number


def _part(number: int, content: bytes) -> Point:
    return Point(_part_id(number), {"path": "", _BYTES: base64.b64encode(content).decode("ascii")}, {})


def parts(base: QdrantReader) -> Iterator[bytes]:
    """Yield the parts of the file in a base; they may differ from the bytes written.

    Raises:
        StoreError: they cannot be read.
        ValueError: one is no part of a file.
    """
    for start in range(0, _MOST_PARTS, _PARTS_AT_ONCE):
        wanted = [_part_id(number) for number in range(start, start + _PARTS_AT_ONCE)]
        payloads = base.payloads(wanted, [_BYTES])
        for name in wanted:
            if name not in payloads:
                return
            content = base64.b64decode(str(payloads[name].get(_BYTES, "")), validate=True)
            if not 0 < len(content) <= _PART_BYTES:
                raise ValueError("a part has another size")
            yield content


def _part_id(number: int) -> str:
    return UUID(int=_FIRST_PART + number).hex
