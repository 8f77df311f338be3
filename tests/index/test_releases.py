"""An index that other releases of CQM open: a newer one's is left alone, and what an older one did to it is told."""

import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from cqm.index.engine import Index
from cqm.index.manifest.schema import FORMAT_VERSION
from cqm.index.model.options import IndexOptions
from cqm.index.model.query import Query
from cqm.index.model.status import IndexState
from cqm.index.status.catalogue import entry
from cqm.index.status.status import read_status
from cqm.index.store.edge import EdgeStore

pytestmark = pytest.mark.processes

NEWER = f"PRAGMA user_version={FORMAT_VERSION + 1}"


@pytest.fixture
def generation(tree: Path, options: IndexOptions) -> Path:
    """The folder of the generation that serves, closed."""
    with Index.open(tree, options) as index:
        index.update()
        return index._lineage.serving.place


@pytest.fixture
def of_a_newer_release(generation: Path) -> Path:
    """The same, as a release would leave it that comes after this one: its generations have other names."""
    with closing(sqlite3.connect(generation / "manifest.db")) as manifest:
        manifest.execute(NEWER)
    renamed = generation.with_name("0123456789ab")
    generation.rename(renamed)
    (generation.parent / "current").write_text(renamed.name)
    return renamed


def prints(place: Path) -> dict[Path, str]:
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in place.rglob("*") if path.is_file()}


@pytest.mark.fault("newer release")
def test_what_a_newer_release_wrote_is_left_as_it_is_and_another_one_is_built_beside_it(
    tree: Path, options: IndexOptions, of_a_newer_release: Path
) -> None:
    before = prints(of_a_newer_release)
    with Index.open(tree, options) as index:
        status = index.status()
        assert (status.state, status.damage) == (IndexState.UNAVAILABLE, "")
        assert "written by a newer release of CQM" in status.unavailable
        assert "Update CQM" in status.unavailable
        assert prints(of_a_newer_release) == before, "not even its seal is broken"
        [note] = index.update().notes
        assert note.startswith("Another index takes the place of the one that was here: ")
        assert (index.status().state, index.status().unavailable) == (IndexState.COMPLETE, "")
        assert index.search(Query("gather_2")).hits[0].path == "part_2.py"
    with Index.open(tree, options) as index:
        assert (index.update().notes, index.update().chunks_written) == ((), 0)


def test_a_newer_release_that_was_killed_is_left_alone_too(tree: Path, options: IndexOptions, generation: Path) -> None:
    (generation / "seal.json").unlink()
    manifest = sqlite3.connect(generation / "manifest.db")
    # Until this connection is closed, the version is in SQLite's log alone.
    manifest.execute(NEWER)
    assert (generation / "manifest.db").read_bytes()[60:64] == FORMAT_VERSION.to_bytes(4, "big")
    with closing(manifest), pytest.raises(Exception, match="written by a newer release"):
        Index.open(tree, options)


def test_status_and_list_tell_of_a_newer_release_without_opening_what_it_wrote(
    tree: Path, options: IndexOptions, of_a_newer_release: Path
) -> None:
    before = prints(of_a_newer_release)
    status = read_status(tree, options)
    assert (status.exists, status.state) == (True, IndexState.UNAVAILABLE)
    assert "newer release" in status.unavailable
    listed = entry(of_a_newer_release.parent)
    assert "newer release" in listed.unavailable
    assert (listed.damage, listed.chunks) == ("", 0)
    assert prints(of_a_newer_release) == before


@pytest.fixture(params=["manifest", "shard"])
def written_by_an_older_release(generation: Path, request: pytest.FixtureRequest) -> Path:
    """The folder of a generation that a release has written to which knows of no seal."""
    if request.param == "manifest":
        with closing(sqlite3.connect(generation / "manifest.db")) as manifest, manifest:
            manifest.execute("INSERT INTO fact VALUES('of an older release', '1')")
    else:
        store = EdgeStore(generation / "shard")
        store.load()
        store.delete([next(store.ids())])
        store.close()
    return generation


@pytest.mark.fault("older release")
def test_an_index_whose_seal_an_older_release_broke_is_told_of_and_rebuilt(
    tree: Path, options: IndexOptions, written_by_an_older_release: Path
) -> None:
    with Index.open(tree, options) as index:
        assert str(written_by_an_older_release) in index.status().damage
        [note] = index.update().notes
        assert note.startswith("The index was damaged and is rebuilt: ")
        assert (index.status().state, index.status().chunks) == (IndexState.COMPLETE, 3)
        for number in range(3):
            assert index.search(Query(f"gather_{number}")).hits[0].path == f"part_{number}.py"


def test_an_index_that_is_begun_bears_its_format_from_the_first_moment(tree: Path, options: IndexOptions) -> None:
    with Index.open(tree, options) as index:
        manifest = index._lineage.serving.place / "manifest.db"
        assert manifest.read_bytes()[60:64] == FORMAT_VERSION.to_bytes(4, "big")
