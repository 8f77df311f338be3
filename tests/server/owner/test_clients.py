"""Any number of clients use an index at once, each as if it had it alone."""

import json
import os
import socket
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from cqm.index.engine import Index
from cqm.index.model.errors import QueryError, ScanError
from cqm.index.model.query import FileProblem, Query
from cqm.server.owner.wire import Wire, decoded

if TYPE_CHECKING:
    from conftest import Place

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("forked_owners")]


def seen(index: Any) -> list[Any]:
    """Return what all reading methods say, without what changes from call to call."""
    status = replace(index.status(look=True), size_bytes=0, cache=())
    answer = index.search(Query("compute_1"))
    return [answer, index.usages("compute_1", 5), status, index.skipped(), index.estimate()]


def test_a_client_sees_what_a_process_sees_that_has_the_index_alone(place: "Place") -> None:
    (place.root / "image.bin").write_bytes(b"\0\1\2" * 100)
    with place.open(idle_seconds=0) as shared:
        shared.update()
        through_owner = seen(shared)
    place.wait_for_end()
    with Index.open(place.root, place.options) as alone:
        assert seen(alone) == through_owner


def test_what_one_client_indexes_another_finds(place: "Place") -> None:
    with place.open() as first, place.open() as second:
        assert first.update().added == 3
        assert second.search(Query("compute_2")).hits[0].path == "module_2.py"
        (place.root / "new.py").write_text("def brand_new():\n    return 1\n")
        assert second.update(["new.py"]).added == 1
        assert first.search(Query("brand_new")).hits[0].path == "new.py"


def test_all_clients_have_the_same_owner_which_is_another_process(place: "Place") -> None:
    with place.open():
        owner = place.owner
        with place.open() as second:
            second.update()
        assert place.owner == owner != os.getpid()


def test_an_error_arrives_as_what_it_was_raised_as(place: "Place") -> None:
    with place.open() as index:
        with pytest.raises(QueryError) as refused:
            index.search(Query(" "))
        assert refused.value.message == "The query is empty."
        assert refused.value.remedy == "Ask a question or name a symbol."
        with pytest.raises(ScanError, match="is outside of"):
            index.update([place.root.parent / "elsewhere"])
        assert index.update().added == 3


def test_a_path_that_one_client_may_not_name_is_no_fault_of_another(large: "Place", background: Any) -> None:
    begun = Event()
    with large.open() as first, large.open() as second:
        going_on = background(lambda: first.update(["."], report=lambda _: begun.set()))
        assert begun.wait(240)
        others = [background(lambda: second.update(["module_1.py"])) for _ in range(3)]
        with pytest.raises(ScanError, match="is outside of"):
            first.update([large.root.parent])
        assert going_on.result().added == 2000
        assert all(other.result().failed == () for other in others)


def test_an_index_that_cannot_be_opened_says_why(place: "Place") -> None:
    with place.open(idle_seconds=0) as index:
        index.update()
    place.wait_for_end()
    (place.folder / "current").unlink()
    (place.folder / "current").mkdir()
    with pytest.raises(Exception, match="current cannot be read"):
        place.open(idle_seconds=0)


def test_a_root_that_is_missing_starts_nothing(place: "Place") -> None:
    missing = replace(place, root=place.root / "missing")
    with pytest.raises(ScanError, match="cannot be indexed"):
        missing.open()
    assert not place.options.home.exists()


def test_the_progress_of_an_update_is_told_as_it_goes_on(place: "Place") -> None:
    told = []
    with place.open() as index:
        index.update(report=told.append)
    assert (told[0].phase, told[-1].phase) == ("scanning", "done")
    assert {(progress.done, progress.total) for progress in told if progress.phase == "indexing"} >= {(3, 3)}


def test_names_that_are_no_unicode_pass(place: "Place") -> None:
    (place.root / os.fsdecode(b"caf\xe9.py")).write_text("def unusual_name():\n    return 1\n")
    with place.open() as index:
        assert index.update([os.fsdecode(b"caf\xe9.py")]).added == 3
        assert index.skipped() == (FileProblem(r"caf\xe9.py", "undecodable"),)


def test_a_closed_index_says_so(place: "Place") -> None:
    index = place.open()
    index.close()
    index.close()
    with pytest.raises(ScanError, match="is closed"):
        index.search(Query("compute"))


def test_a_call_that_goes_on_ends_when_the_index_is_closed(large: "Place", background: Any) -> None:
    index = large.open()
    going_on = background(lambda: index.update(report=lambda _: index.close()))
    with pytest.raises(ScanError, match="is closed"):
        going_on.result()


def test_an_event_loop_gets_the_answers_and_errors_of_a_thread(place: "Place") -> None:
    with place.open() as index:
        index.update()
        asked = Query("compute_1")
        assert anyio.run(index.search_soon, asked) == index.search(asked)
        with pytest.raises(QueryError, match="The query is empty"):
            anyio.run(index.search_soon, Query(" "))
        assert anyio.run(index.search_soon, asked) == index.search(asked)


def test_an_event_loop_that_gives_a_question_up_takes_no_answer_for_that_of_another(place: "Place") -> None:
    async def given_up() -> Any:
        with anyio.CancelScope() as scope:
            scope.cancel()
            return await index.search_soon(Query("compute_1"))

    with place.open() as index:
        index.update()
        assert anyio.run(given_up) is None
        assert index.search(Query("compute_2")).hits[0].path == "module_2.py"
        answer = anyio.run(index.search_soon, Query("compute_0"))
        assert answer is not None
        assert answer.hits[0].path == "module_0.py"


def test_an_event_loop_sends_a_question_to_a_thread_when_the_owner_is_dead(place: "Place") -> None:
    with place.open() as index:
        index.update()
        place.kill()
        assert anyio.run(index.search_soon, Query("compute_1")) is None
        assert index.search(Query("compute_1")).hits[0].path == "module_1.py"
        assert anyio.run(index.search_soon, Query("compute_1")) is not None


@pytest.mark.parametrize("size", [10, 300_000])
def test_a_message_that_comes_in_pieces_arrives_whole_in_an_event_loop(size: int, background: Any) -> None:
    ours, theirs = socket.socketpair()
    message = {"text": "x" * size}
    data = json.dumps(message).encode()
    with closing(Wire(ours)) as wire, theirs:
        theirs.sendall(len(data).to_bytes(4, "big") + data[:5])
        rest = background(lambda: theirs.sendall(data[5:]))
        assert decoded(anyio.run(wire.receive_soon)) == message
        rest.result()


def test_a_search_does_not_wait_for_an_update(large: "Place") -> None:
    counts = []
    with large.open() as index:
        index.update(report=lambda _: counts.append(index.search(Query("compute_1")).chunks))
        assert any(0 < count < index.status().chunks for count in counts)


def test_the_owner_works_in_no_folder_of_its_client(place: "Place", monkeypatch: pytest.MonkeyPatch) -> None:
    # What lies in a folder that one is in must not be taken for a part of Python or of CQM.
    (place.root / "json.py").write_text("raise SystemExit('taken from the working folder')\n")
    (place.root / "cqm").mkdir()
    (place.root / "cqm" / "__init__.py").write_text("raise SystemExit('taken from the working folder')\n")
    monkeypatch.chdir(place.root)
    with place.open() as index:
        assert index.update().added == 5
        assert Path(f"/proc/{place.owner}/cwd").resolve() == Path("/")
