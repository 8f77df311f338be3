"""Snapshots of many repositories: all of them, also where one fails, and none of them twice."""

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cqm.server.bulk.listed import Repository, read_list
from cqm.server.errors import BulkError

if TYPE_CHECKING:
    from conftest import Cqm


def test_a_list_has_folders_addresses_names_and_comments(tmp_path: Path) -> None:
    text = "# all\nshop/\n\nhttps://host/team/shop.git other  # a fork\ngit@host:team/tools.git\n"
    assert read_list(text, tmp_path) == [
        Repository(str(tmp_path / "shop"), "shop"),
        Repository("https://host/team/shop.git", "other"),
        Repository("git@host:team/tools.git", "tools"),
    ]
    assert [it.is_elsewhere for it in read_list(text, tmp_path)] == [False, True, True]


def test_every_mistake_of_a_list_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(BulkError) as refused:
        read_list("a\nb/a\nc ../x\nd e f\n..\n", tmp_path)
    assert [line.strip().partition(":")[0] for line in refused.value.message.split("\n")] == [
        *("line 2", "line 3", "line 4", "line 5")
    ]


@pytest.mark.processes
def test_repositories_become_snapshots_and_the_next_run_does_what_is_left(cqm: "Cqm") -> None:
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
    (cqm.project / "repos.txt").write_text(f"file://{elsewhere} theirs\n")
    again = cqm.json(*given)
    assert (again["kept"], again["attempts"], again["chunks"], again["error"]) == (True, 0, 1, "")
    imported = cqm.json("import", "../out/theirs.cqm", str(elsewhere))
    assert (imported["unchanged"], imported["chunks_written"]) == (1, 0)
