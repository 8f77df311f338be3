"""A Qdrant server that is slow, full, gone or wrong: what is told, and that the index catches up afterwards."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Condition

import pytest
from qdrant_double import Asked, Fault, QdrantDouble, refusal

from cqm.index.engine import Index
from cqm.index.model.errors import StoreError
from cqm.index.model.options import IndexOptions, StoreOptions
from cqm.index.model.progress import UpdateSummary
from cqm.index.model.query import Query
from cqm.server.config.watch_options import WatchOptions
from cqm.server.watching.reports import WatchReport
from cqm.server.watching.watcher import Watcher

pytestmark = pytest.mark.processes

PATIENCE_SECONDS = 240.0

Options = Callable[..., IndexOptions]
Paths = Callable[[Index, str], list[str]]
Rule = Callable[[Asked], Fault | None]


def first_of_each(fault: Fault) -> Rule:
    """Something is wrong with the first request of each kind."""
    seen: set[tuple[str, str]] = set()

    def rule(asked: Asked) -> Fault | None:
        kind = (asked.method, asked.path)
        if kind in seen:
            return None
        seen.add(kind)
        return fault

    return rule


@pytest.mark.parametrize(
    "fault",
    [
        refusal(503, "overloaded"),
        refusal(500, "Service internal error: task panicked"),
        refusal(429, "Too many requests", **{"Retry-After": "0"}),
        refusal(429, "Too many requests"),
        Fault(408, ""),
        Fault(),
        Fault(done=True),
        refusal(502, "bad gateway"),
        Fault(504, "<html>gateway time-out</html>", done=True),
    ],
    ids=["503", "500", "429 wait", "429", "408", "no answer", "lost answer", "502", "504 done"],
)
def test_what_passes_by_itself_is_not_even_noticed(
    tree: Path, options: Options, qdrant: QdrantDouble, fault: Fault, paths: Paths
) -> None:
    qdrant.rule = first_of_each(fault)
    with Index.open(tree, options()) as index:
        assert index.update().failed == ()
        (tree / "part_1.py").unlink()
        index.update()
        assert paths(index, "gather_3")[0] == "part_3.py"
        [collection] = qdrant.collections
        assert len(qdrant.ids(collection)) == 8
    assert [*qdrant.aliases.values()] == [collection]


def test_a_request_that_is_not_answered_in_time_is_sent_again(
    tree: Path, options: Options, qdrant: QdrantDouble, paths: Paths
) -> None:
    left = [Fault(hangs=True)]
    with Index.open(tree, options(timeout_seconds=0.5)) as index:
        qdrant.rule = lambda asked: left.pop() if left and asked.path.endswith("/points") else None
        index.update()
        assert not left
        assert paths(index, "gather_2")[0] == "part_2.py"


def test_a_write_that_the_server_gave_up_waiting_for_is_sent_again(
    tree: Path, options: Options, qdrant: QdrantDouble
) -> None:
    unfinished = json.dumps({"result": {"operation_id": 1, "status": "wait_timeout"}, "status": "ok", "time": 10.0})
    acknowledged = unfinished.replace("wait_timeout", "acknowledged")
    left = [Fault(200, unfinished), Fault(200, acknowledged)]
    with Index.open(tree, options()) as index:
        is_upsert = ("PUT", "points")
        qdrant.rule = lambda asked: left.pop() if left and (asked.method, asked.path[-6:]) == is_upsert else None
        index.update()
        assert not left
        [collection] = qdrant.collections
        assert len(qdrant.ids(collection)) == 10


PERMANENT = {
    "401": (refusal(401, "Invalid API key"), "refuses the API key: Invalid API key", "store.api_key_env", False),
    "403": (refusal(403, "Forbidden: write access"), "refuses the API key: Forbidden", "store.api_key_file", False),
    "507": (refusal(507, "full"), "it is full: full", "Free space on the server", True),
    "500 full": (
        refusal(500, "Service internal error: No space left on device: WAL buffer size exceeds available disk space"),
        "it is full: Service internal error: No space left",
        "Free space on the server",
        True,
    ),
    "400": (refusal(400, "Wrong input: nonsense"), "it answers 400: Wrong input: nonsense", "", False),
    "no Qdrant": (Fault(200, "<html>Welcome</html>"), "does not answer as Qdrant does", "Correct store.url", False),
    "other JSON": (Fault(200, '{"hello": 1}'), "does not answer as Qdrant does", "Correct store.url", False),
    "other 404": (Fault(404, "<html>nothing here</html>"), "it answers 404", "", False),
}


@pytest.mark.parametrize(("fault", "said", "remedy", "retryable"), PERMANENT.values(), ids=PERMANENT)
def test_what_does_not_pass_is_told_at_once_with_what_helps(
    tree: Path, options: Options, qdrant: QdrantDouble, fault: Fault, said: str, remedy: str, retryable: bool
) -> None:
    with Index.open(tree, options()) as index:
        qdrant.rule = lambda asked: fault if asked.path.endswith("/points") else None
        before = len(qdrant.requests)
        with pytest.raises(StoreError) as caught:
            index.update()
        assert said in caught.value.message
        assert qdrant.url in caught.value.message
        assert remedy in caught.value.remedy
        assert caught.value.retryable == retryable
        asked = [it for it in qdrant.requests[before:] if it.path.endswith("/points")]
        assert len(asked) == 1
        qdrant.rule = lambda _: None
        assert index.update().chunks_written == 5
        assert index.search(Query("gather_4")).hits[0].path == "part_4.py"


@pytest.mark.parametrize(("seconds", "requests"), [(0.0, 1), (8.0, 5)])
def test_a_write_is_repeated_as_long_as_it_is_allowed_to_be(
    tree: Path, options: Options, qdrant: QdrantDouble, seconds: float, requests: int
) -> None:
    with Index.open(tree, options(retry_seconds=seconds)) as index:
        qdrant.rule = lambda asked: refusal(503, "busy") if asked.path.endswith("/points") else None
        qdrant.requests.clear()
        with pytest.raises(StoreError, match="it answers 503: busy") as caught:
            index.update()
        assert caught.value.retryable
        assert len(qdrant.said("PUT", ".*/points")) == requests


def test_a_time_out_is_told_with_its_length(tree: Path, options: Options, qdrant: QdrantDouble) -> None:
    with Index.open(tree, options()) as index:
        index.update()
    # What a busy machine answers has to be in time, too.
    with Index.open(tree, options(timeout_seconds=3.0, retry_seconds=0.0)) as index:
        qdrant.rule = lambda _: Fault(hangs=True)
        with pytest.raises(StoreError, match=r"cannot be searched: it did not answer within 3 s") as caught:
            index.search(Query("gather"))
        assert "store.timeout_seconds" in caught.value.remedy


def test_a_server_that_is_down_is_named_when_an_index_is_opened(
    tree: Path, options: Options, qdrant: QdrantDouble
) -> None:
    qdrant.stop()
    for _ in range(2):
        with pytest.raises(StoreError, match=rf"{qdrant.url} cannot be \w+: it cannot be reached") as caught:
            Index.open(tree, options(retry_seconds=1.0))
        assert "Start it, or correct store.url" in caught.value.remedy
        assert caught.value.retryable
    qdrant.start()
    with Index.open(tree, options()) as index:
        assert index.status().damage == ""
        index.update()
    assert len(qdrant.collections) == 1


def test_a_search_while_the_server_is_down_names_it_and_the_next_one_answers(
    tree: Path, options: Options, qdrant: QdrantDouble, paths: Paths
) -> None:
    with Index.open(tree, options()) as index:
        index.update()
        qdrant.stop()
        with pytest.raises(StoreError, match=rf"The store at {qdrant.url} cannot be searched: it cannot be reached"):
            index.search(Query("gather_1"))
        assert index.status().complete
        qdrant.start()
        assert paths(index, "gather_1")[0] == "part_1.py"


@pytest.mark.parametrize("writes", range(3))
def test_an_update_that_loses_the_server_goes_on_where_it_was_and_ends_as_if_nothing_had_happened(
    tree: Path, tmp_path: Path, options: Options, qdrant: QdrantDouble, writes: int, paths: Paths
) -> None:
    with Index.open(tree, options()) as index:
        index.update()
        (tree / "part_0.py").write_text("def scatter_0(value):\n    return value\n")
        (tree / "part_1.py").unlink()
        (tree / "part_5.py").write_text("def gather_5(value):\n    return value\n")
        left: list[Fault | None] = [None] * writes

        def rule(asked: Asked) -> Fault | None:
            if asked.method == "PUT" or asked.path.endswith("/points/batch"):
                return left.pop() if left else Fault(done=writes % 2 == 1)
            return None

        qdrant.rule = rule
        with pytest.raises(StoreError):
            index.update()
        assert paths(index, "gather_3")[0] == "part_3.py"
        qdrant.rule = lambda _: None
        index.update()
        here = replace(options(), home=tmp_path / "fresh", store=StoreOptions())
        with Index.open(tree, here) as fresh:
            fresh.update()
            [collection] = qdrant.collections
            assert qdrant.ids(collection) == set(fresh._lineage.serving.store.ids())  # type: ignore[attr-defined]
            for text in ("gather_1", "gather_5", "scatter_0", "value"):
                assert paths(index, text) == paths(fresh, text)
        chunks = index._lineage.serving.manifest.settled_chunks()
        assert len(chunks) == 5


def test_what_was_committed_before_the_server_failed_is_not_done_again(
    tmp_path: Path, options: Options, qdrant: QdrantDouble
) -> None:
    tree = tmp_path / "many"
    tree.mkdir()
    for number in range(150):
        (tree / f"part_{number:03}.py").write_text(f"def gather_{number}(value):\n    return value + {number}\n")
    with Index.open(tree, options(retry_seconds=0.0)) as index:
        upserts = 0

        def rule(asked: Asked) -> Fault | None:
            nonlocal upserts
            upserts += asked.method == "PUT" and asked.path.endswith("/points")
            return refusal(507, "full") if upserts > 4 else None

        qdrant.rule = rule
        with pytest.raises(StoreError, match="it is full"):
            index.update()
        done = index.status().chunks
        assert 0 < done < 150
        qdrant.rule = lambda _: None
        summary = index.update()
        assert summary.unchanged == done
        assert summary.chunks_written == 150 - done
        assert index.status().complete


def test_committed_work_is_not_done_again_by_the_next_process_either(
    tree: Path, options: Options, qdrant: QdrantDouble, paths: Paths
) -> None:
    with Index.open(tree, options()) as index:
        index.update()
        (tree / "part_5.py").write_text("def gather_5(value):\n    return value\n")
        qdrant.rule = lambda asked: Fault() if asked.method == "PUT" else None
        with pytest.raises(StoreError):
            index.update()
    qdrant.rule = lambda _: None
    with Index.open(tree, options()) as index:
        summary = index.update()
        assert (summary.unchanged, summary.added) == (5, 1)
        assert paths(index, "gather_5")[0] == "part_5.py"


def test_a_watched_folder_is_caught_up_with_when_the_server_is_back(
    tree: Path, options: Options, qdrant: QdrantDouble, paths: Paths
) -> None:
    reports: list[WatchReport] = []
    changed = Condition()

    def heard(report: WatchReport) -> None:
        with changed:
            reports.append(report)
            changed.notify_all()

    def wait_for(condition: Callable[[], object]) -> None:
        with changed:
            assert changed.wait_for(condition, PATIENCE_SECONDS), reports

    with Index.open(tree, options(retry_seconds=0.0)) as index:

        def update(paths: frozenset[str] | None, cancelled: Callable[[], bool]) -> UpdateSummary:
            return index.update(paths, cancelled=cancelled)

        soon = WatchOptions(quiet=0.05, poll=0.3)
        watcher = Watcher(tree, update=update, folders=lambda top: [top], report=heard, options=soon)
        watcher.start()
        try:
            wait_for(lambda: reports)
            qdrant.stop()
            (tree / "part_3.py").write_text("def entirely_different():\n    pass\n")
            wait_for(lambda: any("cannot be reached" in report.message for report in reports))
            qdrant.start()
            wait_for(lambda: "part_3.py" in reports[-1].paths and reports[-1].summary)
        finally:
            watcher.stop()
        assert paths(index, "entirely_different")[0] == "part_3.py"
