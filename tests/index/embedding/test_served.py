"""The promises of every service: texts in batches, by several threads, at its pace, parted where they are too long."""

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from threading import Event, Lock

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cqm.chunkers.tokens import estimate
from cqm.index.embedding.service.batches import CANARY
from cqm.index.embedding.service.embedder import ServedEmbedder
from cqm.index.embedding.service.models import ModelFacts
from cqm.index.embedding.service.service import Answer, Limits, Role, Service
from cqm.index.model.errors import EmbeddingError, RefusedInputError
from cqm.index.model.options import EmbeddingOptions
from cqm.index.model.spaces import Embeddings
from cqm.index.remote.rates import Clock
from cqm.index.remote.retries import RetryPolicy, TimedOutError, TransientError

REAL = Clock()
QUICK = RetryPolicy(attempts=9, first_wait=0.0001, longest_wait=0.0002)


class Time:
    """A clock that only stands still, sleeps or is moved on."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.lock = Lock()

    def pass_by(self, seconds: float) -> None:
        with self.lock:
            self.now += seconds

    @property
    def clock(self) -> Clock:
        return Clock(lambda: self.now, self.pass_by)


def vector_of(text: str) -> list[float]:
    """A vector that tells texts apart."""
    return [len(text) + 1.0, sum(map(ord, text)) % 97 + 0.0, ord(text[0]) + 0.0, 1.0]


@dataclass
class Model:
    """A service in memory.

    Attributes:
        limits, facts: as it tells them.
        before: looks at the texts of each request before they are embedded, and may raise.
        tokens: what it counts of a request; None to count nothing.
        requests: the texts of all requests, without the probe.
    """

    limits: Limits = field(default_factory=lambda: Limits(100, 100_000))
    facts: ModelFacts = field(default_factory=ModelFacts)
    before: Callable[[Sequence[str], bool], None] = lambda _texts, _truncate: None
    tokens: Callable[[Sequence[str]], int | None] = lambda _texts: None
    requests: list[list[str]] = field(default_factory=list)
    source: str = "A service"
    provider: str = "test"
    model: str = "m"
    version: str = ""

    def embed(self, texts: Sequence[str], role: Role, *, truncate: bool = False) -> Answer:
        del role
        if list(texts) != [CANARY]:
            self.requests.append(list(texts))
            self.before(texts, truncate)
        return Answer([vector_of(text) for text in texts], self.tokens(texts))

    def is_exchanged(self) -> bool:
        return False

    def beginning(self, text: str) -> str:
        return text

    def close(self) -> None:
        """Nothing is open."""

    def embedder(self, clock: Clock = REAL, retries: RetryPolicy = QUICK, **options: object) -> ServedEmbedder:
        given = EmbeddingOptions("test", "m", timeout_seconds=60.0)
        return ServedEmbedder(replace(given, **options), lambda: self, retries, clock)


def unit(text: str) -> np.ndarray:
    vector = np.array(vector_of(text))
    return vector / np.linalg.norm(vector)


def assert_right(embeddings: Embeddings, texts: Sequence[str]) -> None:
    """Every text has its own vector, at its own place."""
    for index, vector in zip(embeddings.indices, embeddings.vectors, strict=True):
        assert vector == pytest.approx(unit(texts[index]), abs=1e-5)


limits = st.builds(Limits, st.integers(1, 9), st.integers(1, 40), st.integers(1, 4))


@given(count=st.integers(0, 30), refused=st.sets(st.integers(0, 29)), limits=limits)
def test_exactly_the_refused_texts_are_rejected_wherever_they_stand(
    count: int, refused: set[int], limits: Limits
) -> None:
    poison = {f"text {number}" for number in refused}

    def refuse(texts: Sequence[str], _truncate: bool) -> None:
        if poison.intersection(texts):
            raise RefusedInputError("not this")

    model = Model(limits, before=refuse)
    texts = [f"text {number}" for number in range(count)]
    embeddings = model.embedder().embed_documents(texts)
    assert {text.index for text in embeddings.rejected} == refused & set(range(count))
    assert {text.reason for text in embeddings.rejected} <= {"not this"}
    assert list(embeddings.indices) == [number for number in range(count) if number not in refused]
    assert_right(embeddings, texts)
    accepted = [text for request in model.requests if not poison.intersection(request) for text in request]
    assert len(accepted) == len(set(accepted)), "a text was paid for twice"


FAULTS = {
    "none": None,
    "overload": TransientError("busy"),
    "wait": TransientError("slow down", retry_after=0.0001),
    "time-out": TimedOutError("late"),
    "refusal": RefusedInputError("not all of these"),
    "fault": TransientError("broken", maybe_input=True),
}


@given(
    texts=st.lists(st.text(alphabet="abc \n", min_size=1, max_size=40), max_size=40),
    faults=st.lists(st.sampled_from(sorted(FAULTS)), max_size=12),
    limits=limits,
)
def test_whatever_fails_each_text_has_its_own_vector_or_a_reason(
    texts: list[str], faults: list[str], limits: Limits
) -> None:
    """A service that fails at random, asked by several threads: no text is lost, mixed up or left without a word."""
    left, lock = list(faults), Lock()

    def fail(texts: Sequence[str], _truncate: bool) -> None:
        with lock:
            fault = FAULTS[left.pop()] if left else None
        if fault is not None:
            raise fault

    model = Model(limits, before=fail)
    embedder = model.embedder()
    try:
        embeddings = embedder.embed_documents(texts)
    except TransientError:
        left.clear()
        embeddings = embedder.embed_documents(texts)  # after the faults the same call works
    rejected = [text.index for text in embeddings.rejected]
    assert sorted([*embeddings.indices, *rejected]) == list(range(len(texts)))
    assert all(text.reason for text in embeddings.rejected)
    assert {index for index, text in enumerate(texts) if not text.strip()} <= set(rejected)
    assert_right(embeddings, texts)


@given(texts=st.lists(st.text(alphabet="ab ", max_size=40), max_size=40), limits=limits)
def test_requests_stay_within_the_limits(texts: list[str], limits: Limits) -> None:
    model = Model(limits)
    model.embedder().embed_documents(texts)
    assert sorted(text for request in model.requests for text in request) == sorted(filter(str.strip, texts))
    for request in model.requests:
        assert len(request) <= limits.texts
        assert len(request) == 1 or sum(map(estimate, request)) <= limits.tokens


def test_requests_are_under_way_together_as_many_as_allowed() -> None:
    from threading import Barrier

    together = Barrier(3, timeout=240)
    model = Model(Limits(1, 1000, width=3), before=lambda _texts, _truncate: void(together.wait()))
    texts = [f"text {number}" for number in range(6)]
    assert_right(model.embedder().embed_documents(texts), texts)
    assert together.n_waiting == 0


def void(_: object) -> None:
    """Drop a value."""


def test_one_thread_that_fails_ends_the_call_for_all() -> None:
    def fail(texts: Sequence[str], _truncate: bool) -> None:
        raise EmbeddingError("no more")

    model = Model(Limits(1, 1000, width=2), before=fail)
    with pytest.raises(EmbeddingError, match="no more"):
        model.embedder().embed_documents([f"text {number}" for number in range(50)])
    assert len(model.requests) <= 2


def test_a_service_that_takes_fewer_texts_than_documented_is_refused_by_it_once_only() -> None:
    def refuse(texts: Sequence[str], _truncate: bool) -> None:
        if len(texts) > 30:
            raise RefusedInputError("too many inputs")

    model = Model(Limits(100, 100_000), before=refuse)
    embedder = model.embedder()
    texts = [f"text {number}" for number in range(300)]
    assert embedder.embed_documents(texts[:100]).indices == tuple(range(100))
    before = len(model.requests)
    assert embedder.embed_documents(texts).indices == tuple(range(300))
    assert max(map(len, model.requests[before:])) <= 30


# Time.


def test_a_batch_that_times_out_is_halved_and_later_batches_are_small_too() -> None:
    def slow(texts: Sequence[str], _truncate: bool) -> None:
        if len(texts) > 20:
            raise TimedOutError("late")

    model = Model(Limits(64, 100_000), before=slow)
    embedder = model.embedder()
    texts = [f"text {number}" for number in range(192)]
    embeddings = embedder.embed_documents(texts)
    assert embeddings.indices == tuple(range(192))
    assert_right(embeddings, texts)
    late = [len(request) for request in model.requests if len(request) > 20]
    assert late == [64, 32], "halved until it fits, and not learnt anew for each batch"
    model.before = lambda _texts, _truncate: None
    model.requests.clear()
    embedder.embed_documents([f"text {number}" for number in range(2000)])
    assert max(map(len, model.requests)) == 64, "but not for ever"


def test_a_service_that_always_times_out_is_given_up_after_three_divisions() -> None:
    def hang(texts: Sequence[str], _truncate: bool) -> None:
        raise TimedOutError("late")

    model = Model(Limits(64, 100_000), before=hang)
    with pytest.raises(TimedOutError, match="late"):
        model.embedder().embed_documents([f"text {number}" for number in range(64)])
    assert [len(request) for request in model.requests] == [64, 16, 4, 1]


def test_a_question_that_times_out_is_not_asked_again() -> None:
    def hang(texts: Sequence[str], _truncate: bool) -> None:
        raise TimedOutError("late")

    model = Model(before=hang)
    with pytest.raises(TimedOutError, match="late"):
        model.embedder().embed_query("one")
    assert len(model.requests) == 1


def test_slow_answers_make_batches_smaller_and_quick_ones_large_again() -> None:
    time = Time()
    seconds_a_text = 1.0
    model = Model(Limits(60, 100_000), before=lambda texts, _: time.pass_by(seconds_a_text * len(texts)))
    embedder = model.embedder(time.clock)
    texts = [f"text {number}" for number in range(600)]
    embedder.embed_documents(texts)
    sizes = [len(request) for request in model.requests]
    assert sizes[0] == 60, "it begins with the limit"
    assert max(sizes[5:]) * seconds_a_text <= 20, "and ends where an answer takes a third of the time-out at most"
    seconds_a_text = 0.01
    model.requests.clear()
    embedder.embed_documents(texts)
    assert len(model.requests[-2]) == 60


def test_loading_a_model_slowly_does_not_make_the_first_batches_small() -> None:
    time = Time()
    model = Model(Limits(60, 100_000), tokens=lambda _texts: void(time.pass_by(40.0)))
    embedder = model.embedder(time.clock)
    embedder.space()
    embedder.embed_documents([f"text {number}" for number in range(60)])
    assert [len(request) for request in model.requests] == [60]


def test_a_slow_service_is_asked_by_fewer_threads() -> None:
    time, lock = Time(), Lock()
    under_way = most = 0

    def work(texts: Sequence[str], _truncate: bool) -> None:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        time.pass_by(50.0)
        with lock:
            under_way -= 1

    model = Model(Limits(1, 1000, width=4), before=work)
    embedder = model.embedder(time.clock)
    embedder.embed_documents([f"text {number}" for number in range(40)])
    most = 0
    embedder.embed_documents([f"text {number}" for number in range(40)])
    assert most == 1


@given(
    sizes=st.lists(st.integers(1, 400), max_size=30),
    requests=st.integers(0, 40),
    tokens=st.integers(0, 1000),
    width=st.integers(1, 3),
)
def test_no_minute_has_more_requests_or_tokens_than_the_account_allows(
    sizes: list[int], requests: int, tokens: int, width: int
) -> None:
    time = Time()
    sent: list[tuple[float, int]] = []
    lock = Lock()

    def note(texts: Sequence[str], _truncate: bool) -> None:
        with lock:
            sent.append((time.now, sum(map(estimate, texts))))

    model = Model(Limits(1, 10, width), before=note)
    embedder = model.embedder(time.clock, requests_per_minute=requests, tokens_per_minute=tokens)
    embedder.embed_documents(["x" * size for size in sizes])
    for begin, _ in sent:
        minute = [size for moment, size in sent if begin <= moment < begin + 60]
        # The bucket's burst, a tenth of a minute's allowance, comes on top; so does one request of any size.
        assert not requests or len(minute) <= requests * 1.1 + 2
        assert not tokens or sum(minute) <= tokens * 1.1 + max(minute) + 1


def test_the_rate_goes_by_what_the_service_counts_rather_than_by_the_estimate() -> None:
    time = Time()
    embedder = Model(tokens=lambda _texts: 2000).embedder(time.clock, tokens_per_minute=1000)
    embedder.embed_documents(["one"])
    before = time.now
    embedder.embed_documents(["two"])
    assert time.now - before > 60, "two minutes' worth was used"


def test_a_question_does_not_wait_for_the_rate_but_what_follows_does() -> None:
    time = Time()
    embedder = Model().embedder(time.clock, requests_per_minute=1)
    embedder.space()
    before = time.now
    embedder.embed_query("one")
    assert time.now == before
    embedder.embed_documents(["two"])
    assert time.now - before > 60


def test_a_wait_that_the_service_asks_of_one_request_holds_for_the_next() -> None:
    time = Time()
    asked = iter([TransientError("slow down", retry_after=30.0)])
    moments = []

    def fail(texts: Sequence[str], _truncate: bool) -> None:
        moments.append(time.now)
        for error in asked:
            raise error

    model = Model(before=fail)
    embedder = model.embedder(time.clock, replace(QUICK, attempts=1))
    with pytest.raises(TransientError, match="slow down"):
        embedder.embed_documents(["one"])
    embedder.embed_documents(["two"])
    assert moments[1] - moments[0] >= 30


# Prefixes, usage, facts, spaces.


def test_each_text_is_sent_with_the_prefix_of_its_role() -> None:
    model = Model(facts=ModelFacts(query_prefix="question: ", document_prefix="passage: "))
    embedder = model.embedder()
    embedder.embed_documents(["one", "two"])
    embedder.embed_query("three")
    assert model.requests == [["passage: one", "passage: two"], ["question: three"]]


def test_usage_is_what_the_service_counts_and_what_that_costs() -> None:
    time = Time()
    model = Model(
        facts=ModelFacts(usd_per_million_tokens=2.0),
        before=lambda _texts, _truncate: time.pass_by(3.0),
        tokens=lambda texts: 1000 * len(texts),
    )
    embedder = model.embedder(time.clock)
    assert embedder.usage().requests == 0
    embedder.space()
    before = embedder.usage()
    embedder.embed_documents(["one", "two"])
    embedder.embed_query("three")
    used = embedder.usage() - before
    assert (used.requests, used.texts, used.tokens, used.seconds) == (2, 3, 3000, 6.0)
    assert used.usd == pytest.approx(0.006)
    embedder.close()
    assert embedder.usage().requests == 3, "it outlives the connection"


def test_usage_is_estimated_where_the_service_does_not_count() -> None:
    embedder = Model().embedder()
    embedder.space()
    before = embedder.usage()
    embedder.embed_documents(["x" * 400])
    assert (embedder.usage() - before).tokens == 100


def test_the_facts_have_the_dimensions_that_were_found() -> None:
    facts = ModelFacts(512, 999, 0.5, quality=50.0)
    assert Model(facts=facts).embedder().facts() == replace(facts, dimensions=4)


@pytest.mark.parametrize(
    "change",
    [
        {"facts": ModelFacts(query_prefix="q: ")},
        {"facts": ModelFacts(document_prefix="q: ")},
        {"facts": ModelFacts(query_prefix=": ", document_prefix="q")},
        {"long_texts": "pool"},
        {"context_tokens": 99},
    ],
)
def test_whatever_changes_vectors_changes_the_space(change: dict[str, object]) -> None:
    def space(**choices: object) -> str:
        facts = choices.pop("facts", ModelFacts())
        assert isinstance(facts, ModelFacts)
        return Model(facts=facts).embedder(**{"long_texts": "cut", **choices}).space().name

    assert space() == "test/m/4"
    assert space(**change) not in {space(), space(facts=ModelFacts(query_prefix="other"))}
    assert space(**change) == space(**change)


def test_an_unknown_way_with_long_texts_is_refused() -> None:
    with pytest.raises(EmbeddingError, match="one of pool, cut"):
        Model().embedder(long_texts="drop").space()


# Texts over the context: a token a character, so that the estimate is a quarter of the truth.


def taking(characters: int, **more: object) -> Model:
    """A service that refuses longer texts, unless it may cut them."""

    def refuse(texts: Sequence[str], truncate: bool) -> None:
        if not truncate and any(len(text) > characters for text in texts):
            raise RefusedInputError("too long", too_long=True)

    return replace(Model(before=refuse), **more)


@example(texts=["a" * 300], context=0, prefix="")
@given(
    texts=st.lists(st.text(alphabet="ab \n", max_size=900), min_size=1, max_size=5),
    context=st.sampled_from([0, 40, 100, 400]),
    prefix=st.sampled_from(["", "passage: "]),
)
def test_a_long_text_has_the_weighted_mean_of_its_parts(texts: list[str], context: int, prefix: str) -> None:
    model = taking(100, facts=ModelFacts(context, document_prefix=prefix))
    embedder = model.embedder(long_texts="pool")
    for text in texts:
        model.requests.clear()
        embeddings = embedder.embed_documents([text])
        sent = [one for request in model.requests for one in request if len(one) <= 100]
        assert all(one.startswith(prefix) for one in sent)
        parts = [one.removeprefix(prefix) for one in sent]
        assert sum(map(len, parts)) <= len(text)
        assert sorted("".join("".join(parts).split())) == sorted("".join(text.split())), "nothing lost or sent twice"
        if not text.strip():
            assert embeddings.indices == ()
            continue
        mean = sum(len(part) * unit(prefix + part) for part in parts)
        assert embeddings.vectors[0] == pytest.approx(mean / np.linalg.norm(mean), abs=1e-5)
        assert embeddings.pooled == ((0,) if len(parts) > 1 else embeddings.pooled)
        assert embeddings.cut == ()


def test_a_text_that_surely_is_too_long_is_parted_before_it_is_sent() -> None:
    model = taking(1000, facts=ModelFacts(250))
    embeddings = model.embedder().embed_documents(["short", "line of text\n" * 600])
    assert embeddings.pooled == (1,)
    assert max(len(text) for request in model.requests for text in request) <= 1000
    assert all(text.endswith("\n") for request in model.requests for text in request if text != "short")


def test_a_text_that_may_be_too_long_travels_alone() -> None:
    model = taking(1000, facts=ModelFacts(250))
    model.embedder().embed_documents(["short", "x" * 600, "short too"])
    assert sorted(map(len, model.requests)) == [1, 2]


def test_a_long_question_is_pooled_too() -> None:
    model = taking(100, facts=ModelFacts(50))
    assert np.linalg.norm(model.embedder().embed_query("word " * 100).vector) == pytest.approx(1, abs=1e-6)


def test_a_service_that_cuts_silently_is_noticed_by_what_it_counts() -> None:
    def counted(texts: Sequence[str]) -> int:
        return sum(min(512, len(text) // 2) for text in texts)

    model = Model(Limits(100, 100_000, cuts_silently=True), ModelFacts(512), tokens=counted)
    texts = ["short", "x = 1\n" * 200]
    assert model.embedder().embed_documents(texts).pooled == (1,)
    assert model.embedder(long_texts="cut").embed_documents(texts).cut == (1,)


def test_a_text_is_cut_by_the_service_where_it_can() -> None:
    model = taking(100, limits=Limits(9, 1000, cuts=True))
    embeddings = model.embedder(long_texts="cut").embed_documents(["short", "word " * 100])
    assert embeddings.cut == (1,)
    assert embeddings.pooled == ()
    assert_right(embeddings, ["short", "word " * 100])


def test_a_text_is_cut_by_us_where_the_service_cannot() -> None:
    model = taking(100)
    text = "word " * 100
    embeddings = model.embedder(long_texts="cut").embed_documents(["short", text])
    assert embeddings.cut == (1,)
    [sent] = [one for request in model.requests for one in request if 70 <= len(one) <= 100]
    assert text.startswith(sent)


def test_a_part_that_is_refused_for_another_reason_rejects_its_text_and_no_other() -> None:
    def refuse(texts: Sequence[str], _truncate: bool) -> None:
        if any(len(text) > 100 for text in texts):
            raise RefusedInputError("too long", too_long=True)
        if any("poison" in text for text in texts):
            raise RefusedInputError("not this")

    embeddings = (
        Model(before=refuse).embedder().embed_documents(["word " * 50 + "poison " + "word " * 50, "word " * 50])
    )
    assert embeddings.indices == (1,)
    assert embeddings.pooled == (1,)
    assert [(text.index, text.reason) for text in embeddings.rejected] == [(0, "not this")]


def test_a_text_that_is_too_long_however_short_is_reported() -> None:
    def refuse(texts: Sequence[str], _truncate: bool) -> None:
        raise RefusedInputError("too long", too_long=True)

    for way in ("pool", "cut"):
        [rejected] = Model(before=refuse).embedder(long_texts=way).embed_documents(["word " * 99]).rejected
        assert rejected.reason == "too long"


def test_the_numbers_of_parts_stay_near_what_is_needed() -> None:
    model = taking(1000, facts=ModelFacts(250))
    model.embedder().embed_documents(["x" * 10_000])
    assert len(model.requests) <= 2 * math.ceil(10_000 / 750)


# Closing.


def test_closing_waits_for_no_meeting_and_what_was_met_meanwhile_is_closed_too() -> None:
    """Once it waited until the service was met, for hours where that fetched its model."""
    meeting, released, closed = Event(), Event(), []
    model = Model()
    model.close = lambda: closed.append(True)  # type: ignore[method-assign]

    def find() -> Service:
        meeting.set()
        released.wait(240)
        return model

    embedder = ServedEmbedder(EmbeddingOptions("test", "m"), find, QUICK, REAL)
    with ThreadPoolExecutor(1) as pool:
        space = pool.submit(embedder.space)
        assert meeting.wait(240)
        embedder.close()
        assert not space.done()
        released.set()
        assert space.result(240).dimensions == 4
    assert closed == [True]


def test_a_service_is_closed_once_when_the_last_call_under_way_is_over() -> None:
    asked, released, closed = Event(), Event(), []

    def slow(_texts: Sequence[str], _truncate: bool) -> None:
        asked.set()
        released.wait(240)

    model = Model(before=slow)
    model.close = lambda: closed.append(True)  # type: ignore[method-assign]
    embedder = model.embedder()
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(embedder.embed_documents, ["one"])
        assert asked.wait(240)
        embedder.close()
        assert closed == []
        released.set()
        assert call.result(240).indices == (0,)
    assert closed == [True]
    embedder.close()
    assert closed == [True]


def test_what_a_service_answers_wrongly_is_told_with_what_to_check() -> None:
    answers: list[object] = [[[1.0, 2.0, 3.0, 4.0]], [[1.0] * 3] * 2, [["a", "b", "c", "d"]] * 2, [[0.0] * 4] * 2]
    for rows in answers:
        model = Model()
        embedder = model.embedder()
        embedder.space()
        model.embed = lambda *_, rows=rows, **__: Answer(rows)  # type: ignore[method-assign,misc]
        with pytest.raises(EmbeddingError) as caught:
            embedder.embed_documents(["one", "two"])
        assert caught.value.remedy
