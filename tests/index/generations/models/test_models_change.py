"""Models that come, go and change while an index lives: regressions, named after what went wrong."""

import os
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from scripted_server import REFUSED, Reply, Request, ScriptedServer, model_at
from stored_vectors import stored_spaces

from cqm.index.cache import open_cache
from cqm.index.disk.locations import cache_folder
from cqm.index.engine import Index
from cqm.index.generations.generation import generation_name
from cqm.index.manifest.schema import bring_up_to_date, has_spaces
from cqm.index.model.options import CacheOptions, EmbeddingOptions, IndexOptions
from cqm.index.model.query import Query, SearchMode
from cqm.index.status.status import read_status

pytestmark = pytest.mark.processes

TOO_ODD = Reply(400, "{}")
EMBEDDED, NOTHING = EmbeddingOptions(), EmbeddingOptions("none")


Options = Callable[..., IndexOptions]
Module = Callable[[str], str]


def ollama(server: ScriptedServer) -> EmbeddingOptions:
    return EmbeddingOptions("ollama", "tiny", server.url, concurrency=1)


def asked_for(server: ScriptedServer, word: str) -> int:
    """Return how many texts with a word were sent to be embedded."""
    return sum(word in text for request in server.embeddings for text in request.texts)


def spaces(index: Index) -> set[str]:
    """The spaces of all vectors, by what their points hold."""
    return {space for space in stored_spaces(index).values() if space}


def test_an_index_of_the_first_form_could_not_be_opened(tree: Path, options: Options) -> None:
    chosen = options(EMBEDDED)
    with Index.open(tree, chosen) as index:
        index.update()
        folder, place = index.folder, index._lineage.serving.place
        space = index.status().space
    database = sqlite3.connect(place / "manifest.db")
    database.executescript(
        """
        DROP TABLE space; DROP INDEX chunk_of_space; DROP INDEX chunk_of_route; DROP INDEX chunk_without_note;
        ALTER TABLE chunk DROP COLUMN route; ALTER TABLE chunk DROP COLUMN space;
        ALTER TABLE chunk DROP COLUMN embedded; ALTER TABLE chunk DROP COLUMN refused;
        ALTER TABLE chunk DROP COLUMN note; ALTER TABLE chunk DROP COLUMN lacks_note;
        """
    )
    database.execute("INSERT INTO fact VALUES('space', ?)", (space,))
    database.execute("DELETE FROM fact WHERE name IN ('recipe', 'space.code', 'space.prose')")
    database.commit()
    database.close()
    (place / "seal.json").unlink()  # that form had none
    place.rename(folder / "0123456789ab")
    (folder / "current").write_text("0123456789ab")
    assert read_status(tree, chosen).chunks == 5
    with Index.open(tree, chosen) as index:
        # The old generation serves, vectors and all, until the new one is complete.
        answer = index.search(Query("gather_3"))
        assert (answer.hits[0].path, answer.mode, answer.degraded) == ("part_3.py", SearchMode.HYBRID, "")
        assert index.status().coverage == {space: 5}
        assert index.update().failed == ()
        assert index._lineage.serving.name == generation_name(chosen)


def test_improving_before_the_first_update_forgot_which_model_was_the_quickest(
    tree: Path, options: Options, server: ScriptedServer, serve: Callable[..., ScriptedServer]
) -> None:
    slow = serve()
    chosen = options(model_at(slow), model_at(server), choose="latency")
    with Index.open(tree, chosen) as index:
        order = [f"openai/tiny at 127.0.0.1:{each.port}" for each in (server, slow)]
        index._lineage.serving.manifest.set_facts({"models": "\n".join(order)})
        index.update()
        assert f":{server.port}" in index.status().space
    with Index.open(tree, chosen) as index:
        assert index.improve().embedded == 0
        assert f":{server.port}" in index.status().space
        assert index.update().embedded == 0


def test_a_model_that_did_not_answer_when_latency_was_measured_was_last_for_ever(
    tree: Path, options: Options, server: ScriptedServer, serve: Callable[..., ScriptedServer]
) -> None:
    down = serve()
    down.rule = lambda _: REFUSED
    chosen = options(model_at(down), model_at(server), choose="latency")
    with Index.open(tree, chosen) as index:
        index.update()
        assert index._lineage.serving.manifest.fact("models") == ""
        down.rule = lambda _: None
        index.update()
        assert set(index._lineage.serving.manifest.fact("models").splitlines()) == {
            f"openai/tiny at 127.0.0.1:{each.port}" for each in (down, server)
        }


def test_a_model_that_changed_back_made_updates_fail_until_the_process_ended(
    tree: Path, options: Options, server: ScriptedServer
) -> None:
    with Index.open(tree, options(ollama(server))) as index:
        for digest in ("a" * 16, "b" * 16, "a" * 16, "b" * 16):
            server.digest = digest
            assert index.update().failed == ()
            assert digest[:12] in index.status().space
            assert index.search(Query("gather_1")).degraded == ""


@pytest.mark.parametrize("prose_has_model", [False, True])
def test_no_model_for_one_kind_of_text_ended_the_update(
    tree: Path, options: Options, server: ScriptedServer, prose_has_model: bool
) -> None:
    models = (NOTHING, model_at(server)) if prose_has_model else (model_at(server), NOTHING)
    with Index.open(tree, options(models[0], prose=models[1])) as index:
        summary = index.update()
        assert (summary.failed, summary.lacking) == ((), 0)
        assert asked_for(server, "plain words") == prose_has_model
        assert asked_for(server, "gather_2") == (not prose_has_model)
        assert index.improve().files == 0
        assert index.search(Query("gather_2")).hits[0].path == "part_2.py"


def test_improving_put_another_model_into_the_generation_that_served(
    tree: Path, options: Options, server: ScriptedServer
) -> None:
    chosen = options(ollama(server))
    with Index.open(tree, chosen) as index:
        index.update()
        before = spaces(index)
    server.digest = "fedcba9876543210"
    with Index.open(tree, chosen) as index:
        assert index.improve().embedded == 0
        assert spaces(index) == before
        serving = index._lineage.serving.name
        index.update()
        assert index._lineage.serving.name != serving


def test_a_rebuilt_index_answered_from_the_cache_of_the_one_before(tree: Path, module: Module, tmp_path: Path) -> None:
    chosen = IndexOptions(tmp_path / "home", workers=1)
    with Index.open(tree, chosen) as index:
        index.update()
        assert index.status().chunks == 5
        folder = index.folder
    shutil.rmtree(folder)
    (tree / "more.py").write_text(module("more"))
    with Index.open(tree, chosen) as index:
        index.update()
        assert index.status().chunks == 6


def test_what_others_left_in_the_cache_made_searches_and_the_status_fail(tree: Path, tmp_path: Path) -> None:
    chosen = IndexOptions(tmp_path / "home", workers=1)
    with Index.open(tree, chosen) as index:
        index.update()
        query = Query("gather_1")
        expected = index.search(query)
        counted = index.status().chunks
        for odd in (b"{}", b"null", b"[1]", b"no json", b'{"hits": [{}], "mode": "odd"}', b'{"files": 3}'):
            index._services.cache.put("answers", {index._answers.key(index._lineage.serving, query): odd})
            index._services.cache.put("statistics", {index._lineage.serving.manifest.state(): odd})
            assert index.search(query) == expected
            assert index.status().chunks == counted
    assert open_cache(chosen.cache, cache_folder(chosen), variables=os.environ).layers()


def test_improving_went_over_every_file_although_its_model_had_failed(
    tree: Path, options: Options, server: ScriptedServer
) -> None:
    server.rule = lambda _: REFUSED
    with Index.open(tree, options(model_at(server), EMBEDDED)) as index:
        index.update()
        state = index._lineage.serving.manifest.state()
        left = iter(range(1))
        server.rule = lambda _: None if next(left, None) is not None else REFUSED
        asked = asked_for(server, "value")
        improved = index.improve()
        assert (improved.files, improved.embedded) == (0, 0)
        assert asked_for(server, "value") - asked <= 1
        # Nothing was written, so that answers that were kept still hold.
        assert index._lineage.serving.manifest.state() == state


def test_a_text_that_the_preferred_model_refuses_was_sent_again_each_time(
    tree: Path, options: Options, server: ScriptedServer
) -> None:
    server.rule = lambda _: REFUSED
    with Index.open(tree, options(model_at(server), EMBEDDED)) as index:
        index.update()

        def odd(request: Request) -> Reply | None:
            return TOO_ODD if any("gather_1" in text for text in request.texts) else None

        server.rule = odd
        assert index.improve().lacking == 0
        asked = asked_for(server, "gather_1")
        assert asked > 0
        assert index.improve().files == 0
        assert asked_for(server, "gather_1") == asked
        # It keeps the vector that the fallback gave.
        assert sorted(index.status().coverage.values()) == [1, 4]


def test_a_text_that_a_fallback_refused_had_no_vector_when_the_preferred_model_was_back(
    tree: Path, options: Options, server: ScriptedServer, serve: Callable[..., ScriptedServer]
) -> None:
    picky = serve()
    server.rule = lambda _: REFUSED
    picky.rule = lambda request: TOO_ODD if any("gather_1" in text for text in request.texts) else None
    with Index.open(tree, options(model_at(server), model_at(picky))) as index:
        assert [problem.path for problem in index.update().failed] == ["part_1.py"]
        server.rule = lambda _: None
        assert index.improve().lacking == 0
        assert index.status().failed == ()
        assert spaces(index) == set(index._lineage.serving.manifest.spaces())
        assert len(spaces(index)) == 1


def test_an_edit_waited_for_a_slow_model_that_took_back_its_chunks(
    tree: Path, options: Options, server: ScriptedServer
) -> None:
    server.rule = lambda _: REFUSED
    with Index.open(tree, options(model_at(server), EMBEDDED)) as index:
        index.update()
        edits: list[str] = []

        def edit_meanwhile(request: Request) -> None:
            if not edits and any("gather_" in text for text in request.texts):
                edits.append("done")
                (tree / "new.py").write_text("def brandnew():\n    return 1\n")
                # Would wait for ever for the lock if improving held it while it asks.
                assert index._updating.acquire(timeout=20)
                index._updating.release()

        server.rule = edit_meanwhile
        assert index.improve().lacking == 0
        assert edits == ["done"]


def test_a_dry_run_after_a_change_of_options_began_a_generation(tree: Path, options: Options) -> None:
    with Index.open(tree, options(EMBEDDED)) as index:
        index.update()
        folder = index.folder
    before = {path.name for path in folder.iterdir() if path.is_dir()}
    changed = options(EMBEDDED)
    with Index.open(tree, replace(changed, chunk=replace(changed.chunk, max_tokens=256))) as index:
        assert index.estimate().chunks >= 5
        assert {path.name for path in folder.iterdir() if path.is_dir()} == before


def test_a_search_waited_for_every_hanging_model_in_turn(
    tree: Path, options: Options, serve: Callable[..., ScriptedServer]
) -> None:
    servers = [serve() for _ in range(3)]
    models = [model_at(each) for each in servers]
    with Index.open(tree, options(*models, query_seconds=0.5)) as index:
        index.update()
        for each in servers:
            each.rule = lambda _: Reply(hangs=True)
        answer = index.search(Query("gather_2"))
        assert answer.hits[0].path == "part_2.py"
        # The first took the whole time; what was left for the others is told as such.
        assert "within 0.5 s" in answer.degraded


def test_what_was_embedded_before_a_failure_was_paid_for_twice(
    tree: Path, options: Options, server: ScriptedServer
) -> None:
    chosen = replace(options(model_at(server, batch_size=1)), cache=CacheOptions())
    with Index.open(tree, chosen) as index:
        left = iter(range(3))
        # One text is sent to meet the model.
        server.rule = lambda _: None if next(left, None) is not None else REFUSED
        assert index.update().failed
        server.rule = lambda _: None
        again = index.update()
        assert (again.failed, again.lacking) == ((), 0)
        assert asked_for(server, "total") <= 4 + 2  # Refused ones may have been sent again.
        assert again.cached > 0


@pytest.mark.timeout(60)
def test_an_update_without_anything_to_embed_waited_for_a_service_that_hangs(
    tree: Path, options: Options, server: ScriptedServer
) -> None:
    chosen = options(model_at(server), query_seconds=0.3)
    with Index.open(tree, chosen) as index:
        index.update()
    server.told["/v1/models"] = lambda _: server.released.wait()
    server.rule = lambda _: Reply(hangs=True)
    with Index.open(tree, chosen) as index:
        assert index.update().failed == ()
        answer = index.search(Query("gather_2"))
        assert answer.hits[0].path == "part_2.py"
        assert "did not answer within" in answer.degraded
        server.released.set()


def test_a_run_did_not_say_why_a_fallback_stood_in(tree: Path, options: Options, server: ScriptedServer) -> None:
    server.rule = lambda _: REFUSED
    with Index.open(tree, options(model_at(server), EMBEDDED)) as index:
        failed, well = index.update().models
        assert "answered 401" in failed.problem
        assert well.problem == ""
    [state] = [state for state in read_status(tree, options(model_at(server), EMBEDDED)).models if state.problem]
    assert "answered 401" in state.problem


def test_an_index_of_the_first_form_that_was_brought_up_to_date_by_half_kept_no_vector(tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / "manifest.db")
    database.executescript(
        """
        CREATE TABLE chunk(id TEXT PRIMARY KEY, path TEXT, fingerprint TEXT, language TEXT, defines TEXT);
        CREATE TABLE fact(name TEXT PRIMARY KEY, value TEXT);
        INSERT INTO chunk VALUES('1', 'a.py', 'f', 'python', '["run"]');
        INSERT INTO fact VALUES('space', 'embedded/wordllama-256/256@1');
        CREATE TRIGGER full BEFORE UPDATE ON chunk BEGIN SELECT RAISE(FAIL, 'disk full'); END;
        """
    )
    with pytest.raises(sqlite3.Error, match="disk full"):
        bring_up_to_date(database)
    assert not has_spaces(database)
    database.execute("DROP TRIGGER full")
    bring_up_to_date(database)
    [(name, space)] = database.execute("SELECT name, chunk.space FROM chunk JOIN space ON vector_name = chunk.space")
    assert (name, bool(space)) == ("embedded/wordllama-256/256@1", True)
    database.close()
