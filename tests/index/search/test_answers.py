"""Answers that are given again, and the second look at them by a reranker."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Event, Thread

import pytest
from scripted_server import Reply, ScriptedServer

from cqm.index.engine import Index
from cqm.index.model.options import CacheOptions, EmbeddingOptions, IndexOptions, RerankOptions, RouteOptions
from cqm.index.model.query import Query, SearchMode
from cqm.index.rerank import reader

pytestmark = pytest.mark.processes

NAMES = ("alpha", "beta", "gamma", "delta")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    for name in NAMES:
        (root / f"{name}.py").write_text(f"def weigh_{name}(table):\n    return sum(table)  # {name} weighs\n")
    return root


@pytest.fixture
def options(tmp_path: Path) -> IndexOptions:
    return IndexOptions(home=tmp_path / "home", workers=1, routes=RouteOptions(retry_seconds=0.0))


@pytest.fixture
def judge() -> Iterator[Callable[[str], tuple[str, Event, Event]]]:
    """Serve a reranker that prefers texts with a word: its address, what lets it answer, what tells it was asked."""
    servers: list[tuple[HTTPServer, Event]] = []

    def start(word: str) -> tuple[str, Event, Event]:
        answers, is_asked = Event(), Event()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                is_asked.set()
                answers.wait()
                found = [
                    {"index": n, "relevance_score": float(word in text)} for n, text in enumerate(asked["documents"])
                ]
                body = json.dumps({"results": found}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Keep quiet."""

        server = HTTPServer(("127.0.0.1", 0), Handler)
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        servers.append((server, answers))
        return f"http://127.0.0.1:{server.server_port}/v1/rerank", answers, is_asked

    yield start
    for server, answers in servers:
        answers.set()
        server.shutdown()
        server.server_close()


def paths(index: Index, question: str) -> list[str]:
    return [hit.path for hit in index.search(Query(question)).hits]


def test_the_same_question_is_answered_without_searching_again(
    tree: Path, options: IndexOptions, server: ScriptedServer
) -> None:
    model = EmbeddingOptions("openai", "tiny", f"{server.url}/v1")
    with Index.open(tree, replace(options, embedding=model)) as index:
        index.update()
        first = index.search(Query("weigh a table"))
        asked = len(server.requests)
        assert index.search(Query("weigh a table")) == first
        assert len(server.requests) == asked
        memory = index.status().cache[0]
        assert (memory.name, memory.hits > 0) == ("memory", True)


def test_an_answer_is_not_given_again_once_a_file_changed(tree: Path, options: IndexOptions) -> None:
    with Index.open(tree, options) as index:
        index.update()
        assert "epsilon.py" not in paths(index, "weigh epsilon")
        (tree / "epsilon.py").write_text("def weigh_epsilon(table):\n    return 0\n")
        index.update(["epsilon.py"])
        assert paths(index, "weigh epsilon")[0] == "epsilon.py"
        (tree / "epsilon.py").unlink()
        index.update(["epsilon.py"])
        assert "epsilon.py" not in paths(index, "weigh epsilon")
        assert index.status().chunks == len(NAMES)


def test_an_answer_that_lacks_something_is_found_anew(
    tree: Path, options: IndexOptions, server: ScriptedServer
) -> None:
    model = EmbeddingOptions("openai", "tiny", f"{server.url}/v1")
    with Index.open(tree, replace(options, embedding=model, cache=CacheOptions(disk_mb=0))) as index:
        index.update()
        server.rule = lambda _: Reply(401, "{}")
        assert index.search(Query("weigh gamma")).degraded
        server.rule = lambda _: None
        assert not index.search(Query("weigh gamma")).degraded


def test_a_reranker_decides_the_order_as_much_as_it_is_let(
    tree: Path, options: IndexOptions, judge: Callable[[str], tuple[str, Event, Event]]
) -> None:
    url, answers, _ = judge("delta")
    answers.set()
    chosen = RerankOptions("http", url, deadline_seconds=60.0, weight=1.0)
    for weight, first in ((1.0, "delta.py"), (0.0, "alpha.py")):
        with Index.open(tree, replace(options, rerank=replace(chosen, weight=weight))) as index:
            index.update()
            answer = index.search(Query("weigh alpha"))
            assert answer.hits[0].path == first
            assert "rerank" in answer.hits[0].parts
            assert sum(answer.hits[0].parts.values()) == pytest.approx(answer.hits[0].score)


def test_the_words_of_lines_and_the_reader_count_unless_they_shall_not_or_words_alone_are_searched(
    tree: Path, options: IndexOptions
) -> None:
    question = "Returns the sum of all the rows that the table which was given has."

    def parts(options: IndexOptions, mode: SearchMode = SearchMode.HYBRID) -> set[str]:
        with Index.open(tree, options) as index:
            index.update()
            hits = index.search(Query(question, mode=mode)).hits
            assert all(sum(hit.parts.values()) == pytest.approx(hit.score) for hit in hits)
            return set(hits[0].parts)

    assert {"words", "reader"} <= parts(options)
    assert parts(replace(options, rerank=RerankOptions(words=False))) & {"words", "reader"} == {"reader"}
    assert parts(replace(options, rerank=RerankOptions(reader=False))) & {"words", "reader"} == {"words"}
    assert parts(options, SearchMode.LEXICAL).isdisjoint({"words", "reader"})


def test_without_the_readers_file_the_order_stays_which_is_told(
    tree: Path, options: IndexOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "_FILE", tree / "gone")
    reader._model.cache_clear()
    with Index.open(tree, options) as index:
        index.update()
        answer = index.search(Query("Returns the sum of all the rows that the table which was given has."))
    assert answer.hits
    assert "gone cannot be read" in answer.degraded
    assert "set rerank.reader to false" in answer.degraded
    assert "reader" not in answer.hits[0].parts


def test_only_as_many_results_are_looked_at_again_as_the_depth_says(
    tree: Path, options: IndexOptions, judge: Callable[[str], tuple[str, Event, Event]]
) -> None:
    url, answers, _ = judge("delta")
    answers.set()
    chosen = RerankOptions("http", url, deadline_seconds=60.0, weight=1.0, depth=1)
    with Index.open(tree, replace(options, rerank=chosen)) as index:
        index.update()
        assert index.search(Query("weigh alpha")).hits[0].path == "alpha.py"


def test_when_a_reranker_is_late_the_order_stands_and_the_answer_says_so(
    tree: Path, options: IndexOptions, judge: Callable[[str], tuple[str, Event, Event]]
) -> None:
    url, answers, _ = judge("delta")
    chosen = RerankOptions("http", url, deadline_seconds=0.2, weight=1.0)
    with Index.open(tree, options) as plain:
        plain.update()
        expected = paths(plain, "weigh alpha")
    with Index.open(tree, replace(options, rerank=chosen)) as index:
        answer = index.search(Query("weigh alpha"))
        assert [hit.path for hit in answer.hits] == expected
        assert "not reranked" in answer.degraded
        assert "0.2 s" in answer.degraded
        answers.set()


def test_a_search_that_waits_for_a_reranker_keeps_no_other_waiting(
    tree: Path, options: IndexOptions, judge: Callable[[str], tuple[str, Event, Event]]
) -> None:
    url, answers, is_asked = judge("delta")
    chosen = RerankOptions("http", url, deadline_seconds=60.0)
    with Index.open(tree, replace(options, rerank=chosen)) as index, ThreadPoolExecutor(2) as pool:
        index.update()
        waiting = pool.submit(index.search, Query("weigh alpha"))
        assert is_asked.wait(240.0)
        # Nothing is found, so that there is nothing to rerank.
        other = pool.submit(index.search, Query("zzzqqq", mode=SearchMode.LEXICAL))
        assert not other.result(240.0).hits
        assert not waiting.done()
        answers.set()
        assert not waiting.result(240.0).degraded


def test_a_definition_that_is_asked_for_by_name_is_first_whatever_a_reranker_prefers(
    tree: Path, options: IndexOptions, judge: Callable[[str], tuple[str, Event, Event]]
) -> None:
    url, answers, _ = judge("delta")
    answers.set()
    rerank = RerankOptions("http", url, weight=1.0)
    with Index.open(tree, replace(options, embedding=EmbeddingOptions("none"), rerank=rerank)) as index:
        index.update()
        assert paths(index, "weigh the table")[0] == "delta.py"
        first, second, *_ = index.search(Query("weigh_alpha")).hits
    assert (first.path, second.path) == ("alpha.py", "delta.py")
    assert {"exact", "rerank"} <= first.parts.keys()
    for hit in (first, second):
        assert sum(hit.parts.values()) == pytest.approx(hit.score)
    assert first.score >= second.score
