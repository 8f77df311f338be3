"""Work on many files spread over processes: a file that kills its process (a parser that crashes) fails alone."""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")

# A worker takes about half a second of CPU to start; below this many bytes that is not worth it.
_PARALLEL_FROM_BYTES = 4_000_000
_BATCH_BYTES = 500_000
_BATCH_FILES = 100


def spread(
    tasks: Sequence[Task],
    size_of: Callable[[Task], int],
    work: Callable[[Task], Result],
    lost: Callable[[Task], Result],
    workers: int,
) -> Iterator[list[Result]]:
    """The results of all tasks, in batches as they are ready: from this process when there is little to do.

    Parameters:
        tasks: one for each file.
        size_of: a task's file in bytes.
        work: done in the workers, so that it and its results must be picklable; never raises.
        lost: the result for a task whose process died.
        workers: processes; 1 for this one.
    """
    batches = list(_batches(tasks, size_of))
    if workers == 1 or sum(map(size_of, tasks)) < _PARALLEL_FROM_BYTES:
        yield from ([work(task) for task in batch] for batch in batches)
        return
    yield from _in_processes(batches, work, lost, workers)


def _batches(tasks: Sequence[Task], size_of: Callable[[Task], int]) -> Iterator[list[Task]]:
    batch: list[Task] = []
    size = 0
    for task in tasks:
        if batch and (len(batch) >= _BATCH_FILES or size + size_of(task) > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(task)
        size += size_of(task)
    if batch:
        yield batch


def _in_processes(
    batches: list[list[Task]], work: Callable[[Task], Result], lost: Callable[[Task], Result], workers: int
) -> Iterator[list[Result]]:
    pool = _pool(workers)
    waiting = deque(batches)
    running: deque[tuple[list[Task], Future[list[Result]]]] = deque()
    try:
        while waiting or running:
            try:
                # Twice the workers: enough to keep them busy, few enough that results don't pile up in memory.
                while waiting and len(running) < 2 * workers:
                    running.append((waiting[0], pool.submit(_worked, waiting[0], work)))
                    waiting.popleft()
                results = running[0][1].result()
            except BrokenProcessPool:
                pool.shutdown(wait=False, cancel_futures=True)
                pool = _pool(workers)
                broken = [task for batch, _ in running for task in batch]
                running.clear()
                yield from ([_worked_apart(task, work, lost)] for task in broken)
            else:
                running.popleft()
                yield results
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _pool(workers: int) -> ProcessPoolExecutor:
    # "spawn": a forked child of a process with threads (a server's) can hang on a lock that no thread of its own holds.
    return ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_end_with_parent)


def _end_with_parent() -> None:
    """Have this worker end when its parent is killed: it would wait for work for ever."""
    if parent := parent_process():
        Thread(target=_end_after, args=(parent.join,), name="parent", daemon=True).start()


def _end_after(wait: Callable[[], None]) -> None:
    wait()
    os._exit(1)


def _worked(batch: list[Task], work: Callable[[Task], Result]) -> list[Result]:
    return [work(task) for task in batch]


def _worked_apart(task: Task, work: Callable[[Task], Result], lost: Callable[[Task], Result]) -> Result:
    """Do one task in a process of its own, which it may kill."""
    with _pool(1) as pool:
        try:
            return pool.submit(work, task).result()
        except BrokenProcessPool:
            return lost(task)
