"""Indexes of one process have workers of their own from one process that forks them."""

import os
import select
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

import pytest
import worker_actions
from worker_actions import Task, work

from cqm.index.model.errors import WorkerError
from cqm.index.workers import Job, Workers, kept_warm

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="without fork each worker is a process of its own"),
]

JOB = Job(work, str, lambda task: len(task.argument), lambda task, reason: f"{task.name}: {reason}")

Open = Callable[[], Workers]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Open]:
    """Opens workers of another index."""
    # Also no test elsewhere has the same variables, and so the same process.
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path(worker_actions.__file__).parent), str(tmp_path)]))
    with ExitStack() as stack:
        yield lambda: stack.enter_context(Workers(1, tmp_path))


def outcome(workers: Workers, *task: str) -> str:
    [[result]] = workers.run(JOB, [Task(*task)])
    return result


def lives(process: str) -> bool:
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    return True


def test_two_indexes_have_other_workers_of_the_same_process(opened: Open) -> None:
    one, other = opened(), opened()
    assert outcome(one, "parent") == outcome(other, "parent")
    assert outcome(one, "pid") != outcome(other, "pid")


def test_an_index_that_is_closed_takes_its_own_workers_with_it(opened: Open) -> None:
    one, other = opened(), opened()
    ended, stays = outcome(one, "pid"), outcome(other, "pid")
    one.close()
    assert not lives(ended)
    assert outcome(other, "pid") == stays


def test_the_last_index_ends_the_process(opened: Open) -> None:
    one, other = opened(), opened()
    process = outcome(one, "parent")
    outcome(other, "say")
    one.close()
    assert lives(process)
    other.close()
    assert not lives(process)


def test_indexes_go_on_when_the_process_is_killed(opened: Open) -> None:
    one, other = opened(), opened()
    process = outcome(one, "parent")
    outcome(other, "say")
    os.kill(int(process), signal.SIGKILL)
    # They take no task that is lost with the process itself, but a new worker of another one.
    one.end_idle()
    other.end_idle()
    assert outcome(one, "say", "one") == "one"
    assert outcome(other, "say", "other") == "other"
    assert outcome(one, "parent") == outcome(other, "parent") != process


def test_rules_that_one_index_loads_serve_the_next(opened: Open) -> None:
    token = "ghp_" + "a8Xk2mQ9zR4tV7wY1bN6cJ3pL5sD0fGhK2eU"
    one, other = opened(), opened()
    assert outcome(one, "say", "without") == "without"
    other.warm()
    assert outcome(other, "find", token) == "1"
    assert outcome(one, "find", token) == "1"


def test_other_variables_have_another_process(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    one = opened()
    process = outcome(one, "parent")
    monkeypatch.setenv("LANG", "of another")
    other = opened()
    assert outcome(other, "key", "LANG") == "of another"
    assert outcome(other, "parent") != process


def test_the_process_is_kept_between_indexes_when_that_is_asked_for(opened: Open) -> None:
    with kept_warm(), kept_warm():
        one = opened()
        process = outcome(one, "parent")
        one.close()
        assert lives(process)
        next_one = opened()
        assert outcome(next_one, "parent") == process
        next_one.close()
    assert not lives(process)


def test_many_threads_ask_for_workers_at_once(opened: Open) -> None:
    many = [opened() for _ in range(8)]
    with ThreadPoolExecutor(8) as threads:
        found = [*threads.map(lambda workers: [outcome(workers, "pid") for _ in range(5)], many)]
    assert [len({*pids}) for pids in found] == [1] * 8
    assert len({pids[0] for pids in found}) == 8


def test_an_index_that_is_closed_gets_no_worker(opened: Open) -> None:
    one, other = opened(), opened()
    outcome(other, "say")
    one.close()
    with pytest.raises(WorkerError):
        outcome(one, "say")


@pytest.mark.skipif(sys.platform != "linux", reason="the state of a process is read from /proc")
@pytest.mark.parametrize(
    ("whose", "number"), [("pid", signal.SIGKILL), ("pid", signal.SIGTERM), ("parent", signal.SIGKILL)]
)
def test_a_task_whose_worker_was_killed_from_outside_was_lost(
    opened: Open, tmp_path: Path, whose: str, number: signal.Signals
) -> None:
    os.mkfifo(tmp_path / "pipe")
    workers = opened()
    worker, killed = outcome(workers, "pid"), outcome(workers, whose)
    with ThreadPoolExecutor(1) as thread:
        asked = thread.submit(outcome, workers, "read", str(tmp_path / "pipe"))
        with (tmp_path / "pipe").open("wb", buffering=0) as pipe:
            # The worker reads now.
            ended = os.pidfd_open(int(worker))
            os.kill(int(killed), number)
            select.select([ended], [], [])
            os.close(ended)
            while not asked.done():
                # Refused until the next worker reads.
                with suppress(BrokenPipeError):
                    pipe.write(b"read again")
                    break
        assert asked.result() == "read again"


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (signal.SIGKILL, "lost: its process was ended, as a system does that is short of memory"),
        (signal.SIGTERM, "ended: its process was ended from outside (SIGTERM)"),
    ],
)
def test_a_task_that_is_killed_twice_in_a_row_is_given_up_only_where_memory_may_be_the_reason(
    opened: Open, number: signal.Signals, said: str
) -> None:
    job = replace(JOB, lost=lambda _, reason: f"lost: {reason}", ended=lambda _, reason: f"ended: {reason}")
    assert [*opened().run(job, [Task("die", str(int(number))), Task("say", "next")])] == [[said, "next"]]
