"""Generations on a Qdrant server: aliases, what is obsolete, damage, and whose collection is whose."""

import os
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from qdrant_double import QdrantDouble, refusal

from cqm.chunkers.model import ChunkOptions
from cqm.index.engine import Index
from cqm.index.model.errors import StoreError
from cqm.index.model.options import EmbeddingOptions, IndexOptions, StoreOptions
from cqm.index.model.query import Query
from cqm.index.model.status import IndexState
from cqm.index.status.catalogue import make_room, remove_index
from cqm.index.status.status import read_status

pytestmark = pytest.mark.processes

Options = Callable[..., IndexOptions]
Paths = Callable[[Index, str], list[str]]
Served = Callable[[], str]


def test_the_old_collection_serves_until_the_new_one_is_complete_and_goes_then(
    tree: Path, options: Options, qdrant: QdrantDouble, paths: Paths, served: Served
) -> None:
    with Index.open(tree, options()) as index:
        index.update()
    old, [alias] = served(), qdrant.aliases
    with Index.open(tree, replace(options(), chunk=ChunkOptions(max_tokens=256))) as index:
        assert paths(index, "gather_3")
        qdrant.requests.clear()
        index.update()
        new = served()
        assert new != old
        assert list(qdrant.aliases) == [alias]
        # Others never see the alias stand for nothing: it is switched within one request.
        [switch] = qdrant.said("POST", "/collections/aliases")
        assert [*switch.body["actions"][0], *switch.body["actions"][1]] == ["delete_alias", "create_alias"]
        assert paths(index, "gather_3")
    assert list(qdrant.collections) == [new]


def test_where_the_alias_cannot_be_switched_the_old_generation_serves_and_the_next_update_switches(
    tree: Path, options: Options, qdrant: QdrantDouble, paths: Paths, served: Served
) -> None:
    with Index.open(tree, options()) as index:
        index.update()
    old, changed = served(), replace(options(), chunk=ChunkOptions(max_tokens=256))
    with Index.open(tree, changed) as index:
        qdrant.rule = lambda asked: refusal(400, "no") if asked.path.endswith("aliases") else None
        with pytest.raises(StoreError, match="cannot be published: it answers 400: no"):
            index.update()
        assert paths(index, "gather_3")
    assert served() == old
    qdrant.rule = lambda _: None
    with Index.open(tree, changed) as index:
        assert index.update().chunks_written == 0
    assert served() != old
    assert list(qdrant.collections) == [served()]


def test_a_process_that_ends_between_the_alias_and_the_note_of_what_serves_leaves_both_generations(
    tree: Path, options: Options, qdrant: QdrantDouble, paths: Paths, served: Served
) -> None:
    with Index.open(tree, options()) as index:
        index.update()
    old, changed = served(), replace(options(), chunk=ChunkOptions(max_tokens=256))
    with Index.open(tree, changed) as index:
        (index.folder / "current.new").mkdir()
        with pytest.raises(StoreError, match="current cannot be written"):
            index.update()
        assert paths(index, "gather_3")
        assert set(qdrant.collections) == {old, served()}
        (index.folder / "current.new").rmdir()
    with Index.open(tree, changed) as index:
        assert index.update().chunks_written == 0
        assert paths(index, "gather_3")
    assert list(qdrant.collections) == [served()]


def test_a_collection_that_cannot_be_deleted_now_is_deleted_later(
    tree: Path, options: Options, qdrant: QdrantDouble, paths: Paths, served: Served
) -> None:
    with Index.open(tree, options()) as index:
        index.update()
    old = served()
    qdrant.rule = lambda asked: refusal(403, "Forbidden") if asked.method == "DELETE" else None
    with Index.open(tree, replace(options(), chunk=ChunkOptions(max_tokens=256))) as index:
        index.update()
    assert old in qdrant.collections
    qdrant.rule = lambda _: None
    with Index.open(tree, replace(options(), chunk=ChunkOptions(max_tokens=256))) as index:
        assert paths(index, "gather_3")
        index.update()
    assert list(qdrant.collections) == [served()]


def test_an_index_moves_from_its_folder_to_a_server_while_it_serves(
    tree: Path, options: Options, qdrant: QdrantDouble, paths: Paths, served: Served
) -> None:
    remote = options()
    local = replace(remote, store=StoreOptions())
    with Index.open(tree, local) as index:
        index.update()
        folder = index.folder
    with Index.open(tree, remote) as index:
        assert paths(index, "gather_3")
        assert qdrant.requests == []
        index.update()
        assert paths(index, "gather_3")
    assert not [*folder.rglob("shard")]
    assert len(qdrant.ids(served())) == 10


def test_nothing_is_asked_of_a_server_that_is_not_configured_any_more(
    tree: Path, options: Options, qdrant: QdrantDouble, paths: Paths, served: Served
) -> None:
    with Index.open(tree, options()) as index:
        index.update()
    qdrant.requests.clear()
    elsewhere = replace(options(), store=StoreOptions())
    with Index.open(tree, elsewhere) as index:
        status = index.status()
        assert (status.state, status.damage) == (IndexState.UNAVAILABLE, "")
        assert "not what store.url names now" in status.unavailable
        index.update()
        assert paths(index, "gather_3")
    assert qdrant.requests == []
    assert len(qdrant.collections) == 1
    # Where it is configured again, what is obsolete there goes.
    with Index.open(tree, options()) as index:
        index.update()
    assert list(qdrant.collections) == [served()]


def test_a_collection_that_is_gone_is_told_of_and_made_anew(
    tree: Path, options: Options, qdrant: QdrantDouble, paths: Paths, served: Served
) -> None:
    with Index.open(tree, options()) as index:
        index.update()
    shard = qdrant.collections.pop(served())
    shard.close()
    with Index.open(tree, options()) as index:
        assert "is gone" in index.status().damage
        assert index.update().notes[0].startswith("The index was damaged and is rebuilt: ")
        assert paths(index, "gather_3")[0] == "part_3.py"


def test_points_that_are_lost_on_the_server_are_found_when_the_index_is_opened(
    tree: Path, options: Options, qdrant: QdrantDouble, served: Served
) -> None:
    with Index.open(tree, options()) as index:
        index.update()
        store = index._lineage.serving.store
        store.delete([next(iter(qdrant.ids(served())))])
    with Index.open(tree, options()) as index:
        assert "has lost 1 of its points" in index.status().damage
        index.update()
        assert len(qdrant.ids(served())) == 10


def test_two_copies_of_an_index_never_write_into_one_collection(
    tree: Path, tmp_path: Path, options: Options, qdrant: QdrantDouble, paths: Paths, served: Served
) -> None:
    """As when a folder of indexes is copied to another machine, or comes back from a backup."""
    mine = options()
    yours = replace(mine, home=tmp_path / "copy")
    with Index.open(tree, mine) as index:
        index.update()
    shutil.copytree(tmp_path / "home", tmp_path / "copy")
    first = served()
    with Index.open(tree, mine) as index:
        assert index.status().damage == ""
    with Index.open(tree, yours) as index:
        assert "in use by another copy of this index" in index.status().damage
        index.update()
        assert paths(index, "gather_3")[0] == "part_3.py"
    assert first in qdrant.collections
    with Index.open(tree, mine) as index:
        assert index.status().damage == ""
        assert paths(index, "gather_3")[0] == "part_3.py"
    assert len(qdrant.collections) == 2


def test_a_copy_that_is_open_notices_that_another_one_took_its_collection(
    tree: Path, tmp_path: Path, options: Options
) -> None:
    with Index.open(tree, options()) as index:
        index.update()
        shutil.copytree(tmp_path / "home", tmp_path / "copy")
        with Index.open(tree, replace(options(), home=tmp_path / "copy")) as other:
            assert other.status().damage == ""
        with pytest.raises(StoreError, match="taken over by another copy"):
            keep_writing(index, tree)


def keep_writing(index: Index, tree: Path) -> None:
    """Edit a file until that fails: it is looked every few seconds whose the collection is."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        (tree / "part_0.py").write_text(f"def changed_at_{time.monotonic_ns()}():\n    pass\n")
        index.update(["part_0.py"])


def test_an_index_that_is_removed_is_removed_on_the_server_too(
    tree: Path, options: Options, qdrant: QdrantDouble
) -> None:
    with Index.open(tree, options()) as index:
        index.update()
        folder = index.folder
    qdrant.stop()
    with pytest.raises(StoreError, match="cannot be looked at: it cannot be reached"):
        remove_index(folder, options(), variables=os.environ)
    assert read_status(tree, options()).complete
    with pytest.raises(StoreError, match=r"not what store\.url names now"):
        remove_index(folder, replace(options(), store=StoreOptions()), variables=os.environ)
    qdrant.start()
    remove_index(folder, options(), variables=os.environ)
    assert not folder.exists()
    assert qdrant.collections == qdrant.aliases == {}


def test_an_index_that_makes_room_for_others_is_deleted_on_the_server_too(
    tree: Path, tmp_path: Path, options: Options, qdrant: QdrantDouble, served: Served
) -> None:
    other = tmp_path / "other"
    shutil.copytree(tree, other)
    with Index.open(tree, options()) as index:
        index.update()
    with Index.open(other, options()) as index:
        index.update()
        assert len(qdrant.collections) == 2
        kept = index.folder
    for path in (tmp_path / "home").glob("tree-*/*/manifest.db"):
        with path.open("ab") as file:
            file.write(b"\1" * 3_000_000)
            file.flush()
            os.fsync(file.fileno())  # before that it need not take room on disk
    notes = list(make_room(kept, replace(options(), disk_mb=2), variables=os.environ))
    assert [note.partition(" (")[0] for note in notes] == [f"The index of {tree}"]
    assert list(qdrant.aliases.values()) == list(qdrant.collections)
    assert served().startswith("cqm-other-")


def test_a_server_compacts_by_itself(tree: Path, options: Options, paths: Paths) -> None:
    with Index.open(tree, options()) as index:
        index.update()
        with pytest.raises(StoreError, match="is on cqm-tree-") as refused:
            index.compact()
        assert "compacts by itself" in refused.value.remedy
        assert paths(index, "gather_3")


def test_an_index_that_is_made_anew_gets_another_collection(
    tree: Path, options: Options, qdrant: QdrantDouble, paths: Paths, served: Served
) -> None:
    with Index.open(tree, options()) as index:
        index.update()
        first = served()
        index.update(anew=True)
        assert paths(index, "gather_3")
        assert served() != first
    assert list(qdrant.collections) == [served()]


def test_an_estimate_makes_no_collection(tree: Path, options: Options, qdrant: QdrantDouble) -> None:
    local = replace(options(), store=StoreOptions())
    with Index.open(tree, local) as index:
        index.update()
    with Index.open(tree, options()) as index:
        assert index.estimate().chunks == 5
    assert qdrant.requests == []


def test_a_snapshot_of_an_index_on_a_server_is_one_for_a_folder_and_back(
    tree: Path, options: Options, tmp_path: Path
) -> None:
    on_server = replace(options(), embedding=EmbeddingOptions())
    in_folder = replace(on_server, home=tmp_path / "other", store=StoreOptions())

    def answers(index: Index) -> object:
        hits = [hit for text in ("gather_3", "add") for hit in index.search(Query(text)).hits]
        return [(hit.path, round(hit.score, 3), hit.text) for hit in hits]

    with Index.open(tree, on_server) as index:
        index.update()
        index.export(tmp_path / "server.cqm")
    with Index.open(tree, in_folder) as index:
        assert index.restore(tmp_path / "server.cqm").embedded == 0
        found = answers(index)
        index.update(anew=True)
        assert answers(index) == found
        index.export(tmp_path / "folder.cqm")
    with Index.open(tree, on_server) as index:
        before = answers(index)
        assert index.restore(tmp_path / "folder.cqm").embedded == 0
        assert answers(index) == before
