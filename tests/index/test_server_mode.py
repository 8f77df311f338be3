"""An index on a Qdrant server: the same answers, what each option asks of the server, and whose collection is whose."""

import os
import shutil
import ssl
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from qdrant_double import QdrantDouble, refusal

from cqm.chunkers.errors import CqmError
from cqm.chunkers.model import ChunkOptions
from cqm.index.budget import make_room
from cqm.index.catalogue import remove_index
from cqm.index.engine import Index
from cqm.index.errors import StoreError
from cqm.index.model import Query, SearchMode
from cqm.index.options import CacheOptions, EmbeddingOptions, IndexOptions, StoreOptions
from cqm.index.status import read_status

REPOSITORY = Path(__file__).parents[2]
NOTHING = EmbeddingOptions("none")

QUERIES = (
    Query("where is the store opened"),
    Query("EdgeStore"),
    Query("_settled_points"),
    Query("retry a request after a time-out"),
    Query("how are damaged generations found", mode=SearchMode.SEMANTIC),
    Query("filter by folder", mode=SearchMode.LEXICAL),
    Query("def upsert", languages=("python",)),
    Query("embedding provider", include=("embedding/**",)),
    Query("cache of vectors on disk", exclude=("embedding/**",)),
    Query("Redis password", kinds=("class",)),
    Query("tokens", include=("cache/*.py",), mode=SearchMode.HYBRID),
    Query("what is written when an update is cancelled"),
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    for number in range(5):
        (root / f"part_{number}.py").write_text(f"def gather_{number}(value):\n    return value + {number}\n")
    return root


Options = Callable[..., IndexOptions]


@pytest.fixture
def options(tmp_path: Path, qdrant: QdrantDouble) -> Options:
    """Options of an index on the double without vectors; of the store as given."""

    def made(**store: object) -> IndexOptions:
        chosen = StoreOptions(**{"url": qdrant.url, "retry_seconds": 5.0, **store})  # type: ignore[arg-type]
        return IndexOptions(tmp_path / "home", workers=1, embedding=NOTHING, store=chosen)

    return made


def paths(index: Index, text: str = "gather_3") -> list[str]:
    return [hit.path for hit in index.search(Query(text)).hits]


def served(qdrant: QdrantDouble) -> str:
    """The collection that the only alias stands for."""
    [name] = qdrant.aliases.values()
    return name


def test_a_repository_has_the_same_chunks_and_the_same_first_results_as_in_a_folder(
    tmp_path: Path, qdrant: QdrantDouble
) -> None:
    tree = tmp_path / "tree"
    for part in ("embedding", "cache", "contextual"):
        shutil.copytree(REPOSITORY / "index" / part, tree / part, ignore=shutil.ignore_patterns("__pycache__"))
    for path in (REPOSITORY / "index").glob("*.py"):
        shutil.copy(path, tree)
    shutil.copy(REPOSITORY / "README.md", tree)
    cache = CacheOptions(folder=tmp_path / "cache")
    here = IndexOptions(tmp_path / "here", cache=cache)
    there = IndexOptions(tmp_path / "there", cache=cache, store=StoreOptions(url=qdrant.url))
    with Index.open(tree, here) as embedded, Index.open(tree, there) as remote:
        assert embedded.update().chunks_written == remote.update().chunks_written
        chunks = embedded._opened().store.ids()  # type: ignore[attr-defined]
        assert set(chunks) == qdrant.ids(served(qdrant))
        for query in QUERIES:
            assert answers(remote, query) == answers(embedded, query)
        (tree / "home.py").unlink()
        (tree / "new.py").write_text("def entirely_new_function():\n    return EdgeStore\n")
        assert embedded.update().chunks_deleted == remote.update().chunks_deleted > 0
        assert set(embedded._opened().store.ids()) == qdrant.ids(served(qdrant))  # type: ignore[attr-defined]
        for query in (*QUERIES, Query("entirely_new_function")):
            assert answers(remote, query) == answers(embedded, query)


def answers(index: Index, query: Query) -> list[tuple[object, ...]]:
    hits = index.search(replace(query, limit=10)).hits
    assert hits, query
    return [(hit.path, hit.start_line, hit.end_line, hit.text, round(hit.score, 4)) for hit in hits]


def test_an_index_that_is_closed_is_opened_again_as_it_was(tree: Path, options: Options, qdrant: QdrantDouble) -> None:
    with Index.open(tree, options()) as index:
        index.update()
    with Index.open(tree, options()) as index:
        assert index.status().complete
        assert index.status().damage == ""
        assert paths(index)[0] == "part_3.py"
        before = len(qdrant.requests)
        assert index.update().unchanged == 5
        assert {asked.method for asked in qdrant.requests[before:]} <= {"GET"}


def test_every_write_waits_until_the_server_has_carried_it_out(
    tree: Path, options: Options, qdrant: QdrantDouble
) -> None:
    with Index.open(tree, options()) as index:
        index.update()
        (tree / "part_0.py").unlink()
        index.update()
    writes = [*qdrant.said("PUT", ".*/(points|index)"), *qdrant.said("POST", ".*/points/batch")]
    assert len(writes) > 5
    assert {asked.query["wait"] for asked in writes} == {"true"}


def test_a_collection_is_made_with_the_shards_and_replicas_that_are_asked_for(
    tree: Path, options: Options, qdrant: QdrantDouble
) -> None:
    chosen = options(shard_number=3, replication_factor=2, write_consistency_factor=2, prefix="team_a")
    with Index.open(tree, chosen) as index:
        index.update()
    [(name, made)] = qdrant.parameters.items()
    assert (made["shard_number"], made["replication_factor"], made["write_consistency_factor"]) == (3, 2, 2)
    [alias] = qdrant.aliases
    assert alias.startswith("team_a-tree-")
    assert name.startswith(f"{alias}-")
    assert made["sparse_vectors"]["terms"]["modifier"] == "idf"


@pytest.mark.parametrize(
    ("quantization", "form"),
    [
        ("none", None),
        ("int8", {"scalar": {"type": "int8", "quantile": 0.99, "always_ram": True}}),
        ("binary", {"binary": {"always_ram": True}}),
    ],
)
def test_vectors_are_quantized_as_asked_for_and_results_compared_by_the_whole_ones(
    tree: Path, options: Options, qdrant: QdrantDouble, quantization: str, form: object
) -> None:
    chosen = replace(options(quantization=quantization), embedding=EmbeddingOptions())
    with Index.open(tree, chosen) as index:
        index.update()
        index.search(Query("gather values"))
    [made] = qdrant.parameters.values()
    assert made.get("quantization_config") == form
    [search] = [
        asked.body for asked in qdrant.said("POST", ".*/query") if "indices" not in asked.body["query"]["nearest"]
    ]
    wanted = {"rescore": True, "oversampling": 2.0} if form else None
    found = search["params"].get("quantization")
    assert (found and {key: found[key] for key in ("rescore", "oversampling")}) == wanted
    assert search["params"]["hnsw_ef"] >= 2 * search["limit"]


def test_vectors_are_left_on_disk_when_that_is_asked_for(tree: Path, options: Options, qdrant: QdrantDouble) -> None:
    for on_disk in (False, True):
        qdrant.requests.clear()
        with Index.open(tree, replace(options(on_disk=on_disk), embedding=EmbeddingOptions())) as index:
            index.update()
        [created] = qdrant.said("PUT", "/collections/[^/]+")
        placed = [asked.body["vectors"] for asked in qdrant.said("PATCH", ".*")]
        [space] = qdrant.said("PUT", ".*/vectors/.*")
        assert bool(created.body.get("hnsw_config")) == on_disk
        assert placed == ([{space.path.rpartition("/")[2]: {"on_disk": True}}] if on_disk else [])


@pytest.mark.parametrize("place", ["variable", "file"])
def test_the_key_is_sent_and_never_shown(
    tree: Path, tmp_path: Path, options: Options, qdrant: QdrantDouble, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    qdrant.key = "hunter2"
    (tmp_path / "key").touch(0o600)
    (tmp_path / "key").write_text("wrong-hunter3\n")
    with pytest.raises(StoreError, match=r"it refuses the API key: Must provide") as refused:
        Index.open(tree, options(api_key_file=str(tmp_path / "key")))
    assert "hunter3" not in str(refused.value)
    assert "store.api_key_file" in refused.value.remedy
    if place == "variable":
        monkeypatch.setenv("QDRANT_KEY_OF_TEST", "hunter2")
    else:
        (tmp_path / "key").write_text("hunter2\n")
    with Index.open(tree, options(api_key_env="QDRANT_KEY_OF_TEST", api_key_file=str(tmp_path / "key"))) as index:
        index.update()
        assert paths(index)
    kept = b"".join(path.read_bytes() for path in (tmp_path / "home").rglob("*") if path.is_file())
    assert b"hunter" not in kept


def test_https_is_checked_by_the_authorities_that_are_named(tree: Path, tmp_path: Path, options: Options) -> None:
    authority, key = tmp_path / "ca.pem", tmp_path / "ca.key"
    made = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
         "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", authority],
        check=False, capture_output=True,
    )  # fmt: skip
    if made.returncode:
        pytest.skip("openssl makes no certificate here")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(authority, key)
    double = QdrantDouble(tmp_path / "tls", tls)
    try:
        with pytest.raises(StoreError, match="CERTIFICATE_VERIFY_FAILED") as refused:
            Index.open(tree, options(url=double.url))
        assert "store.ca_file" in refused.value.remedy
        with pytest.raises(StoreError, match="cannot be used"):
            Index.open(tree, options(url=double.url, ca_file=str(tmp_path / "none.pem")))
        with Index.open(tree, options(url=double.url, ca_file=str(authority))) as index:
            index.update()
            assert paths(index)
    finally:
        double.close()


def test_the_old_collection_serves_until_the_new_one_is_complete_and_goes_then(
    tree: Path, options: Options, qdrant: QdrantDouble
) -> None:
    with Index.open(tree, options()) as index:
        index.update()
    old, [alias] = served(qdrant), qdrant.aliases
    with Index.open(tree, replace(options(), chunk=ChunkOptions(max_tokens=256))) as index:
        assert paths(index)
        qdrant.requests.clear()
        index.update()
        new = served(qdrant)
        assert new != old
        assert list(qdrant.aliases) == [alias]
        # Others never see the alias stand for nothing: it is switched within one request.
        [switch] = qdrant.said("POST", "/collections/aliases")
        assert [*switch.body["actions"][0], *switch.body["actions"][1]] == ["delete_alias", "create_alias"]
        assert paths(index)
    assert list(qdrant.collections) == [new]


def test_where_the_alias_cannot_be_switched_the_old_generation_serves_and_the_next_update_switches(
    tree: Path, options: Options, qdrant: QdrantDouble
) -> None:
    with Index.open(tree, options()) as index:
        index.update()
    old, changed = served(qdrant), replace(options(), chunk=ChunkOptions(max_tokens=256))
    with Index.open(tree, changed) as index:
        qdrant.rule = lambda asked: refusal(400, "no") if asked.path.endswith("aliases") else None
        with pytest.raises(StoreError, match="cannot be published: it answers 400: no"):
            index.update()
        assert paths(index)
    assert served(qdrant) == old
    qdrant.rule = lambda _: None
    with Index.open(tree, changed) as index:
        assert index.update().chunks_written == 0
    assert served(qdrant) != old
    assert list(qdrant.collections) == [served(qdrant)]


def test_a_process_that_ends_between_the_alias_and_the_note_of_what_serves_leaves_both_generations(
    tree: Path, options: Options, qdrant: QdrantDouble
) -> None:
    with Index.open(tree, options()) as index:
        index.update()
    old, changed = served(qdrant), replace(options(), chunk=ChunkOptions(max_tokens=256))
    with Index.open(tree, changed) as index:
        (index.folder / "current.new").mkdir()
        with pytest.raises(StoreError, match="current cannot be written"):
            index.update()
        assert paths(index)
        assert set(qdrant.collections) == {old, served(qdrant)}
        (index.folder / "current.new").rmdir()
    with Index.open(tree, changed) as index:
        assert index.update().chunks_written == 0
        assert paths(index)
    assert list(qdrant.collections) == [served(qdrant)]


def test_a_collection_that_cannot_be_deleted_now_is_deleted_later(
    tree: Path, options: Options, qdrant: QdrantDouble
) -> None:
    with Index.open(tree, options()) as index:
        index.update()
    old = served(qdrant)
    with Index.open(tree, replace(options(), chunk=ChunkOptions(max_tokens=256))) as index:
        index.update()
        qdrant.stop()
    assert old in qdrant.collections
    qdrant.start()
    with Index.open(tree, replace(options(), chunk=ChunkOptions(max_tokens=256))) as index:
        assert paths(index)
    assert list(qdrant.collections) == [served(qdrant)]


def test_an_index_moves_from_its_folder_to_a_server_while_it_serves(
    tree: Path, options: Options, qdrant: QdrantDouble
) -> None:
    remote = options()
    local = replace(remote, store=StoreOptions())
    with Index.open(tree, local) as index:
        index.update()
        folder = index.folder
    with Index.open(tree, remote) as index:
        assert paths(index)
        assert qdrant.requests == []
        index.update()
        assert paths(index)
    assert not [*folder.rglob("shard")]
    assert len(qdrant.ids(served(qdrant))) == 10


def test_nothing_is_asked_of_a_server_that_is_not_configured_any_more(
    tree: Path, options: Options, qdrant: QdrantDouble
) -> None:
    with Index.open(tree, options()) as index:
        index.update()
    qdrant.requests.clear()
    elsewhere = replace(options(), store=StoreOptions())
    with Index.open(tree, elsewhere) as index:
        assert "not what store.url names now" in index.status().damage
        index.update()
        assert paths(index)
    assert qdrant.requests == []
    assert len(qdrant.collections) == 1
    # Where it is configured again, what is obsolete there goes.
    with Index.open(tree, options()) as index:
        index.update()
    assert list(qdrant.collections) == [served(qdrant)]


def test_a_collection_that_is_gone_is_told_of_and_made_anew(tree: Path, options: Options, qdrant: QdrantDouble) -> None:
    with Index.open(tree, options()) as index:
        index.update()
    shard = qdrant.collections.pop(served(qdrant))
    shard.close()
    with Index.open(tree, options()) as index:
        assert "is gone" in index.status().damage
        assert index.update().notes[0].startswith("The index was damaged and is rebuilt: ")
        assert paths(index)[0] == "part_3.py"


def test_points_that_are_lost_on_the_server_are_found_when_the_index_is_opened(
    tree: Path, options: Options, qdrant: QdrantDouble
) -> None:
    with Index.open(tree, options()) as index:
        index.update()
        store = index._opened().store
        store.delete([next(iter(qdrant.ids(served(qdrant))))])
    with Index.open(tree, options()) as index:
        assert "has lost 1 of its points" in index.status().damage
        index.update()
        assert len(qdrant.ids(served(qdrant))) == 10


def test_two_copies_of_an_index_never_write_into_one_collection(
    tree: Path, tmp_path: Path, options: Options, qdrant: QdrantDouble
) -> None:
    """As when a folder of indexes is copied to another machine, or comes back from a backup."""
    mine = options()
    yours = replace(mine, home=tmp_path / "copy")
    with Index.open(tree, mine) as index:
        index.update()
    shutil.copytree(tmp_path / "home", tmp_path / "copy")
    first = served(qdrant)
    with Index.open(tree, mine) as index:
        assert index.status().damage == ""
    with Index.open(tree, yours) as index:
        assert "in use by another copy of this index" in index.status().damage
        index.update()
        assert paths(index)[0] == "part_3.py"
    assert first in qdrant.collections
    with Index.open(tree, mine) as index:
        assert index.status().damage == ""
        assert paths(index)[0] == "part_3.py"
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
        remove_index(folder, options())
    assert read_status(tree, options()).complete
    with pytest.raises(StoreError, match=r"not what store\.url names now"):
        remove_index(folder, replace(options(), store=StoreOptions()))
    qdrant.start()
    remove_index(folder, options())
    assert not folder.exists()
    assert qdrant.collections == qdrant.aliases == {}


def test_an_index_that_makes_room_for_others_is_deleted_on_the_server_too(
    tree: Path, tmp_path: Path, options: Options, qdrant: QdrantDouble
) -> None:
    other = tmp_path / "other"
    shutil.copytree(tree, other)
    with Index.open(tree, options()) as index:
        index.update()
    with Index.open(other, options()) as index:
        index.update()
        assert len(qdrant.collections) == 2
        kept = index.folder
    for path in (tmp_path / "home").glob("indexes/tree-*/*/manifest.db"):
        with path.open("ab") as file:
            file.write(b"\1" * 3_000_000)
            file.flush()
            # Before that it need not take room on disk.
            os.fsync(file.fileno())
    notes = list(make_room(kept, replace(options(), disk_mb=2)))
    assert [note.partition(" (")[0] for note in notes] == [f"The index of {tree}"]
    assert list(qdrant.aliases.values()) == list(qdrant.collections)
    assert served(qdrant).startswith("cqm-other-")


def test_a_server_compacts_by_itself(tree: Path, options: Options) -> None:
    with Index.open(tree, options()) as index:
        index.update()
        with pytest.raises(StoreError, match="is on cqm-tree-") as refused:
            index.compact()
        assert "compacts by itself" in refused.value.remedy
        assert paths(index)


def test_an_index_that_is_made_anew_gets_another_collection(tree: Path, options: Options, qdrant: QdrantDouble) -> None:
    with Index.open(tree, options()) as index:
        index.update()
        first = served(qdrant)
        index.update(anew=True)
        assert paths(index)
        assert served(qdrant) != first
    assert list(qdrant.collections) == [served(qdrant)]


def test_an_estimate_makes_no_collection(tree: Path, options: Options, qdrant: QdrantDouble) -> None:
    local = replace(options(), store=StoreOptions())
    with Index.open(tree, local) as index:
        index.update()
    with Index.open(tree, options()) as index:
        assert index.estimate().chunks == 5
    assert qdrant.requests == []


def test_without_the_package_the_message_says_how_to_install_it(tree: Path, tmp_path: Path, options: Options) -> None:
    (tmp_path / "stub" / "qdrant_client").mkdir(parents=True)
    (tmp_path / "stub" / "qdrant_client" / "__init__.py").write_text("raise ImportError('not here')\n")
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path; from cqm.index.engine import Index; from cqm.index.options import *\n"
        "from cqm.chunkers.errors import CqmError\n"
        "options = IndexOptions(Path(sys.argv[2]), store=StoreOptions(url=sys.argv[4]))\n"
        "try: Index.open(Path(sys.argv[3]), options)\n"
        "except CqmError as error: print(error.message, error.remedy)\n"
    )
    done = run(program, tmp_path / "stub", tmp_path / "home", tree, options().store.url)
    assert done == (
        f"store.url is {options().store.url}, and the package qdrant-client is not installed. "
        "Run `pip install 'cqm[server]'`.\n"
    )


def test_without_a_server_the_package_is_not_even_loaded(tree: Path, tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from cqm.index.engine import Index; from cqm.index.options import *\n"
        "from cqm.index.model import Query\n"
        "options = IndexOptions(Path(sys.argv[1]), embedding=EmbeddingOptions('none'))\n"
        "with Index.open(Path(sys.argv[2]), options) as i:\n"
        "    i.update(); assert i.search(Query('gather_3')).hits\n"
        "print(sorted(name for name in sys.modules if 'qdrant' in name and '.' not in name))\n"
    )
    assert run(program, tmp_path / "home", tree) == "['qdrant_edge']\n"


def run(program: str, *arguments: object) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_address_that_cannot_be_used_is_refused(tree: Path, options: Options) -> None:
    with pytest.raises(CqmError, match="is not valid"):
        Index.open(tree, options(url="qdrant.example:6333"))
