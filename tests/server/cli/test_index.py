"""`cqm index`, `status`, `watch` and `serve`."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Cqm

pytestmark = pytest.mark.usefixtures("shared")


def test_indexing_tells_what_it_did(cqm: "Cqm") -> None:
    first = cqm.json("index")
    assert (first["added"], first["unchanged"], first["failed"], first["cancelled"]) == (3, 0, [], False)
    assert first["chunks_written"] > 0
    (cqm.project / "src" / "greeting.py").write_text(cqm.text("src/greeting.py") + "\n\nPOLITE = True\n")
    (cqm.project / "docs" / "guide.md").unlink()
    again = cqm.json("index")
    assert [again[name] for name in ("added", "modified", "deleted", "unchanged")] == [0, 1, 1, 1]
    done = cqm.run("index")
    assert done.returncode == 0
    assert re.search(r": 2 files in [\d.]+ s, 2 unchanged\n", done.stdout)


@pytest.mark.skipif(os.name == "nt", reason="Windows deletes no folder that a program works in")
def test_in_a_deleted_working_folder_commands_end_with_a_message(cqm: "Cqm") -> None:
    def there(*arguments: str) -> "subprocess.CompletedProcess[str]":
        folder = cqm.project / "gone"
        folder.mkdir()
        script = 'rmdir "$PWD" && exec "$0" "$@"'
        command = ["sh", "-c", script, cqm.program, *arguments]
        return subprocess.run(command, cwd=folder, env=cqm.environment, check=False, capture_output=True, text=True)

    version = there("--version")
    assert (version.returncode, version.stdout[:4]) == (0, "cqm ")
    for arguments in (["status"], ["search", "greet"], ["list"]):
        done = there(*arguments)
        assert done.returncode == 1
        assert re.fullmatch(r"cqm: .*No such file or directory.*\n", done.stderr), done.stderr


def test_a_file_that_cannot_be_read_is_a_partial_failure(cqm: "Cqm") -> None:
    locked = cqm.project / "src" / "parser.py"
    locked.chmod(0)
    if os.access(locked, os.R_OK):
        pytest.skip("this user can read every file")
    summary = cqm.json("index", code=1)
    assert [problem["path"] for problem in summary["failed"]] == ["src/parser.py"]
    assert cqm.json("search", "greet")["failed_files"] == 1
    assert "src/parser.py: " in cqm.run("status", "--failed").stdout


def test_the_status_tells_what_is_indexed_and_what_differs(cqm: "Cqm") -> None:
    for old in ("src/parser.py", "src/greeting.py", "docs/guide.md"):
        os.utime(cqm.project / old, (1_700_000_000, 1_700_000_000))
    cqm.run("index")
    (cqm.project / "src" / "new.py").write_text("NEW = 1\n")
    status = cqm.json("status")
    assert status["root"] == str(cqm.project.resolve())
    assert status["exists"]
    assert status["complete"]
    assert status["files"]["indexed"] == 3
    assert status["pending"] == 1
    assert set(status["languages"]) == {"python", "markdown"}
    text = cqm.run("status").stdout
    assert "1 file differs from the disk now" in text
    assert "3 indexed" in text


def test_the_status_of_what_was_never_indexed_creates_nothing(cqm: "Cqm") -> None:
    assert cqm.json("status")["exists"] is False
    assert "not indexed yet" in cqm.run("status").stdout
    assert list(Path(cqm.environment["HOME"]).rglob("*")) == []


def test_an_index_that_another_process_watches_is_searched_indexed_and_told_of(cqm: "Cqm") -> None:
    with cqm.started("watch", "--json") as running:
        assert running.stdout
        assert json.loads(running.stdout.readline())["summary"]["added"] == 3
        status = cqm.json("status")
        assert (status["files"], status["pending"]) == ({"indexed": 3}, 0)
        assert cqm.paths("greet")[0] == "src/greeting.py"
        assert cqm.json("index")["added"] == 0
        assert cqm.run("status").stderr == ""


@pytest.mark.parametrize("is_shared", ["true", "false"])
def test_a_watch_takes_a_changed_cqm_yml_and_tells_a_broken_one(cqm: "Cqm", is_shared: str) -> None:
    cqm.environment["CQM_INDEX_SHARED"] = is_shared
    with cqm.started("watch", "--json") as running:
        assert running.stdout
        reports = (json.loads(line) for line in running.stdout)
        assert next(reports)["summary"]["added"] == 3
        (cqm.project / "cqm.yml").write_text("serach: 1\n")
        told = next(it for it in reports if it["problem"])
        assert f'{cqm.project / "cqm.yml"}:1: unknown option "serach"' in told["message"]
        (cqm.project / "cqm.yml").write_text("scan: {exclude: [docs/]}\n")
        assert next(it for it in reports if "new ones hold" in it["message"])
        assert next(it for it in reports if it["summary"])["summary"]["deleted"] == 1
        (cqm.project / "src" / "later.py").write_text("LATER = 1\n")
        assert next(it for it in reports if it["summary"] and it["summary"]["added"] == 1)


@pytest.mark.parametrize("is_shared", ["true", "false"])
def test_a_watch_tells_settings_that_cannot_hold_and_goes_on_with_those_before(cqm: "Cqm", is_shared: str) -> None:
    cqm.environment.update(CQM_INDEX_SHARED=is_shared, CQM_TRUST_PROJECT="1")
    with cqm.started("watch", "--json") as running:
        assert running.stdout
        reports = (json.loads(line) for line in running.stdout)
        assert next(reports)["summary"]["added"] == 3
        (cqm.project / "cqm.yml").write_text("scan: {exclude: [docs/]}\nstore: {url: http://127.0.0.1:9}\n")
        told = next(it for it in reports if it["problem"])["message"]
        assert "The changed settings are not in force: " in told
        assert "127.0.0.1:9" in told
        (cqm.project / "src" / "later.py").write_text("LATER = 1\n")
        assert next(it for it in reports if it["summary"] and it["summary"]["added"])["summary"]["deleted"] == 0
        (cqm.project / "cqm.yml").write_text("scan: {exclude: [docs/]}\n")
        assert next(it for it in reports if it["summary"] and it["summary"]["deleted"])["summary"]["deleted"] == 1


def test_a_watch_of_a_link_goes_on_with_the_folder_that_it_is_switched_to(cqm: "Cqm") -> None:
    for name in ("old", "new"):
        (cqm.project / "releases" / name).mkdir(parents=True)
        (cqm.project / "releases" / name / "app.py").write_text(f"def of_{name}():\n    return 1\n")
    link = cqm.project / "current"
    link.symlink_to("releases/old")
    with cqm.started("watch", "current", "--json") as running:
        assert running.stdout
        reports = (json.loads(line) for line in running.stdout)
        assert next(reports)["summary"]["added"] == 1
        (cqm.project / "next").symlink_to("releases/new")
        (cqm.project / "next").replace(link)
        told = next(it["message"] for it in reports if it["message"])
        assert told == f"{link} leads to {cqm.project / 'releases' / 'new'} now, which is watched from now on."
        assert next(it for it in reports if it["summary"])["summary"]["added"] == 1
        (cqm.project / "releases" / "new" / "later.py").write_text("LATER = 1\n")
        assert next(it for it in reports if it["summary"] and it["summary"]["added"] == 1)


def test_an_index_that_one_process_has_alone_says_so_and_still_tells_its_state(cqm: "Cqm") -> None:
    cqm.environment["CQM_INDEX_SHARED"] = "false"
    with cqm.started("watch", "--json") as running:
        assert running.stdout
        assert json.loads(running.stdout.readline())["summary"]["added"] == 3
        status = cqm.json("status")
        assert (status["files"], status["pending"]) == ({"indexed": 3}, None)
        assert "This is the last status it wrote." in cqm.run("status").stderr
        done = cqm.run("search", "greet")
        assert done.returncode == 1
        assert "is in use by process" in done.stderr


def test_skipped_files_are_listed_with_their_reasons(cqm: "Cqm") -> None:
    (cqm.project / "image.bin").write_bytes(b"\0\1\2" * 100)
    cqm.run("index")
    assert {"path": "image.bin", "reason": "binary"} in cqm.json("status", "--skipped")["skipped_files"]
    assert "skipped_files" not in cqm.json("status")
    assert "image.bin: binary" in cqm.run("status", "--skipped").stdout


def test_ctrl_c_stops_indexing_and_the_next_run_completes_it(cqm: "Cqm") -> None:
    for number in range(500):
        (cqm.project / f"module_{number}.py").write_text(f"def function_{number}():\n    return {number}\n" * 5)
    with cqm.started("index") as running:
        assert running.stderr
        assert running.stderr.readline().startswith("Indexing")
        running.send_signal(signal.SIGINT)
        _, said = running.communicate()
    assert running.returncode == 130
    assert "Traceback" not in said
    assert "the next run does the rest" in said
    summary = cqm.json("index")
    assert summary["added"] + summary["modified"] + summary["unchanged"] == 503
    assert cqm.json("status")["complete"]


def test_watching_takes_up_a_change_and_ends_with_ctrl_c(cqm: "Cqm") -> None:
    with cqm.started("watch", "--json") as running:
        assert running.stdout
        assert json.loads(running.stdout.readline())["summary"]["added"] == 3
        assert json.loads(running.stdout.readline())["paths"] == []
        # Written where it stands it is two changes, which a busy machine may part.
        (cqm.project.parent / "late.py").write_text("LATE = 1\n")
        (cqm.project.parent / "late.py").rename(cqm.project / "src" / "late.py")
        seen = json.loads(running.stdout.readline())
        assert seen["paths"] == ["src/late.py"]
        assert seen["summary"]["added"] == 1
        running.send_signal(signal.SIGINT)
        _, said = running.communicate()
    assert running.returncode == 130
    assert "Traceback" not in said


def test_serving_answers_about_the_roots_that_are_named_and_no_others(cqm: "Cqm") -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    messages: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "chunk_preview", "arguments": {"path": "parser.py"}}},
        {
            "id": 3,
            "method": "tools/call",
            "params": {"name": "chunk_preview", "arguments": {"path": "../docs/guide.md"}},
        },
    ]
    with cqm.started("serve", "--root", "src") as running:
        assert running.stdin
        assert running.stdout
        answers = {}
        for message in messages:
            running.stdin.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")
            running.stdin.flush()
            if "id" in message:
                answers[message["id"]] = json.loads(running.stdout.readline())
        running.stdin.close()
        assert running.wait() == 0
    assert answers[1]["result"]["serverInfo"]["name"] == "cqm"
    assert "ConfigParser" in json.dumps(answers[2])
    assert "is outside the allowed folders" in json.dumps(answers[3])


def test_a_missing_folder_of_server_roots_is_told_and_the_others_are_served(cqm: "Cqm") -> None:
    """One disk that was not mounted took CQM from all clients."""
    own = Path(cqm.environment["HOME"]) / ".config" / "cqm" / "cqm.yml"
    own.parent.mkdir(parents=True)
    missing = cqm.project / "missing"
    own.write_text(f"server: {{roots: [{cqm.project / 'src'}, {missing}]}}\n")
    with cqm.started("serve", "--http", "127.0.0.1:0") as running:
        assert running.stderr
        assert (
            f"{missing} of server.roots does not exist. It is served as soon as it does." in running.stderr.readline()
        )
        assert "CQM serves http://127.0.0.1:" in running.stderr.readline()


def test_serving_http_says_where(cqm: "Cqm") -> None:
    with cqm.started("serve", "--http", "127.0.0.1:0") as running:
        assert running.stderr
        assert re.fullmatch(r"CQM serves http://127\.0\.0\.1:\d+/mcp\n", running.stderr.readline())
