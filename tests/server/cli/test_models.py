"""Models and their services, as the command line tells of them."""

import json
import signal
from typing import TYPE_CHECKING

import pytest
from scripted_server import REFUSED, Reply, ScriptedServer

if TYPE_CHECKING:
    from conftest import Cqm

pytestmark = pytest.mark.usefixtures("shared")


def configure(cqm: "Cqm", server: ScriptedServer, fallback: str = "") -> None:
    cqm.environment.pop("CQM_EMBEDDING_PROVIDER", None)
    cqm.environment["CQM_TRUST_PROJECT"] = "1"
    (cqm.project / "cqm.yml").write_text(
        f"""
embedding:
  provider: openai
  model: tiny
  base_url: {server.url}/v1
  retry_seconds: 1
{fallback}
"""
    )


def test_an_index_tells_what_its_model_took_and_a_second_one_takes_nothing(cqm: "Cqm", server: ScriptedServer) -> None:
    configure(cqm, server)
    first = cqm.json("index")
    [(name, used)] = first["usage"].items()
    assert name == f"openai/tiny at 127.0.0.1:{server.port}"
    assert used["texts"] >= first["embedded"] > 0
    assert (first["cached"], first["lacking"]) == (0, 0)
    again = cqm.json("index")
    assert (again["embedded"], again["usage"]) == (0, {})
    # A second index of the same files takes their vectors from the cache.
    other = cqm.json("index", "--set", "chunk.overlap_percent=10")
    assert other["cached"] == other["embedded"] == first["embedded"]
    told = cqm.run("index", "--set", "chunk.overlap_percent=11").stdout
    assert f"{first['embedded']} vectors from the cache" in told


def test_a_fallback_stands_in_and_the_next_index_brings_its_chunks_home(cqm: "Cqm", server: ScriptedServer) -> None:
    configure(cqm, server, "  fallback: [spare]\nproviders:\n  spare:\n    provider: embedded")
    server.rule = lambda _: REFUSED
    first = cqm.json("index")
    assert first["failed"] == []
    assert first["lacking"] == first["embedded"] > 0
    status = cqm.json("status")
    assert [space.partition("/")[0] for space in status["coverage"]] == ["embedded"]
    text = cqm.run("status").stdout
    assert f"vectors: {first['embedded']} in embedded/" in text
    assert f"{first['lacking']} chunks wait for their preferred model" in text
    server.rule = lambda _: None
    again = cqm.json("index")
    assert (again["lacking"], again["embedded"]) == (0, first["embedded"])
    assert [space.partition("/")[0] for space in cqm.json("status")["coverage"]] == ["openai"]


def test_a_search_says_which_vectors_it_could_not_use(cqm: "Cqm", server: ScriptedServer) -> None:
    configure(cqm, server)
    cqm.run("index")
    server.rule = lambda _: REFUSED
    answer = cqm.json("search", "greet")
    assert answer["results"][0]["path"] == "src/greeting.py"
    assert answer["mode"] == "lexical"
    assert "answered 401" in answer["degraded"]
    assert "Note: searched by words alone: " in cqm.run("search", "greet").stdout


def test_a_watch_brings_chunks_home_when_the_model_is_back(cqm: "Cqm", server: ScriptedServer) -> None:
    configure(cqm, server, "  fallback: [spare]\nproviders:\n  spare:\n    provider: embedded")
    server.rule = lambda _: REFUSED
    with cqm.started("watch", "--json") as watching:
        assert watching.stdout is not None
        waiting = json.loads(watching.stdout.readline())["summary"]["lacking"]
        assert waiting > 0
        server.rule = lambda _: None
        while cqm.json("status")["lacking"]:
            pass
        assert [space.partition("/")[0] for space in cqm.json("status")["coverage"]] == ["openai"]


@pytest.mark.timeout(120)
def test_ctrl_c_stops_an_index_although_its_model_hangs(cqm: "Cqm", server: ScriptedServer) -> None:
    configure(cqm, server)
    server.rule = lambda request: Reply(hangs=True) if any("greet" in text for text in request.texts) else None
    with cqm.started("index") as running:
        while not any("greet" in text for request in server.embeddings for text in request.texts):
            assert running.poll() is None
        running.send_signal(signal.SIGINT)
        assert running.wait(240) == 130
    server.rule = lambda _: None
    assert cqm.json("index")["failed"] == []


def test_the_command_tries_a_model_at_once_that_the_owner_of_the_index_leaves_alone(
    cqm: "Cqm", server: ScriptedServer
) -> None:
    configure(cqm, server)
    (cqm.project / "cqm.yml").write_text((cqm.project / "cqm.yml").read_text().replace("seconds: 1", "seconds: 3600"))
    server.rule = lambda _: REFUSED
    assert cqm.json("index", code=1)["failed"]
    server.rule = lambda _: None
    assert "answered 401" in cqm.json("status")["models"][0]["problem"]
    again = cqm.json("index")
    assert (again["failed"], again["lacking"]) == ([], 0)
