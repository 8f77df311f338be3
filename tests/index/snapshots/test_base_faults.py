"""Faults under a base, of the server, of its points and of its rows: they are told, and no answer is just wrong."""

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import qdrant_edge as edge
from carried_tree import (
    QUESTIONS,
    answers,
    flipped,
    fresh,
    publish,
    repacked,
    with_ids_of_before,
)
from qdrant_double import Asked, Fault, QdrantDouble, refusal

from cqm.index.engine import Index
from cqm.index.model.errors import BaseGoneError, SnapshotError, StoreError
from cqm.index.model.options import IndexOptions
from cqm.index.model.query import Query
from cqm.index.model.status import IndexState
from cqm.index.model.symbols import OutlineQuery, ReadQuery
from cqm.index.store import layered

pytestmark = pytest.mark.processes

Machine = Callable[..., IndexOptions]


@pytest.mark.usefixtures("published")
def test_a_base_that_is_gone_is_told_and_the_index_goes_on_without_it(
    clone: Path, tmp_path: Path, machine: Machine, qdrant: QdrantDouble
) -> None:
    expected = fresh(clone, machine("any"), tmp_path / "fresh")
    with Index.open(clone, machine("b")) as index:
        index.take("shop")
        [name] = qdrant.collections
        gone = qdrant.collections.pop(name)
        with pytest.raises(StoreError, match=r"the base shop .* is gone") as told:
            index.search(Query("compute_2"))
        assert "cqm take shop" in told.value.remedy
    # The server has it again: nothing was lost here.
    qdrant.collections[name] = gone
    with Index.open(clone, machine("b")) as index:
        assert answers(index) == expected
        assert index.update().chunks_written == 0
    qdrant.drop(qdrant.requests[0], name)
    with Index.open(clone, machine("b")) as index:
        status = index.status()
        assert status.state is IndexState.UNAVAILABLE
        assert "cqm take shop" in status.unavailable
        with pytest.raises(StoreError, match="There is no base shop"):
            index.take("shop")
        summary = index.update()
        assert any("cqm take shop" in note for note in summary.notes)
        assert answers(index) == expected


@pytest.mark.usefixtures("published")
def test_a_server_that_is_down_is_told_and_the_layer_is_not_lost(
    clone: Path, tmp_path: Path, machine: Machine, qdrant: QdrantDouble
) -> None:
    with Index.open(clone, machine("b")) as index:
        index.take("shop")
        qdrant.stop()
        with pytest.raises(StoreError, match="cannot be reached"):
            index.search(Query("compute_2"))
        (clone / "part_3.py").write_text("def compute_3(value):\n    return 3 * value\n")
        with pytest.raises(StoreError, match="cannot be reached"):
            index.update(["part_3.py"])
    with pytest.raises(StoreError, match="cannot be opened: it cannot be reached") as told:
        Index.open(clone, machine("b"))
    assert "Start it, or correct store.url" in told.value.remedy
    qdrant.start()
    with Index.open(clone, machine("b")) as index:
        assert index.update().chunks_written == 1
        assert answers(index) == fresh(clone, machine("b"), tmp_path / "fresh")


def failing_from(double: QdrantDouble, number: int) -> None:
    """Have the server break off the request of this number, counted from now, and all behind it."""
    asked: list[Asked] = []

    def rule(request: Asked) -> Fault | None:
        asked.append(request)
        return Fault() if len(asked) > number else None

    double.rule = rule


def first_to_pass(double: QdrantDouble, ask: Callable[[], object]) -> tuple[int, object]:
    """Ask until the server lives long enough; give the requests that takes, and the answer."""
    told: list[str] = []
    while len(told) < 200:
        failing_from(double, len(told))
        try:
            answer = ask()
        except StoreError as error:
            told.append(error.message)
        else:
            assert [it for it in told if double.url not in it or "cannot be reached" not in it] == []
            return len(told), answer
        finally:
            double.rule = lambda _: None
    pytest.fail("it never passes")


@pytest.mark.usefixtures("published")
def test_a_server_that_goes_down_in_the_middle_of_a_search_is_told_and_never_costs_results(
    clone: Path, machine: Machine, qdrant: QdrantDouble
) -> None:
    with Index.open(clone, machine("b")) as index:
        index.take("shop")
        asked: dict[str, Callable[[], object]] = {
            **{text: lambda text=text: index.search(Query(text)).hits for text in QUESTIONS},  # type: ignore[misc]
            "part_0.py": lambda: index.search(Query("part_0.py")).hits,
            "like": lambda: index.search(Query("", like="part_2.py:1")).hits,
            "usages": lambda: index.usages("gather_sums"),
            "outline": lambda: index.outline(OutlineQuery("src/sums.py")),
            "read": lambda: index.read(ReadQuery("gather_sums")),
        }
        for name, ask in asked.items():
            expected = ask()
            requests, answer = first_to_pass(qdrant, ask)
            assert requests > 0, name
            assert answer == expected, name


@pytest.mark.usefixtures("published")
def test_a_take_that_fails_at_any_request_leaves_the_index_and_nothing_else(
    clone: Path, machine: Machine, qdrant: QdrantDouble
) -> None:
    with Index.open(clone, machine("b")) as index:
        index.update()
        before, folders = answers(index), folders_in(index.folder)

        def take() -> object:
            assert folders_in(index.folder) == folders
            assert index.status().server == ""
            return index.take("shop")

        requests, _ = first_to_pass(qdrant, take)
        assert requests > 5
        assert answers(index) == before
        assert index.status().server
        assert len(folders_in(index.folder)) == 1


def folders_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_dir())


@pytest.mark.usefixtures("published")
def test_an_update_that_fails_at_any_request_is_made_up_for_by_the_next(
    clone: Path, tmp_path: Path, machine: Machine, qdrant: QdrantDouble
) -> None:
    with Index.open(clone, machine("b")) as index:
        index.take("shop")
        (clone / "src/sums.py").write_text("def value(rows):\n    return compute_2(rows)\n")
        (clone / "part_3.py").unlink()
        (clone / "part_2.py").write_text("def compute_2(value):\n    return value + 2\n")
        requests, _ = first_to_pass(qdrant, index.update)
        assert requests > 1
        assert answers(index) == fresh(clone, machine("any"), tmp_path / "fresh")


def delete_points(double: QdrantDouble, ids: set[str]) -> None:
    [shard] = double.collections.values()
    shard.update(edge.UpdateOperation.delete_points([int(name, 16) for name in ids]))


@pytest.mark.usefixtures("published")
def test_a_base_that_has_lost_points_is_told_and_published_anew_serves_again(
    published: Path,
    clone: Path,
    tmp_path: Path,
    machine: Machine,
    qdrant: QdrantDouble,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Index.open(clone, machine("b")) as index:
        index.take("shop")
        expected = answers(index)
        delete_points(qdrant, qdrant.ids("cqm_base-shop"))
        # The text of a chunk that the index knows by its path is missed at once.
        with pytest.raises(BaseGoneError, match=r"stands on the base shop .* of its points are gone") as told:
            index.search(Query("part_0.py"))
        assert "`cqm publish shop`" in told.value.remedy
        assert "`cqm take shop`" in told.value.remedy
        # Others are looked for now and then.
        monkeypatch.setattr(layered, "_LOOKED_AT_EVERY_SECONDS", 0.0)
        with pytest.raises(BaseGoneError, match="of its points are gone"):
            index.search(Query("compute_0"))
        publish(published, machine("ci"), keep=1)
        # The base that it stood on is deleted now.
        with pytest.raises(BaseGoneError, match="which is gone"):
            index.search(Query("compute_0"))
        index.take("shop")
        assert answers(index) == expected
    delete_points(qdrant, set(sorted(qdrant.ids("cqm_base-shop"))[:1]))
    with Index.open(clone, machine("b")) as index:
        status = index.status()
        assert status.state is IndexState.UNAVAILABLE
        assert "1 of its points are gone" in status.unavailable
        assert "`cqm take shop`" in status.unavailable
    publish(published, machine("ci"), keep=1)
    with Index.open(clone, machine("b")) as index:
        index.take("shop")
        assert answers(index) == expected == fresh(clone, machine("any"), tmp_path / "fresh")


@pytest.mark.usefixtures("published")
def test_another_base_under_the_same_name_changes_no_answer_until_it_is_taken(
    clone: Path, tmp_path: Path, machine: Machine, qdrant: QdrantDouble
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "part_0.py").write_text("def compute_0():\n    return 'of another project'\n")
    with Index.open(clone, machine("b")) as index:
        index.take("shop")
        expected = answers(index)
        publish(other, machine("elsewhere"))
        assert answers(index) == expected
    with Index.open(clone, machine("b")) as index:
        assert answers(index) == expected
        assert index.update().chunks_written == 0
        index.take("shop")
        assert answers(index) == expected
        assert index.status().server.startswith(f"the base shop ({qdrant.aliases['cqm_base-shop']} ")


def test_a_base_that_cannot_be_made_whole_leaves_the_one_of_before(
    published: Path, machine: Machine, qdrant: QdrantDouble
) -> None:
    aliases, collections = dict(qdrant.aliases), set(qdrant.collections)
    qdrant.rule = lambda asked: (
        refusal(507, "no space left") if asked.method == "PUT" and asked.path.endswith("/points") else None
    )
    with pytest.raises(StoreError, match="it is full"):
        publish(published, machine("ci"))
    qdrant.rule = lambda _: None
    assert (qdrant.aliases, set(qdrant.collections)) == (aliases, collections)


def changed_part(double: QdrantDouble, change: Callable[[bytes], bytes | None]) -> None:
    """Change the file of rows in the only base, which has one part."""
    shard, part = next(iter(double.collections.values())), f"{1 << 64:032x}"
    [record] = shard.retrieve([part], with_payload=True, with_vector=False)
    content = change(base64.b64decode(str((record.payload or {})["bytes"])))
    if content is None:
        shard.update(edge.UpdateOperation.delete_points([part]))
        return
    payload = {"path": "", "bytes": base64.b64encode(content).decode()}
    shard.update(edge.UpdateOperation.upsert_points([edge.Point(part, {}, payload)]))


def with_row(change: Callable[[dict[str, Any]], object], of: str) -> Callable[[bytes], bytes]:
    """Change the first record of a kind, told by one of its fields."""
    return lambda content: repacked(content, lambda records: change(next(it for it in records if of in it)))


def test_a_base_of_another_format_is_refused_with_what_to_do(
    published: Path, clone: Path, machine: Machine, qdrant: QdrantDouble
) -> None:
    with Index.open(clone, machine("b")) as index:
        changed_part(qdrant, lambda it: repacked(it, with_ids_of_before, about={"format": 1_001}))
        with pytest.raises(SnapshotError, match=r"base shop .* has format 1001 .* reads 1002") as refused:
            index.take("shop")
        assert "`cqm publish shop`" in refused.value.remedy
        publish(published, machine("ci"), keep=1)
        changed_part(qdrant, lambda it: repacked(it, about={"format": 1_003}))
        with pytest.raises(SnapshotError, match="has format 1003") as refused:
            index.take("shop")
        assert refused.value.remedy == "Update CQM here."


HOSTILE: dict[str, Callable[[bytes], bytes | None]] = {
    "no rows": lambda _: None,
    "no file": lambda content: content[:1500],
    "a byte changed": flipped,
    "a path above": with_row(lambda it: it.update(path="../outside.py"), "chunks"),
    "a chunk of another file": with_row(lambda it: it.update(path="other.py"), "fingerprint"),
    "no id": with_row(lambda it: it.update(id="../../x"), "fingerprint"),
    "no line": with_row(lambda it: it.update(end_line=0), "fingerprint"),
    "a space that is not there": with_row(lambda it: it.update(space="../x"), "fingerprint"),
    "a large number": with_row(lambda it: it.update(tokens=1 << 60), "fingerprint"),
    "counts of another kind": with_row(lambda it: it.update(name="path_terms"), "indices"),
    "more than all": with_row(lambda it: it.update(points=0), "indices"),
    "a short list": with_row(lambda it: it.update(counts="01000000"), "indices"),
    "no list": with_row(lambda it: it.update(counts=3), "indices"),
}
"""What somebody may make of the rows of a base."""


def refusal_of(index: Index) -> str:
    """The remedy of a base that is refused; empty where it is taken."""
    try:
        index.take("shop")
    except SnapshotError as error:
        return error.remedy
    return ""


def test_damaged_and_hostile_rows_are_refused_and_the_index_stays(
    published: Path, clone: Path, machine: Machine, qdrant: QdrantDouble
) -> None:
    with Index.open(clone, machine("b")) as index:
        index.update()
        before = answers(index)
        for name, change in HOSTILE.items():
            changed_part(qdrant, change)
            assert "`cqm publish shop`" in refusal_of(index), name
            publish(published, machine("ci"), keep=1)
        collection = next(iter(qdrant.collections.values()))
        some = [int(it, 16) for it in qdrant.ids("cqm_base-shop")][:2]
        collection.update(edge.UpdateOperation.delete_points(some))
        with pytest.raises(SnapshotError, match="2 of its points are gone"):
            index.take("shop")
        assert answers(index) == before
