"""The options of an index change while others search it: no search fails, and none is empty."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest
from scripted_server import ScriptedServer

from cqm.chunkers.model import ChunkOptions
from cqm.index.generations.folders import current_name
from cqm.index.generations.generation import generation_name
from cqm.index.model.options import EmbeddingOptions, IndexOptions
from cqm.index.model.progress import Progress
from cqm.index.model.query import Query

if TYPE_CHECKING:
    from conftest import Cqm, Place

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("forked_programs")]

CLIENTS = 2
PAUSE_SECONDS = 0.02
"""Of a client between two searches: without one they take the processor from what they search beside."""
PATIENCE_SECONDS = 240.0
SEARCHING = """
import json, sys
from pathlib import Path
from threading import Event, Thread
from cqm.index.model.query import Query
from cqm.server.config.settings import load_settings
from cqm.server.owner.client import RemoteIndex
root, enough, found, notices = Path.cwd(), Event(), [], []
Thread(target=lambda: (sys.stdin.read(), enough.set()), daemon=True).start()
with RemoteIndex.open(root, load_settings(root).index_options(root), noted=notices.append) as index:
    while not enough.wait(0.02):
        found.append(len(index.search(Query("greet somebody")).hits))
        if len(found) == 1:
            print(flush=True)
print(json.dumps([found, notices]))
"""


@contextmanager
def searching(place: "Place", background: Any) -> Iterator[list[int]]:
    """Clients that search until the end of this, and find something each time; gives how many have found it."""
    enough, found = Event(), [0] * CLIENTS

    def search(number: int) -> None:
        with place.open() as index:
            while not enough.wait(PAUSE_SECONDS):
                assert index.search(Query(f"compute_1 {number}_{found[number]}")).hits
                found[number] += 1

    clients = [background(lambda number=number: search(number)) for number in range(CLIENTS)]
    try:
        yield found
    finally:
        enough.set()
        for client in clients:
            client.result()


def with_model(place: "Place", server: ScriptedServer) -> IndexOptions:
    return replace(place.options, embedding=EmbeddingOptions("openai", "tiny", f"{server.url}/v1"))


def test_other_chunks_are_made_while_clients_search(large: "Place", background: Any) -> None:
    others = replace(large.options, chunk=ChunkOptions(max_tokens=256))
    with large.open() as index:
        index.update()
        with searching(large, background) as found, large.open(others, adopts=True) as other:
            during = []
            assert other.update(report=lambda _: during.append(sum(found))).added == 2000
        assert during[0] < during[-1]
    assert current_name(large.folder) == generation_name(others)


def test_another_model_embeds_while_clients_search(many: "Place", server: ScriptedServer, background: Any) -> None:
    embedded = replace(many, options=replace(many.options, embedding=EmbeddingOptions()))
    others = with_model(many, server)
    with embedded.open() as index:
        index.update()
        before = index.status().chunks
        with searching(embedded, background), embedded.open(others, adopts=True) as other:
            assert other.update().embedded == before
            [space] = other.status().coverage
        assert "tiny" in space
    assert current_name(many.folder) == generation_name(others)


def test_the_owner_is_killed_while_another_model_embeds(many: "Place", server: ScriptedServer, background: Any) -> None:
    embedded = replace(many, options=replace(many.options, embedding=EmbeddingOptions()))
    others = with_model(many, server)

    def die(progress: Progress) -> None:
        if progress.done > 300:
            many.kill()
            raise KeyboardInterrupt

    with embedded.open() as index:
        index.update()
        old = current_name(many.folder)
        with searching(embedded, background) as found:
            with embedded.open(others, adopts=True) as other, pytest.raises(KeyboardInterrupt):
                other.update(report=die)
            assert index.search(Query("compute_1")).hits
            assert (index.status().complete, current_name(many.folder)) == (True, old)
            after_kill = list(found)
            with embedded.open(others, adopts=True) as other:
                summary = other.update()
            # It went on with what there was; of that, what no flush had settled is done again.
            assert summary.added < 2000
            assert summary.added + summary.modified + summary.unchanged == 2000
        assert sum(after_kill) < sum(found)
    assert current_name(many.folder) == generation_name(others)


@pytest.mark.usefixtures("shared")
def test_processes_search_while_the_command_line_makes_other_chunks(cqm: "Cqm") -> None:
    assert cqm.run("index").returncode == 0
    with ExitStack() as running:
        clients = [running.enter_context(searching_process(cqm)) for _ in range(CLIENTS)]
        for client in clients:
            assert client.stdout
            client.stdout.readline()
        assert cqm.json("index", "--set", "chunk.max_tokens=256")["added"] == 3
        assert cqm.json("index", "--set", "chunk.max_tokens=256")["unchanged"] == 3
        printed = [client.communicate() for client in clients]
    for said, problems in printed:
        found, notices = json.loads(said)
        assert problems == ""
        assert min(found) > 0
        assert ["chunk.max_tokens" in notice for notice in notices] == [True] * len(notices)


def searching_process(cqm: "Cqm") -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", SEARCHING],
        cwd=cqm.project,
        env=cqm.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.usefixtures("shared")
def test_the_command_line_says_that_others_options_hold(cqm: "Cqm") -> None:
    with cqm.started("watch") as watching:
        assert watching.stdout
        watching.stdout.readline()
        other = ("--set", "chunk.max_tokens=256")
        asked = cqm.run("search", "greet", "--json", *other)
        assert json.loads(asked.stdout)["results"][0]["path"] == "src/greeting.py"
        assert "with other options than this process has" in asked.stderr
        assert asked.stderr.count("chunk.max_tokens") == 1
        indexed = cqm.run("index", "--json", *other)
        assert json.loads(indexed.stdout)["added"] == 3
        assert "options" not in indexed.stderr
        assert cqm.run("search", "greet", "--json", *other).stderr == ""
        assert "with other options" in cqm.run("search", "greet", "--json").stderr
