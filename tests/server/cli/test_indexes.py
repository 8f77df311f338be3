"""`cqm list`, `remove`, `compact`, `index --force` and the bound of the room on disk."""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from scripted_server import Reply, ScriptedServer

if TYPE_CHECKING:
    from conftest import Cqm

pytestmark = pytest.mark.usefixtures("shared")

DAY = 86_400


def other(cqm: "Cqm", name: str) -> "Cqm":
    """The same user in another project, with a file of its own."""
    folder = cqm.project.parent / name
    (folder / ".git").mkdir(parents=True)
    (folder / f"{name}.py").write_text(f"def only_in_{name}():\n    return 1\n")
    return replace(cqm, project=folder)


def entries(cqm: "Cqm", *paths: str) -> dict[str, dict[str, Any]]:
    """Return what `cqm list` tells, by the name of the root."""
    return {Path(entry["root"]).name: entry for entry in cqm.json("list", *paths)["indexes"]}


def found(answer: dict[str, Any]) -> list[tuple[object, ...]]:
    """The results of a search; scores may differ in their last digits."""
    hits = answer["results"]
    return [(hit["path"], hit["start_line"], hit["text"], round(hit["score"], 5)) for hit in hits]


def generations(cqm: "Cqm") -> list[str]:
    """The folders of generations in the index of the project."""
    return sorted(path.name for path in Path(entries(cqm)["project"]["location"]).iterdir() if path.is_dir())


def add_modules(cqm: "Cqm", count: int) -> None:
    """Files that take a while to index."""
    for number in range(count):
        (cqm.project / f"module_{number}.py").write_text(f"def function_{number}():\n    return {number}\n" * 20)


def test_a_list_tells_of_every_index_without_opening_any(cqm: "Cqm") -> None:
    second = other(cqm, "second")
    cqm.run("index")
    assert "1 index, " in cqm.run("list").stdout
    second.run("index")
    listed = entries(cqm)
    assert set(listed) == {"project", "second"}
    told = listed["project"]
    assert (told["files"], told["root_exists"], told["in_use_by"], told["damage"]) == (3, True, "", "")
    assert told["chunks"] > 0
    assert told["size_bytes"] > 0
    assert told["updated_at"] > 0
    shutil.rmtree(second.project)
    assert not entries(cqm)["second"]["root_exists"]
    text = cqm.run("list").stdout
    assert f"{second.project.resolve()}  (missing)" in text
    assert "3 files" in text
    assert "2 indexes, " in text


def test_a_list_names_the_process_that_has_an_index_open(cqm: "Cqm") -> None:
    with cqm.started("watch", "--json") as running:
        assert running.stdout
        running.stdout.readline()
        assert entries(cqm)["project"]["in_use_by"] == f"process {running.pid} (cqm watch --json)"
        refused = cqm.run("remove", "--yes")
        assert refused.returncode == 1
        assert f"in use by process {running.pid} (cqm watch --json)" in refused.stderr
        running.kill()
        running.wait()
    # The note of a process that died means nothing.
    assert entries(cqm)["project"]["in_use_by"] == ""
    assert cqm.json("search", "greet")["files"] == 3


def test_an_index_in_its_project_is_listed_and_removed_only_when_it_is_named(cqm: "Cqm") -> None:
    cqm.run("index", CQM_INDEX_IN_PROJECT="1")
    assert entries(cqm) == {}
    assert Path(entries(cqm, ".")["project"]["location"]).parent == cqm.project.resolve() / ".cqm"
    assert cqm.run("remove", "--missing", "--yes").returncode == 0
    assert (cqm.project / ".cqm").exists()
    assert cqm.run("remove", "--yes", ".").returncode == 0
    assert not (cqm.project / ".cqm").exists()
    assert cqm.text("src/greeting.py")


def test_removing_leaves_nothing_of_an_index_and_the_next_search_makes_it_again(cqm: "Cqm") -> None:
    cqm.run("index")
    (cqm.project / "src" / "greeting.py").write_text("def farewell():\n    return 'bye'\n")
    [removed] = cqm.json("remove", "--yes")["removed"]
    assert not Path(removed["location"]).exists()
    assert entries(cqm) == {}
    # Also an answer that is kept for a while is none of the index that is gone.
    assert cqm.paths("farewell")[0] == "src/greeting.py"


def test_removing_asks_and_deletes_nothing_without_an_answer(cqm: "Cqm") -> None:
    cqm.run("index")
    refused = cqm.run("remove")
    assert refused.returncode == 2
    assert "--yes" in refused.stderr
    assert set(entries(cqm)) == {"project"}
    assert "has no index" in cqm.run("remove", "--yes", "docs").stderr


def test_the_indexes_of_roots_that_are_gone_are_removed_together(cqm: "Cqm") -> None:
    gone = [other(cqm, "first"), other(cqm, "second")]
    for project in (cqm, *gone):
        project.run("index")
    for project in gone:
        shutil.rmtree(project.project)
    assert len(cqm.json("remove", "--missing", "--yes")["removed"]) == 2
    assert set(entries(cqm)) == {"project"}


def test_the_index_of_a_root_that_is_gone_is_removed_by_its_name(cqm: "Cqm") -> None:
    gone = other(cqm, "gone")
    gone.run("index")
    shutil.rmtree(gone.project)
    assert len(cqm.json("remove", "--yes", str(gone.project))["removed"]) == 1


def test_a_folder_with_anything_else_in_it_is_not_deleted(cqm: "Cqm") -> None:
    cqm.run("index")
    folder = Path(entries(cqm)["project"]["location"])
    (folder / "thesis.txt").write_text("mine")
    refused = cqm.run("remove", "--yes")
    assert refused.returncode == 1
    assert "it holds thesis.txt" in refused.stderr
    assert (folder / "thesis.txt").read_text() == "mine"
    assert cqm.json("search", "greet", "--no-update")["files"] == 3


def test_a_link_is_not_followed_when_an_index_is_removed(cqm: "Cqm", tmp_path: Path) -> None:
    cqm.run("index")
    folder = Path(entries(cqm)["project"]["location"])
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("mine")
    linked = "0" * 12
    (folder / linked).symlink_to(mine)
    assert f"it holds {linked}" in cqm.run("remove", "--yes").stderr
    (folder / linked).unlink()
    [shard] = folder.glob("*/shard")
    (shard / "linked").symlink_to(mine)
    assert cqm.run("remove", "--yes").returncode == 0
    (cqm.project / ".cqm").symlink_to(mine)
    assert "has no index" in cqm.run("remove", "--yes").stderr
    assert (mine / "thesis.txt").read_text() == "mine"


def test_force_reads_everything_again_and_the_old_generation_goes(cqm: "Cqm") -> None:
    cqm.run("index")
    before = generations(cqm)
    again = cqm.json("index", "--force")
    assert (again["added"], again["unchanged"], again["notes"]) == (3, 0, [])
    after = generations(cqm)
    assert len(after) == 1
    assert after != before
    assert cqm.paths("greet", "--no-update")[0] == "src/greeting.py"
    assert cqm.json("index")["modified"] == 0


def test_a_rebuild_that_finds_no_model_leaves_the_old_index(cqm: "Cqm", server: ScriptedServer) -> None:
    settings = f"embedding: {{provider: openai, model: tiny, base_url: '{server.url}/v1'}}\ncache: {{enabled: false}}\n"
    (cqm.project / "cqm.yml").write_text(settings)
    well = {"CQM_EMBEDDING_PROVIDER": "openai", "CQM_TRUST_PROJECT": "1"}
    cqm.run("index", **well)
    before, vectors = generations(cqm), cqm.json("status", **well)["coverage"]
    server.rule = lambda _: Reply(401, '{"error": {"message": "no"}}')
    done = cqm.json("index", "--force", code=1, **well)
    assert "The index stays as it was before: 4 files failed that it holds" in done["notes"][0]
    assert generations(cqm) == before
    assert cqm.json("status", **well)["coverage"] == vectors


@pytest.mark.fault("killed")
def test_a_rebuild_that_is_killed_or_stopped_leaves_the_old_index(cqm: "Cqm") -> None:
    add_modules(cqm, 350)
    cqm.run("index")
    before = generations(cqm)
    for sign in (signal.SIGKILL, signal.SIGINT):
        with cqm.started("index", "--force", "--set", "index.workers=1") as running:
            assert running.stderr
            assert running.stderr.readline().startswith("Indexing")
            running.send_signal(sign)
            said = running.communicate()[1]
        assert running.returncode in {-signal.SIGKILL, 130}
        assert cqm.paths("function_300", "--no-update")[0] == "module_300.py"
        assert generations(cqm) == before
    assert "the index is unchanged" in said


@pytest.fixture
def on_disk() -> Iterator[Path]:
    """A folder on a disk: in memory, a file takes its whole size where it has holes."""
    with TemporaryDirectory(dir="/var/tmp" if Path("/var/tmp").is_dir() else None) as folder:
        yield Path(folder).resolve()


def test_compacting_gives_back_what_deleted_files_took_and_changes_no_answer(cqm: "Cqm", on_disk: Path) -> None:
    embedding = {"CQM_EMBEDDING_PROVIDER": "embedded", "CQM_INDEX_HOME": str(on_disk)}
    # An empty store takes 10 to 14 MB of blocks, as the system likes: more than that is deleted.
    add_modules(cqm, 1200)
    cqm.run("index", **embedding)
    for number in range(1100):
        (cqm.project / f"module_{number}.py").unlink()
    cqm.run("index", **embedding)
    before = cqm.json("search", "function_1150 greet", "--limit=2", "--no-update", **embedding)
    told = cqm.json("compact", **embedding)
    assert told["after_bytes"] < told["before_bytes"]
    after = cqm.json("search", "function_1150 greet", "--limit=2", "--no-update", **embedding)
    assert found(after) == found(before)
    assert cqm.json("index", **embedding)["chunks_written"] == 0
    assert re.search(r"[KM]iB before, .* [KM]iB now", cqm.run("compact", **embedding).stdout)


def test_compacting_wants_an_index_that_is_complete(cqm: "Cqm") -> None:
    refused = cqm.run("compact")
    assert refused.returncode == 1
    assert "is not complete" in refused.stderr


@pytest.mark.fault("killed")
@pytest.mark.timeout(300)
def test_compacting_may_be_killed_at_any_time(cqm: "Cqm") -> None:
    # The process that compacts is to be killed, not one that has it done by the owner.
    cqm = replace(cqm, environment=cqm.environment | {"CQM_INDEX_SHARED": "0"})
    add_modules(cqm, 300)
    cqm.run("index")
    index = Path(entries(cqm)["project"]["location"])
    chosen, killed = random.Random(5), 0
    began = time.monotonic()
    assert cqm.run("compact").returncode == 0
    takes = time.monotonic() - began
    for _ in range(6):
        with cqm.started("compact") as running:
            # From before the index is opened to after it is closed, on whatever machine, and however busy it was.
            threading.Event().wait(chosen.uniform(0, takes))
            if running.poll() is None:
                killed += 1
            else:
                takes *= 0.7
            running.kill()
            running.wait()
        answer = cqm.json("search", "function_200 greet", "--no-update")
        assert (answer["files"], answer["complete"]) == (303, True)
        assert answer["results"][0]["path"] == "module_200.py"
    # `tests/bench/kills.py` kills every operation any number of times.
    assert killed >= 2
    assert cqm.json("index")["chunks_written"] == 0
    assert len(list(index.glob("*/manifest.db"))) == 1


def test_indexes_that_were_not_used_for_longest_make_room_and_that_is_said(cqm: "Cqm") -> None:
    # Else processes that own them would stay for a while, in case that somebody needs them again.
    cqm = replace(cqm, environment=cqm.environment | {"CQM_INDEX_SHARED": "0"})
    projects = {name: other(cqm, name) for name in ("old", "older", "fresh")}
    # So large that the bound, in whole megabytes, is met without it, and only without it.
    words = random.Random(1)
    for number in range(4):
        text = "\n".join(" ".join(f"{words.random():.9f}"[2:] for _ in range(8)) for _ in range(5_000))
        (projects["old"].project / f"numbers_{number}.txt").write_text(text)
    for project in projects.values():
        project.run("index")
    for name, days in {"old": 2, "older": 3, "fresh": 1}.items():
        used = Path(entries(cqm)[name]["location"]) / "used"
        moment = used.stat().st_mtime - days * DAY
        os.utime(used, (moment, moment))
    # A search counts as use.
    projects["older"].run("search", "only_in_older", "--no-update")
    cqm.run("index")
    sizes = {name: entry["size_bytes"] for name, entry in entries(cqm).items()}
    assert sizes["old"] > 3e6
    done = cqm.run("index", "--json", "--set", f"index.disk_mb={round((sum(sizes.values()) - sizes['old'] / 2) / 1e6)}")
    note, *_ = json.loads(done.stdout)["notes"]
    assert f"The index of {projects['old'].project.resolve()} (" in note
    assert note in done.stderr
    assert "old" not in entries(cqm)
    assert {"project", "older"} <= entries(cqm).keys()


def test_an_index_that_is_in_use_does_not_make_room(cqm: "Cqm") -> None:
    busy = other(cqm, "busy")
    with busy.started("watch", "--json") as running:
        assert running.stdout
        running.stdout.readline()
        [note] = cqm.json("index", "--set", "index.disk_mb=1")["notes"]
        assert "more than index.disk_mb (1 MB)" in note
        assert set(entries(cqm)) == {"busy", "project"}


def test_the_file_of_a_project_may_not_bound_the_room(cqm: "Cqm") -> None:
    (cqm.project / "cqm.yml").write_text("index: {disk_mb: 1}\n")
    refused = cqm.run("index")
    assert refused.returncode == 2
    assert "it could delete your other indexes" in refused.stderr


def test_removing_on_a_terminal_asks_first(cqm: "Cqm") -> None:
    pty = pytest.importorskip("pty")
    cqm.run("index")
    for answer, left in ((b"n\n", 1), (b"y\n", 0)):
        ours, theirs = pty.openpty()
        with subprocess.Popen(
            [cqm.program, "remove"], cwd=cqm.project, env=cqm.environment, stdin=theirs, stdout=theirs, stderr=theirs
        ) as running:
            os.close(theirs)
            os.write(ours, answer)
            running.wait()
        os.close(ours)
        assert len(entries(cqm)) == left


def test_an_exported_index_is_imported_with_what_differs_since(cqm: "Cqm") -> None:
    exported = cqm.json("export", "../project.cqm")
    assert exported["file"] == str(cqm.project.parent / "project.cqm")
    assert exported["files"] == 3
    (cqm.project / "src" / "greeting.py").write_text("def welcome(name):\n    return name\n")
    imported = cqm.json("import", "../project.cqm", ".")
    assert (imported["modified"], imported["unchanged"], imported["chunks_written"]) == (1, 2, 1)
    assert cqm.paths("welcome")[0] == "src/greeting.py"
    (cqm.project.parent / "project.cqm").write_bytes(b"none")
    refused = cqm.run("import", "../project.cqm")
    assert refused.returncode == 1
    assert "it is no archive of `cqm export`" in refused.stderr


@pytest.mark.skipif(os.name != "posix", reason="there are no pipes and links here")
def test_what_is_no_regular_file_was_replaced_by_an_export_or_a_bundle(cqm: "Cqm", tmp_path: Path) -> None:
    pipe, link, target = tmp_path / "pipe", tmp_path / "link", tmp_path / "target"
    os.mkfifo(pipe)
    target.write_text("kept")
    link.symlink_to(target)
    for file in (pipe, link):
        for words in (["export", ".", str(file)], ["doctor", "--bundle", str(file)]):
            refused = cqm.run(*words)
            assert refused.returncode == 1
            assert f"{file} is no regular file, and stays unchanged." in refused.stderr
    assert pipe.is_fifo()
    assert link.is_symlink()
    assert target.read_text() == "kept"
