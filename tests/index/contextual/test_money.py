"""The price of contexts, in tokens and dollars: counted, estimated before, and bounded."""

import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import ChunkOptions, Document
from cqm.chunkers.tokens import estimate
from cqm.index.contextual import ContextWriter, open_writer
from cqm.index.contextual.estimate import DocumentSize, estimate_contexts
from cqm.index.contextual.prices import PRICES, Price
from cqm.index.model.errors import ContextError
from cqm.index.model.options import ContextOptions

if TYPE_CHECKING:
    from conftest import ChatServer

Connect = Callable[..., ContextWriter]
TEXT = "# Pump manual\n\n" + "".join(
    f"## Chapter {number}\n\nThe valve {number} of this pump opens when the pressure is {number} bar and it must be "
    f"closed by hand after the alarm {number} was heard.\n\n"
    for number in range(1, 25)
)
CHUNKS = chunk(Document("pump.md", TEXT), ChunkOptions(max_tokens=64, min_tokens=0)).chunks
DEAR = {"usd_per_million_input": 1000.0, "usd_per_million_output": 2000.0}


@pytest.fixture(autouse=True)
def _at_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def test_usage_is_what_the_server_counts(server: "ChatServer", connect: Connect, provider: str) -> None:
    writer = connect(provider=provider, **DEAR)
    writer.write("pump.md", TEXT, CHUNKS)
    usage, count = writer.usage(), len(CHUNKS)
    assert (usage.requests, usage.texts, usage.tokens, usage.output_tokens) == (count, count, 1000 * count, 50 * count)
    assert usage.usd == pytest.approx(count * 1.1)
    assert usage.seconds > 0


def test_usage_is_estimated_where_the_server_does_not_count(server: "ChatServer", connect: Connect) -> None:
    server.usage = None
    writer = connect()
    notes = writer.write("pump.md", TEXT, CHUNKS).notes
    sent = sum(estimate(request.body["messages"][0]["content"]) for request in server.chats)
    assert writer.usage().tokens == sent
    assert writer.usage().output_tokens == sum(map(estimate, notes))
    assert writer.usage().usd == 0


def test_an_answer_of_no_use_is_paid_for_all_the_same(server: "ChatServer", connect: Connect) -> None:
    server.say = lambda _: ""
    writer = connect(**DEAR)
    writer.write("pump.md", TEXT, CHUNKS[:3])
    assert (writer.usage().requests, writer.usage().texts) == (3, 0)
    assert writer.usage().usd == pytest.approx(3.3)


@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_run_stops_before_it_exceeds_its_budget(server: "ChatServer", connect: Connect, concurrency: int) -> None:
    writer = connect(budget_usd=20.0, concurrency=concurrency, **DEAR)
    written = writer.write("pump.md", TEXT, CHUNKS)
    done = sum(map(bool, written.notes))
    assert 0 < done < len(CHUNKS)
    assert writer.usage().usd <= 20
    assert "The budget of 20 USD is used up" in written.problem
    assert written.failed == tuple(place for place, note in enumerate(written.notes) if not note)
    assert not writer.is_ready
    asked = len(server.chats)
    assert not any(writer.write("pump.md", TEXT, CHUNKS).notes)
    assert len(server.chats) == asked


def test_requests_side_by_side_spend_as_much_of_a_budget_as_one_after_the_other(
    server: "ChatServer", connect: Connect
) -> None:
    written = [
        connect(budget_usd=15.0, concurrency=concurrency, **DEAR).write("pump.md", TEXT, CHUNKS).notes
        for concurrency in (1, 4)
    ]
    assert len({sum(map(bool, notes)) for notes in written}) == 1


def test_a_budget_needs_a_price(server: "ChatServer", connect: Connect) -> None:
    with pytest.raises(ContextError, match=r"expected a model with a known price.*context\.usd_per_million_input"):
        connect(budget_usd=1.0)


@pytest.mark.parametrize(
    ("options", "usd"),
    [
        (ContextOptions("openai"), 0.15 + 0.60),
        (ContextOptions("openai", "gpt-4.1-nano"), 0.10 + 0.40),
        (ContextOptions("openai", "gpt-4.1-nano", usd_per_million_input=3.0), 3.0 + 0.40),
        (ContextOptions("openai", "gpt-4.1-nano", usd_per_million_output=3.0), 0.10 + 3.0),
        (ContextOptions("openai", "some-model"), None),
        (ContextOptions("openai", "gpt-4o-mini", "http://127.0.0.1:8000/v1"), None),
        (ContextOptions("openai", "some-model", usd_per_million_input=3.0), None),
        (ContextOptions("openai", "some-model", usd_per_million_input=3.0, usd_per_million_output=4.0), 7.0),
        (ContextOptions("ollama"), 0.0),
        (ContextOptions("ollama", usd_per_million_input=3.0), 3.0),
        (ContextOptions(), 0.0),
    ],
)
def test_the_price_is_the_options_or_the_tables_or_unknown(options: ContextOptions, usd: float | None) -> None:
    # A million tokens of output, and as many of input but for what the tasks of a hundred thousand questions take.
    options = replace(options, max_tokens=100, window_tokens=1)
    told = estimate_contexts(options, [DocumentSize(10**9, (1,) * 10_000)], variables=os.environ)
    assert told.output_tokens == (0 if options.provider == "rules" else 1_000_000)
    if usd is None:
        assert told.usd is None
        return
    only_output = estimate_contexts(
        replace(options, usd_per_million_input=0.0), [DocumentSize(10**9, (1,) * 10_000)], variables=os.environ
    )
    assert only_output.usd is not None
    assert told.usd is not None
    per_input = (told.usd - only_output.usd) / (told.tokens / 1e6) if told.tokens else 0.0
    assert per_input + only_output.usd == pytest.approx(usd)


@pytest.mark.parametrize("price", PRICES.values(), ids=PRICES)
def test_tokens_from_a_providers_cache_are_cheaper(price: Price) -> None:
    assert price.usd(1_000_000, 0, 1_000_000) == pytest.approx(price.cached)
    assert price.usd(1_000_000, 0, 400_000) == pytest.approx(0.6 * price.given + 0.4 * price.cached)
    assert price.cached < price.given


def test_a_price_that_is_set_by_hand_is_that_of_cached_tokens_too(server: "ChatServer", connect: Connect) -> None:
    assert server.usage is not None
    server.usage = {**server.usage, "prompt_tokens_details": {"cached_tokens": 900}}
    writer = connect(**DEAR)
    writer.write("pump.md", TEXT, CHUNKS[:1])
    assert writer.usage().usd == pytest.approx(1.1)


def test_the_estimate_is_what_is_then_sent(server: "ChatServer", connect: Connect) -> None:
    server.usage = None
    size = DocumentSize(estimate(TEXT), tuple(chunk.tokens for chunk in CHUNKS))
    for window in (300, 100_000):
        writer = connect(window_tokens=window)
        assert writer.write("pump.md", TEXT, CHUNKS).problem == ""
        told = estimate_contexts(ContextOptions("openai", "tiny", window_tokens=window), [size], variables=os.environ)
        assert told.requests == writer.usage().requests == len(CHUNKS)
        assert writer.usage().tokens == pytest.approx(told.tokens, rel=0.2)
        assert writer.usage().output_tokens <= told.output_tokens == 100 * len(CHUNKS)


def test_the_estimate_leaves_out_chunks_that_are_their_document() -> None:
    assert (
        estimate_contexts(
            ContextOptions("openai"), [DocumentSize(50, (50,)), DocumentSize(0, ())], variables=os.environ
        ).requests
        == 0
    )


def test_writing_for_nothing_has_no_price(server: "ChatServer", connect: Connect) -> None:
    assert open_writer(ContextOptions("ollama", budget_usd=1.0), None, variables=os.environ) is not None
