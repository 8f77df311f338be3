"""The `cqm` command as a user runs it: real processes, their output, their exit codes."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

CQM = shutil.which("cqm", path=sysconfig.get_path("scripts")) or "cqm"

PARSER = '''"""Reading of configuration files."""


class ConfigParser:
    """Reads key = value lines."""

    def parse_line(self, line: str) -> tuple[str, str]:
        """Split a line at its equals sign."""
        key, _, value = line.partition("=")
        return key.strip(), value.strip()
'''
GREETING = '''"""Greetings."""


def greet(name: str) -> str:
    """Say hello to somebody."""
    return f"hello {name}"
'''
GUIDE = """# Guide

## Greeting people

Call greet with a name.

## 設定

設定ファイルの読み込み。
"""


@dataclass(frozen=True, slots=True)
class Cqm:
    """Runs `cqm` in a project, with a home of its own and no embedder.

    Attributes:
        project: the working folder.
        environment: the variables of the processes.
    """

    project: Path
    environment: dict[str, str]

    def run(self, *arguments: str, stdin: str | bytes = b"", **changes: str) -> "subprocess.CompletedProcess[str]":
        """The outcome of one command; `changes` are further variables."""
        done = subprocess.run(
            [CQM, *arguments],
            cwd=self.project,
            env=self.environment | changes,
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            check=False,
        )
        return subprocess.CompletedProcess(
            done.args, done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
        )

    def json(self, *arguments: str, code: int = 0, **changes: str) -> Any:
        """What one command prints with --json, which is all that it prints."""
        done = self.run(*arguments, "--json", **changes)
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout)

    @contextmanager
    def started(self, *arguments: str) -> Iterator["subprocess.Popen[str]"]:
        """A command that runs on, at most as long as the test."""
        with subprocess.Popen(
            [CQM, *arguments],
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        ) as running:
            try:
                yield running
            finally:
                running.kill()


@pytest.fixture
def cqm(tmp_path: Path) -> Cqm:
    project = tmp_path / "project"
    for path, text in {"src/parser.py": PARSER, "src/greeting.py": GREETING, "docs/guide.md": GUIDE}.items():
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text(text, encoding="utf-8")
    (project / ".git").mkdir()
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("CQM_", "XDG_"))}
    environment |= {"HOME": str(tmp_path / "home"), "CQM_EMBEDDING_PROVIDER": "none"}
    (tmp_path / "home").mkdir()
    return Cqm(project, environment)


def paths(results: list[dict[str, Any]]) -> list[str]:
    return [result["path"] for result in results]


def modules_loaded(cqm: Cqm, *arguments: str) -> set[str]:
    """The top-level modules that a command has loaded when it ends."""
    code = (
        "import sys\n"
        f"sys.argv = ['cqm', *{arguments!r}]\n"
        "from cqm.server.cli import main\n"
        "try:\n    main()\n"
        "finally:\n    sys.stderr.write('\\n' + ' '.join({name.partition('.')[0] for name in sys.modules}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=cqm.project,
        env=cqm.environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    return set(done.stderr.splitlines()[-1].split())


# Searching.


def test_the_first_search_makes_the_index_and_answers(cqm: Cqm) -> None:
    found = cqm.json("search", "split a line at the equals sign", "--mode", "lexical")
    assert found["query"] == "split a line at the equals sign"
    best = found["results"][0]
    assert list(best) == ["path", "start_line", "end_line", "score", "symbol", "kind", "language", "text"]
    assert (best["path"], best["language"]) == ("src/parser.py", "python")
    lines = PARSER.split("\n")[best["start_line"] - 1 : best["end_line"]]
    assert best["text"].rstrip("\n") == "\n".join(lines).rstrip("\n")
    facts = {name: found[name] for name in found if name not in {"query", "results", "degraded", "updated_at"}}
    assert facts == {
        "mode": "lexical",
        "files": 3,
        "chunks": facts["chunks"],
        "complete": True,
        "failed_files": 0,
        "next_cursor": "",
    }


def test_results_that_nobody_watches_are_the_compact_text_for_agents(cqm: Cqm) -> None:
    done = cqm.run("search", "greet")
    assert done.returncode == 0
    assert re.match(r'\d+ results for "greet" \(\w+\) from \d+ chunks of 3 files in ', done.stdout)
    assert "\nsrc/greeting.py:" in done.stdout
    assert "def greet(name: str) -> str:\n" in done.stdout
    assert "\x1b" not in done.stdout


def test_the_reply_stays_within_the_configured_budget(cqm: Cqm) -> None:
    (cqm.project / "src" / "greet.py").write_text("def greet():\n" + "    greet('somebody')\n" * 60)
    done = cqm.run("search", "greet", "--set", "server.token_budget=200")
    assert "beyond the budget of 200 tokens" in done.stdout or "cut by the token budget" in done.stdout


def test_finding_nothing_is_no_failure_and_says_what_to_do(cqm: Cqm) -> None:
    done = cqm.run("search", "zyzzyva", "--language", "cobol")
    assert done.returncode == 0
    assert done.stdout.startswith("No results for")
    assert "without the filters" in done.stdout


def test_a_search_sees_the_files_as_they_are_unless_told_not_to_look(cqm: Cqm) -> None:
    cqm.run("index")
    (cqm.project / "src" / "farewell.py").write_text("def bid_farewell():\n    return 'goodbye'\n")
    assert "src/farewell.py" not in paths(cqm.json("search", "bid_farewell", "--no-update")["results"])
    assert paths(cqm.json("search", "bid_farewell")["results"])[0] == "src/farewell.py"


def test_not_looking_needs_an_index(cqm: Cqm) -> None:
    done = cqm.run("search", "greet", "--no-update")
    assert done.returncode == 1
    assert "is not indexed" in done.stderr
    assert "cqm index" in done.stderr
    assert list(Path(cqm.environment["HOME"]).rglob("*")) == []


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (["--language", "markdown"], {"docs/guide.md"}),
        (["--language", "Markdown", "--language", "python"], {"docs/guide.md", "src/greeting.py", "src/parser.py"}),
        (["--include", "src/**"], {"src/greeting.py", "src/parser.py"}),
        (["--exclude", "docs/**", "--exclude", "*parser*"], {"src/greeting.py"}),
        (["--kind", "section"], {"docs/guide.md"}),
        (["--changed-since", "2h"], {"src/greeting.py"}),
    ],
)
def test_a_filter_keeps_what_it_names(cqm: Cqm, filters: list[str], expected: set[str]) -> None:
    for old in ("src/parser.py", "docs/guide.md"):
        os.utime(cqm.project / old, (1_700_000_000, 1_700_000_000))
    found = cqm.json("search", "greet name line value guide call", *filters)
    assert set(paths(found["results"])) == expected


def test_limit_and_cursor_walk_through_all_results_once(cqm: Cqm) -> None:
    everything = cqm.json("search", "greet name line value guide call")["results"]
    assert len(everything) > 2
    walked: list[dict[str, Any]] = []
    cursor = ""
    for _ in everything:
        page = cqm.json("search", "greet name line value guide call", "--limit", "1", "--cursor", cursor)
        walked += page["results"]
        cursor = page["next_cursor"]
    assert cursor == ""
    assert [(hit["path"], hit["start_line"]) for hit in walked] == [
        (hit["path"], hit["start_line"]) for hit in everything
    ]


def test_a_mode_that_is_not_to_be_had_gives_less_and_says_why(cqm: Cqm) -> None:
    found = cqm.json("search", "greet", "--mode", "lexical")
    assert (found["mode"], found["degraded"]) == ("lexical", "")
    found = cqm.json("search", "greet", "--mode", "semantic")
    assert found["mode"] == "lexical"
    assert found["degraded"]


def test_explained_parts_sum_up_to_the_score(cqm: Cqm) -> None:
    for hit in cqm.json("search", "greet", "--explain")["results"]:
        assert sum(hit["parts"].values()) == pytest.approx(hit["score"])
    assert "\n  = " in cqm.run("search", "greet", "--explain").stdout


# Batches.


def test_a_batch_answers_each_line_in_order(cqm: Cqm) -> None:
    lines = [
        {"id": "b", "query": "say hello to somebody"},
        {"id": 7, "query": "ConfigParser"},
        {"id": "a", "query": "zz"},
    ]
    (cqm.project / "questions.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n\n")
    done = cqm.run(
        "search", "--path", ".", "--batch", "questions.jsonl", "--limit", "1", "--json", "--exclude", "*.jsonl"
    )
    assert done.returncode == 0
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == ["b", 7, "a"]
    assert [paths(answer["results"]) for answer in answers] == [["src/greeting.py"], ["src/parser.py"], []]
    assert all(list(answer) == ["id", "results"] for answer in answers)


def test_bad_lines_of_a_batch_are_named_and_the_others_are_answered(cqm: Cqm) -> None:
    bad = [
        b"not json",
        b'{"query": "no id"}',
        b'{"id": "x", "query": " "}',
        b"[1]",
        b"\xff\xfe",
        b'{"id": "x", "query": "\\ud800"}',
        b"[" * 100_000,
    ]
    stdin = b"\n".join([b'{"id": 1, "query": "greet"}', *bad, b'{"id": 9, "query": "parser"}', b""])
    done = cqm.run("search", "--batch", "-", "--json", stdin=stdin)
    assert done.returncode == 1
    assert [json.loads(answer)["id"] for answer in done.stdout.splitlines()] == [1, 9]
    assert re.findall(r"^line (\d+): ", done.stderr, re.MULTILINE) == ["2", "3", "4", "5", "6", "7", "8"]
    assert "Traceback" not in done.stderr


def test_a_batch_reader_that_goes_away_is_no_error(cqm: Cqm) -> None:
    questions = cqm.project.parent / "questions.jsonl"
    questions.write_text('{"id": 1, "query": "greet"}\n' * 3000)
    with cqm.started("search", "--batch", str(questions), "--json") as running:
        assert running.stdout
        assert running.stderr
        assert json.loads(running.stdout.readline())["id"] == 1
        running.stdout.close()
        assert "Traceback" not in running.stderr.read()
        assert running.wait() == 0


# Indexing and its state.


def test_indexing_tells_what_it_did(cqm: Cqm) -> None:
    first = cqm.json("index")
    assert (first["added"], first["unchanged"], first["failed"], first["cancelled"]) == (3, 0, [], False)
    assert first["chunks_written"] > 0
    (cqm.project / "src" / "greeting.py").write_text(GREETING + "\n\nPOLITE = True\n")
    (cqm.project / "docs" / "guide.md").unlink()
    again = cqm.json("index")
    assert [again[name] for name in ("added", "modified", "deleted", "unchanged")] == [0, 1, 1, 1]
    done = cqm.run("index")
    assert done.returncode == 0
    assert "2 unchanged files" in done.stdout


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="this user can read every file")
def test_a_file_that_cannot_be_read_is_a_partial_failure(cqm: Cqm) -> None:
    (cqm.project / "src" / "parser.py").chmod(0)
    summary = cqm.json("index", code=1)
    assert [problem["path"] for problem in summary["failed"]] == ["src/parser.py"]
    assert cqm.json("search", "greet")["failed_files"] == 1
    assert "src/parser.py: " in cqm.run("status", "--failed").stdout


def test_the_status_tells_what_is_indexed_and_what_differs(cqm: Cqm) -> None:
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
    assert "1 files differ from the disk now" in text
    assert "3 indexed" in text


def test_the_status_of_what_was_never_indexed_creates_nothing(cqm: Cqm) -> None:
    assert cqm.json("status")["exists"] is False
    assert "not indexed yet" in cqm.run("status").stdout
    assert list(Path(cqm.environment["HOME"]).rglob("*")) == []


def test_skipped_files_are_listed_with_their_reasons(cqm: Cqm) -> None:
    (cqm.project / "image.bin").write_bytes(b"\0\1\2" * 100)
    cqm.run("index")
    assert {"path": "image.bin", "reason": "binary"} in cqm.json("status", "--skipped")["skipped_files"]
    assert "skipped_files" not in cqm.json("status")
    assert "image.bin: binary" in cqm.run("status", "--skipped").stdout


def test_ctrl_c_stops_indexing_and_the_next_run_completes_it(cqm: Cqm) -> None:
    for number in range(1500):
        (cqm.project / f"module_{number}.py").write_text(f"def function_{number}():\n    return {number}\n" * 20)
    with cqm.started("index") as running:
        assert running.stderr
        assert running.stderr.readline().startswith("Indexing")
        running.send_signal(signal.SIGINT)
        _, said = running.communicate()
    assert running.returncode == 130
    assert "Traceback" not in said
    assert "the next run goes on from there" in said
    summary = cqm.json("index")
    assert summary["added"] + summary["modified"] + summary["unchanged"] == 1503
    assert cqm.json("status")["complete"]


def test_watching_takes_up_a_change_and_ends_with_ctrl_c(cqm: Cqm) -> None:
    with cqm.started("watch", "--json") as running:
        assert running.stdout
        assert json.loads(running.stdout.readline())["summary"]["added"] == 3
        assert json.loads(running.stdout.readline())["paths"] == []
        (cqm.project / "src" / "late.py").write_text("LATE = 1\n")
        seen = json.loads(running.stdout.readline())
        assert seen["paths"] == ["src/late.py"]
        assert seen["summary"]["added"] == 1
        running.send_signal(signal.SIGINT)
        _, said = running.communicate()
    assert running.returncode == 130
    assert "Traceback" not in said


# Serving.


def test_serving_answers_about_the_roots_that_are_named_and_no_others(cqm: Cqm) -> None:
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
    assert "is outside the folders allowed here" in json.dumps(answers[3])


def test_serving_http_says_where(cqm: Cqm) -> None:
    with cqm.started("serve", "--http", "127.0.0.1:0") as running:
        assert running.stderr
        assert re.fullmatch(r"CQM serves http://127\.0\.0\.1:\d+/mcp\n", running.stderr.readline())


# Previewing.


def test_a_preview_shows_every_chunk_of_a_file(cqm: Cqm) -> None:
    preview = cqm.json("preview", "src/parser.py")
    assert list(preview) == ["chunks", "warnings"]
    assert all(
        list(chunk) == ["start_line", "end_line", "symbol", "kind", "tokens", "text"] for chunk in preview["chunks"]
    )
    assert "".join(chunk["text"] for chunk in preview["chunks"]).split() == PARSER.split()
    assert cqm.run("preview", "src/parser.py").stdout.startswith("--- 1-")


def test_a_preview_reads_standard_input_under_a_name(cqm: Cqm) -> None:
    done = cqm.run("preview", "-", "--name", "a.py", "--json", stdin=GREETING)
    assert "greet" in {chunk["symbol"] for chunk in json.loads(done.stdout)["chunks"]}
    done = cqm.run("preview", "-", "--json", stdin=GREETING)
    assert "greet" not in {chunk["symbol"] for chunk in json.loads(done.stdout)["chunks"]}


def test_a_preview_warns_of_what_it_could_not_do_well(cqm: Cqm) -> None:
    (cqm.project / "broken.py").write_text("def f(:\n  ((((\n" * 5)
    warnings = cqm.json("preview", "broken.py")["warnings"]
    assert warnings
    assert f"warning: {warnings[0]}" in cqm.run("preview", "broken.py").stderr


def test_a_binary_file_cannot_be_previewed(cqm: Cqm) -> None:
    (cqm.project / "image.bin").write_bytes(b"\0\1\2" * 100)
    done = cqm.run("preview", "image.bin")
    assert done.returncode == 1
    assert "image.bin is a binary file." in done.stderr


def test_a_preview_leaves_nothing_behind(cqm: Cqm) -> None:
    cqm.run("preview", "src/parser.py")
    assert list(Path(cqm.environment["HOME"]).rglob("*")) == []


# Settings on the way to the command.


def test_an_option_of_the_command_wins_over_the_environment_and_that_over_the_projects_file(cqm: Cqm) -> None:
    (cqm.project / "cqm.yml").write_text("search: {limit: 3}\nscan: {exclude: [cqm.yml]}\n")
    query = ("search", "greet name line value guide call")
    assert len(cqm.json(*query)["results"]) == 3
    assert len(cqm.json(*query, CQM_SEARCH_LIMIT="2")["results"]) == 2
    assert len(cqm.json(*query, "--set", "search.limit=1", CQM_SEARCH_LIMIT="2")["results"]) == 1
    assert len(cqm.json(*query, "--limit", "1", CQM_SEARCH_LIMIT="2")["results"]) == 1


def test_the_users_file_holds_for_every_project(cqm: Cqm) -> None:
    folder = cqm.project.parent / "config" / "cqm"
    folder.mkdir(parents=True)
    (folder / "cqm.yml").write_text("search: {limit: 1}\n")
    found = cqm.json("search", "greet name line", XDG_CONFIG_HOME=str(folder.parent))
    assert len(found["results"]) == 1


def test_any_option_can_be_set_on_the_command_line(cqm: Cqm) -> None:
    (cqm.project / "many.py").write_text("\n\n".join(f"def f{n}():\n    return {n}" for n in range(100)))
    whole = cqm.json("preview", "many.py")["chunks"]
    cut = cqm.json("preview", "many.py", "--set", "chunk.max_tokens=64", "--set", "chunk.min_tokens=0")["chunks"]
    assert len(cut) > len(whole)


def test_the_index_can_live_in_the_project(cqm: Cqm) -> None:
    (cqm.project / "cqm.yml").write_text("index: {in_project: true}\n")
    cqm.run("index")
    assert (cqm.project / ".cqm").is_dir()
    assert Path(cqm.json("status")["location"]).is_relative_to(cqm.project / ".cqm")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["serch", "x"], "No such command"),
        (["search"], "either QUERY or --batch"),
        (["search", "x", "--batch", "-"], "either QUERY or --batch"),
        (["search", "x", "--path", "missing"], "does not exist"),
        (["search", "x", "--limit", "101"], "1<=x<=100"),
        (["search", "x", "--mode", "fuzzy"], "'fuzzy' is not one of"),
        (["search", "x", "--changed-since", "yesterday"], "'yesterday' is no moment."),
        (["search", "x", "--cursor", "abc"], "is no cursor"),
        (["search", " "], "The query is empty."),
        (["index", "--set", "chunk.max_tokens"], "expected NAME=VALUE"),
        (["index", "--set", "chunk.size=5"], 'unknown option "chunk.size"'),
        (["index", "--set", "chunk.max_tokens=5"], 'bad value for "chunk.max_tokens"'),
        (["serve", "--http", "8080"], 'bad value for "server.http"'),
        (["serve", "--root", "missing"], "does not exist"),
        (["watch", "src/parser.py"], "is a file"),
        (["preview", "src"], "is a directory"),
    ],
)
def test_a_wrong_use_has_its_own_exit_code_and_says_why(cqm: Cqm, arguments: list[str], message: str) -> None:
    done = cqm.run(*arguments)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    "command", [["index"], ["search", "x"], ["status"], ["watch"], ["serve"], ["preview", "cqm.yml"]]
)
def test_a_bad_project_file_stops_every_command_by_file_and_line(cqm: Cqm, command: list[str]) -> None:
    (cqm.project / "cqm.yml").write_text("search:\n  limits: 5\n")
    done = cqm.run(*command)
    assert done.returncode == 2
    expected = f'{cqm.project / "cqm.yml"}:2: unknown option "search.limits". Did you mean "search.limit"?'
    assert expected in done.stderr


# Which folder.


def test_without_a_path_a_command_is_about_the_enclosing_project(cqm: Cqm) -> None:
    inner = Cqm(cqm.project / "src", cqm.environment)
    assert inner.json("index")["added"] == 3
    assert paths(inner.json("search", "greet", "--limit", "1")["results"]) == ["src/greeting.py"]
    assert inner.json("status")["root"] == str(cqm.project.resolve())


def test_results_are_relative_to_the_path_that_is_named(cqm: Cqm) -> None:
    assert paths(cqm.json("search", "greet", "--path", "src", "--limit", "1")["results"]) == ["greeting.py"]


def test_the_home_folder_must_be_named_to_be_indexed(cqm: Cqm) -> None:
    home = Cqm(Path(cqm.environment["HOME"]), cqm.environment)
    done = home.run("index")
    assert done.returncode == 2
    assert "Name the folder that you mean" in done.stderr
    assert home.run("index", ".").returncode == 0


# Terminals, encodings, start-up.


def test_output_is_utf8_in_any_locale(cqm: Cqm) -> None:
    found = cqm.json("search", "設定", LC_ALL="C")
    assert "設定ファイル" in json.dumps(found, ensure_ascii=False)
    assert "設定" in cqm.run("preview", "docs/guide.md", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0").stdout


@pytest.mark.skipif(sys.platform == "win32", reason="has no file names that are not text")
def test_a_file_name_that_is_no_text_does_not_stop_the_output(cqm: Cqm) -> None:
    (cqm.project / os.fsdecode(b"caf\xe9.py")).write_text("def odd_name():\n    return 1\n")
    assert paths(cqm.json("search", "greet", "--limit", "1")["results"]) == ["src/greeting.py"]
    assert cqm.run("search", "odd_name").returncode == 0
    assert cqm.run("status", "--skipped").returncode == 0


@pytest.fixture
def terminal(cqm: Cqm) -> "Terminal":
    return Terminal(cqm)


@dataclass(frozen=True, slots=True)
class Terminal:
    """Runs `cqm` on a terminal."""

    cqm: Cqm

    def run(self, *arguments: str, **changes: str) -> str:
        """All that the terminal shows."""
        pty = pytest.importorskip("pty")
        ours, theirs = pty.openpty()
        environment = self.cqm.environment | {"TERM": "xterm-256color", "COLUMNS": "100"} | changes
        running = subprocess.Popen(
            [CQM, *arguments], cwd=self.cqm.project, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
        )
        os.close(theirs)
        shown = b""
        while piece := _read(ours):
            shown += piece
        os.close(ours)
        assert running.wait() == 0
        return shown.decode("utf-8")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:
        # Linux says "input/output error" where the other end of a terminal is closed.
        return b""


def test_a_terminal_gets_colours_and_line_numbers(terminal: Terminal) -> None:
    shown = terminal.run("search", "greet")
    assert "\x1b[1;36msrc/greeting.py:" in shown
    assert "\x1b[" in shown.partition("def")[0].rpartition("\n")[2]
    assert "Indexing" in shown


def test_no_color_is_honoured(terminal: Terminal) -> None:
    terminal.cqm.run("index")
    shown = terminal.run("search", "greet", NO_COLOR="1")
    assert "src/greeting.py:" in shown
    assert "\x1b[1;36m" not in shown
    assert "\x1b[36m" not in shown


def test_json_on_a_terminal_is_plain(terminal: Terminal) -> None:
    terminal.cqm.run("index")
    assert json.loads(terminal.run("search", "greet", "--json", "--no-update"))["results"]


def test_a_file_cannot_drive_the_terminal_that_shows_it(terminal: Terminal) -> None:
    evil = terminal.cqm.project / "evil.py"
    evil.write_text("def evil():\n    return '\x1b]0;owned\x07\x1b[2J\x9b31m'\n", encoding="utf-8")
    for arguments in (("search", "evil", "--limit", "1"), ("preview", "evil.py")):
        shown = terminal.run(*arguments)
        assert "owned" in shown
        assert "\x1b]0" not in shown
        assert "\x1b[2J" not in shown
        assert "\x9b" not in shown


@pytest.mark.parametrize("arguments", [("--version",), ("--help",), ("search", "--help"), ("serve", "--help")])
def test_help_and_version_load_nothing_heavy(cqm: Cqm, arguments: tuple[str, ...]) -> None:
    heavy = {"numpy", "mcp", "qdrant_edge", "tree_sitter", "openai", "ollama", "pydantic", "rich", "tokenizers", "yaml"}
    assert not modules_loaded(cqm, *arguments) & heavy


def test_a_preview_loads_neither_store_nor_embedder(cqm: Cqm) -> None:
    loaded = modules_loaded(cqm, "preview", "src/parser.py")
    assert "tree_sitter" in loaded
    assert not loaded & {"numpy", "mcp", "qdrant_edge", "openai", "ollama", "tokenizers"}


def test_the_version_is_that_of_the_package(cqm: Cqm) -> None:
    from importlib.metadata import version

    assert cqm.run("--version").stdout == f"cqm {version('cqm')}\n"
