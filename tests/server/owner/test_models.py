"""Models, caches and rerankers as their owner has them: what clients are told is what one process alone would be."""

from collections.abc import Mapping
from dataclasses import replace
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest
from scripted_server import Reply, Request, ScriptedServer

from cqm.index.engine import Index
from cqm.index.model.options import CacheOptions, EmbeddingOptions, IndexOptions, RerankOptions, RouteOptions
from cqm.index.model.query import Query

if TYPE_CHECKING:
    from conftest import Place

    from cqm.index.model.progress import Progress

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("forked_owners")]

DOWN = Reply(401, "{}")
NO_TIMES = {"seconds": 0.0, "stages": {}, "last_update": None, "updated_at": 0.0, "size_bytes": 0, "rate": 0.0}


def with_models(place: "Place", server: ScriptedServer) -> IndexOptions:
    """A model that may fail, one that never does, and a reranker."""
    preferred = EmbeddingOptions("openai", "tiny", f"{server.url}/v1", concurrency=1)
    return replace(
        place.options,
        embedding=preferred,
        routes=RouteOptions(fallback=(EmbeddingOptions(),), retry_seconds=0),
        cache=CacheOptions(folder=place.options.home / "vectors" if place.options.home else None),
        rerank=RerankOptions("http", f"{server.url}/v1/rerank", depth=2, deadline_seconds=30),
    )


def told(index: Any, server: ScriptedServer) -> list[Any]:
    """All that an index says while its model fails, and when it is back."""
    server.rule = lambda _: DOWN
    said = [index.estimate(), index.update(), index.status(), index.search(Query("compute_1"))]
    server.rule = lambda _: None
    progress: list[Progress] = []
    said += [index.improve(report=progress.append), index.status(look=True), index.search(Query("compute_1"))]
    return [untimed(each) for each in [*said, progress[-1], index.update()]]


def untimed(said: Any) -> Any:
    """The same without what differs from time to time: times, sizes, and the last digits of scores."""
    plain = replace(said, **{name: value for name, value in NO_TIMES.items() if hasattr(said, name)})
    if hasattr(plain, "hits"):
        hits = [replace(hit, score=round(hit.score, 5), parts=rounded(hit.parts)) for hit in plain.hits]
        plain = replace(plain, hits=tuple(hits))
    if hasattr(plain, "usage"):
        plain = replace(plain, usage={name: replace(used, seconds=0.0) for name, used in plain.usage.items()})
    if hasattr(plain, "freshness"):
        plain = replace(plain, freshness=replace(plain.freshness, compared_at=0.0))
    if hasattr(plain, "cache"):
        layers = tuple(replace(layer, size_bytes=0) for layer in plain.cache)
        plain = replace(plain, location="", cache=layers)
    return plain


def rounded(parts: Mapping[str, float]) -> dict[str, float]:
    return {name: round(part, 5) for name, part in parts.items()}


def rerank(request: Request) -> dict[str, Any]:
    """Scores that turn the order round."""
    count = len(request.body["documents"])
    return {"results": [{"index": index, "relevance_score": index / count} for index in range(count)]}


@pytest.fixture
def reranking(server: ScriptedServer) -> ScriptedServer:
    server.told["/v1/rerank"] = rerank
    return server


def test_what_models_did_and_lack_is_told_as_to_a_process_that_has_the_index_alone(
    place: "Place", reranking: ScriptedServer
) -> None:
    options = with_models(place, reranking)
    with place.open(options, idle_seconds=0) as shared:
        through_owner = told(shared, reranking)
    place.wait_for_end()
    alone = replace(place, options=replace(options, home=place.root.parent / "another"))
    with Index.open(alone.root, replace(alone.options, cache=replace(options.cache, folder=None))) as index:
        assert told(index, reranking) == through_owner
    update, improved, status = through_owner[1], through_owner[4], through_owner[5]
    assert (update.lacking, improved.embedded, improved.lacking, status.lacking) == (3, 3, 0, 0)
    assert [layer.name for layer in status.cache] == ["memory", "disk"]


def test_an_improvement_that_one_client_gives_up_goes_on_for_another_and_says_what_is_left(
    place: "Place", server: ScriptedServer, background: Any
) -> None:
    options = with_models(place, server)
    asked, go_on = Event(), Event()

    def held(_: Request) -> Reply | None:
        asked.set()
        assert go_on.wait(240)
        return None

    with place.open(options) as first, place.open(options) as second:
        server.rule = lambda _: DOWN
        assert first.update().lacking == 3
        server.rule = held
        begun = background(first.improve)
        assert asked.wait(240)
        # These two share the next run.
        wanted = background(second.improve)
        given_up = second.improve(cancelled=lambda: True)
        assert given_up.lacking == 3
        go_on.set()
        assert begun.result().embedded == 3
        assert wanted.result().lacking == 0


def test_a_client_may_have_a_model_tried_at_once_that_is_left_alone(place: "Place", server: ScriptedServer) -> None:
    model = EmbeddingOptions("openai", "tiny", f"{server.url}/v1", concurrency=1)
    options = replace(place.options, embedding=model, routes=RouteOptions(retry_seconds=3600))
    server.rule = lambda _: DOWN
    with place.open(options) as serving:
        assert serving.update().lacking == 3
        server.rule = lambda _: None
        with place.open(options) as another:
            assert another.update().lacking == 3
        with place.open(options) as command:
            command.retry_models()
            assert (command.update().lacking, command.status().failed) == (0, ())
            assert command.status().models[0].problem == ""


def test_a_model_that_hangs_holds_up_only_the_run_that_asked_it(place: "Place", server: ScriptedServer) -> None:
    model = EmbeddingOptions("openai", "tiny", f"{server.url}/v1", timeout_seconds=3600)
    asked = Event()

    def hang(request: Request) -> Reply | None:
        if not any("compute_1" in text for text in request.texts):
            return None
        asked.set()
        return Reply(hangs=True)

    server.rule = hang
    with place.open(replace(place.options, embedding=model)) as index:
        assert index.update(cancelled=asked.is_set).cancelled
        server.rule = lambda _: None
        with place.open(index.options) as another:
            assert (another.update().lacking, another.status().chunks) == (0, 3)
