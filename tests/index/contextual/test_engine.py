"""Contexts that a model writes, in an index: what they change, when they are written, and what an edit costs."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from scripted_server import Reply

from cqm.index.engine import Index
from cqm.index.model.options import CacheOptions, ContextOptions, EmbeddingOptions, IndexOptions, RouteOptions
from cqm.index.model.query import Query

pytestmark = pytest.mark.processes

FUNCTION = "def {name}(value):\n" + "    value = value * 3 + 1  # {name} again\n" * 45 + "    return value\n"
REFUSED = Reply(401, '{"error": {"message": "no"}}')


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    for name in ("first", "second"):
        (root / f"{name}.py").write_text("\n\n".join(FUNCTION.format(name=f"{name}_{n}") for n in range(3)))
    return root


@pytest.fixture
def options(tmp_path: Path, server: Any) -> IndexOptions:
    context = ContextOptions("openai", "tiny", f"{server.url}/v1", concurrency=1)
    return IndexOptions(
        home=tmp_path / "home",
        workers=1,
        embedding=EmbeddingOptions(),
        routes=RouteOptions(retry_seconds=0.0),
        context=context,
        cache=CacheOptions(enabled=False),
    )


@pytest.fixture
def index(tree: Path, options: IndexOptions) -> Iterator[Index]:
    with Index.open(tree, options) as opened:
        yield opened


def test_a_chunk_is_found_by_the_words_of_its_context_and_its_text_stays_as_it_is(
    index: Index, server: Any, tree: Path
) -> None:
    server.say = lambda _: (
        "It belongs to the turbine of the hydroelectric plant near the lake and doubles its rotations."
        if "second_1" in server.parts[-1]
        else "It belongs to the bakery of the village, where it counts loaves that were sold since morning."
    )
    assert index.update().lacking == 6
    summary = index.improve()
    assert (summary.lacking, len(server.chats)) == (0, 6)
    hit = index.search(Query("hydroelectric turbine")).hits[0]
    assert "second_1" in hit.symbol
    assert hit.text in (tree / "second.py").read_text()
    assert "hydroelectric" in str(hit.metadata["note"])
    [used] = [usage for name, usage in summary.usage.items() if name.startswith("openai/tiny")]
    assert (used.texts, used.output_tokens) == (6, 300)


def test_an_edit_asks_for_the_contexts_of_changed_chunks_alone(index: Index, server: Any, tree: Path) -> None:
    index.update()
    index.improve()
    asked = len(server.chats)
    (tree / "first.py").write_text((tree / "first.py").read_text().replace("first_1 again", "first_1 twice"))
    assert index.update(["first.py"]).lacking == 1
    assert index.improve().lacking == 0
    assert len(server.chats) - asked == 1
    notes = [index.search(Query(f"first_{n}")).hits[0].metadata.get("note") for n in range(3)]
    assert all(notes)


def test_rules_stand_in_while_the_model_is_down_and_a_later_run_catches_up(
    server: Any, tree: Path, options: IndexOptions, tmp_path: Path
) -> None:
    talk, server.rule = server.rule, lambda _: REFUSED
    with Index.open(tree, options) as index:
        assert index.update().failed == ()
        assert index.improve().lacking == 6
        assert index.search(Query("first_2")).hits[0].path == "first.py"
        assert index.status().lacking == 6
    server.rule = talk
    with Index.open(tree, options) as index, Index.open(tree, replace(options, home=tmp_path / "other")) as fresh:
        assert index.improve().lacking == 0
        fresh.update()
        fresh.improve()
        assert _rows(fresh) == _rows(index)


def test_an_edit_does_not_wait_for_contexts_that_are_being_written(index: Index, server: Any, tree: Path) -> None:
    begun, released = Event(), Event()

    def say(_: object) -> str:
        begun.set()
        released.wait(240)
        return "It belongs to the bakery of the village, where it counts loaves that were sold since morning."

    server.say = say
    index.update()
    improving = Thread(target=index.improve)
    improving.start()
    assert begun.wait(240)
    (tree / "first.py").write_text("def brandnew():\n    return 'an edit'\n")
    index.update(["first.py"])
    assert index.search(Query("brandnew")).hits[0].path == "first.py"
    released.set()
    improving.join()
    # What was written meanwhile belongs to what the file was before.
    assert index.search(Query("brandnew")).hits[0].path == "first.py"
    assert not any("first_1" in hit.text for hit in index.search(Query("first_1")).hits)
    assert index.improve().lacking == 0


def test_closing_an_index_does_not_wait_for_a_context_that_is_being_written(
    server: Any, tree: Path, options: IndexOptions
) -> None:
    begun, released = Event(), Event()

    def say(_: object) -> str:
        begun.set()
        released.wait(240)
        return "It belongs to the bakery of the village, where it counts loaves that were sold since morning."

    server.say = say
    index = Index.open(tree, options)
    index.update()
    failures: list[BaseException] = []

    def improve() -> None:
        try:
            index.improve()
        except BaseException as error:  # noqa: BLE001 - whatever it is, it must not be
            failures.append(error)

    improving = Thread(target=improve)
    improving.start()
    assert begun.wait(240)
    closing = Thread(target=index.close)
    closing.start()
    closing.join(120)
    assert not closing.is_alive()
    released.set()
    improving.join()
    assert failures == []


@pytest.mark.parametrize("place", ["prefix", "suffix", "both"])
def test_the_place_of_the_context_is_in_the_embedded_text(
    tree: Path, options: IndexOptions, server: Any, serve: Callable[..., Any], place: str
) -> None:
    embedding = serve()
    embedding.rule = lambda _: None
    model = EmbeddingOptions("openai", "tiny", f"{embedding.url}/v1")
    chosen = replace(options, embedding=model, context=replace(options.context, place=place))
    with Index.open(tree, chosen) as index:
        index.update()
        index.improve()
    said = "This paragraph belongs to the manual"
    text = next(text for request in embedding.embeddings[::-1] for text in request.texts if said in text)
    code = text.index("value = value * 3")
    assert {"prefix": text.index(said) < code, "suffix": text.rindex(said) > code > 0, "both": text.count(said) == 2}[
        place
    ]
    assert text.count(said) == (2 if place == "both" else 1)


def _rows(index: Index) -> list[tuple[str, int, str, str]]:
    manifest = index._lineage.serving.manifest
    rows = manifest.chunks(index._lineage.serving.store.ids()).values()
    return sorted((row.path, row.start_line, row.note, row.fingerprint) for row in rows)
