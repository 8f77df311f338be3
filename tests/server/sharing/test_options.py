"""Clients of one index agree on its options; keys of services are the exception, which they bring along."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from scripted_server import Reply, ScriptedServer

from cqm.chunkers.model import ChunkOptions
from cqm.index.errors import IndexInUseError
from cqm.index.model import Query
from cqm.index.options import CacheOptions, EmbeddingOptions, IndexOptions, RouteOptions
from cqm.server.sharing.client import RemoteIndex

if TYPE_CHECKING:
    from conftest import Place


def test_a_client_that_is_alone_has_the_index_opened_with_its_options(place: "Place") -> None:
    with place.open() as index:
        index.update()
        owner = place.owner
    with place.open(replace(place.options, chunk=ChunkOptions(max_tokens=256))) as index:
        # Other chunks: all is indexed anew.
        assert index.update().added == 3
        assert place.owner == owner


def test_options_that_others_do_not_have_are_refused_and_named(place: "Place") -> None:
    with place.open() as index:
        other = replace(place.options, chunk=ChunkOptions(max_tokens=256))
        with pytest.raises(
            IndexInUseError, match=r"in use by process \d+ \(.+\) with other options: chunk.max_tokens\."
        ):
            place.open(other)
        assert index.update().added == 3
    with place.open(other) as index:
        assert index.update().added == 3


def test_a_key_that_only_a_later_client_has_is_used_from_then_on(
    place: "Place", server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.rule = lambda request: None if request.headers.get("authorization") == "Bearer sk-1" else Reply(401, "{}")
    options = with_model(place, server)
    monkeypatch.delenv("TEST_KEY", raising=False)
    with place.open(options) as poor:
        assert poor.update().embedded == 0
        monkeypatch.setenv("TEST_KEY", "sk-1")
        with place.open(options) as rich:
            assert rich.update().embedded == 3
    assert "sk-1" not in "".join(path.read_text("latin-1") for path in place.folder.rglob("*") if path.is_file())


def test_the_key_of_a_client_that_is_alone_takes_the_place_of_one_before(
    place: "Place", server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.rule = lambda request: None if request.headers.get("authorization") == "Bearer sk-2" else Reply(401, "{}")
    options = with_model(place, server)
    monkeypatch.setenv("TEST_KEY", "sk-1")
    with place.open(options) as index:
        assert index.update().embedded == 0
        monkeypatch.setenv("TEST_KEY", "sk-2")
        with place.open(options) as other:
            # Somebody came with the first one, and has it still.
            assert other.update().embedded == 0
    with place.open(options) as index:
        assert index.update().embedded == 3


def test_a_variable_that_no_model_of_the_index_reads_changes_nothing(
    place: "Place", monkeypatch: pytest.MonkeyPatch
) -> None:
    with place.open() as index:
        index.update()
        index.search(Query("compute_1"))
        # The index is opened anew for new keys, which ends what its cache counted.
        [before, *_] = index.status().cache
        monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
        monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
        with place.open() as other:
            [after, *_] = other.status().cache
    assert 0 < before.stored <= after.stored


def test_the_way_to_a_service_is_that_of_the_client(
    place: "Place", server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = EmbeddingOptions("openai", "tiny", "http://models.invalid/v1", api_key_env="TEST_KEY")
    options = replace(with_model(place, server), embedding=model)
    monkeypatch.setenv("TEST_KEY", "sk-1")
    with place.open(options) as index:
        assert index.update().embedded == 0
    monkeypatch.setenv("HTTP_PROXY", server.url)
    monkeypatch.setenv("http_proxy", server.url)
    with place.open(options) as index:
        index.update()
    assert any("models.invalid" in request.path for request in server.requests)


def test_paths_in_the_options_are_those_of_the_client(
    place: "Place", server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place.root.parent)
    (place.root.parent / "key").write_text("sk-1")
    (place.root.parent / "key").chmod(0o600)
    model = EmbeddingOptions("openai", "tiny", f"{server.url}/v1", api_key_file="key")
    cache = CacheOptions(folder=Path("vectors"))
    options = replace(place.options, home=Path("near"), cache=cache, embedding=model)
    with RemoteIndex.open(Path("tree"), options, idle_seconds=0) as index:
        assert index.update().embedded == 3
        assert index.folder.is_relative_to(place.root.parent / "near")
    assert (place.root.parent / "vectors").is_dir()
    assert {request.headers["authorization"] for request in server.embeddings} == {"Bearer sk-1"}


def with_model(place: "Place", server: ScriptedServer) -> IndexOptions:
    """Options with a model that wants a key."""
    model = EmbeddingOptions("openai", "tiny", f"{server.url}/v1", api_key_env="TEST_KEY")
    return replace(
        place.options, embedding=model, cache=CacheOptions(enabled=False), routes=RouteOptions(retry_seconds=0)
    )
