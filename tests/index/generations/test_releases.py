"""An index that other releases of CQM open: a newer one's is left alone, and what an older one did to it is told."""

import hashlib
import sqlite3
from contextlib import closing
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import pytest

from cqm.chunkers.model import ChunkOptions
from cqm.index.disk.checksums import seal
from cqm.index.engine import Index
from cqm.index.generations.generation import generation_name
from cqm.index.generations.recipe import UNWRITTEN
from cqm.index.manifest.schema import FORMAT_VERSION
from cqm.index.model.options import ContextOptions, EmbeddingOptions, IndexOptions, RouteOptions, StoreOptions
from cqm.index.model.query import Query
from cqm.index.model.secrets import SecretOptions
from cqm.index.model.status import IndexState
from cqm.index.status.catalogue import entry
from cqm.index.status.status import read_status
from cqm.index.store.edge import EdgeStore
from cqm.index.store.open import SHAPING

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


def test_an_index_of_a_format_without_names_knows_almost_names_too(
    tree: Path, options: IndexOptions, generation: Path
) -> None:
    with closing(sqlite3.connect(generation / "manifest.db")) as manifest, manifest:
        manifest.executescript("DROP TABLE name; DROP TABLE name_end; DROP TABLE named_file; PRAGMA user_version=4")
    (generation / "seal.json").unlink()
    with Index.open(tree, options) as index:
        answer = index.search(Query("gahter_2"))
        assert answer.hits[0].symbol == "gather_2"
        assert answer.degraded == "no symbol is called gahter_2: the nearest follow"


# A release that has one option more.


@dataclass(frozen=True, slots=True)
class MoreChunkOptions(ChunkOptions):
    """Options as another release may have them."""

    folds: int = 3


def with_more(options: IndexOptions, **more: int) -> IndexOptions:
    """The same options as the other release has them."""
    chunk = MoreChunkOptions(**{it.name: getattr(options.chunk, it.name) for it in fields(ChunkOptions)}, **more)
    return replace(options, chunk=chunk)


def test_an_option_with_a_default_that_is_new_renames_no_generation(options: IndexOptions) -> None:
    for one in (options, replace(options, chunk=ChunkOptions(max_tokens=256))):
        assert generation_name(with_more(one)) == generation_name(one)
    assert generation_name(with_more(options, folds=4)) != generation_name(options)


def test_an_index_is_not_built_again_for_an_option_that_is_new(tree: Path, options: IndexOptions) -> None:
    with Index.open(tree, options) as index:
        index.update()
    with Index.open(tree, with_more(options)) as index:
        assert (index.update().notes, index.update().chunks_written) == ((), 0)


CHANGED: list[dict[str, Any]] = [
    {"chunk": ChunkOptions(max_tokens=256)},
    {"chunk": ChunkOptions(apart=True)},
    {"embedding": EmbeddingOptions("openai")},
    {"embedding": EmbeddingOptions("openai", "tiny")},
    {"embedding": EmbeddingOptions("openai", query_prefix="")},
    {"routes": RouteOptions(prose=EmbeddingOptions("openai"))},
    {"context": ContextOptions("ollama")},
    {"context": ContextOptions(place="both")},
    {"store": StoreOptions("http://127.0.0.1:6333")},
    {"store": StoreOptions("http://127.0.0.1:6333", on_disk=True)},
]


def test_each_value_that_shapes_an_index_gives_another_name(options: IndexOptions) -> None:
    changed = [replace(options, **values) for values in CHANGED]
    changed.append(replace(options, scan=replace(options.scan, secrets=SecretOptions(allow=("a",)))))
    names = {generation_name(one) for one in (options, *changed)}
    assert len(names) == len(CHANGED) + 2
    assert generation_name(options, ("a space",)) not in names


def test_how_a_model_is_reached_is_no_part_of_the_name(options: IndexOptions) -> None:
    model = EmbeddingOptions("openai", api_key_env="KEY", concurrency=7, timeout_seconds=1.0)
    asked = replace(options, embedding=EmbeddingOptions("openai"))
    assert generation_name(replace(options, embedding=model)) == generation_name(asked)


def test_the_first_default_of_each_option_that_shapes_an_index_is_noted(options: IndexOptions) -> None:
    """A new option gets a row in `UNWRITTEN`; a row never changes, not even with its default."""
    parts = {"chunk": ChunkOptions, "secrets": SecretOptions}
    names = {f"{section}.{it.name}" for section, part in parts.items() for it in fields(part)}  # type: ignore[arg-type]
    names |= {f"store.{name}" for name in SHAPING if name != "url"}
    assert {name for name in UNWRITTEN if not name.startswith("model.")} == names


def test_an_index_of_the_release_before_serves_until_the_new_one_is_built_beside_it(
    tree: Path, options: IndexOptions, generation: Path
) -> None:
    with closing(sqlite3.connect(generation / "manifest.db")) as manifest, manifest:
        manifest.execute("UPDATE fact SET value = 'of before' WHERE name = 'recipe'")
    (generation / "seal.json").unlink()
    seal(generation, {})
    former = generation.rename(generation.with_name("0123456789ab"))
    (generation.parent / "current").write_text(former.name)
    with Index.open(tree, options) as index:
        assert index.search(Query("gather_2")).hits[0].path == "part_2.py"
        assert index._lineage.serving.name == former.name
        assert index.update().chunks_written == 3
        assert index._lineage.serving.name == generation_name(options)
    assert not former.exists()
