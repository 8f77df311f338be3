"""Chunking in a process that runs for weeks."""

import gc
import tracemalloc

import pytest

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import Document

SOURCE = "\n\n".join(f"def function_{n}(value):\n    return value + {n}" for n in range(1000))


@pytest.mark.long
def test_a_source_that_was_chunked_is_not_kept_in_memory() -> None:
    chunk(Document("warm.py", SOURCE))
    tracemalloc.start()
    try:
        # A collection also empties the interpreter's lists of free tuples.
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(20):
            chunk(Document("again.py", SOURCE))
        gc.collect()
        kept = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert kept < len(SOURCE)
