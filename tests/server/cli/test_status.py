"""The status of an index at every moment, also in another process, and after an update that was killed."""

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest
from scripted_server import Reply, Request, ScriptedServer

if TYPE_CHECKING:
    from conftest import Cqm

pytestmark = pytest.mark.usefixtures("shared")

PATIENCE_SECONDS = 240.0
REFUSED = Reply(401, json.dumps({"error": {"message": "no"}}))


class Gate:
    """Holds the requests of a model that say a word, until it is opened."""

    def __init__(self, server: ScriptedServer, word: str) -> None:
        self.reached, self.opened = Event(), Event()
        self._word = word
        server.rule = self._hold

    def _hold(self, request: Request) -> None:
        if any(self._word in text for text in request.texts):
            self.reached.set()
            self.opened.wait(PATIENCE_SECONDS)


@pytest.fixture
def modelled(cqm: "Cqm", server: ScriptedServer) -> "Cqm":
    """A project whose texts a server embeds, one request at a time."""
    cqm.environment.pop("CQM_EMBEDDING_PROVIDER", None)
    cqm.environment["CQM_TRUST_PROJECT"] = "1"
    (cqm.project / "cqm.yml").write_text(
        f"""
embedding: {{provider: openai, model: tiny, base_url: "{server.url}/v1", retry_seconds: 1, concurrency: 1}}
scan: {{exclude: [cqm.yml]}}
index: {{workers: 1}}
"""
    )
    return cqm


@contextmanager
def held(cqm: "Cqm", server: ScriptedServer, *arguments: str, word: str) -> Iterator["subprocess.Popen[str]"]:
    """A command that does not get past a text with a word while this lasts; it may go on afterwards."""
    gate = Gate(server, word)
    with cqm.started(*arguments) as running:
        try:
            assert gate.reached.wait(PATIENCE_SECONDS)
            yield running
        finally:
            gate.opened.set()
            server.rule = lambda _: None
            running.communicate(timeout=PATIENCE_SECONDS)


def add_modules(cqm: "Cqm", count: int) -> None:
    for number in range(count):
        (cqm.project / f"module_{number:03}.py").write_text(f"def compute_{number}(value):\n    return {number}\n")


def once_it_ended(cqm: "Cqm") -> dict[str, Any]:
    """The status when nothing runs any more: an owner notices a moment later that its client was killed."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (status := cqm.json("status"))["running"]:
        assert time.monotonic() < deadline, status["running"]
    return dict(status)


def task(status: dict[str, Any]) -> tuple[object, ...]:
    [running] = status["running"]
    return status["state"], running["task"], running["phase"], running["done"], running["total"]


def test_before_anything_is_indexed_the_index_is_absent(cqm: "Cqm") -> None:
    status = cqm.json("status")
    assert (status["state"], status["running"], status["freshness"]["state"]) == ("absent", [], "stale")


def test_the_first_indexing_is_seen_from_another_process_and_leaves_a_complete_index(
    modelled: "Cqm", server: ScriptedServer
) -> None:
    with held(modelled, server, "index", word="equals sign"):
        status = modelled.json("status")
        assert task(status) == ("running", "update", "indexing", 0, 3)
        assert not status["complete"]
        text = modelled.run("status").stdout
        assert "update goes on: 0 % (0 of 3 files, 0 chunks) after " in text
        assert "not indexed yet" not in text
    after = modelled.json("status")
    assert (after["state"], after["running"], after["stopped"]) == ("complete", [], None)
    assert after["freshness"]["state"] == "fresh"


def test_rate_and_remaining_time_are_told_once_files_are_done(modelled: "Cqm", server: ScriptedServer) -> None:
    add_modules(modelled, 150)
    # Files come in batches of 100, by their paths.
    with held(modelled, server, "index", word="compute_120"):
        status = modelled.json("status")
        assert task(status) == ("running", "update", "indexing", 100, 153)
        assert status["running"][0]["rate"] > 0
        assert status["running"][0]["remaining_seconds"] > 0
        assert status["running"][0]["started_at"] <= status["running"][0]["told_at"]
        text = modelled.run("status").stdout
        assert re.search(r"65 % \(100 of 153 files, [\d.,]+ files/s, \d+ chunks, about \d+ (s|min|h) left\)", text)


def test_an_update_that_was_killed_does_not_run_and_the_next_one_goes_on_from_there(
    modelled: "Cqm", server: ScriptedServer
) -> None:
    add_modules(modelled, 150)
    with held(modelled, server, "index", word="compute_120") as running:
        running.send_signal(signal.SIGKILL)
        running.wait(PATIENCE_SECONDS)
        status = once_it_ended(modelled)
        assert (status["state"], status["running"]) == ("incomplete", [])
        assert (status["stopped"]["done"], status["stopped"]["total"]) == (100, 153)
        assert "the last update was stopped after 100 of 153 files" in modelled.run("status").stdout
    assert modelled.json("index")["added"] == 53
    assert modelled.json("status")["state"] == "complete"


def test_an_update_that_was_stopped_on_a_complete_index_is_not_forgotten_by_updates_of_paths(
    modelled: "Cqm", server: ScriptedServer
) -> None:
    modelled.run("index")
    add_modules(modelled, 150)
    with held(modelled, server, "index", word="compute_120") as running:
        running.send_signal(signal.SIGINT)
        running.wait(PATIENCE_SECONDS)
    modelled.run("index", "--retry")
    assert (modelled.json("status")["state"], modelled.json("status")["stopped"]["done"]) == ("incomplete", 100)
    modelled.run("index")
    assert modelled.json("status")["state"] == "complete"


def test_a_generation_that_is_built_is_told_with_the_reason_while_the_old_one_serves(
    modelled: "Cqm", server: ScriptedServer
) -> None:
    add_modules(modelled, 150)
    modelled.run("index", "--set", "embedding.provider=none")
    with held(modelled, server, "index", word="compute_120") as running:
        status = modelled.json("status")
        assert task(status) == ("running", "rebuild", "indexing", 100, 153)
        assert (status["files"], status["building"]["files"], status["building"]["total"]) == (
            {"indexed": 153},
            100,
            153,
        )
        assert "embedding.model is tiny and was none" in status["building"]["why"]
        assert "because embedding.provider is openai and was none" in modelled.run("status").stdout
        running.send_signal(signal.SIGKILL)
        running.wait(PATIENCE_SECONDS)
        killed = once_it_ended(modelled)
        assert (killed["running"], killed["building"]["files"], killed["building"]["total"]) == ([], 100, 0)
        assert killed["stopped"]["task"] == "rebuild"
        assert modelled.json("status", "--set", "embedding.provider=none")["building"] is None
    assert modelled.json("index")["added"] == 53
    after = modelled.json("status")
    assert (after["building"], after["state"], after["files"]) == (None, "complete", {"indexed": 153})


def test_an_index_that_is_made_anew_says_that_it_was_asked_for(modelled: "Cqm", server: ScriptedServer) -> None:
    modelled.run("index")
    modelled.run("index", "--set", "cache.enabled=false")
    with held(modelled, server, "index", "--force", "--set", "cache.enabled=false", word="equals sign"):
        building = modelled.json("status")["building"]
        assert (building["why"], building["files"], building["total"]) == ("it was asked for", 0, 3)
    assert modelled.json("status")["building"] is None


def test_chunks_that_are_brought_home_are_an_improvement_that_goes_on(modelled: "Cqm", server: ScriptedServer) -> None:
    with (modelled.project / "cqm.yml").open("a") as file:
        file.write("providers: {spare: {provider: embedded}}\n")
    server.rule = lambda _: REFUSED
    modelled.environment["CQM_EMBEDDING_FALLBACK"] = "spare"
    # Alone: a process that owns the index would leave the model alone for a while, whoever asks next.
    assert modelled.json("index", CQM_INDEX_SHARED="0")["lacking"] > 0
    with held(modelled, server, "index", word="equals sign"):
        status = modelled.json("status")
        assert [running["task"] for running in status["running"]] == ["improve"]
        assert status["state"] == "complete"
        assert status["lacking"] > 0
    assert (modelled.json("status")["lacking"], modelled.json("status")["running"]) == (0, [])


def test_failed_files_make_an_index_partial_and_are_retried_alone(modelled: "Cqm", server: ScriptedServer) -> None:
    server.rule = lambda request: REFUSED if any("equals sign" in text for text in request.texts) else None
    assert modelled.run("index").returncode == 1
    status = modelled.json("status")
    assert status["state"] == "partial"
    failed = {problem["path"]: problem["reason"] for problem in status["failed"]}
    assert "src/parser.py" in failed
    assert "401" in failed["src/parser.py"]
    assert "cqm index --retry" in modelled.run("status").stdout
    server.rule = lambda _: None
    (modelled.project / "src" / "greeting.py").write_text("CHANGED = 1\n")
    done = modelled.json("index", "--retry")
    # What did not fail is not looked at.
    assert done["modified"] + done["unchanged"] == len(failed)
    after = modelled.json("status")
    assert (after["state"], after["failed"], after["lacking"]) == ("complete", [], 0)
    assert ("src/greeting.py" in failed) == (after["pending"] == 0)


def test_a_retry_where_nothing_failed_does_nothing(cqm: "Cqm") -> None:
    cqm.run("index")
    (cqm.project / "new.py").write_text("x = 1\n")
    done = cqm.json("index", "--retry")
    assert [done[name] for name in ("added", "modified", "deleted", "unchanged")] == [0, 0, 0, 0]
    assert cqm.json("status")["pending"] == 1
    assert cqm.run("index", "--retry", "--force").returncode == 2


def test_a_search_that_does_not_wait_to_the_end_answers_and_says_what_it_lacks(
    modelled: "Cqm", server: ScriptedServer
) -> None:
    modelled.run("index")
    add_modules(modelled, 2)
    gate = Gate(server, "compute_1")
    found = modelled.json("search", "parse_line", "--wait", "0.5")
    gate.opened.set()
    assert found["results"][0]["path"] == "src/parser.py"
    assert found["freshness"]["state"] == "unknown"
    server.rule = lambda _: None
    whole = modelled.json("search", "compute_1", "--wait", "60")
    assert (whole["freshness"]["state"], whole["results"][0]["path"]) == ("fresh", "module_001.py")


def test_a_search_without_a_look_at_the_files_does_not_call_itself_fresh(cqm: "Cqm") -> None:
    cqm.run("index")
    assert cqm.json("search", "greet", "--no-update")["freshness"]["state"] == "unknown"
    assert "freshness unknown." in cqm.run("search", "greet", "--no-update").stdout
    assert ", fresh." in cqm.run("search", "greet").stdout
    assert cqm.run("search", "greet", "--no-update", "--wait", "1").returncode == 2


@pytest.mark.parametrize("shared", ["0", "1"])
def test_the_status_of_an_index_on_a_mount_for_reading_failed(cqm: "Cqm", shared: str) -> None:
    home = cqm.environment["HOME"]
    mounts = f"mount --bind {home} {home} && mount -o remount,bind,ro {home}"
    if (
        sys.platform != "linux"
        or subprocess.run(["unshare", "-m", "sh", "-c", mounts], capture_output=True, check=False).returncode
    ):
        pytest.skip("nobody but root of Linux can mount here")
    cqm.run("index", CQM_INDEX_SHARED="0")
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", f"{mounts} && {cqm.program} status --json"],
        cwd=cqm.project,
        env=cqm.environment | {"CQM_INDEX_SHARED": shared},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, json.loads(done.stdout)["files"]["indexed"]) == (0, 3)
    assert "is on a file system for reading only. This is the last status it wrote." in done.stderr
