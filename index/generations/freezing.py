"""Freeze a large index: move its points to a read-only base mapped from disk, under a new, empty layer.

A shard open to changes holds its words in memory, 3.2 KB a chunk; a base holds .15 KB of one. Another process writes
the base, from a copy: Edge keeps the interpreter's lock meanwhile, and searches and updates go on here.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from cqm.chunkers.errors import CqmError
from cqm.index.disk.durable import require_room
from cqm.index.disk.size import size_on_disk
from cqm.index.generations.folders import manifest_path
from cqm.index.manifest.facts import COMPLETE_FACT
from cqm.index.model.errors import StoreError
from cqm.index.remote.deadline import StoppedError
from cqm.index.store.base import Point
from cqm.index.store.collection import FROZEN_FILE, read_frozen, write_note
from cqm.index.store.edge import EdgeStore
from cqm.index.store.frequencies import Counting, TermCounts, write_frequencies
from cqm.index.store.frozen import FIRST_LAYER, FrozenNote, FrozenPart, Parts, parts_of
from cqm.index.store.layered import LayeredStore
from cqm.index.store.open import open_frozen
from cqm.index.workers.forking import child_environment

if TYPE_CHECKING:
    from cqm.index.generations.generation import Generation

FROZEN_FROM = 50_000
"""Points of an index worth freezing: its words take 150 MB by then."""
FROZEN_AGAIN_FROM = 25_000
"""Changes over a base worth a new base: they take 80 MB, and the first question 1.3 s to read them."""
PART_POINTS = 1 << 17
"""Points of a part of a base. To read and write 100,000 took 1.1 GB of a process's own memory."""
GRAPH_FROM = 300_000
"""Chunks of an index from which new parts of its base have a graph: without one 100,000 take 1 to 2 ms a question."""
COPY = "copy"
_GRAPH, _AWAITED = "graph", "awaited"
_FREQUENCIES = "frequencies-1.jsonl"
_BYTES_TO_READ, _BYTES_TO_WRITE = 5_600, 9_500
"""Memory of the process for a point of a shard read, and of a part written: from 7.9 GB for 1,395,281 chunks opened,
and 2.1 GB for 266,317 both read and written, and a fifth more."""
_LOOK_SECONDS = 0.2
_NICE = 19
_Writer = Callable[[Iterator[list[Point]], int], Iterator[FrozenPart]]


def can_be_frozen(generation: "Generation") -> bool:
    """Whether a generation is large enough to be frozen, or was frozen before."""
    store = generation.store
    if isinstance(store, LayeredStore):
        return store.in_folder
    return isinstance(store, EdgeStore) and store.count() >= FROZEN_FROM


def should_be_frozen(generation: "Generation") -> bool:
    """Whether a complete generation holds enough in memory for freezing to pay.

    Raises:
        StoreError: its store cannot be read.
    """
    if not (generation.manifest.fact(COMPLETE_FACT) and can_be_frozen(generation)):
        return False
    store = generation.store
    if not isinstance(store, LayeredStore) or store.changes >= FROZEN_AGAIN_FROM:
        return True
    # A stopped update leaves a part in its original form.
    return isinstance(store.note, FrozenNote) and any(not part.is_mapped for part in store.note.parts)


def copy_source(source: "Generation", place: Path) -> dict[str, int]:
    """Copy the files to freeze into the folder of a new generation. Nothing may change the source meanwhile.

    Returns:
        The dimensions of its vectors, by their names in the store.

    Raises:
        StoreError: it is not complete, or cannot be read or copied, or the disk or the memory has too little room.
    """
    if not source.manifest.fact(COMPLETE_FACT):
        raise StoreError(f"The index in {source.place.parent} is not complete.", remedy="Run `cqm index` first.")
    source.settle()
    _require_memory(source)
    require_room(source.place, 3 * size_on_disk(source.place))
    note = read_frozen(source.place)
    parts = [part.folder for part in note.parts] if note else []
    copy_to(place, source.place, [*parts, note.layer, note.frequencies, FROZEN_FILE] if note else [FIRST_LAYER])
    source.manifest.copy_to(manifest_path(place.parent, place.name))
    return source.dimensions()


def copy_to(place: Path, source: Path, names: Sequence[str]) -> None:
    """Copy folders and files of a generation for `freeze_copy`.

    Raises:
        StoreError: they cannot be read or written.
    """
    try:
        (place / COPY).mkdir(mode=0o700, parents=True)
        for name in names:
            copy = shutil.copytree if (source / name).is_dir() else shutil.copyfile
            copy(source / name, place / COPY / name)
    except (OSError, shutil.Error) as error:
        raise StoreError(f"{place} cannot be written: {error}.", remedy="Free space.") from error


def _require_memory(source: "Generation") -> None:
    """Refuse where the process would not fit, if the system tells; only Linux does.

    Raises:
        StoreError: too little is free.
    """
    held = source.store.changes if isinstance(source.store, LayeredStore) else source.manifest.chunk_count()
    needed = _BYTES_TO_READ * held + _BYTES_TO_WRITE * min(PART_POINTS, source.manifest.chunk_count())
    with suppress(OSError), Path("/proc/meminfo").open(encoding="ascii") as told:
        free = next((int(line.split()[1]) * 1024 for line in told if line.startswith("MemAvailable:")), needed)
        if free < needed:
            message = f"Freezing the index in {source.place.parent} takes {needed >> 20:,} MB of memory for a while"
            raise StoreError(f"{message}, and {free >> 20:,} are free.", remedy="Close other programs.", retryable=True)


def freeze_copy(
    place: Path,
    spaces: Mapping[str, int],
    cancelled: Callable[[], bool],
    *,
    has_graph: bool = False,
    is_awaited: bool = False,
) -> None:
    """Freeze the copy in the folder of a new generation, in a process of its own.

    Parameters:
        place: as `copy_source` left it.
        spaces: dimensions of the vectors by the names of their spaces.
        cancelled: asked again and again; when it answers true, the process is killed.
        has_graph: whether new parts get one; see `GRAPH_FROM`.
        is_awaited: whether an update waits for it; otherwise it leaves the processors to others.

    Raises:
        StoreError: it cannot be made.
        StoppedError: it was cancelled.
    """
    # -P and another folder: nothing is imported from where this process works, which is a stranger's.
    command = [sys.executable, "-P", "-m", "cqm.index.generations.freezing"]
    command += [str(place.absolute()), json.dumps(spaces), *[_GRAPH] * has_graph, *[_AWAITED] * is_awaited]
    # It ends when its input does: with this process.
    with subprocess.Popen(
        command,
        cwd=Path(sys.executable).anchor,
        env=child_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            while process.poll() is None and not cancelled():
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_LOOK_SECONDS)
        finally:
            is_stopped = process.poll() is None
            process.kill()
        if is_stopped:
            raise StoppedError
        if process.returncode:
            told = process.stderr.read().decode(errors="replace").strip().splitlines() if process.stderr else []
            raise StoreError(f"The index in {place.parent} cannot be written anew: {told[-1] if told else 'killed'}.")


def _freeze(place: Path, spaces: Mapping[str, int], has_graph: bool) -> None:  # noqa: FBT001 - private
    """Write base, frequencies, note and an empty layer from the copy, which goes.

    Raises:
        StoreError, DamagedIndexError: they cannot be written, or the copy cannot be read.
    """
    note = read_frozen(place / COPY)
    write = partial(_written, place, spaces, has_graph)
    parts, counted = _merged(place, note, write) if note else _filled(place, write)
    write_frequencies(place / _FREQUENCIES, counted)
    layer = EdgeStore(place / FIRST_LAYER, weighs=False)
    with closing(layer):
        layer.create(spaces)
    write_note(place, FrozenNote(tuple(parts), FIRST_LAYER, _FREQUENCIES))
    shutil.rmtree(place / COPY)


def _filled(place: Path, write: _Writer) -> tuple[list[FrozenPart], Mapping[str, TermCounts]]:
    """Write all points of the copied shard into new parts; return these, and how frequent their words are."""
    source, counting = EdgeStore(place / COPY / FIRST_LAYER), Counting()
    source.load()

    def counted() -> Iterator[list[Point]]:
        for points in source.batches():
            counting.add(points)
            yield points

    with closing(source):
        parts = [*write(counted(), 1)]
    return parts, counting.counted()


def _merged(place: Path, note: FrozenNote, write: _Writer) -> tuple[list[FrozenPart], Mapping[str, TermCounts]]:
    """Write the changes of the copied layer into the copied base, whose parts go on; and what is no mapped part yet."""
    for part in note.parts:
        (place / COPY / part.folder).rename(place / part.folder)
    base = parts_of(place, note)
    former = open_frozen(place / COPY, base=base)
    former.load()
    with closing(former):
        hidden = former.hidden
        parts = [replace(part, points=part.points - _forget(base, part, hidden)) for part in note.parts]
        anew = [part for part in parts if not part.is_mapped]
        mapped = sorted((part for part in parts if part not in anew), key=lambda part: part.points)
        if mapped and mapped[0].points + former.changes <= PART_POINTS:
            anew.append(mapped.pop(0))
        batches = chain(former.live(), *(base.by_folder[part.folder].batches() for part in anew))
        written = [*write(batches, note.number)]
        counted = former.counted()
    for part in anew:
        shutil.rmtree(place / part.folder)
    return [*mapped, *written], counted


def _forget(base: Parts, part: FrozenPart, hidden: Sequence[str]) -> int:
    """Delete points hidden by a layer from a part; return their number."""
    shard = base.by_folder[part.folder]
    if gone := [*shard.payloads(hidden, ["path"])]:
        shard.delete(gone)
        shard.optimize()
    return len(gone)


def _written(
    place: Path,
    spaces: Mapping[str, int],
    has_graph: bool,  # noqa: FBT001 - private
    batches: Iterator[list[Point]],
    number: int,
) -> Iterator[FrozenPart]:
    """Write points into as many new parts as they need, one after the other."""
    while some := next(batches, None):
        folder, points = f"base-{number}", 0
        part = EdgeStore(place / folder, weighs=False, is_base=True, has_graph=has_graph)
        with closing(part):
            part.create(spaces)
            while some:
                part.upsert(some)
                points += len(some)
                some = next(batches, None) if points < PART_POINTS else None
            part.optimize()
        yield FrozenPart(folder, tuple(spaces), points)
        number += 1


def _end_with_input() -> None:
    sys.stdin.buffer.read()
    os._exit(1)


def main() -> int:
    """Freeze the copy in the folder of the first argument; return the exit code. See `freeze_copy`."""
    folder, spaces, *flags = sys.argv[1:]
    if hasattr(os, "nice") and _AWAITED not in flags:
        os.nice(_NICE)
    Thread(target=_end_with_input, daemon=True).start()
    try:
        _freeze(Path(folder), json.loads(spaces), _GRAPH in flags)
    except (CqmError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    # The thread waits for input, and would hold up an orderly end.
    code = main()
    sys.stderr.flush()
    os._exit(code)
