"""Snapshots of many repositories: all of them, also where one fails, and none of them twice."""

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cqm.index import EmbeddingOptions, IndexOptions
from cqm.index.snapshots.restore import opened_snapshot
from cqm.server.bulk import listed
from cqm.server.bulk.bulk import make_snapshots
from cqm.server.bulk.listed import Repository, read_list
from cqm.server.bulk.work import Plan, attempt, export_here
from cqm.server.errors import BulkError

if TYPE_CHECKING:
    from conftest import Cqm


def records(file: Path) -> list[bytes]:
    with opened_snapshot(file, IndexOptions(embedding=EmbeddingOptions(provider="none"))) as opened:
        return list(opened._archive.lines(opened.snapshot.records))


def test_a_list_has_folders_addresses_names_and_comments(tmp_path: Path) -> None:
    text = "# all\nshop/\n\nhttps://host/team/shop.git other  # a fork\ngit@host:team/tools.git\n"
    assert read_list(text.encode(), tmp_path) == [
        Repository(str(tmp_path / "shop"), "shop"),
        Repository("https://host/team/shop.git", "other"),
        Repository("git@host:team/tools.git", "tools"),
    ]
    assert [it.is_elsewhere for it in read_list(text.encode(), tmp_path)] == [False, True, True]


def test_a_folder_of_windows_is_named_by_its_last_part(tmp_path: Path) -> None:
    found = read_list(b"C:\\src\\shop\nD:\\tools\\\n", tmp_path)
    assert [it.name for it in found] == ["shop", "tools"]
    assert not any(it.is_elsewhere for it in found)


@pytest.mark.processes
@pytest.mark.timeout(60)
@pytest.mark.skipif(sys.platform == "win32", reason="a program of the shell stands for git")
def test_a_clone_that_stalls_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git = tmp_path / "programs" / "git"
    git.parent.mkdir()
    # As git does, it leaves the transfer to a child, which holds its output open.
    git.write_text("#!/bin/sh\n/bin/sleep 90 &\n/bin/sleep 90\n")
    git.chmod(0o755)
    monkeypatch.setenv("PATH", str(git.parent))
    monkeypatch.setattr(listed, "GIT_SECONDS", 0.5)
    with pytest.raises(BulkError, match=r"git is not done after 0\.5 s") as given_up:
        listed.checked_out(Repository("https://127.0.0.1:9/shop.git", "shop"), tmp_path)
    assert given_up.value.retryable


def test_every_mistake_of_a_list_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(BulkError) as refused:
        read_list(b"a\nb/a\nc ../x\nd e f\n..\n'g h\n", tmp_path)
    lines = refused.value.message.split("\n")
    assert [line.partition(":")[0] for line in lines] == ["line 2", "line 3", "line 4", "line 5", "line 6"]
    assert "there are 3 words. Put quotes around a folder with blanks." in lines[2]
    assert "the name '..' is none" in lines[3]
    assert "a quote has no end" in lines[4]


def test_a_list_may_have_a_byte_order_mark_and_one_that_is_no_text_is_told(tmp_path: Path) -> None:
    assert read_list(b"\xef\xbb\xbfshop\r\n", tmp_path) == [Repository(str(tmp_path / "shop"), "shop")]
    with pytest.raises(BulkError, match="line 2 of the list is not UTF-8"):
        read_list(b"shop\ncaf\xe9\n", tmp_path)


@pytest.mark.processes
def test_mistakes_of_a_list_are_a_line_each(cqm: "Cqm") -> None:
    (cqm.project / "list.txt").write_text("a b c\nd/e!\n")
    done = cqm.run("bulk", "list.txt", "out")
    assert done.returncode == 1
    assert [line.strip().partition(":")[0] for line in done.stderr.splitlines()] == [
        *("cqm", "line 2", "Correct the list.")
    ]


def test_quotes_hold_a_folder_with_blanks_together(tmp_path: Path) -> None:
    text = f"\"my shop\" shop # mine\n'{tmp_path}/a # b' other\nplain#comment\n"
    assert read_list(text.encode(), tmp_path) == [
        Repository(str(tmp_path / "my shop"), "shop"),
        Repository(f"{tmp_path}/a # b", "other"),
        Repository(str(tmp_path / "plain"), "plain"),
    ]


@pytest.mark.parametrize("text", ["", "# nothing yet\n\n"])
def test_an_empty_list_was_a_success(tmp_path: Path, text: str) -> None:
    with pytest.raises(BulkError, match="The list names no repository"):
        read_list(text.encode(), tmp_path)


@pytest.mark.processes
def test_repositories_become_the_snapshots_of_any_engine_and_the_next_run_does_what_is_left(cqm: "Cqm") -> None:
    elsewhere = cqm.project.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "prices.py").write_text("def round_price(value):\n    return round(value)\n")
    for command in (
        ["init", "--quiet"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=b", "commit", "-qm", "x"],
    ):
        subprocess.run(["git", *command], cwd=elsewhere, check=True)
    (cqm.project / "repos.txt").write_text(f". mine\nfile://{elsewhere} theirs\nfile:///nowhere/else gone\n")
    given = ("bulk", "repos.txt", "../out", "--jobs", "2", "--retries", "0")
    done = cqm.run(*given)
    assert done.returncode == 1
    assert done.stderr.startswith("gone: git fails: ")
    assert done.stdout.splitlines()[-1] == "2 snapshots, 1 failed"
    assert sorted(path.name for path in (cqm.project.parent / "out").iterdir()) == [".work", "mine.cqm", "theirs.cqm"]
    by_worker = Plan(cqm.project.parent / "there", cqm.project.parent / "work", 1, 0, {"embedding.provider": "none"})
    by_worker.out.mkdir()
    made = attempt(Repository(f"file://{elsewhere}", "theirs"), by_worker, export_here)
    assert records(Path(made.file)) == records(cqm.project.parent / "out/theirs.cqm") != []
    (cqm.project / "repos.txt").write_text(f"file://{elsewhere} theirs\n")
    again = cqm.json(*given)
    assert (again["kept"], again["attempts"], again["chunks"], again["error"]) == (True, 0, 1, "")
    imported = cqm.json("import", "../out/theirs.cqm", str(elsewhere))
    assert (imported["unchanged"], imported["chunks_written"]) == (1, 0)


def test_the_engine_ray_without_ray_tells_how_to_add_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(BulkError, match=r"needs Ray.*cqm-mcp\[ray\]"):
        make_snapshots([], Plan(tmp_path / "out", tmp_path / "work", 1, 0, {}), lambda _: None, "ray")


@pytest.mark.processes
def test_ray_makes_what_it_can_and_tells_of_the_rest(cqm: "Cqm") -> None:
    pytest.importorskip("ray", reason="Ray is not installed; it is in no lock file")
    (cqm.project / "repos.txt").write_text(". mine\nnowhere gone\n")
    done = cqm.run("bulk", "repos.txt", "../out", "--engine", "ray", "--jobs", "2")
    assert done.returncode == 1
    assert "nowhere is not a folder" in done.stderr
    assert done.stdout.splitlines()[-1] == "1 snapshot, 1 failed"
    assert (cqm.project.parent / "out/mine.cqm").is_file()
