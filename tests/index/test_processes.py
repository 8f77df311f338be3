"""Work spread over processes, one of which may die."""

import os
from operator import index as size_of

from cqm.index.processes import spread

LARGE = 1_000_000
DEADLY = LARGE + 7


def work(size: int) -> tuple[int, str]:
    if size == DEADLY:
        os._exit(3)
    return size, "done"


def lost(size: int) -> tuple[int, str]:
    return size, "lost"


def outcomes(tasks: list[int], workers: int) -> list[tuple[int, str]]:
    return sorted(result for batch in spread(tasks, size_of, work, lost, workers) for result in batch)


def test_little_work_is_done_in_this_process() -> None:
    found = [
        result
        for batch in spread([1, 2, 3], size_of, lambda size: (size, os.getpid()), lambda _: (0, 0), 2)
        for result in batch
    ]
    assert found == [(size, os.getpid()) for size in (1, 2, 3)]


def test_all_of_much_work_is_done_once() -> None:
    tasks = [LARGE + number for number in range(6)] + list(range(250))
    assert outcomes(tasks, 2) == sorted((size, "done") for size in tasks)


def test_only_the_task_that_kills_its_process_is_lost() -> None:
    tasks = [LARGE, LARGE + 1, DEADLY, LARGE + 2, LARGE + 3]
    expected = sorted((size, "lost" if size == DEADLY else "done") for size in tasks)
    assert outcomes(tasks, 2) == expected
