"""Each option of a store, and its request to the server."""

import ssl
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from qdrant_double import QdrantDouble

from cqm.chunkers.errors import CqmError
from cqm.index.engine import Index
from cqm.index.model.errors import StoreError
from cqm.index.model.options import EmbeddingOptions, IndexOptions
from cqm.index.model.query import Query

pytestmark = pytest.mark.processes

Options = Callable[..., IndexOptions]
Paths = Callable[[Index, str], list[str]]


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
    searches = [search for asked in qdrant.said("POST", ".*/query/batch") for search in asked.body["searches"]]
    [search] = [search for search in searches if "indices" not in search["query"]["nearest"]]
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
    tree: Path,
    tmp_path: Path,
    options: Options,
    qdrant: QdrantDouble,
    monkeypatch: pytest.MonkeyPatch,
    place: str,
    paths: Paths,
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
        assert paths(index, "gather_3")
    kept = b"".join(path.read_bytes() for path in (tmp_path / "home").rglob("*") if path.is_file())
    assert b"hunter" not in kept


def test_https_is_checked_by_the_authorities_that_are_named(
    tree: Path, tmp_path: Path, options: Options, paths: Paths
) -> None:
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
            assert paths(index, "gather_3")
    finally:
        double.close()


def test_without_the_package_the_message_says_how_to_install_it(tree: Path, tmp_path: Path, options: Options) -> None:
    (tmp_path / "stub" / "qdrant_client").mkdir(parents=True)
    (tmp_path / "stub" / "qdrant_client" / "__init__.py").write_text("raise ImportError('not here')\n")
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path; from cqm.index.engine import Index\n"
        "from cqm.index.model.options import *\n"
        "from cqm.chunkers.errors import CqmError\n"
        "options = IndexOptions(Path(sys.argv[2]), store=StoreOptions(url=sys.argv[4]))\n"
        "try: Index.open(Path(sys.argv[3]), options)\n"
        "except CqmError as error: print(error.message, error.remedy)\n"
    )
    done = run(program, tmp_path / "stub", tmp_path / "home", tree, options().store.url)
    assert done == (
        f"store.url is {options().store.url}, and the package qdrant-client is not installed. "
        f"Run `{sys.executable} -m pip install 'cqm-mcp[server]'`.\n"
    )


def test_without_a_server_the_package_is_not_even_loaded(tree: Path, tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from cqm.index.engine import Index\n"
        "from cqm.index.model.options import *\n"
        "from cqm.index.model.query import Query\n"
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
