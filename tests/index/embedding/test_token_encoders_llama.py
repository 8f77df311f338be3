"""The token encoder of a llama.cpp server, by a loopback server that speaks its protocol; and the places of pieces."""

import gc
import json
import os
import warnings
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import Document
from cqm.chunkers.strategies.late import LateOptions
from cqm.index.embedding.late.llama import LlamaTokenEncoder
from cqm.index.embedding.late.pieces import offsets_of
from cqm.index.model.errors import EmbeddingError
from cqm.index.remote.retries import RetryPolicy

pytestmark = pytest.mark.row("B6")

AT_ONCE = RetryPolicy(attempts=1)
BEGIN, END = 1, 2
FIRST = 10


class LlamaProtocol:
    """Answers of a llama.cpp server, as its README says: three bytes are a token, embedded by what is beside it."""

    def __init__(self, reply: Callable[..., Any]) -> None:
        self.reply = reply
        self.known: list[bytes] = []

    def __call__(self, request: Any) -> Any:
        answers = {
            "/props": {"default_generation_settings": {"n_ctx": 34}, "total_slots": 1},
            "/v1/models": {"object": "list", "data": [{"id": "/models/tiny-v1.5.gguf", "meta": {"n_ctx_train": 512}}]},
        }
        if request.path == "/tokenize":
            return self.reply(body=json.dumps({"tokens": self.tokens(request.body)}))
        if request.path == "/embeddings":
            return self.reply(body=json.dumps(self.embeddings(request.body["input"])))
        return self.reply(body=json.dumps(answers[request.path]))

    def tokens(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        assert body["with_pieces"]
        assert body["parse_special"] is False
        text = body["content"].encode()
        own = [self.token(text[start : start + 3]) for start in range(0, len(text), 3)]
        special = [{"id": BEGIN, "piece": "<s>"}], [{"id": END, "piece": "</s>"}]
        return [*special[0], *own, *special[1]] if body["add_special"] else own

    def token(self, piece: bytes) -> dict[str, Any]:
        if piece not in self.known:
            self.known.append(piece)
        try:
            shown: str | list[int] = piece.decode()
        except UnicodeDecodeError:
            shown = list(piece)
        return {"id": FIRST + self.known.index(piece), "piece": shown}

    def embeddings(self, inputs: list[list[int]]) -> list[dict[str, Any]]:
        rows = [[[number, 1.0, sum(ids) / len(ids)] for number in ids] for ids in inputs]
        return [{"index": index, "embedding": own} for index, own in enumerate(rows)]


@pytest.fixture
def llama(server: Any, reply: Callable[..., Any]) -> Any:
    server.rule = LlamaProtocol(reply)
    return server


@pytest.fixture
def served(llama: Any) -> Iterator[LlamaTokenEncoder]:
    encoder = LlamaTokenEncoder(
        llama.url + "/", os.environ, "sk-secret", retries=RetryPolicy(attempts=2, first_wait=0.01)
    )
    yield encoder
    encoder.close()


def test_a_server_embeds_just_the_tokens_that_it_told_between_its_control_tokens(
    llama: Any, served: LlamaTokenEncoder
) -> None:
    ids, offsets = served.tokenize("abcdéf\ud800")
    # Of "abc", of "dé", of "f" with the begin of a replacement character, and of its end.
    assert offsets.tolist() == [[0, 3], [3, 5], [5, 7], [6, 7]]
    rows = served.encode(ids)
    assert rows[:, 0].tolist() == list(ids)
    assert llama.requests[-1].body == {"input": [[BEGIN, *ids, END]]}
    assert llama.requests[-1].headers["authorization"] == "Bearer sk-secret"


def test_a_servers_window_and_space_are_found_out(llama: Any, served: LlamaTokenEncoder) -> None:
    assert served.window == 32
    assert served.name == f"llama.cpp/tiny-v1.5/3@127.0.0.1:{llama.port}"


def test_a_document_is_chunked_late_through_a_server(llama: Any, served: LlamaTokenEncoder) -> None:
    text = "Zürich lies at a lake. 街は大きい。 It is not the capital. " * 8
    report = chunk(Document("notes.txt", text), LateOptions(served, target_tokens=32, window_overlap=8))
    assert "".join(piece.text for piece in report.chunks) == text
    assert report.vectors is not None
    assert report.vectors.shape == (len(report.chunks), 3)
    read = [len(request.body["input"][0]) for request in llama.requests if request.path == "/embeddings"]
    assert max(read) == 34


def failing(llama: Any, answer: Any, path: str = "/embeddings") -> None:
    protocol = llama.rule
    llama.rule = lambda request: answer if request.path == path else protocol(request)


def test_a_server_that_pools_is_refused_with_the_option_that_it_wants(
    llama: Any, served: LlamaTokenEncoder, reply: Callable[..., Any]
) -> None:
    failing(llama, reply(body=json.dumps([{"index": 0, "embedding": [[1.0, 2.0, 3.0]]}])))
    with pytest.raises(EmbeddingError, match=r"returned 1 vectors for 7 tokens: it pools them.*--pooling none"):
        _ = served.window


def test_a_server_whose_batch_is_too_small_is_told_with_the_option_that_it_wants(
    llama: Any, served: LlamaTokenEncoder, reply: Callable[..., Any]
) -> None:
    said = "input (600 tokens) is too large to process. increase the physical batch size (current batch size: 512)"
    failing(llama, reply(500, json.dumps({"error": {"code": 500, "message": said, "type": "server_error"}})))
    with pytest.raises(EmbeddingError, match=r"too large to process.*--ubatch-size"):
        served.encode([10])
    assert len([request for request in llama.requests if request.path == "/embeddings"]) == 1


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (401, '{"error": {"message": "Invalid API Key sk-secret"}}', r"with 401: .*\*\*\*.*Give the key"),
        (404, "no", r"with 404: no. Start it with"),
        (501, "This server does not support embeddings", r"with 501: .*Start it with `llama-server --embeddings"),
        (400, "Prompt contains invalid tokens", r"with 400: Prompt contains"),
        (200, "<html>", r"answered /embeddings with something else than a llama.cpp server does"),
        (200, "[]", r"answered /embeddings with something else than a llama.cpp server does"),
        (200, '[{"embedding": [["x"]]}]', r"answered /embeddings with something else than a llama.cpp server does"),
        (200, json.dumps([{"embedding": [[0.0, 0.0]] * 7}]), r"vectors without a direction"),
        (200, '[{"embedding": [[1e999, 0.0]' + ", [1, 1]" * 6 + "]}]", r"vectors without a direction"),
    ],
)
def test_what_a_server_answers_wrongly_is_told_with_its_words(
    llama: Any, served: LlamaTokenEncoder, reply: Callable[..., Any], status: int, body: str, message: str
) -> None:
    failing(llama, reply(status, body))
    with pytest.raises(EmbeddingError, match=message):
        _ = served.name


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/props", "[]"),
        ("/props", '{"default_generation_settings": []}'),
        ("/props", '{"default_generation_settings": {"n_ctx": "many"}}'),
        ("/v1/models", "[]"),
        ("/v1/models", '{"data": [[]]}'),
        ("/v1/models", '{"data": [{"id": "tiny", "meta": []}]}'),
        ("/v1/models", '{"data": [{"id": "tiny", "meta": {"n_ctx_train": 1.5}}]}'),
        ("/tokenize", "[]"),
        ("/tokenize", '{"tokens": [1]}'),
        ("/tokenize", '{"tokens": [{"id": 1, "piece": 1000000000000000}]}'),
        ("/embeddings", '{"embedding": []}'),
        ("/embeddings", '[{"embedding": [[1' + "0" * 400 + "]]}]"),
        ("/embeddings", "null"),
    ],
)
def test_json_that_is_no_object_is_told_and_the_connection_closed(
    llama: Any, served: LlamaTokenEncoder, reply: Callable[..., Any], path: str, body: str
) -> None:
    failing(llama, reply(body=body), path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(EmbeddingError, match=f"answered {path} with something else"):
            _ = served.window
        gc.collect()
    assert [str(it.message) for it in caught if it.category is ResourceWarning] == []
    llama.rule = LlamaProtocol(reply)
    assert served.window == 32


@pytest.mark.parametrize("body", ["{}", '{"default_generation_settings": null}'])
def test_a_server_that_tells_no_context_has_that_of_its_model(
    llama: Any, served: LlamaTokenEncoder, reply: Callable[..., Any], body: str
) -> None:
    failing(llama, reply(body=body), "/props")
    assert served.window == 510


@pytest.mark.parametrize("context", [2, 1, -1])
def test_a_server_that_reads_no_token_beside_its_control_tokens_is_refused(
    llama: Any, served: LlamaTokenEncoder, reply: Callable[..., Any], context: int
) -> None:
    failing(llama, reply(body=json.dumps({"default_generation_settings": {"n_ctx": context}})), "/props")
    with pytest.raises(EmbeddingError, match=rf"reads at most {context} tokens at once.*--ctx-size"):
        _ = served.window


@pytest.mark.parametrize("key", ["sk-secret\n", "sk secret", "sk-sécret"])
def test_a_key_that_no_header_holds_is_refused_without_being_shown(llama: Any, key: str) -> None:
    with pytest.raises(EmbeddingError, match=r"The key for .*late\.api_key_env") as caught:
        LlamaTokenEncoder(llama.url, os.environ, key, retries=AT_ONCE).tokenize("text")
    assert "cret" not in caught.value.message
    assert llama.requests == []


def test_a_server_that_still_loads_is_asked_again(
    llama: Any, served: LlamaTokenEncoder, reply: Callable[..., Any]
) -> None:
    protocol, loading = llama.rule, [reply(503, '{"error": {"message": "Loading model"}}')]
    llama.rule = lambda request: loading.pop() if loading else protocol(request)
    assert served.window == 32
    assert not loading


def test_a_server_that_does_not_answer_is_told_so(llama: Any, reply: Callable[..., Any]) -> None:
    llama.rule = lambda _: reply(hangs=True)
    with pytest.raises(EmbeddingError, match=r"did not answer in time"):
        LlamaTokenEncoder(llama.url, timeout_seconds=0.05, retries=AT_ONCE, variables=os.environ).tokenize("text")


def test_an_address_where_no_server_is_gets_the_command_that_starts_one(server: Any) -> None:
    server.close()
    encoder = LlamaTokenEncoder(server.url, retries=AT_ONCE, variables=os.environ)
    with pytest.raises(EmbeddingError, match=r"connection to a llama.cpp server at .* failed.*Start it with"):
        encoder.tokenize("text")


@given(text=st.text(max_size=40), cuts=st.lists(st.integers(0, 160), max_size=8), lead=st.sampled_from(["", " "]))
def test_pieces_that_are_the_text_have_exact_offsets(text: str, cuts: list[int], lead: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    whole = (lead + text).encode()
    ends = [0, *sorted(min(cut, len(whole)) for cut in cuts), len(whole)]
    pieces = [whole[start:end] for start, end in pairwise(ends)]
    offsets = offsets_of(text, pieces)
    assert offsets.shape == (len(pieces), 2)
    assert (np.diff(offsets[:, 0]) >= 0).all()
    for piece, (start, end) in zip(pieces, offsets, strict=True):
        assert piece.strip() in text[start:end].encode()
        assert len(text[start:end].encode()) <= len(piece) + 6  # Of a cut character on either side.


@given(text=st.text(max_size=40), pieces=st.lists(st.binary(max_size=6), max_size=8))
def test_any_pieces_of_any_text_have_offsets_in_it(text: str, pieces: list[bytes]) -> None:
    text = text.encode("utf-8", "replace").decode()
    offsets = offsets_of(text, pieces)
    assert offsets.shape == (len(pieces), 2)
    assert (np.diff(offsets[:, 0]) >= 0).all()
    assert ((offsets[:, 0] <= offsets[:, 1]) & (offsets[:, 1] <= len(text))).all()


def test_uncased_pieces_are_found_in_the_text_and_unknown_ones_lie_between() -> None:
    text = "Café 設計 ist\tÉTÉ-Zeit! 😀"
    pieces = [" cafe", "[UNK]", "[UNK]", " is", "t", " ete", " -", " zeit", " !", "[UNK]"]
    found = [text[start:end] for start, end in offsets_of(text, [piece.encode() for piece in pieces])]
    assert found == ["Café", "設計", "設計", "is", "t", "ÉTÉ", "-", "Zeit", "!", "😀"]
