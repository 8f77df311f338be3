"""What ranking needs of the chunks and files that searches find, kept in memory between searches.

Reading it costs more than everything else in a search but the searches themselves, and most chunks that answer one
question were candidates for another. It holds what the manifest holds: a chunk whose file was written since is read
anew.
"""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import fields
from itertools import islice
from typing import TypeVar

from cqm.index.manifest import Manifest
from cqm.index.rank import Candidate
from cqm.index.store import Store

T = TypeVar("T")

_MOST = 1 << 17
"""Chunks, and files, that are kept: some 500 bytes each."""
_COLUMNS = tuple(field.name for field in fields(Candidate) if field.init)


class Candidates:
    """The chunks and files of an opened generation. Its methods may be called from any thread.

    Parameters:
        manifest, store: of the generation.
    """

    def __init__(self, manifest: Manifest, store: Store) -> None:
        self._manifest = manifest
        self._store = store
        self._lock = threading.Lock()
        self._chunks: dict[str, tuple[Candidate, int]] = {}
        self._paths: dict[str, str] = {}

    def of(self, ids: Iterable[str]) -> list[Candidate]:
        """The chunks by id; ids that no committed file has are left out."""
        found, unknown = [], []
        written = self._manifest.written_at
        for name in ids:
            candidate, read_at = self._chunks.get(name, _NONE)
            if candidate is not None and written.get(candidate.path, 0) <= read_at:
                found.append(candidate)
            else:
                unknown.append(name)
        return found + self._read(unknown) if unknown else found

    def _read(self, ids: Sequence[str]) -> list[Candidate]:
        # Taken before the rows: what is written in between is newer than it is said to be, and read once more.
        read_at = self._manifest.commits
        read = [Candidate(*row) for row in self._manifest.columns_of(ids, _COLUMNS)]
        with self._lock:
            _make_room(self._chunks, len(read))
            self._chunks.update((candidate.id, (candidate, read_at)) for candidate in read)
        return read

    def paths(self, ids: Sequence[str]) -> dict[str, str]:
        """The paths of files by the ids of their points, which are hashes of them: this never ages."""
        unknown = [name for name in ids if name not in self._paths]
        if unknown:
            read = {name: str(held["path"]) for name, held in self._store.payloads(unknown, ["path"]).items() if held}
            with self._lock:
                _make_room(self._paths, len(read))
                self._paths.update(read)
        known = ((name, self._paths.get(name)) for name in ids)
        return {name: path for name, path in known if path is not None}


_NONE: tuple[None, int] = (None, 0)


def _make_room(kept: dict[str, T], count: int) -> None:
    """Drop what came first."""
    for name in [*islice(kept, max(0, len(kept) + count - _MOST))]:
        del kept[name]
