"""Keep the memory of an index small while it grows: move its points into parts mapped from disk.

A full layer becomes a part of the base under a new, empty layer, in no time. The update goes on, while another process
writes the part in mapped form; see `freezing`.
"""

import logging
import shutil
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial

from cqm.index.disk.durable import require_room, sync_folder
from cqm.index.disk.size import size_on_disk
from cqm.index.generations.freezing import COPY, GRAPH_FROM, copy_to, freeze_copy
from cqm.index.generations.generation import Generation
from cqm.index.model.errors import StoreError
from cqm.index.remote.deadline import StoppedError
from cqm.index.store.collection import read_frozen, write_note
from cqm.index.store.edge import EdgeStore
from cqm.index.store.frequencies import write_frequencies
from cqm.index.store.frozen import FIRST_LAYER, WORK_FOLDER, FrozenNote, FrozenPart, Parts, parts_of
from cqm.index.store.layered import LayeredStore
from cqm.index.store.open import open_frozen

FULL_FROM = 100_000
"""Points of a full layer. They take .5 GB, and the process writing the part 1.1 GB of its own for a minute."""
WORTH_FROM = 25_000
"""Least points written by an update before a layer becomes a part, and least points of the last such layer."""
_log = logging.getLogger(__name__)


class Growing:
    """The growth of a generation during one update. The writing thread uses it, and closes it at the end.

    Parameters:
        generation: takes the points. Its store is replaced as it grows.
        cancelled: true leaves a part being written in its original form.
    """

    def __init__(self, generation: Generation, cancelled: Callable[[], bool]) -> None:
        self._generation = generation
        self._cancelled = cancelled
        self._threads = ThreadPoolExecutor(1, "cqm-growing")
        self._writing: Future[FrozenNote] | None = None
        self._part = ""
        self._retired: list[str] = []
        self._written = 0
        self._is_over = False

    def close(self) -> None:
        """Stop writing; an unfinished part keeps its original form, for `freezing`."""
        self._is_over = True
        self._threads.shutdown()

    def wrote(self, points: int) -> None:
        """Note written points, and let a full layer become a part. Call it between two writes.

        Parameters:
            points: since the last call. An update with few of them changes nothing.
        """
        self._written += points
        if self._writing and self._writing.done():
            self._step(self._take)
        if self._written >= WORTH_FROM and self._holds(FULL_FROM):
            self._step(self._grow)

    def finish(self) -> None:
        """Wait until all parts of a base are mapped; the last layer becomes one too, unless it is small."""
        if isinstance(self._generation.store, LayeredStore) and self._written >= WORTH_FROM:
            if self._holds(WORTH_FROM):
                self._step(self._grow)
            if self._writing:
                self._step(self._take)

    def _step(self, step: Callable[[], None]) -> None:
        """Take a step, which an update doesn't need: where it fails, the index is as it was."""
        if self._is_over:
            return
        try:
            step()
        except StoppedError:
            self._is_over = True
        except (StoreError, OSError) as error:
            self._is_over = True
            _log.warning("The index in %s stays in memory: %s", self._generation.place.parent, error)

    def _holds(self, points: int) -> bool:
        """Whether memory holds so many points, with a base that stays unchanged without them."""
        store = self._generation.store
        if isinstance(store, LayeredStore):
            return store.in_folder and store.changes >= points and not store.hidden
        return isinstance(store, EdgeStore) and store.count() >= points

    def _grow(self) -> None:
        if self._writing:
            self._take()
        self._generation.settle()
        store = self._generation.store
        if isinstance(store, LayeredStore) and isinstance(store.note, FrozenNote):
            self._join(store, store.note)
            has_graph = store.note.points >= GRAPH_FROM
            self._writing = self._threads.submit(partial(self._write, self._part, has_graph=has_graph))
        elif isinstance(store, EdgeStore):
            self._begin(store)

    def _begin(self, store: EdgeStore) -> None:
        """Put a first base under the index. It weighs words by itself, so it waits until this is written."""
        place, manifest = self._generation.place, self._generation.manifest
        made = self._write(FIRST_LAYER)
        note = FrozenNote(made.parts, f"{FIRST_LAYER}-{made.number}", made.frequencies)
        for former, name in (
            *((part.folder, part.folder) for part in made.parts),
            (made.layer, note.layer),
            (made.frequencies, note.frequencies),
        ):
            (place / WORK_FOLDER / former).rename(place / name)
        self._note(note)
        layered = open_frozen(place, manifest.settling, is_settled=True)
        layered.load()
        self._generation.store = layered
        self._retire(store, FIRST_LAYER)

    def _join(self, store: LayeredStore, note: FrozenNote) -> None:
        """Make the layer a part of the base, under a new one."""
        place, spaces, counted = self._generation.place, self._generation.dimensions(), store.counted()
        self._part = note.layer
        part = FrozenPart(note.layer, tuple(spaces), store.changes)
        names = (f"{FIRST_LAYER}-{note.number}", f"frequencies-{note.number}.jsonl")
        joined = FrozenNote((*note.parts, part), *names)
        layer = EdgeStore(place / joined.layer, self._generation.manifest.settling, weighs=False)
        layer.create(spaces)
        layer.flush()
        write_frequencies(place / joined.frequencies, counted)
        self._note(joined)
        base = parts_of(place, joined, _shards(store) | {note.layer: store.layer})
        self._generation.store = store.begun_over(joined, base, layer, counted)
        (place / note.frequencies).unlink(missing_ok=True)

    def _write(self, folder: str, *, has_graph: bool = False) -> FrozenNote:
        """Write a copy of a shard in the form that is mapped; return the note of what is in the work folder then."""
        place, work = self._generation.place, self._generation.place / WORK_FOLDER
        require_room(place, 3 * size_on_disk(place / folder))
        shutil.rmtree(work, ignore_errors=True)
        copy_to(work, place, [folder])
        (work / COPY / folder).rename(work / COPY / FIRST_LAYER)
        freeze_copy(
            work,
            self._generation.dimensions(),
            lambda: self._is_over or self._cancelled(),
            has_graph=has_graph,
            is_awaited=True,
        )
        made = read_frozen(work)
        if made is None:
            raise StoreError(f"{work} has lost its note.")
        return made

    def _take(self) -> None:
        """Replace a part by its mapped form."""
        writing, self._writing = self._writing, None
        store, place = self._generation.store, self._generation.place
        if writing is None or not isinstance(store, LayeredStore) or not isinstance(store.note, FrozenNote):
            return
        made, note, moved = writing.result(), store.note, []
        for number, part in enumerate(made.parts, note.number):
            moved.append(replace(part, folder=f"base-{number}"))
            (place / WORK_FOLDER / part.folder).rename(place / moved[-1].folder)
        taken = replace(note, parts=(*(part for part in note.parts if part.folder != self._part), *moved))
        self._note(taken)
        known = _shards(store)
        former = known.pop(self._part)
        base = parts_of(place, taken, known)
        for part in moved:
            base.by_folder[part.folder].load()
        self._generation.store = store.moved_under(taken, base)
        self._retire(former, self._part)

    def _note(self, note: FrozenNote) -> None:
        """Write the note once everything named in it is on disk: it defines the index from now on."""
        sync_folder(self._generation.place)
        write_note(self._generation.place, note)

    def _retire(self, shard: EdgeStore, folder: str) -> None:
        """Close a shard. Its folder is deleted with the next one: a running search may still open it."""
        place = self._generation.place
        shard.rest(0)
        for name in (*self._retired, WORK_FOLDER):
            shutil.rmtree(place / name, ignore_errors=True)
        self._retired = [folder]


def _shards(store: LayeredStore) -> dict[str, EdgeStore]:
    return dict(store.base.by_folder) if isinstance(store.base, Parts) else {}
