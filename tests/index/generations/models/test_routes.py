"""Several models in one index: who embeds what, what happens when one fails, and that their vectors never mix."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scripted_server import REFUSED, Reply, ScriptedServer, model_at
from stored_vectors import stored_spaces

from cqm.index.embedding.routes import TEXT_ROUTES
from cqm.index.engine import Index
from cqm.index.model.errors import EmbeddingError
from cqm.index.model.options import CacheOptions, EmbeddingOptions, IndexOptions
from cqm.index.model.query import Query, SearchMode
from cqm.index.store.base import stored_id

pytestmark = pytest.mark.processes

EMBEDDED = EmbeddingOptions()


Options = Callable[..., IndexOptions]
Module = Callable[[str], str]


def spaces_of_chunks(index: Index) -> dict[str, set[str]]:
    """Which spaces the stored vectors of each chunk are in, by path, read from the store's points."""
    generation = index._lineage.serving
    names = generation.manifest.spaces()
    stored = stored_spaces(index)
    found: dict[str, set[str]] = {}
    for path in generation.manifest.paths():
        for row in generation.manifest.chunks_of(path):
            assert stored[row.id] == row.space, "the manifest tells the truth"
            found.setdefault(path, set()).update({names[row.space].partition("/")[0]} if row.space else ())
    return found


def providers(index: Index) -> set[str]:
    return set().union(*spaces_of_chunks(index).values())


def fails_after(server: ScriptedServer, requests: int) -> None:
    """Let a server answer so many more requests for vectors and no further one."""
    left = iter(range(requests))
    server.rule = lambda _: None if next(left, None) is not None else REFUSED


def works(server: ScriptedServer) -> None:
    server.rule = lambda _: None


def contents(index: Index) -> dict[str, tuple[str, tuple[float, ...]]]:
    """Space and vector of each chunk."""
    shard = index._lineage.serving.store._opened()
    rows = index._lineage.serving.manifest.chunks(index._lineage.serving.store.ids())
    records = shard.retrieve([*map(stored_id, sorted(rows))], with_payload=False, with_vector=True)
    by_id = {stored_id(name): row for name, row in rows.items()}
    found = {}
    for record in records:
        row = by_id[record.id]
        vector = record.vector.get(row.space, []) if isinstance(record.vector, dict) else []
        found[row.id] = (row.space, tuple(np.round(np.asarray(vector, dtype=float), 4)))
    return found


def test_when_the_preferred_model_dies_in_the_middle_the_next_takes_over_and_no_vector_is_in_a_wrong_space(
    tree: Path, module: Module, options: Options, server: ScriptedServer
) -> None:
    with Index.open(tree, options(model_at(server, batch_size=1), EMBEDDED)) as index:
        (tree / "guide.md").rename(tree.parent / "guide.md")
        index.update()
        (tree.parent / "guide.md").rename(tree / "guide.md")
        (tree / "part_0.py").write_text(module("scatter"))
        fails_after(server, 0)
        summary = index.update()
        assert summary.failed == ()
        assert providers(index) == {"openai", "embedded"}
        assert spaces_of_chunks(index)["part_0.py"] == {"embedded"}
        answer = index.search(Query("scatter total"))
        assert answer.hits[0].path == "part_0.py"
        # One space can still be searched; the reply says what was not.
        assert answer.mode is SearchMode.HYBRID
        assert "openai/tiny" in answer.degraded
        works(server)
        assert index.improve().lacking == 0
        assert providers(index) == {"openai"}
        assert index.search(Query("scatter total")).degraded == ""


def test_what_a_fallback_wrote_is_embedded_anew_when_the_preferred_model_is_back_and_equals_a_fresh_index(
    tree: Path, options: Options, server: ScriptedServer, tmp_path: Path
) -> None:
    fails_after(server, 0)
    chosen = options(model_at(server), EMBEDDED)
    with Index.open(tree, chosen) as index:
        summary = index.update()
        chunks = index.status().chunks
        assert (summary.lacking, summary.failed) == (chunks, ())
        assert index.status().coverage == {next(iter(index.status().coverage)): chunks}
        works(server)
        again = index.improve()
        assert (again.lacking, again.embedded, again.files) == (0, chunks, 5)
        assert index.improve().files == 0
        found = contents(index)
    with Index.open(tree, replace(chosen, home=tmp_path / "other")) as fresh:
        fresh.update()
        assert contents(fresh) == found


def test_a_model_that_fails_while_it_takes_back_its_chunks_costs_no_vector(
    tree: Path, options: Options, server: ScriptedServer
) -> None:
    fails_after(server, 0)
    with Index.open(tree, options(model_at(server, batch_size=1), EMBEDDED)) as index:
        index.update()
        before = index.status().chunks
        fails_after(server, 4)
        assert index.improve().lacking > 0
        coverage = index.status().coverage
        assert sum(coverage.values()) == before
        assert "" not in coverage


def test_without_any_model_that_works_files_are_found_by_words_and_get_their_vectors_later(
    tree: Path, options: Options, server: ScriptedServer
) -> None:
    fails_after(server, 0)
    with Index.open(tree, options(model_at(server))) as index:
        summary = index.update()
        assert {problem.path for problem in summary.failed} == {path.name for path in tree.iterdir()}
        assert "answered 401" in summary.failed[0].reason
        answer = index.search(Query("gather_3"))
        assert (answer.hits[0].path, answer.mode) == ("part_3.py", SearchMode.LEXICAL)
        works(server)
        healed = index.update()
        assert (healed.failed, healed.lacking) == ((), 0)
        assert index.search(Query("gather_3")).mode is SearchMode.HYBRID


def test_code_and_documents_have_models_of_their_own_and_a_question_is_asked_in_both_spaces(
    tree: Path, options: Options, server: ScriptedServer
) -> None:
    with Index.open(tree, options(EMBEDDED, prose=model_at(server))) as index:
        index.update()
        found = spaces_of_chunks(index)
        assert found.pop("guide.md") == {"openai"}
        assert set().union(*found.values()) == {"embedded"}
        asked = len(server.embeddings)
        answer = index.search(Query("how are the parts gathered", mode=SearchMode.SEMANTIC))
        assert {hit.path for hit in answer.hits} >= {"guide.md", "part_0.py"}
        assert [request.texts for request in server.embeddings[asked:]] == [["how are the parts gathered"]]


def test_the_scores_of_two_spaces_are_compared_within_the_question_only(
    tree: Path, options: Options, server: ScriptedServer
) -> None:
    server.vectors = lambda texts: [[1.0, 0.0, 0.0, 0.0] for _ in texts]  # Every cosine is 1: raw scores would win.
    with Index.open(tree, options(EMBEDDED, prose=model_at(server))) as index:
        index.update()
        hits = index.search(Query("gather_3 adds value to total", mode=SearchMode.SEMANTIC)).hits
        assert hits[0].path != "guide.md"


@pytest.mark.parametrize(
    ("choose", "first"),
    [("order", "b"), ("cost", "a"), ("quality", "c")],
)
def test_models_are_preferred_in_the_order_that_is_chosen(
    tree: Path, options: Options, server: ScriptedServer, choose: str, first: str
) -> None:
    prices = {"a": (0.1, 1.0), "b": (0.2, 2.0), "c": (0.3, 3.0)}
    models = {
        name: replace(model_at(server), model=name, usd_per_million_tokens=price, quality=quality)
        for name, (price, quality) in prices.items()
    }
    chosen = options(models["b"], models["a"], models["c"], choose=choose)
    with Index.open(tree, chosen) as index:
        index.update()
        assert set(index.status().coverage) == {index.status().space}
        assert index.status().space.startswith(f"openai/{first}/")


def test_the_quickest_model_is_measured_once_and_stays_the_preferred_one(
    tree: Path, options: Options, server: ScriptedServer, serve: Callable[..., ScriptedServer]
) -> None:
    other = serve()
    chosen = options(model_at(other), model_at(server), choose="latency")
    with Index.open(tree, chosen) as index:
        index.update()
        space = index.status().space
        assert set(index.status().coverage) == {space}
    for _ in range(3):
        with Index.open(tree, chosen) as index:
            assert index.update().embedded == 0
            assert index.status().space == space


def test_a_model_that_does_not_answer_is_not_the_quickest(
    tree: Path, options: Options, server: ScriptedServer, serve: Callable[..., ScriptedServer]
) -> None:
    broken = serve()
    fails_after(broken, 0)
    with Index.open(tree, options(model_at(broken), model_at(server), choose="latency")) as index:
        index.update()
        assert f":{server.port}" in index.status().space


def test_an_order_that_does_not_exist_is_refused_by_name(tree: Path, options: Options) -> None:
    with pytest.raises(EmbeddingError, match=r"'luck'.*cost"):
        Index.open(tree, options(EMBEDDED, choose="luck"))


def test_a_budget_stops_the_paid_model_and_says_so(tree: Path, options: Options, server: ScriptedServer) -> None:
    paid = model_at(server, usd_per_million_tokens=1000.0)
    with Index.open(tree, options(paid, budget_usd=0.001)) as index:
        summary = index.update()
        assert summary.failed
        assert all("The budget of 0.001 USD is used up" in problem.reason for problem in summary.failed)
        # What it refuses to begin is never sent.
        assert not any("total" in text for request in server.embeddings for text in request.texts)
    with Index.open(tree, options(paid, EMBEDDED, budget_usd=0.001)) as index:
        assert index.update().failed == ()
        assert providers(index) == {"embedded"}


def test_a_budget_needs_a_price(tree: Path, options: Options) -> None:
    elsewhere = EmbeddingOptions("openai", "tiny", "https://models.invalid/v1")
    with pytest.raises(EmbeddingError, match=r"price of openai/tiny .* is not known.*usd_per_million_tokens"):
        Index.open(tree, options(elsewhere, budget_usd=1.0))


def test_another_model_under_the_same_name_builds_a_new_generation_while_the_old_one_serves(
    tree: Path, options: Options, server: ScriptedServer
) -> None:
    chosen = options(EmbeddingOptions("ollama", "tiny", server.url))
    with Index.open(tree, chosen) as index:
        index.update()
        before = index.status().space
    server.digest = "fedcba9876543210"
    with Index.open(tree, chosen) as index:
        answer = index.search(Query("gather_2"))
        assert before in answer.degraded
        assert answer.hits[0].path == "part_2.py"
        serving: list[str] = []
        index.update(report=lambda progress: serving.append(index.status().space) if progress.done else None)
        assert set(serving) == {before}
        assert before not in index.status().coverage
        assert index.search(Query("gather_2")).degraded == ""
    with Index.open(tree, chosen) as index:
        assert index.update().embedded == 0


def test_a_fallback_can_be_added_without_building_the_index_anew(
    tree: Path, options: Options, server: ScriptedServer
) -> None:
    with Index.open(tree, options(model_at(server))) as index:
        index.update()
    with Index.open(tree, options(model_at(server), EMBEDDED)) as index:
        assert index.update().embedded == 0


def test_a_text_that_a_model_refuses_is_reported_and_not_asked_for_again_before_files_are_compared(
    tree: Path, module: Module, options: Options, server: ScriptedServer
) -> None:
    server.rule = lambda request: Reply(400, "{}") if any("gather_1" in text for text in request.texts) else None
    with Index.open(tree, options(model_at(server))) as index:
        summary = index.update()
        assert [problem.path for problem in summary.failed] == ["part_1.py"]
        assert summary.lacking == 0
        asked = len(server.embeddings)
        (tree / "part_5.py").write_text(module("other"))
        index.update(["part_5.py"])
        texts = [text for request in server.embeddings[asked:] for text in request.texts]
        assert texts
        assert not any("gather_1" in text for text in texts)


def test_a_second_run_asks_for_nothing_and_neither_does_a_folder_that_was_moved(
    tree: Path, options: Options, server: ScriptedServer
) -> None:
    chosen = replace(options(model_at(server)), cache=CacheOptions())
    with Index.open(tree, chosen) as index:
        first = index.update()
        assert (first.embedded, first.cached) == (first.chunks_written, 0)
    texts = sum(len(request.texts) for request in server.embeddings)
    with Index.open(tree, chosen) as index:
        assert index.update().embedded == 0
    moved = tree.rename(tree.with_name("moved"))
    with Index.open(moved, chosen) as index:
        again = index.update()
        assert (again.embedded, again.cached) == (first.embedded, first.embedded)
    asked_to_meet = 2  # Each process that embeds meets the model once.
    assert sum(len(request.texts) for request in server.embeddings) <= texts + asked_to_meet


def test_usage_is_counted_for_each_run_and_model(tree: Path, options: Options, server: ScriptedServer) -> None:
    with Index.open(tree, options(model_at(server, usd_per_million_tokens=2.0))) as index:
        first = index.update().usage[f"openai/tiny at 127.0.0.1:{server.port}"]
        assert first.texts >= 5
        assert first.usd == pytest.approx(first.tokens * 2e-6)
        assert index.update().usage == {}


def test_status_tells_which_models_are_left_alone_and_why(
    tree: Path, module: Module, options: Options, server: ScriptedServer
) -> None:
    fails_after(server, 0)
    with Index.open(tree, options(model_at(server), EMBEDDED, retry_seconds=600.0)) as index:
        index.update()
        asked = len(server.requests)
        (tree / "part_2.py").write_text(module("other"))
        index.update()
        assert len(server.requests) == asked
        broken, well = index.status().models
        assert (broken.name, broken.embeds) == (f"openai/tiny at 127.0.0.1:{server.port}", TEXT_ROUTES)
        assert "answered 401" in broken.problem
        assert (well.name, well.problem) == ("embedded", "")


def test_an_estimate_tells_texts_tokens_and_money_and_contacts_nobody(
    tree: Path, options: Options, server: ScriptedServer
) -> None:
    with Index.open(tree, options(model_at(server, usd_per_million_tokens=3.0))) as index:
        estimate = index.estimate()
        assert server.requests == []
        assert estimate.files == 5
        assert sum(cost.texts for cost in estimate.embedding) == estimate.chunks
        assert [cost.usd for cost in estimate.embedding] == [cost.tokens * 3e-6 for cost in estimate.embedding]
        assert index.update().chunks_written == estimate.chunks
        assert index.estimate().chunks == 0


def test_a_search_does_not_wait_for_a_model_that_hangs(tree: Path, options: Options, server: ScriptedServer) -> None:
    with Index.open(tree, options(model_at(server), query_seconds=0.3)) as index:
        index.update()
        server.rule = lambda _: Reply(hangs=True)
        answer = index.search(Query("gather_2"))
        assert answer.hits[0].path == "part_2.py"
        assert "did not answer within 0.3 s" in answer.degraded


@pytest.mark.parametrize(("long_texts", "told"), [("pool", "pooled"), ("cut", "cut")])
def test_a_chunk_says_when_its_text_was_too_long_for_the_model(
    tree: Path, options: Options, server: ScriptedServer, long_texts: str, told: str
) -> None:
    refusal = Reply(400, json.dumps({"error": {"message": "too long", "code": "context_length_exceeded"}}))
    server.rule = lambda request: refusal if any(len(text) > 600 for text in request.texts) else None
    with Index.open(tree, options(model_at(server, long_texts=long_texts))) as index:
        assert index.update().failed == ()
        assert index.search(Query("gather_2")).hits[0].metadata["embedded"] == told
        assert "embedded" not in index.search(Query("guide in plain words")).hits[0].metadata
