"""Whose options hold of several clients of one index, and whose keys of services."""

import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Barrier, Event
from typing import TYPE_CHECKING, Any

import pytest
from scripted_server import Reply, ScriptedServer

from cqm.chunkers.model import ChunkOptions
from cqm.index.engine import Index
from cqm.index.generations.folders import current_name
from cqm.index.generations.generation import generation_name
from cqm.index.model.errors import EmbeddingError
from cqm.index.model.options import CacheOptions, EmbeddingOptions, IndexOptions, RouteOptions, StoreOptions
from cqm.index.model.progress import Progress
from cqm.index.model.query import Query
from cqm.server.owner.client import RemoteIndex

if TYPE_CHECKING:
    from conftest import Place

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("forked_owners")]

LARGE = 2000
"""Files of the large tree."""
PATIENCE_SECONDS = 240.0


def test_a_client_that_is_alone_has_the_index_opened_with_its_options(place: "Place") -> None:
    with place.open() as index:
        index.update()
        owner = place.owner
    with place.open(smaller_chunks(place)) as index:
        # Other chunks: all is indexed anew.
        assert index.update().added == 3
        assert place.owner == owner


def test_a_client_with_other_options_is_served_with_those_in_force_and_told_once(place: "Place") -> None:
    told: list[str] = []
    with place.open() as index:
        index.update()
        with place.open(smaller_chunks(place), noted=told.append) as other:
            assert other.update().unchanged == 3
            assert other.search(Query("compute_1")).hits[0].path == "module_1.py"
            assert other.usages("compute_1").definitions
            assert other.status(look=True).pending == 0
    [notice] = told
    assert re.search(r"is open for process \d+ \(.+\) with other options than this process has", notice)
    assert "than this process has: chunk.max_tokens." in notice
    with place.open(smaller_chunks(place), noted=told.append) as index:
        assert index.update().added == 3
    assert told == [notice]


def test_where_the_chunks_are_kept_is_an_option_like_the_others(place: "Place", server: ScriptedServer) -> None:
    told: list[str] = []
    with place.open() as index:
        index.update()
        elsewhere = replace(place.options, store=StoreOptions(url=server.url))
        with place.open(elsewhere, noted=told.append) as other:
            assert other.update().unchanged == 3
    assert ": store.url." in told[0]
    assert server.requests == []


def test_options_that_are_put_in_force_hold_for_those_who_are_here_too(place: "Place") -> None:
    told: list[str] = []
    with place.open(noted=told.append) as index:
        index.update()
        owner = place.owner
        with place.open(smaller_chunks(place), adopts=True) as other:
            assert other.update().added == 3
            assert index.search(Query("compute_1")).hits[0].path == "module_1.py"
            assert index.update().unchanged == 3
        assert place.owner == owner
    assert [": chunk.max_tokens." in notice for notice in told] == [True]


def test_who_is_here_already_does_not_bring_its_options_back_with_another_connection(place: "Place") -> None:
    with place.open() as index:
        with place.open(smaller_chunks(place), adopts=True) as other:
            other.update()
        # A search while an update goes on needs a connection of its own.
        index.update(report=lambda _: index.search(Query("compute_1")))
        told: list[str] = []
        with place.open(smaller_chunks(place), noted=told.append) as other:
            assert other.update().unchanged == 3
        assert told == []


def test_an_update_that_goes_on_is_begun_again_with_the_options_put_in_force(large: "Place", background: Any) -> None:
    told: list[str] = []
    with large.open(noted=told.append) as index:
        begun = Event()
        updated = background(lambda: index.update(report=lambda progress: begun.set() if progress.done else None))
        assert begun.wait(PATIENCE_SECONDS)
        with large.open(smaller_chunks(large), adopts=True) as other:
            summary = updated.result()
            assert (summary.added, summary.cancelled) == (LARGE, False)
            assert other.update().unchanged == LARGE
    assert len(told) == 1


def test_an_update_that_was_begun_again_can_be_cancelled(large: "Place") -> None:
    others = []

    def come_and_cancel(progress: Progress) -> None:
        if progress.done and not others:
            others.append(large.open(smaller_chunks(large), adopts=True))

    with large.open() as index:
        summary = index.update(report=come_and_cancel, cancelled=lambda: bool(others))
        assert summary.cancelled
        assert others[0].status(look=True).pending
    others[0].close()


def test_of_two_who_put_options_in_force_at_once_the_later_one_has_its_own(place: "Place", background: Any) -> None:
    told: dict[int, list[str]] = {128: [], 256: []}

    def come(tokens: int) -> int:
        options = replace(place.options, chunk=ChunkOptions(max_tokens=tokens))
        with place.open(options, adopts=True, noted=told[tokens].append) as other:
            assert not other.update().cancelled
            both_updated.wait(PATIENCE_SECONDS)
            return other.search(Query("compute_1")).chunks

    with place.open() as index:
        index.update()
        both_updated = Barrier(2)
        coming = [background(partial(come, tokens)) for tokens in told]
        assert [each.result() for each in coming] == [3, 3]
        assert sorted(len(notices) for notices in told.values()) == [0, 1]
        assert index.search(Query("compute_1")).hits


def test_options_are_put_in_force_while_a_generation_for_others_is_built(large: "Place", background: Any) -> None:
    begun = Event()
    with large.open() as index:
        index.update()
        with large.open(smaller_chunks(large), adopts=True) as second:
            building = background(lambda: second.update(report=lambda it: begun.set() if it.done else None))
            assert begun.wait(PATIENCE_SECONDS)
            third = replace(large.options, chunk=ChunkOptions(max_tokens=128))
            with large.open(third, adopts=True) as other:
                assert index.search(Query("compute_1")).hits
                assert not other.update().cancelled
            assert not building.result().cancelled
    assert current_name(large.folder) == generation_name(third)


def test_options_that_are_not_valid_are_an_error_of_their_client_alone(large: "Place", background: Any) -> None:
    told: list[str] = []
    with large.open(noted=told.append) as index:
        begun = Event()
        updated = background(lambda: index.update(report=lambda it: begun.set() if it.done else None))
        assert begun.wait(PATIENCE_SECONDS)
        with pytest.raises(EmbeddingError, match="nobody"):
            large.open(replace(large.options, embedding=EmbeddingOptions("nobody")), adopts=True)
        assert not updated.result().cancelled
        assert index.search(Query("compute_1")).hits
        assert index.update().unchanged == LARGE
    assert told == []


def test_an_owner_whose_options_were_changed_ends_when_nobody_is_here(place: "Place") -> None:
    with place.open(idle_seconds=0):
        with place.open(smaller_chunks(place), adopts=True, idle_seconds=0) as other:
            other.update()
        owner = place.owner
        with place.open(idle_seconds=0) as index:
            assert place.owner == owner
            assert index.search(Query("compute_1")).hits
    place.wait_for_end()
    with Index.open(place.root, smaller_chunks(place)) as alone:
        assert alone.status(look=True).pending == 0


def test_after_the_owners_death_the_options_of_the_first_to_come_again_hold(place: "Place") -> None:
    told: dict[str, list[str]] = {"first": [], "second": []}
    with (
        place.open(noted=told["first"].append) as first,
        place.open(smaller_chunks(place), noted=told["second"].append) as second,
    ):
        first.update()
        place.kill()
        assert second.search(Query("compute_1")).hits
        assert first.search(Query("compute_1")).hits
        assert second.update().added == 3
        assert first.update().unchanged == 3
    assert [bool(notice) for notice in told["first"]] == [True]
    assert [bool(notice) for notice in told["second"]] == [True, False]


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


def test_a_key_that_comes_while_work_goes_on_is_used_by_the_next_connection(
    place: "Place", server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.rule = lambda request: None if request.headers.get("authorization") == "Bearer sk-1" else Reply(401, "{}")
    options = with_model(place, server)
    monkeypatch.delenv("TEST_KEY", raising=False)
    others: list[RemoteIndex] = []

    def come(_: Progress) -> None:
        if not others:
            monkeypatch.setenv("TEST_KEY", "sk-1")
            others.append(place.open(options))

    with place.open(options) as poor:
        poor.update(report=come)
        poor.improve()
        assert poor.status().lacking == 0
    others[0].close()


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


def test_keys_of_a_client_that_is_served_with_others_options_or_fails_are_not_used(
    place: "Place", server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.rule = lambda request: None if request.headers.get("authorization") == "Bearer sk-1" else Reply(401, "{}")
    options = with_model(place, server)
    monkeypatch.delenv("TEST_KEY", raising=False)
    with place.open(options) as index:
        assert index.update().embedded == 0
        monkeypatch.setenv("TEST_KEY", "sk-1")
        with place.open(replace(options, chunk=ChunkOptions(max_tokens=256))) as other:
            assert other.improve().embedded == 0
        with pytest.raises(EmbeddingError, match="nobody"):
            place.open(replace(options, routes=RouteOptions(choose="nobody")), adopts=True)
        assert index.improve().embedded == 0
        with place.open(replace(options, chunk=ChunkOptions(max_tokens=256)), adopts=True) as other:
            assert other.update().embedded == 3


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


def smaller_chunks(place: "Place") -> IndexOptions:
    """Options that ask for another generation."""
    return replace(place.options, chunk=ChunkOptions(max_tokens=256))


def with_model(place: "Place", server: ScriptedServer) -> IndexOptions:
    """Options with a model that wants a key."""
    model = EmbeddingOptions("openai", "tiny", f"{server.url}/v1", api_key_env="TEST_KEY")
    return replace(
        place.options, embedding=model, cache=CacheOptions(enabled=False), routes=RouteOptions(retry_seconds=0)
    )
