"""Questions while an index is built anew for another model: the vectors that serve are searched by their own model."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from scripted_server import ScriptedServer, model_at

from cqm.index.engine import Index
from cqm.index.model.options import EmbeddingOptions, IndexOptions
from cqm.index.model.progress import Progress, Usage
from cqm.index.model.query import Answer, Query, SearchMode

pytestmark = pytest.mark.processes

EMBEDDED, NOTHING = EmbeddingOptions(), EmbeddingOptions("none")

Options = Callable[..., IndexOptions]


def indexed(tree: Path, options: IndexOptions) -> None:
    with Index.open(tree, options) as index:
        assert index.update().failed == ()


def answers_while_switching(tree: Path, options: IndexOptions) -> list[Answer]:
    """Return what searches give before, during and after the update that builds another generation."""
    with Index.open(tree, options) as index:
        answers = [index.search(Query("gather_2 before"))]
        index.update(report=lambda progress: answers.append(index.search(Query(f"gather_2 {progress.done} done"))))
        return [*answers, index.search(Query("gather_2 after"))]


@pytest.mark.parametrize("comes_with_cqm", ["old", "new"])
def test_no_answer_lacks_vectors_while_an_index_is_built_for_another_model(
    tree: Path, options: Options, server: ScriptedServer, comes_with_cqm: str
) -> None:
    old, new = (EMBEDDED, model_at(server)) if comes_with_cqm == "old" else (model_at(server), EMBEDDED)
    indexed(tree, options(old))
    answers = answers_while_switching(tree, options(new))
    assert len(answers) > 4
    assert {(answer.mode, answer.degraded) for answer in answers} == {(SearchMode.HYBRID, "")}
    assert all(answer.hits for answer in answers)


def test_a_former_model_is_not_asked_once_its_vectors_are_gone(
    tree: Path, options: Options, server: ScriptedServer
) -> None:
    indexed(tree, options(model_at(server)))
    with Index.open(tree, options(EMBEDDED)) as index:
        asked = len(server.embeddings)
        index.search(Query("gather_2"))
        assert len(server.embeddings) > asked
        used = index.update().usage
        assert not any("former" in name for name in used), "it embeds questions alone"
        asked = len(server.embeddings)
        assert index.search(Query("gather_3")).degraded == ""
        assert len(server.embeddings) == asked


def test_a_former_model_that_is_first_asked_during_an_update_is_counted(
    tree: Path, options: Options, server: ScriptedServer
) -> None:
    indexed(tree, options(model_at(server)))
    with Index.open(tree, options(EMBEDDED)) as index:
        name, used = f"openai/tiny at 127.0.0.1:{server.port}, the former model", list[Usage]()

        def ask(progress: Progress) -> None:
            index.search(Query(f"gather_2 {progress.done}"))
            used.append(index._services.usage().get(name, Usage()))

        assert index.update(report=ask).failed == ()
        assert used[0].requests > 0


def test_one_service_takes_the_place_of_another_under_the_same_name(
    tree: Path, options: Options, server: ScriptedServer, serve: Callable[..., ScriptedServer]
) -> None:
    other = serve()
    other.vectors = lambda texts: [[1.0, 2.0, 3.0] for _ in texts]
    indexed(tree, options(model_at(server)))
    assert {answer.degraded for answer in answers_while_switching(tree, options(model_at(other)))} == {""}


def test_vectors_are_searched_until_an_index_without_any_is_complete(tree: Path, options: Options) -> None:
    indexed(tree, options(EMBEDDED))
    *during, _, after = answers_while_switching(tree, options(NOTHING))
    assert {answer.mode for answer in during} == {SearchMode.HYBRID}
    assert after.mode is SearchMode.LEXICAL


def test_an_index_below_its_root_names_no_service(tree: Path, options: Options, server: ScriptedServer) -> None:
    indexed(tree, replace(options(model_at(server)), in_project=True))
    asked = len(server.requests)
    with Index.open(tree, replace(options(EMBEDDED), in_project=True)) as index:
        assert "no configured model has vectors of that space" in index.search(Query("gather_2")).degraded
    assert len(server.requests) == asked


def test_nothing_leaves_the_machine_once_no_configured_model_is_elsewhere(
    tree: Path, options: Options, server: ScriptedServer
) -> None:
    indexed(tree, options(model_at(server)))
    with Index.open(tree, options(EMBEDDED)) as index:
        manifest = index._lineage.serving.manifest
        kept = json.loads(manifest.fact("configured_models"))
        manifest.set_facts({"configured_models": json.dumps([{**kept[0], "base_url": "https://models.invalid/v1"}])})
        assert "no configured model has vectors of that space" in index.search(Query("gather_2")).degraded


def test_no_secret_of_an_address_is_written_with_the_index(
    tree: Path, options: Options, server: ScriptedServer
) -> None:
    address = f"http://user:sesame@127.0.0.1:{server.port}/v1"
    with Index.open(tree, options(replace(model_at(server), base_url=address))) as index:
        index.update()
        folder = index.folder
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    assert [path for path in files if b"sesame" in path.read_bytes()] == []


@pytest.mark.parametrize("noted", ["[1]", "no json", '{"a": 1}', '[{"provider": 7, "unknown": 1}]'])
def test_what_another_release_noted_of_its_models_costs_vectors_and_no_answer(
    tree: Path, options: Options, noted: str, server: ScriptedServer
) -> None:
    indexed(tree, options(EMBEDDED))
    with Index.open(tree, options(model_at(server))) as index:
        index._lineage.serving.manifest.set_facts({"configured_models": noted})
        answer = index.search(Query("gather_2"))
        assert (answer.hits[0].path, answer.mode) == ("part_2.py", SearchMode.LEXICAL)
        assert answer.degraded


@pytest.mark.parametrize(
    "noted",
    [
        '[{"provider": "embedded", "model": []}]',
        '[{"provider": ["embedded"]}]',
        '[{"provider": "ollama", "base_url": 5}]',
        '[{"provider": "unheard of"}]',
        '{"provider": 1}',
        "[7]",
        "{",
    ],
)
def test_what_a_generation_says_of_its_models_in_another_way_than_ours_fails_no_search(
    tree: Path, options: Options, server: ScriptedServer, noted: str
) -> None:
    indexed(tree, options(EMBEDDED))
    with Index.open(tree, options(EMBEDDED)) as index:
        index._lineage.serving.manifest.set_facts({"configured_models": noted})
    with Index.open(tree, options(model_at(server))) as index:
        answer = index.search(Query("gather_2"))
    assert (answer.mode, bool(answer.hits)) == (SearchMode.LEXICAL, True)


def test_a_former_model_that_is_not_known_keeps_no_other_from_being_asked(
    tree: Path, options: Options, server: ScriptedServer
) -> None:
    indexed(tree, options(EMBEDDED))
    with Index.open(tree, options(EMBEDDED)) as index:
        noted = '[{"provider": "unheard of"}, {"provider": "embedded"}]'
        index._lineage.serving.manifest.set_facts({"configured_models": noted})
    with Index.open(tree, options(model_at(server))) as index:
        assert index.search(Query("gather_2")).mode is SearchMode.HYBRID
