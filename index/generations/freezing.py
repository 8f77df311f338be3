"""Freeze a large index: its points go to a base that is mapped from disk and only read, under a new, empty layer.

A shard that takes changes holds its words in memory, 3.2 KB a chunk; a base holds .15 KB of one. A process of its own
writes it, from a copy: Edge keeps the interpreter's lock meanwhile, and searches and updates go on here.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from cqm.chunkers.errors import CqmError
from cqm.index.disk.durable import replace_file, require_room
from cqm.index.disk.size import size_on_disk
from cqm.index.generations.folders import manifest_path
from cqm.index.manifest.facts import COMPLETE_FACT
from cqm.index.model.errors import StoreError
from cqm.index.remote.deadline import StoppedError
from cqm.index.store.collection import FROZEN_FILE, FrozenNote, write_note
from cqm.index.store.edge import EdgeStore
from cqm.index.store.frequencies import Counting, TermCounts, frequency_lines
from cqm.index.store.layered import FREQUENCIES_FILE, LayeredStore
from cqm.index.store.open import FROZEN_FOLDER, open_frozen
from cqm.index.workers.forking import child_environment

if TYPE_CHECKING:
    from cqm.index.generations.generation import Generation

FROZEN_FROM = 50_000
"""Points from which an index is frozen: by then its words take 150 MB."""
FROZEN_AGAIN_FROM = 25_000
"""Changes over a base from which they go into a new one: so many take 80 MB, and the first question 1.3 s to read."""
_SHARD, _COPY = "shard", "copy"
_BYTES_A_CHUNK = 9_500
"""Memory of the process that freezes: 2.1 GB of its own for 266,317 chunks, measured, and a fifth more."""
_LOOK_SECONDS = 0.2
_NICE = 19


def can_be_frozen(generation: "Generation") -> bool:
    """Whether a generation is large enough to be frozen, or was frozen before."""
    store = generation.store
    if isinstance(store, LayeredStore):
        return store.in_folder
    return isinstance(store, EdgeStore) and store.count() >= FROZEN_FROM


def should_be_frozen(generation: "Generation") -> bool:
    """Whether a complete generation holds so much in memory that freezing pays.

    Raises:
        StoreError: its store cannot be read.
    """
    if not (generation.manifest.fact(COMPLETE_FACT) and can_be_frozen(generation)):
        return False
    return not isinstance(generation.store, LayeredStore) or generation.store.changes >= FROZEN_AGAIN_FROM


def copy_source(source: "Generation", place: Path) -> dict[str, int]:
    """Copy what is frozen into the folder of a new generation. Nothing may change the source meanwhile.

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
    names = [name for name in (_SHARD, FROZEN_FOLDER, FREQUENCIES_FILE, FROZEN_FILE) if (source.place / name).exists()]
    try:
        (place / _COPY).mkdir(mode=0o700, parents=True)
        for name in names:
            copy = shutil.copytree if (source.place / name).is_dir() else shutil.copyfile
            copy(source.place / name, place / _COPY / name)
    except (OSError, shutil.Error) as error:
        raise StoreError(f"{place} cannot be written: {error}.", remedy="Free space.") from error
    source.manifest.copy_to(manifest_path(place.parent, place.name))
    return source.dimensions()


def _require_memory(source: "Generation") -> None:
    """Refuse where the process would not fit, if the system tells; only Linux does.

    Raises:
        StoreError: too little is free.
    """
    needed = _BYTES_A_CHUNK * source.manifest.chunk_count()
    with suppress(OSError), Path("/proc/meminfo").open(encoding="ascii") as told:
        free = next((int(line.split()[1]) * 1024 for line in told if line.startswith("MemAvailable:")), needed)
        if free < needed:
            message = f"Freezing the index in {source.place.parent} takes {needed >> 20:,} MB of memory for a while"
            raise StoreError(f"{message}, and {free >> 20:,} are free.", remedy="Close other programs.", retryable=True)


def freeze_copy(place: Path, spaces: Mapping[str, int], cancelled: Callable[[], bool]) -> None:
    """Freeze the copy in the folder of a new generation, in a process of its own.

    Parameters:
        place: as `copy_source` left it.
        spaces: dimensions of the vectors by the names of their spaces.
        cancelled: asked again and again; when it answers true, the process is killed.

    Raises:
        StoreError: it cannot be made.
        StoppedError: it was cancelled.
    """
    # -P and another folder: nothing is imported from where this process works, which is a stranger's.
    command = [sys.executable, "-P", "-m", "cqm.index.generations.freezing", str(place), json.dumps(spaces)]
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


def _freeze(place: Path, spaces: Mapping[str, int]) -> None:
    """Write base, frequencies, note and an empty layer from the copy, which goes.

    Raises:
        StoreError, DamagedIndexError: they cannot be written, or the copy cannot be read.
    """
    copy = place / _COPY
    if (copy / FROZEN_FILE).exists():
        base, counted = _merged(place)
    else:
        base, counted = _filled(place, spaces)
    with closing(base):
        base.optimize()
        note = FrozenNote(tuple(spaces), base.count())
    replace_file(place / FREQUENCIES_FILE, "\n".join(line.decode() for line in frequency_lines(counted)))
    layer = EdgeStore(place / _SHARD, weighs=False)
    with closing(layer):
        layer.create(spaces)
    write_note(place, note)
    shutil.rmtree(copy)


def _filled(place: Path, spaces: Mapping[str, int]) -> tuple[EdgeStore, Mapping[str, TermCounts]]:
    """Return a new base with all points of the copy, and how frequent their words are."""
    source, counting = EdgeStore(place / _COPY / _SHARD), Counting()
    base = EdgeStore(place / FROZEN_FOLDER, weighs=False, is_base=True)
    base.create(spaces)
    source.load()
    with closing(source):
        for points in source.batches():
            counting.add(points)
            base.upsert(points)
    return base, counting.counted()


def _merged(place: Path) -> tuple[EdgeStore, Mapping[str, TermCounts]]:
    """Return the base of the copy with the changes of its layer, and how frequent the words are now."""
    (place / _COPY / FROZEN_FOLDER).rename(place / FROZEN_FOLDER)
    base = EdgeStore(place / FROZEN_FOLDER, weighs=False, is_base=True)
    former = open_frozen(place / _COPY, base=base)
    former.load()
    counted = former.merge_into(base)
    return base, counted


def _end_with_input() -> None:
    sys.stdin.buffer.read()
    os._exit(1)


def main() -> int:
    """Freeze the copy in the folder of the first argument, with the spaces of the second; return the exit code."""
    if hasattr(os, "nice"):
        os.nice(_NICE)
    Thread(target=_end_with_input, daemon=True).start()
    try:
        _freeze(Path(sys.argv[1]), json.loads(sys.argv[2]))
    except (CqmError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    # The thread waits for input, and would hold up an orderly end.
    code = main()
    sys.stderr.flush()
    os._exit(code)
