"""The command line with the chunks on a Qdrant server."""

import re
from typing import TYPE_CHECKING

import pytest
from qdrant_double import Fault, QdrantDouble

if TYPE_CHECKING:
    from conftest import Cqm

pytestmark = pytest.mark.usefixtures("shared")

CLOSED = "http://127.0.0.1:9"


@pytest.fixture
def on_server(cqm: "Cqm", qdrant: QdrantDouble) -> "Cqm":
    """The same user, whose environment names the server and its key."""
    qdrant.key = "hunter2"
    cqm.environment.update(
        CQM_STORE_URL=qdrant.url,
        CQM_STORE_API_KEY_ENV="MY_QDRANT_KEY",
        MY_QDRANT_KEY="hunter2",
        CQM_CACHE_MEMORY_MB="0",
    )
    return cqm


def test_indexing_searching_and_the_status_are_as_in_a_folder(on_server: "Cqm", qdrant: QdrantDouble) -> None:
    local = {"CQM_STORE_URL": "", "CQM_INDEX_HOME": str(on_server.project.parent / "local")}
    here, there = on_server.json("index", **local), on_server.json("index")
    assert there["chunks_written"] == here["chunks_written"] > 0
    for text in ("parse a line", "greet", "設定"):
        results = on_server.json("search", text)["results"]
        assert results == on_server.json("search", text, **local)["results"] != []
    status = on_server.json("status")
    [(alias, name)] = qdrant.aliases.items()
    assert status["complete"]
    assert status["server"] == f"{name} at {qdrant.url}"
    assert on_server.json("status", **local)["server"] == ""
    assert re.fullmatch(r"cqm-project-[0-9a-f]{8}", alias)
    assert f"its chunks in {name} at {qdrant.url}" in on_server.run("status").stdout


def test_a_server_that_is_down_ends_a_command_with_its_name_and_what_helps(
    on_server: "Cqm", qdrant: QdrantDouble
) -> None:
    on_server.run("index")
    qdrant.stop()
    for command in (("search", "greet"), ("index",)):
        done = on_server.run(*command, CQM_STORE_RETRY_SECONDS="0.5")
        assert done.returncode == 1
        assert f"The store at {qdrant.url} cannot be opened: it cannot be reached" in done.stderr
        assert "Start it, or correct store.url." in done.stderr
        assert "Traceback" not in done.stderr
    assert on_server.json("status")["complete"]
    qdrant.start()
    assert on_server.paths("greet")[0] == "src/greeting.py"


def test_a_wrong_key_is_told_and_not_shown(on_server: "Cqm") -> None:
    done = on_server.run("index", MY_QDRANT_KEY="sesame77")
    assert done.returncode == 1
    assert "it refuses the API key" in done.stderr
    assert "sesame77" not in done.stdout + done.stderr


def test_list_remove_and_force_reach_the_server_and_compact_says_that_it_need_not(
    on_server: "Cqm", qdrant: QdrantDouble
) -> None:
    on_server.run("index")
    [first] = qdrant.collections
    assert [entry["files"] for entry in on_server.json("list")["indexes"]] == [3]
    done = on_server.run("compact")
    assert done.returncode == 1
    assert "a Qdrant server compacts by itself" in done.stderr
    assert on_server.run("index", "--force").returncode == 0
    [second] = qdrant.collections
    assert second != first
    qdrant.stop()
    done = on_server.run("remove", ".", "--yes")
    assert done.returncode == 1
    assert f"The store at {qdrant.url} cannot be looked at" in done.stderr
    qdrant.start()
    assert on_server.run("remove", ".", "--yes").returncode == 0
    assert qdrant.collections == {}
    assert on_server.json("list")["indexes"] == []


def test_an_index_on_a_server_that_is_not_configured_is_told_of_as_what_it_is_and_not_as_damaged(
    on_server: "Cqm", qdrant: QdrantDouble
) -> None:
    on_server.run("index")
    [(_, name)] = qdrant.aliases.items()
    status = on_server.run("status", CQM_STORE_URL="").stdout
    assert f"not used; the next update makes another one: The index is on {qdrant.url}" in status
    assert "Set store.url to that" in status
    assert "unavailable, updated never" in status
    assert f"its chunks in {name} at {qdrant.url}" in on_server.run("list").stdout
    again = on_server.run("index", CQM_STORE_URL="")
    assert f"Another index takes the place of the one that was here: The index is on {qdrant.url}" in again.stderr
    assert "unavailable" not in (status := on_server.run("status", CQM_STORE_URL="").stdout)
    assert "damage" not in status + again.stdout + again.stderr


def test_a_project_cannot_choose_the_server(cqm: "Cqm", qdrant: QdrantDouble) -> None:
    (cqm.project / "cqm.yml").write_text(f"store: {{url: '{qdrant.url}'}}\n")
    done = cqm.run("index")
    assert done.returncode != 0
    assert '"store.url" is refused: it decides where the index of your code is kept' in done.stderr
    assert qdrant.requests == []
    assert cqm.run("index", CQM_TRUST_PROJECT="1").returncode == 0
    assert len(qdrant.collections) == 1


def test_the_doctor_uses_a_collection_of_a_moments_life(on_server: "Cqm", qdrant: QdrantDouble) -> None:
    [found] = [check for check in on_server.json("doctor", code=1)["checks"] if check["name"] == "store"]
    assert found["verdict"] == "ok"
    assert found["detail"].startswith(f"Qdrant 1.18.0 at {qdrant.url}, ")
    assert qdrant.said("PUT", "/collections/cqm-doctor-.*/points")
    assert qdrant.collections == {}


@pytest.mark.parametrize(
    ("changes", "said", "remedy"),
    [
        ({"CQM_STORE_URL": CLOSED}, f"The store at {CLOSED} cannot be", "Start it, or correct store.url"),
        ({"MY_QDRANT_KEY": "wrong"}, "it refuses the API key", "store.api_key_env"),
    ],
)
def test_the_doctor_tells_what_is_wrong_with_a_server(
    on_server: "Cqm", changes: dict[str, str], said: str, remedy: str
) -> None:
    [found] = [check for check in on_server.json("doctor", code=1, **changes)["checks"] if check["name"] == "store"]
    assert found["verdict"] == "problem"
    assert said in found["detail"]
    assert remedy in found["remedy"]


def test_the_doctor_tells_that_a_server_is_too_old(on_server: "Cqm", qdrant: QdrantDouble) -> None:
    # A server before 1.18 knows no such request.
    qdrant.rule = lambda asked: Fault(404, "") if "/vectors/" in asked.path else None
    [found] = [check for check in on_server.json("doctor", code=1)["checks"] if check["name"] == "store"]
    assert "it has to be Qdrant 1.18 or later" in found["remedy"]
    assert qdrant.collections == {}
