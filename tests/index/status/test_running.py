"""Work that goes on in an index, as it is told meanwhile: in the process that does it and, from files, in any other."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread

import pytest
from filelock import FileLock
from scripted_server import Reply, Request, ScriptedServer

from cqm.chunkers.model import ChunkOptions
from cqm.index.engine import Index
from cqm.index.model.errors import ScanError
from cqm.index.model.options import ContextOptions, EmbeddingOptions, IndexOptions, RouteOptions
from cqm.index.model.progress import Progress
from cqm.index.model.status import IndexState, IndexStatus
from cqm.index.status.status import read_status

pytestmark = pytest.mark.processes

PATIENCE_SECONDS = 240.0


class Seen:
    """The status at each report of progress: by the process itself, and as another one reads it."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self.statuses: list[IndexStatus] = []

    def report(self, progress: Progress) -> None:
        status, read = self._index.status(), read_status(self._index.root, self._index.options)
        assert (status.state, status.running, status.building) == (read.state, read.running, read.building)
        assert [running.phase for running in status.running] == ([progress.phase] if status.running else [])
        self.statuses.append(status)


def test_each_phase_of_the_first_update_is_told_as_it_is(tree: Path, options: IndexOptions) -> None:
    with Index.open(tree, options) as index:
        seen = Seen(index)
        assert index.status().state is IndexState.ABSENT
        index.update(report=seen.report)
        told = [(run.task, run.phase, run.done, run.total) for status in seen.statuses for run in status.running]
        assert told == [("update", phase, *counts) for phase, counts in (
            ("scanning", (0, 0)), ("indexing", (0, 3)), ("indexing", (3, 3)),
        )]  # fmt: skip
        assert [status.state for status in seen.statuses] == [IndexState.RUNNING] * 3 + [IndexState.COMPLETE]
        assert [status.complete for status in seen.statuses] == [False] * 3 + [True]
    assert read_status(tree, options).state is IndexState.COMPLETE


def test_an_update_of_paths_is_told_as_one_and_to_other_processes_once_it_is_not_brief(
    tree: Path, options: IndexOptions
) -> None:
    own, others = list[IndexStatus](), list[IndexStatus]()
    with Index.open(tree, options) as index:
        index.update()

        def report(_: Progress) -> None:
            own.append(index.status())
            others.append(read_status(tree, options))
            # As long as it takes until it is not brief any more.
            Event().wait(0.11)

        (tree / "part_1.py").write_text("x = 1\n")
        index.update(["part_1.py"], report=report)
        assert [[run.task for run in status.running] for status in own] == [["update of paths"]] * 3 + [[]]
        told = [[run.task for run in status.running] for status in others]
        assert told == [[], ["update of paths"], ["update of paths"], []]
        assert read_status(tree, options).running == ()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (
            {"chunk": ChunkOptions(max_tokens=128, min_tokens=16)},
            "chunk.max_tokens is 128 and was 512, chunk.min_tokens is 16 and was 128",
        ),
        ({"embedding": EmbeddingOptions("embedded")}, "embedding.provider is embedded and was none"),
        ({"context": ContextOptions(place="suffix")}, "context.place is suffix and was prefix"),
    ],
)
def test_a_generation_that_is_built_tells_which_options_changed(
    tree: Path, options: IndexOptions, change: dict[str, object], why: str
) -> None:
    with Index.open(tree, options) as index:
        index.update()
    with Index.open(tree, replace(options, **change)) as index:  # type: ignore[arg-type]
        seen = Seen(index)
        index.update(report=seen.report)
        built = [status.building for status in seen.statuses if status.building]
        assert [(building.files, building.total) for building in built] == [(0, 0), (0, 3), (3, 3)]
        assert {building.why for building in built} == {why}
        assert index.status().building is None


def test_what_is_built_is_kept_when_the_index_is_only_looked_at(tree: Path, options: IndexOptions) -> None:
    for number in range(150):
        (tree / f"module_{number}.py").write_text(f"x = {number}\n")
    with Index.open(tree, options) as index:
        index.update()
    changed = replace(options, chunk=ChunkOptions(max_tokens=128, min_tokens=16))
    with Index.open(tree, changed) as index:
        done = index.update(cancelled=lambda: True).added
        assert 0 < done < 153
    for _ in range(2):
        with Index.open(tree, changed) as index:
            status = index.status(look=True)
            assert (status.state, status.files) == (IndexState.INCOMPLETE, {"indexed": 153})
            assert status.building is not None
            assert (status.building.files, status.building.total) == (done, 0)
    with Index.open(tree, changed) as index:
        assert index.update().added == 153 - done
    assert read_status(tree, changed).building is None


def test_an_update_that_failed_is_told_until_one_succeeds(tree: Path, options: IndexOptions, tmp_path: Path) -> None:
    with Index.open(tree, options) as index:
        index.update()
        tree.rename(tmp_path / "elsewhere")
        with pytest.raises(ScanError):
            index.update()
        (tmp_path / "elsewhere").rename(tree)
        status = index.status()
        assert (status.state, status.running) == (IndexState.INCOMPLETE, ())
        assert status.stopped is not None
        assert read_status(tree, options).stopped == status.stopped
        index.update(["part_1.py"])
        assert index.status().state is IndexState.INCOMPLETE
        index.update()
        assert index.status().state is IndexState.COMPLETE


def test_improving_is_told_beside_an_update(tree: Path, options: IndexOptions, server: ScriptedServer) -> None:
    model = EmbeddingOptions("openai", "tiny", f"{server.url}/v1", concurrency=1)
    routes = RouteOptions(fallback=(EmbeddingOptions("embedded"),), retry_seconds=0.0)
    with Index.open(tree, replace(options, embedding=model, routes=routes)) as index:
        server.rule = lambda _: Reply(401, "{}")
        assert index.update().lacking == 3
        reached, opened = Event(), Event()
        server.rule = _held("gather_1", reached, opened)
        improving = Thread(target=index.improve, daemon=True)
        improving.start()
        assert reached.wait(PATIENCE_SECONDS)
        try:
            status = read_status(tree, index.options)
            assert [(run.task, run.phase, run.done, run.total) for run in status.running] == [
                ("improve", "improving", 1, 3)
            ]
            assert (status.state, status.lacking) == (IndexState.COMPLETE, 3)
            (tree / "new.md").write_text("# New\n")
            tasks: list[set[str]] = []

            def note(_: Progress) -> None:
                tasks.append({run.task for run in index.status().running})
                # The model takes one request at a time: the update waits for the one that is held.
                opened.set()

            index.update(["new.md"], report=note)
            assert tasks[0] == {"improve", "update of paths"}
        finally:
            opened.set()
            improving.join(PATIENCE_SECONDS)
        assert (index.status().running, index.status().lacking) == ((), 0)


def _held(word: str, reached: Event, opened: Event) -> Callable[[Request], None]:
    def hold(request: Request) -> None:
        if any(word in text for text in request.texts):
            reached.set()
            opened.wait(PATIENCE_SECONDS)

    return hold


def test_an_update_that_others_could_not_be_told_of_says_so_and_is_told_as_soon_as_it_can_be(
    tree: Path, options: IndexOptions, caplog: pytest.LogCaptureFixture
) -> None:
    with Index.open(tree, options) as index:
        held = FileLock(index.folder / "running.lock")
        held.acquire()
        seen: list[int] = []

        def report(_: Progress) -> None:
            seen.append(len(read_status(tree, options).running))
            held.release()

        index.update(report=report)
        assert seen[:2] == [0, 1]
        assert caplog.text.count("Other processes are not told yet what goes on") == 1
        assert read_status(tree, options).running == ()


def test_a_skipped_file_that_is_read_again_is_told_of_all_the_while(tree: Path, options: IndexOptions) -> None:
    """Its row was deleted and written again, so that a status in between knew nothing of the file."""
    (tree / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    with Index.open(tree, options) as index:
        index.update()

        def read_again() -> None:
            for _ in range(50):
                index.update(["logo.png"])

        reading = Thread(target=read_again)
        reading.start()
        told = set()
        while reading.is_alive():
            told.add(index.skipped())
    assert {tuple(problem.path for problem in skipped) for skipped in told} == {("logo.png",)}


def test_a_file_that_became_binary_is_told_while_a_model_embeds_the_others(
    tree: Path, options: IndexOptions, server: ScriptedServer
) -> None:
    """It counted as indexed until all files read with it were embedded, without anything to be found of it."""
    model = EmbeddingOptions("openai", "tiny", f"{server.url}/v1", concurrency=1)
    with Index.open(tree, replace(options, embedding=model)) as index:
        index.update()
        reached, opened = Event(), Event()
        server.rule = _held("gather_anew", reached, opened)
        (tree / "part_1.py").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
        (tree / "part_2.py").write_text("def gather_anew(value):\n    return value\n")
        updating = Thread(target=index.update, daemon=True)
        updating.start()
        assert reached.wait(PATIENCE_SECONDS)
        try:
            assert [(problem.path, problem.reason) for problem in index.skipped()] == [("part_1.py", "binary")]
            assert index.status().chunks == 2
        finally:
            opened.set()
            updating.join(PATIENCE_SECONDS)
        assert index.status().chunks == 2
