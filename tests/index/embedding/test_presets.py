"""Endpoints of OpenAI's protocol that differ: what they are sent, and what they tell of themselves."""

import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from cqm.index.embedding.openai import openai_embedder
from cqm.index.embedding.service.base import Embedder
from cqm.index.model.errors import EmbeddingError
from cqm.index.model.options import EmbeddingOptions
from cqm.index.remote.presets import PRESETS
from cqm.index.remote.retries import RetryPolicy

if TYPE_CHECKING:
    from scripted_server import Request, ScriptedServer

QUICK = RetryPolicy(attempts=3, first_wait=0.001, longest_wait=0.002)
Connect = Callable[..., Embedder]


@pytest.fixture
def connect(server: "ScriptedServer", monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Connect:
    """Open embedders over the server that end with the test."""
    for preset in PRESETS.values():
        monkeypatch.delenv(preset.key_variable, raising=False)

    def open_one(provider: str, model: str = "tiny", **options: object) -> Embedder:
        given = EmbeddingOptions(provider, model, f"{server.url}/v1", timeout_seconds=60.0)
        embedder = openai_embedder(replace(given, **options), os.environ, QUICK)
        request.addfinalizer(embedder.close)
        return embedder

    return open_one


def sent(server: "ScriptedServer", *fields: str) -> dict[str, Any]:
    """Return what the last request for vectors had of some fields."""
    return {field: server.embeddings[-1].body[field] for field in fields if field in server.embeddings[-1].body}


def test_voyage_is_told_what_texts_are_by_a_field_and_never_cuts(server: "ScriptedServer", connect: Connect) -> None:
    embedder = connect("voyage", "voyage-code-3", dimensions=4)
    embedder.embed_documents(["one"])
    fields = ("input", "input_type", "truncation", "output_dimension", "dimensions")
    expected = {"input": ["one"], "input_type": "document", "truncation": False, "output_dimension": 4}
    assert sent(server, *fields) == expected
    embedder.embed_query("two")
    assert sent(server, "input", "input_type") == {"input": ["two"], "input_type": "query"}
    assert embedder.facts().context_tokens == 32_000


@pytest.mark.parametrize(
    ("model", "query", "document"),
    [
        ("jina-embeddings-v3", "retrieval.query", "retrieval.passage"),
        ("jina-code-embeddings-1.5b", "nl2code.query", "nl2code.passage"),
    ],
)
def test_jina_is_told_the_task_of_the_model(
    server: "ScriptedServer", connect: Connect, model: str, query: str, document: str
) -> None:
    embedder = connect("jina", model)
    embedder.embed_documents(["one"])
    assert sent(server, "input", "task", "truncate") == {"input": ["one"], "task": document, "truncate": False}
    embedder.embed_query("two")
    assert sent(server, "input", "task") == {"input": ["two"], "task": query}


@pytest.mark.parametrize(("provider", "variable"), [("voyage", "VOYAGE_API_KEY"), ("jina", "JINA_API_KEY")])
def test_a_service_on_the_net_wants_the_key_of_its_own_variable(
    monkeypatch: pytest.MonkeyPatch, provider: str, variable: str
) -> None:
    monkeypatch.delenv(variable, raising=False)
    with pytest.raises(EmbeddingError, match=f"{variable} is not set.*api_key_file"):
        openai_embedder(EmbeddingOptions(provider), variables=os.environ).space()


def listed(**more: object) -> dict[str, Any]:
    return {"object": "list", "data": [{"id": "tiny", "object": "model", **more}]}


@pytest.mark.parametrize(
    ("provider", "more", "context"),
    [
        ("llamacpp", {"meta": {"n_ctx_train": 2048, "n_ctx": 512}}, 512),
        ("llamacpp", {"meta": {"n_ctx_train": 2048}}, 2048),
        ("vllm", {"max_model_len": 8192}, 8192),
        ("openai", {"max_model_len": 8192}, 8192),
        ("vllm", {"max_model_len": "many", "meta": ["odd"]}, 0),
        ("vllm", {}, 0),
    ],
)
def test_the_only_model_of_a_server_and_its_context_are_found_in_its_list(
    server: "ScriptedServer", connect: Connect, provider: str, more: dict[str, object], context: int
) -> None:
    server.told["/v1/models"] = listed(**more)
    embedder = connect(provider, "")
    assert embedder.space().name.startswith(f"{provider}/tiny/4@127.0.0.1:{server.port}")
    assert embedder.facts().context_tokens == context
    assert connect(provider, "", context_tokens=77).facts().context_tokens == 77


def test_of_several_models_one_must_be_chosen(server: "ScriptedServer", connect: Connect) -> None:
    server.told["/v1/models"] = {"data": [{"id": "tiny"}, {"id": "huge"}]}
    with pytest.raises(EmbeddingError, match=r"No model is named for .*Set embedding\.model to one of: tiny, huge"):
        connect("vllm", "").space()
    assert connect("vllm", "huge").space().model == "huge"


@pytest.mark.parametrize("answer", [[], "models", {"data": None}, {"data": [7, {"id": None}]}, None])
def test_an_odd_list_tells_nothing(server: "ScriptedServer", connect: Connect, answer: object) -> None:
    server.told["/v1/models"] = answer
    assert connect("llamacpp", "all-minilm").facts().context_tokens == 256, "what the table has"


def test_what_the_server_tells_wins_over_the_table(server: "ScriptedServer", connect: Connect) -> None:
    server.told["/v1/models"] = {"data": [{"id": "nomic-embed-text", "max_model_len": 8192}]}
    facts = connect("vllm", "nomic-embed-text").facts()
    assert facts.context_tokens == 8192
    assert facts.document_prefix == "search_document: "


INFO = {
    "model_id": "BAAI/bge-small-en-v1.5",
    "max_input_length": 512,
    "max_client_batch_size": 3,
    "auto_truncate": True,
}


def test_tei_tells_its_model_its_context_and_how_many_texts_it_takes(
    server: "ScriptedServer", connect: Connect
) -> None:
    server.told["/info"] = INFO
    embedder = connect("tei", "")
    assert embedder.space().model == "BAAI/bge-small-en-v1.5"
    assert embedder.facts().context_tokens == 512
    embedder.embed_documents([f"text {number}" for number in range(7)])
    assert [len(request.texts) for request in server.embeddings[1:]] == [3, 3, 1]
    embedder.embed_query("seven")
    assert server.embeddings[-1].texts == ["Represent this sentence for searching relevant passages: seven"]


def tokens_of(request: "Request") -> list[list[dict[str, object]]]:
    """A token every two characters, between two special ones, as text-embeddings-inference tells them."""
    text = request.body["inputs"]
    inner = [{"id": 7, "special": False, "start": at, "stop": min(at + 2, len(text))} for at in range(0, len(text), 2)]
    special = {"id": 0, "special": True, "start": None, "stop": None}
    return [[special, *inner, special]]


@pytest.mark.parametrize("way", ["pool", "cut"])
def test_a_text_that_tei_would_cut_silently_is_found_by_its_own_tokenizer(
    server: "ScriptedServer", connect: Connect, way: str
) -> None:
    server.told |= {"/info": INFO, "/tokenize": tokens_of}
    server.counts = False
    text = "line of text\n" * 100
    embeddings = connect("tei", "tiny", long_texts=way).embed_documents(["short", text, "x" * 1000])
    assert embeddings.indices == (0, 1, 2)
    assert (embeddings.pooled if way == "pool" else embeddings.cut) == (1,)
    embedded = [one for request in server.embeddings for one in request.texts]
    assert max(map(len, embedded)) <= 1020
    assert "x" * 1000 in embedded, "within the context: neither parted nor cut"
    assert way == "pool" or text[:1020] in embedded, "as much as it reads"


def test_a_key_may_come_from_a_file_which_a_refusal_names(
    server: "ScriptedServer", connect: Connect, tmp_path: Any, reply: Any
) -> None:
    file = tmp_path / "key"
    file.write_text("sk-from-file\n")
    file.chmod(0o600)
    connect("openai", api_key_file=str(file)).space()
    assert server.embeddings[-1].headers["authorization"] == "Bearer sk-from-file"
    server.rule = lambda _: reply(401, '{"error": {"message": "Incorrect API key provided: sk-from-file"}}')
    with pytest.raises(EmbeddingError, match=r"Check the key in the file .*key\.") as caught:
        connect("openai", api_key_file=str(file)).space()
    assert "sk-from-file" not in str(caught.value)
