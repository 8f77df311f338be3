"""Disposable workers: what they may reach and use, and what becomes of those that die."""

import os
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Semaphore, Thread
from threading import enumerate as threads

import pytest
import worker_actions
from worker_actions import Task, work

from cqm.chunkers.errors import ChunkOptionError
from cqm.index.manifest.rows import FileRow
from cqm.index.model.errors import WorkerError
from cqm.index.model.query import FileState
from cqm.index.workers import Job, Workers, forking, kept_warm, limits
from cqm.index.workers.forking import has_many_files
from cqm.index.workers.staff import Rest
from cqm.index.workers.wire import plain, restored

pytestmark = pytest.mark.processes

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="seccomp and Landlock are Linux's")

JOB = Job(work, str, lambda task: len(task.argument), lambda task, reason: f"{task.name}: {reason}")


@pytest.fixture(scope="module")
def actions() -> Iterator[None]:
    """Workers can import what they are to do; the process that forks them stays from test to test."""
    entries = [str(Path(worker_actions.__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PYTHONPATH", os.pathsep.join(entries))
        with kept_warm():
            yield


@pytest.fixture(params=[pytest.param(True, id="forked"), pytest.param(False, id="started anew")])
def workers(request: pytest.FixtureRequest, tmp_path: Path, actions: None) -> Iterator[Workers]:
    (tmp_path / "root").mkdir()
    with Workers(2, tmp_path / "root", forks=request.param) as opened:
        yield opened


def outcomes(workers: Workers, *tasks: Task) -> list[str]:
    return [result for batch in workers.run(JOB, tasks) for result in batch]


def test_results_come_in_the_order_of_the_tasks(workers: Workers) -> None:
    tasks = [Task("say", "x" * (number * 37_000 % 90_000) + str(number)) for number in range(150)]
    assert outcomes(workers, *tasks) == [task.argument for task in tasks]


def test_only_the_task_that_kills_its_worker_is_lost(workers: Workers) -> None:
    deadly = [Task("die", str(int(number))) for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL)]
    tasks = [it for number, task in enumerate(deadly) for it in (Task("say", f"before {number}"), task)]
    found = outcomes(workers, *tasks, Task("say", "after"))
    assert [text for text in found if not text.startswith("die")] == ["before 0", "before 1", "before 2", "after"]
    assert [text for text in found if text.startswith("die")] == [
        "die: its parser crashed (SIGSEGV)",
        "die: parsing it needed more than 400 MB, or its parser gave up",
        "die: its process was ended, as a system does that is short of memory",
    ]


def test_a_task_without_end_is_ended_and_named(workers: Workers) -> None:
    assert outcomes(workers, Task("spin"), Task("say", "next")) == ["spin: parsing it took longer than 3.0 s", "next"]


def test_a_task_cannot_take_all_memory(workers: Workers) -> None:
    found = outcomes(workers, Task("allocate", str(1 << 30)), Task("allocate", str(1 << 20)))
    assert found == ["allocate: parsing it needs more than 400 MB", str(1 << 20)]


@LINUX
def test_a_worker_reaches_nothing_but_the_project(workers: Workers, tmp_path: Path) -> None:
    tasks = [
        Task("connect"),
        Task("socket"),
        Task("run", "/bin/true"),
        Task("fork"),
        Task("read", "/etc/passwd"),
        Task("list", "/"),
        Task("list", str(Path.home())),
        Task("write", str(tmp_path / "was-here")),
        Task("kill parent", str(os.getpid())),
    ]
    for task, said in zip(tasks, outcomes(workers, *tasks), strict=True):
        assert said.startswith(f"{task.name}: Unexpected "), said
        assert "Permission" in said or "not permitted" in said, said


@LINUX
def test_a_worker_reads_the_project_and_changes_nothing_in_it(workers: Workers, tmp_path: Path) -> None:
    file = tmp_path / "root" / "a.txt"
    file.write_text("content")
    (tmp_path / "beside.txt").write_text("not yours")
    assert outcomes(workers, Task("read", str(file))) == ["content"]
    changes = [Task(it, str(file)) for it in ("write", "remove", "mode", "mark", "touch", "own")]
    for action in (*changes, Task("read", str(tmp_path / "beside.txt"))):
        assert "Permission" in outcomes(workers, action)[0] or "not permitted" in outcomes(workers, action)[0]
    assert file.read_text() == "content"


@LINUX
def test_a_worker_sets_no_limits_of_others_only_its_own(workers: Workers) -> None:
    others = [Task(action, str(os.getpid())) for action in ("limit", "signal", "pin", "be owned")]
    assert [said.partition(": ")[2] for said in outcomes(workers, *others)] == [
        "Unexpected PermissionError: [Errno 1] Operation not permitted."
    ] * len(others)
    own = outcomes(workers, Task("limit", "0"), Task("pin", "0"))
    assert "Unexpected" not in "".join(own)
    # `abort` sends a signal to its own thread.
    assert "crashed" in outcomes(workers, Task("die", str(int(signal.SIGTRAP))))[0]


def test_a_worker_still_loads_modules_of_python(workers: Workers) -> None:
    assert outcomes(workers, Task("import", "sqlite3"), Task("import", "pygments")) == ["sqlite3", "pygments"]


def test_a_worker_has_no_keys_and_never_the_working_folder_on_its_path(
    workers: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", ".", os.environ["PYTHONPATH"]]))
    monkeypatch.chdir(tmp_path)
    assert outcomes(workers, Task("key", "OPENAI_API_KEY"), Task("where")) == ["none", "/ False"]


def test_an_error_of_ours_arrives_as_it_was_raised(workers: Workers) -> None:
    with pytest.raises(ChunkOptionError, match="a message") as raised:
        workers.run_one(work, Task("refuse"), str, size=0)
    assert raised.value.remedy == "A remedy."
    assert outcomes(workers, Task("refuse")) == ["refuse: a message. A remedy."]


def test_a_worker_asks_its_parent_in_the_middle_of_a_task(workers: Workers) -> None:
    assert (
        workers.run_one(work, Task("ask", "how much?"), str, size=0, answer=lambda text: f"{text} 3") == "how much? 3"
    )


@pytest.mark.parametrize("error", [OSError("connection refused"), ValueError("no such text")])
def test_an_error_of_the_parents_answer_is_its_own_and_asked_for_once(workers: Workers, error: Exception) -> None:
    asked: list[object] = []

    def answer(question: object) -> str:
        asked.append(question)
        raise error

    with pytest.raises(type(error), match=str(error)):
        workers.run_one(work, Task("ask", "how much?"), str, size=0, answer=answer)
    assert asked == ["how much?"]
    assert outcomes(workers, Task("say", "well")) == ["well"]


def test_one_task_that_kills_its_worker_is_an_error_and_the_next_is_done(workers: Workers) -> None:
    with pytest.raises(WorkerError, match=r"could not be parsed: its parser crashed \(SIGSEGV\)"):
        workers.run_one(work, Task("die", str(int(signal.SIGSEGV))), str, size=0)
    assert workers.run_one(work, Task("say", "well"), str, size=0) == "well"


def test_workers_end_when_their_user_stops_early(workers: Workers) -> None:
    tasks = [Task("say", "x" * 100_000) for _ in range(40)]
    results = workers.run(JOB, tasks)
    next(results)
    results.close()
    assert outcomes(workers, Task("say", "again")) == ["again"]


def test_workers_go_on_while_results_are_stored(workers: Workers) -> None:
    is_heard = Event()

    def lost(task: Task, reason: str) -> str:
        is_heard.set()
        return JOB.lost(task, reason)

    # Each has a batch of its own, and the last one's is begun when the first results are taken.
    job = Job(work, str, lambda _: 200_000, lost)
    results = workers.run(job, [*[Task("say", "well")] * 4, Task("die", str(int(signal.SIGSEGV)))])
    assert next(results) == ["well"]
    assert is_heard.wait(240)
    assert [*results][-1] == ["die: its parser crashed (SIGSEGV)"]


def test_a_worker_that_stays_silent_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(worker_actions.__file__).parent))
    with Workers(1, tmp_path) as workers:
        [before] = outcomes(workers, Task("pid"))
        monkeypatch.setattr(limits, "WAIT_SECONDS", 1.0)
        workers.end_idle()
        assert outcomes(workers, Task("sleep")) == ["sleep: its parser did not answer for 4 s"]
        monkeypatch.undo()
        assert outcomes(workers, Task("pid")) != [before]


def test_a_worker_may_be_silent_for_all_the_time_that_its_file_has(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was ended after a minute, though a file of 40 MB has more of processor time alone."""
    monkeypatch.setattr(limits, "WAIT_SECONDS", 1.0)
    large = Job(work, str, lambda _: 4_000_000, JOB.lost)
    assert [*workers.run(large, [Task("pause", "2")])] == [["None"]]
    assert workers.run_one(work, Task("pause", "2"), str, size=4_000_000) == "None"


@pytest.fixture
def forked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Workers]:
    """Workers of a process that no other test has."""
    if not hasattr(os, "fork"):
        pytest.skip("nothing forks workers here")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path(worker_actions.__file__).parent), str(tmp_path)]))
    with Workers(2, tmp_path) as opened:
        yield opened


@contextmanager
def stopped(workers: Workers) -> Iterator[None]:
    """Let the process that forks workers hang; two workers are idle."""
    pause = Job(work, str, lambda _: 200_000, JOB.lost)
    assert len([*workers.run(pause, [Task("pause", "1")] * 2)]) == 2
    parent = int(workers.run_one(work, Task("parent"), str, size=0))
    os.kill(parent, signal.SIGSTOP)
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.kill(parent, signal.SIGCONT)


TOKEN = "ghp_" + "a8Xk2mQ9zR4tV7wY1bN6cJ3pL5sD0fGhK2eU"


def test_rules_that_cannot_be_loaded_are_no_result_of_a_file(forked: Workers, tmp_path: Path) -> None:
    """The file counted as one that its worker died of, and was not tried again."""
    (tmp_path / "kingfisher_sdk.py").write_text("raise ImportError('broken')\n")
    with pytest.raises(WorkerError):
        outcomes(forked, Task("find", TOKEN), Task("say", "after"))
    (tmp_path / "kingfisher_sdk.py").unlink()
    assert outcomes(forked, Task("find", TOKEN)) == ["1"]


def test_a_process_that_hangs_while_it_loads_rules_is_replaced(
    forked: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forking, "_PATIENCE_SECONDS", 25.0)
    with stopped(forked):
        assert outcomes(forked, Task("find", TOKEN), Task("say", "after")) == ["1", "after"]


def test_an_idle_worker_is_taken_while_rules_are_loaded(forked: Workers) -> None:
    """A caller that needed a worker waited until the process that forks them had answered: for up to two minutes."""
    with ThreadPoolExecutor(1) as thread:
        with stopped(forked):
            found = thread.submit(outcomes, forked, Task("find", TOKEN))
            # It has asked the process that forks them, which does not answer.
            while not forked._staff._source_lock.locked():
                assert not found.done()
            assert outcomes(forked, Task("say", "well")) == ["well"]
            assert forked.run_one(work, Task("say", "well"), str, size=0) == "well"
            assert not found.done()
        assert found.result() == ["1"]


def test_stopping_early_ends_what_is_done_and_who_waits_for_it(workers: Workers) -> None:
    lost: list[str] = []
    job = Job(work, str, lambda _: 200_000, lambda task, reason: lost.append(reason) or task.name)
    results = workers.run(job, [Task("say", "first"), *[Task("spin")] * 9])
    assert next(results) == ["first"]
    results.close()
    # Nobody waited until the system ended them.
    assert not lost
    assert not [it for it in threads() if it.name.startswith("feeder")]
    assert outcomes(workers, Task("say", "again")) == ["again"]


def test_a_run_that_stops_takes_no_worker_from_another(workers: Workers) -> None:
    """A feeder ended while its worker was given back: the worker was cut off from the run that had it next."""
    is_over = Event()

    def stop_early() -> None:
        while not is_over.is_set():
            results = workers.run(JOB, [Task("say", "x" * 100_000)] * 6)
            next(results)
            results.close()

    other = Thread(target=stop_early)
    other.start()
    try:
        tasks = [Task("say", f"{number}" * 40_000) for number in range(60)]
        assert outcomes(workers, *tasks) == [task.argument for task in tasks]
    finally:
        is_over.set()
        other.join()


def test_workers_are_kept_for_the_next_run(workers: Workers) -> None:
    """A run that ended met workers that were given back at that moment, and ended them."""
    tasks = [Task("pid", "x" * 150_000)] * 4
    assert len({pid for _ in range(20) for pid in outcomes(workers, *tasks)}) <= workers.count


def test_workers_that_rest_are_ended_and_the_next_task_has_new_ones(workers: Workers) -> None:
    (before,) = outcomes(workers, Task("pid"))
    workers.end_idle()
    workers.end_source()
    (after,) = outcomes(workers, Task("pid"))
    assert before != after


def test_what_is_left_to_rest_is_done_in_turn_and_again_after_another_use() -> None:
    done: list[str] = []
    is_done = Semaphore(0)

    def note(step: str) -> None:
        done.append(step)
        is_done.release()

    rest = Rest(((0.0, lambda: note("workers")), (0.01, lambda: note("source"))))
    for _ in range(2):
        rest.used()
        assert is_done.acquire(timeout=60)
        assert is_done.acquire(timeout=60)
    rest.end()
    assert done == ["workers", "source"] * 2


def test_workers_outlive_the_thread_that_started_them(workers: Workers) -> None:
    """On Linux a parent's death is told when the thread ends that made the process, not the process of the thread."""
    with ThreadPoolExecutor(1) as thread:
        before = thread.submit(outcomes, workers, Task("pid")).result()
    assert outcomes(workers, Task("pid")) == before


def test_a_worker_without_rules_is_replaced_by_none_that_lacks_them_too(workers: Workers) -> None:
    """An idle worker took its place, which lacked the rules as well: "answered with what is no plain data"."""
    has_both = [Task("say", "x" * 200_000), Task("say", "y" * 200_000)]
    assert outcomes(workers, *has_both) == [it.argument for it in has_both]
    assert outcomes(workers, Task("find", TOKEN)) == ["1"]
    assert workers.run_one(work, Task("find", TOKEN), str, size=0) == "1"


def test_closed_workers_do_nothing_more(tmp_path: Path) -> None:
    closed = Workers(1)
    closed.close()
    with pytest.raises(WorkerError):
        outcomes(closed, Task("say"))


def test_what_a_worker_sends_can_name_no_function(workers: Workers) -> None:
    forged, following = outcomes(workers, Task("forge"), Task("say", "next"))
    assert (forged, following) == ("forge: it answered with what is no plain data", "next")


def test_dataclasses_pass_as_plain_data() -> None:
    row = FileRow("a.py", FileState.FAILED, "why", 3, 4, 5, "hash", "python", 6)
    sent = plain((row, {"a": (1, [2.5, None])}))
    assert sent == (("a.py", "failed", "why", 3, 4, 5, "hash", "python", 6, ()), {"a": (1, (2.5, None))})
    assert restored(tuple[FileRow, dict[str, object]], sent) == (row, {"a": (1, (2.5, None))})


def test_a_tree_of_many_entries_is_told_from_a_small_one(tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()
    (tmp_path / ".git").mkdir()
    for number in range(300):
        (tmp_path / ".git" / str(number)).touch()
    assert not any(map(has_many_files, (tmp_path, tmp_path / "a.txt", tmp_path / "gone")))
    for number in range(150):
        (tmp_path / "deep" / str(number)).mkdir(parents=True)
        (tmp_path / "deep" / str(number) / "b.txt").touch()
    assert has_many_files(tmp_path)
