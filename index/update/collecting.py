"""Python's search for cycles, while an update makes many objects and hardly a cycle."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_OBJECTS = 50_000
"""New objects between two collections meanwhile, about 5 MB; as in the processes that parse."""

_lock = Lock()
_before: list[tuple[int, int, int]] = []
"""The thresholds of before, once for each update that runs; the last one to end gives back the first."""


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Look for cycles seldom during the block, in this whole process: it took a fifth of an update's time."""
    with _lock:
        _before.append(_before[0] if _before else gc.get_threshold())
        gc.set_threshold(_OBJECTS, *_before[0][1:])
    try:
        yield
    finally:
        with _lock:
            threshold = _before.pop()
            if not _before:
                gc.set_threshold(*threshold)
