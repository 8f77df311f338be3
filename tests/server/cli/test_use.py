"""Settings and folders on their way to the commands of `cqm`, and wrong uses of them."""

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cqm.server.config.project_root import project_root

if TYPE_CHECKING:
    from conftest import Cqm


def test_an_option_of_the_command_wins_over_the_environment_and_that_over_the_projects_file(cqm: "Cqm") -> None:
    (cqm.project / "cqm.yml").write_text("search: {limit: 3}\nscan: {exclude: [cqm.yml]}\n")
    query = ("search", "greet name line value guide call")
    assert len(cqm.json(*query)["results"]) == 3
    assert len(cqm.json(*query, CQM_SEARCH_LIMIT="2")["results"]) == 2
    assert len(cqm.json(*query, "--set", "search.limit=1", CQM_SEARCH_LIMIT="2")["results"]) == 1
    assert len(cqm.json(*query, "--limit", "1", CQM_SEARCH_LIMIT="2")["results"]) == 1


def test_the_users_file_holds_for_every_project(cqm: "Cqm") -> None:
    folder = cqm.project.parent / "config" / "cqm"
    folder.mkdir(parents=True)
    (folder / "cqm.yml").write_text("search: {limit: 1}\n")
    found = cqm.json("search", "greet name line", XDG_CONFIG_HOME=str(folder.parent))
    assert len(found["results"]) == 1


def test_any_option_can_be_set_on_the_command_line(cqm: "Cqm") -> None:
    (cqm.project / "many.py").write_text("\n\n".join(f"def f{n}():\n    return {n}" for n in range(100)))
    whole = cqm.json("preview", "many.py")["chunks"]
    cut = cqm.json("preview", "many.py", "--set", "chunk.max_tokens=64", "--set", "chunk.min_tokens=0")["chunks"]
    assert len(cut) > len(whole)


def test_the_index_can_live_in_the_project(cqm: "Cqm") -> None:
    cqm.environment["CQM_INDEX_IN_PROJECT"] = "1"
    cqm.run("index")
    assert (cqm.project / ".cqm").is_dir()
    assert Path(cqm.json("status")["location"]).is_relative_to(cqm.project / ".cqm")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["serch", "x"], "No such command"),
        (["search"], "Expected one of QUERY"),
        (["search", "x", "--batch", "-"], "Expected one of QUERY"),
        (["search", "x", "--path", "missing"], "does not exist"),
        (["outline", "Parser.py"], "does not exist. Did you mean src/parser.py?"),
        (["search", "x", "--path", r"src\parsr.py"], "does not exist. Did you mean src/parser.py?"),
        (["search", "x", "--limit", "101"], "1<=x<=100"),
        (["search", "x", "--mode", "fuzzy"], "'fuzzy' is not one of"),
        (["search", "x", "--changed-since", "yesterday"], "`--changed-since yesterday`: expected a span such as 2d or"),
        (["search", "x", "--cursor", "abc"], "`cursor abc`: expected the cursor of"),
        (["search", " "], "The query is empty."),
        (["index", "--set", "chunk.max_tokens"], "expected NAME=VALUE"),
        (["index", "--set", "chunk.size=5"], 'unknown option "chunk.size"'),
        (["index", "--set", "chunk.max_tokens=5"], '`chunk.max_tokens: "5"`: expected 64 to 8192'),
        (["serve", "--http", "8080"], '`server.http: "8080"`: expected HOST:PORT'),
        (["serve", "--root", "missing"], "does not exist"),
        (["report", "--html", "no/r.html"], "Make no, or name a file"),
        (["preview", "src/parser.py", "--html", "no/r.html"], "Make no, or name a file"),
        (["doctor", "--bundle", "no/b.zip"], "Make no, or name a file"),
        (["export", "no/x.cqm"], "Make no, or name a file"),
        (["export", ".", "-"], "-: expected a file, not standard output"),
        (
            ["import", "docs/guide.md", "src/parser.py"],
            "src/parser.py: expected a folder; this is a file of the project",
        ),
        (["watch", "src/parser.py"], "is a file"),
        (["preview", "src"], "is a directory"),
    ],
)
def test_a_wrong_use_has_its_own_exit_code_and_says_why(cqm: "Cqm", arguments: list[str], message: str) -> None:
    done = cqm.run(*arguments)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert done.stdout == ""


def test_a_port_that_is_none_is_named_with_the_range(cqm: "Cqm") -> None:
    told = cqm.run("serve", "--http", "127.0.0.1:99999").stderr
    assert told == (
        "cqm: --http 127.0.0.1:99999: the port is 99999; expected 0 to 65535.\n  Choose one; 0 takes a free one.\n"
    )


def test_savings_of_a_folder_without_an_index_make_none(cqm: "Cqm") -> None:
    """They said that a process had the index open."""
    told = cqm.run("savings").stdout
    assert "no search with results is remembered" in told
    assert cqm.json("savings")["searches"] == 0
    assert cqm.json("status")["exists"] is False


@pytest.mark.parametrize(
    "command",
    [["index"], ["search", "x"], ["status"], ["watch"], ["serve", "--http", "127.0.0.1:0"], ["preview", "cqm.yml"]],
)
def test_a_bad_project_file_stops_every_command_by_file_and_line(cqm: "Cqm", command: list[str]) -> None:
    (cqm.project / "cqm.yml").write_text("search:\n  limits: 5\n")
    done = cqm.run(*command)
    assert done.returncode == 2
    expected = f'{cqm.project / "cqm.yml"}:2: unknown option "search.limits". Did you mean "search.limit"?'
    assert expected in done.stderr


def test_the_status_is_told_beside_a_problem_of_the_projects_file(cqm: "Cqm") -> None:
    cqm.json("index")
    (cqm.project / "cqm.yml").write_text("search:\n  limits: 5\n")
    done, told = cqm.run("status"), cqm.run("status", "--json")
    assert (done.returncode, told.returncode) == (2, 2)
    assert "files: 3 indexed" in done.stdout
    assert json.loads(told.stdout)["files"]["indexed"] == 3
    assert "cqm.yml:2: unknown option" in told.stderr


def test_without_a_path_a_command_is_about_the_enclosing_project(cqm: "Cqm") -> None:
    inner = cqm.within("src")
    assert inner.json("index")["added"] == 3
    assert inner.paths("greet", "--limit", "1") == ["src/greeting.py"]
    assert inner.json("status")["root"] == str(cqm.project.resolve())


@pytest.mark.skipif(sys.platform == "win32", reason="modes are of Unix")
def test_a_mark_that_anybody_left_in_a_shared_folder_makes_no_project(tmp_path: Path) -> None:
    """A stray /tmp/cqm.yml made everything below /tmp one project."""
    (tmp_path / "cqm.yml").touch()
    (tmp_path / ".git").mkdir()
    (tmp_path / "mine" / "src").mkdir(parents=True)
    assert project_root(tmp_path / "mine" / "src") == tmp_path
    tmp_path.chmod(0o777)
    assert project_root(tmp_path / "mine" / "src") == tmp_path, "as Windows' disks are mounted"
    tmp_path.chmod(0o1777)
    assert project_root(tmp_path / "mine" / "src") == tmp_path / "mine" / "src"
    (tmp_path / "mine" / ".git").mkdir()
    assert project_root(tmp_path / "mine" / "src") == tmp_path / "mine"


def test_results_are_relative_to_the_path_that_is_named(cqm: "Cqm") -> None:
    assert cqm.paths("greet", "--path", "src", "--limit", "1") == ["greeting.py"]


def test_the_home_folder_must_be_named_to_be_indexed(cqm: "Cqm") -> None:
    home = cqm.within(cqm.environment["HOME"])
    done = home.run("index")
    assert done.returncode == 2
    assert "Name a folder" in done.stderr
    assert home.run("index", ".").returncode == 0


@pytest.mark.skipif(sys.platform != "linux", reason="limits that hold, and their errors, are Linux's")
@pytest.mark.parametrize(
    ("limit", "most", "remedy"),
    [
        ("RLIMIT_NOFILE", 14, "ulimit -n"),
        ("RLIMIT_AS", 300 << 20, "ulimit -v"),
        ("RLIMIT_FSIZE", 200_000, "ulimit -f"),
    ],
)
def test_a_limit_that_is_met_was_taken_for_a_full_disk(cqm: "Cqm", limit: str, most: int, remedy: str) -> None:
    import resource

    done = subprocess.run(
        [cqm.program, "index"],
        cwd=cqm.project,
        # Where files are limited, Python leaves a module's compiled form cut short, and nobody can load it any more.
        env=cqm.environment | {"PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(getattr(resource, limit), (most, most)),
    )
    assert done.returncode == 1
    assert remedy in done.stderr
    assert "free space" not in done.stderr
    assert "--force" not in done.stderr
