"""A model behind its breaker, when its service fails, says no, or is given another model."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TYPE_CHECKING

import pytest
from clock import Clock

from cqm.index.embedding import open_embedder
from cqm.index.embedding.budget import DocumentBudget
from cqm.index.embedding.cached import CachedEmbedder
from cqm.index.embedding.routes import GuardedModel
from cqm.index.model.errors import BudgetError, EmbeddingError, RefusedInputError
from cqm.index.model.options import EmbeddingOptions
from cqm.index.model.status import CacheLayer
from cqm.index.remote.breaker import Breaker

if TYPE_CHECKING:
    from scripted_server import Reply, Request, ScriptedServer

PLENTY = 60.0
"""Seconds that no test waits for."""


class Kept:
    """A cache that a test looks into.

    Attributes:
        values: by key.
        before: called before it is next asked.
    """

    enabled = True

    def __init__(self) -> None:
        self.values: dict[str, bytes] = {}
        self.before: Callable[[], None] | None = None

    def get(self, _kind: str, keys: Sequence[str]) -> dict[str, bytes]:
        before, self.before = self.before, None
        if before:
            before()
        return {key: self.values[key] for key in keys if key in self.values}

    def put(self, _kind: str, values: Mapping[str, bytes]) -> None:
        self.values |= values

    def layers(self) -> tuple[CacheLayer, ...]:
        return ()

    def close(self) -> None:
        """Nothing is open."""


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def kept() -> Kept:
    return Kept()


Connect = Callable[..., GuardedModel]


@pytest.fixture
def connect(server: "ScriptedServer", kept: Kept, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Connect]:
    """Open guarded models over the server, that end with the test; a failed one is left alone for a minute."""
    for variable in ("OPENAI_API_KEY", "OLLAMA_API_KEY", "TEI_API_KEY", "LLAMA_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    models: list[GuardedModel] = []

    def open_one(provider: str = "ollama", **options: object) -> GuardedModel:
        url = server.url + ("" if provider == "ollama" else "/v1")
        embedder = open_embedder(
            EmbeddingOptions(provider, "tiny", url, concurrency=1, **options), variables=os.environ
        )  # type: ignore[arg-type]
        assert embedder is not None
        models.append(GuardedModel("a model", CachedEmbedder(embedder, kept), Breaker(60.0, clock)))
        return models[-1]

    yield open_one
    for model in models:
        model.embedder.close()


def refused(reply: "type[Reply]", status: int = 401) -> "Callable[[Request], Reply | None]":
    return lambda _: reply(status, '{"error": "no"}')


@pytest.mark.parametrize("provider", ["ollama", "openai"])
def test_calls_under_way_go_on_while_another_meets_the_service_anew(
    server: "ScriptedServer", connect: Connect, clock: Clock, provider: str
) -> None:
    """Once it closed the connections that other threads were using."""
    model, asked, released = connect(provider, batch_size=1), Event(), Event()

    def slow(request: "Request") -> None:
        if "text 0" in request.texts:
            asked.set()
            released.wait(PLENTY)

    server.rule = slow
    with ThreadPoolExecutor(1) as pool:
        under_way = pool.submit(model.embed_documents, [f"text {number}" for number in range(5)])
        assert asked.wait(PLENTY)
        model.breaker.failed("a question took too long")
        clock.now = 61
        assert model.space()
        released.set()
        assert under_way.result(PLENTY).indices == (0, 1, 2, 3, 4)
    model.embedder.close()
    assert model.embed_documents(["later"]).indices == (0,)


def exchange(server: "ScriptedServer", model: GuardedModel) -> None:
    """Give Ollama another model under the same name, which is noticed."""
    server.digest = "fedcba9876543210"
    model.embedder.close()


def test_vectors_have_the_space_of_the_model_that_made_them_in_the_answer_and_in_the_cache(
    server: "ScriptedServer", connect: Connect, kept: Kept
) -> None:
    """Once they had that of the model before, when it was exchanged between the two questions."""
    model = connect()
    model.embed_documents(["known"])
    old = model.space()
    kept.before = lambda: exchange(server, model)
    embeddings = model.embed_documents(["known", "new"])
    assert embeddings.space == model.space() != old
    assert embeddings.indices == (0, 1)
    assert sorted(key.rpartition(" ")[2] for key in kept.values) == sorted([old.name, *[embeddings.space.name] * 2])


def test_a_question_has_the_space_of_the_model_that_embedded_it(
    server: "ScriptedServer", connect: Connect, kept: Kept
) -> None:
    model = connect()
    old = model.space()
    kept.before = lambda: exchange(server, model)
    assert model.embed_query("one", [old.vector_name], PLENTY) is None
    exchanged = model.space()
    found = model.embed_query("one", [old.vector_name, exchanged.vector_name], PLENTY)
    assert found is not None
    assert found[0] == exchanged.vector_name
    assert {key.rpartition(" ")[2] for key in kept.values} == {exchanged.name}


# A model that is exchanged while its service goes on.

LLAMACPP = {"n_ctx": 512, "n_params": 22_565_376, "size": 45_586_944, "n_embd": 384, "n_vocab": 30_522}
TEI = {"model_id": "BAAI/bge-small-en-v1.5", "model_sha": "5c38ec7c", "max_input_length": 512}


def listed(**meta: object) -> dict[str, object]:
    return {"object": "list", "data": [{"id": "tiny", "meta": meta}]}


EXCHANGES: list[tuple[str, Callable[["ScriptedServer"], None], Callable[["ScriptedServer"], None], str]] = [
    (
        "ollama",
        lambda server: setattr(server, "digest", "0123456789abcdef"),
        lambda server: setattr(server, "digest", "fedcba9876543210"),
        "/api/tags",
    ),
    (
        "llamacpp",
        lambda server: server.told.update({"/v1/models": listed(**LLAMACPP)}),
        lambda server: server.told.update({"/v1/models": listed(**{**LLAMACPP, "size": 24_000_000})}),
        "/v1/models",
    ),
    (
        "tei",
        lambda server: server.told.update({"/info": TEI}),
        lambda server: server.told.update({"/info": {**TEI, "model_sha": "ea104dac"}}),
        "/info",
    ),
]


@pytest.mark.parametrize(("provider", "first", "second", "path"), EXCHANGES)
def test_a_model_that_is_exchanged_without_an_outage_is_noticed_by_one_question(
    server: "ScriptedServer",
    connect: Connect,
    provider: str,
    first: Callable[["ScriptedServer"], None],
    second: Callable[["ScriptedServer"], None],
    path: str,
) -> None:
    first(server)
    model = connect(provider)
    model.refresh(PLENTY)
    assert server.requests == [], "it is met at its first use"
    old = model.space()
    server.requests.clear()
    model.refresh(PLENTY)
    assert [request.path for request in server.requests] == [path]
    assert model.space() == old
    second(server)
    model.refresh(PLENTY)
    assert model.space() != old
    assert model.embed_documents(["one"]).space == model.space()
    first(server)
    assert connect(provider).space() == old


def test_how_llamacpp_was_started_says_nothing_of_its_model(server: "ScriptedServer", connect: Connect) -> None:
    server.told["/v1/models"] = listed(**LLAMACPP)
    space = connect("llamacpp").space()
    server.told["/v1/models"] = listed(**{**LLAMACPP, "n_ctx": 256})
    assert connect("llamacpp").space() == space


def test_a_service_that_does_not_tell_its_model_any_more_keeps_its_space(
    server: "ScriptedServer", connect: Connect
) -> None:
    server.told["/v1/models"] = listed(**LLAMACPP)
    model = connect("llamacpp")
    space = model.space()
    server.told.clear()
    model.refresh(PLENTY)
    assert model.space() == space


@pytest.mark.parametrize("provider", ["ollama", "llamacpp"])
def test_a_refresh_that_fails_opens_the_breaker_and_raises_nothing(
    server: "ScriptedServer", connect: Connect, provider: str
) -> None:
    model = connect(provider)
    model.space()
    server.close()
    model.refresh(PLENTY)
    assert model.breaker.is_open
    with pytest.raises(EmbeddingError, match="left alone"):
        model.space()


# What is the model's failure, and what is none.


@pytest.mark.parametrize("provider", ["ollama", "openai"])
def test_a_service_that_refuses_even_a_short_text_is_left_alone(
    server: "ScriptedServer", connect: Connect, reply: "type[Reply]", provider: str
) -> None:
    """Once each question met it anew, since a refused text is no failure of the model."""
    server.rule = refused(reply, 400)
    model = connect(provider)
    with pytest.raises(EmbeddingError, match=r"refuses even a short text.*Check embedding\.model") as caught:
        model.embed_query("one", ["x"], PLENTY)
    assert not isinstance(caught.value, RefusedInputError)
    assert model.breaker.is_open
    asked = len(server.requests)
    with pytest.raises(EmbeddingError, match="left alone"):
        model.embed_query("two", ["x"], PLENTY)
    assert len(server.requests) == asked


def test_a_question_that_is_refused_after_an_outage_shows_that_the_service_works(
    server: "ScriptedServer", connect: Connect, reply: "type[Reply]", clock: Clock
) -> None:
    """Once the breaker stayed half open, and the next minute's callers were refused."""
    model = connect()
    name = model.space().vector_name
    model.breaker.failed("it was down")
    clock.now = 61
    server.rule = lambda request: reply(400, '{"error": "no"}') if "bad" in request.texts else None
    with pytest.raises(RefusedInputError):
        model.embed_query("bad", [name], PLENTY)
    assert model.embed_query("good", [name], PLENTY) is not None


def test_a_budget_that_is_used_up_after_an_outage_does_not_keep_questions_out(
    server: "ScriptedServer", connect: Connect, kept: Kept, clock: Clock
) -> None:
    budget = DocumentBudget(0.000001, 1.0, lambda: 0.0)
    model = GuardedModel("a model", CachedEmbedder(connect().embedder, kept, budget), Breaker(60.0, clock))
    name = model.space().vector_name
    model.breaker.failed("it was down")
    clock.now = 61
    with pytest.raises(BudgetError):
        model.embed_documents(["a text"])
    assert model.embed_query("a question", [name], PLENTY) is not None


def test_messages_say_what_to_do(server: "ScriptedServer", connect: Connect, reply: "type[Reply]") -> None:
    model = connect()
    name = model.space().vector_name
    server.rule = lambda _: reply(hangs=True)
    with pytest.raises(EmbeddingError, match="did not answer within") as slow:
        model.embed_query("one", [name], 0.05)
    model.breaker.failed("it is down")
    assert "embedding.query_seconds" in slow.value.remedy
    with pytest.raises(EmbeddingError, match="left alone") as alone:
        model.space()
    assert alone.value.remedy
