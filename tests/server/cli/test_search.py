"""`cqm search`: what it finds, how its output reads, and batches of questions."""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Cqm


@pytest.mark.usefixtures("shared")
def test_the_first_search_makes_the_index_and_answers(cqm: "Cqm") -> None:
    found = cqm.json("search", "split a line at the equals sign", "--mode", "lexical")
    assert found["query"] == "split a line at the equals sign"
    best = found["results"][0]
    assert list(best)[:8] == ["path", "start_line", "end_line", "score", "symbol", "kind", "language", "text"]
    assert best["metadata"]["source_type"] == "code"
    assert best["signature"] in best["text"]
    assert any(line == best["line"] for line, _, _ in best["highlights"])
    assert (best["path"], best["language"]) == ("src/parser.py", "python")
    lines = cqm.text("src/parser.py").split("\n")[best["start_line"] - 1 : best["end_line"]]
    assert best["text"].rstrip("\n") == "\n".join(lines).rstrip("\n")
    facts = {
        name: found[name] for name in found if name not in {"query", "results", "degraded", "updated_at", "freshness"}
    }
    assert facts == {
        "confidence": "high",
        "mode": "lexical",
        "files": 3,
        "chunks": facts["chunks"],
        "complete": True,
        "failed_files": 0,
        "next_cursor": "",
    }
    assert found["freshness"]["state"] == "fresh"


def test_results_that_nobody_watches_are_the_compact_text_for_agents(cqm: "Cqm") -> None:
    done = cqm.run("search", "greet")
    assert done.returncode == 0
    assert re.match(r'\d+ results for "greet" \(\w+\) from \d+ chunks of 3 files in ', done.stdout)
    assert re.search(r"\n#\d{8} src/greeting\.py:", done.stdout)
    assert "def greet(name: str) -> str:\n" in done.stdout
    assert "\x1b" not in done.stdout


def test_the_reply_stays_within_the_configured_budget(cqm: "Cqm") -> None:
    (cqm.project / "src" / "greet.py").write_text("def greet():\n" + "    greet('somebody')\n" * 60)
    done = cqm.run("search", "greet", "--set", "server.token_budget=200")
    assert "beyond the budget of 200 tokens" in done.stdout or " left out]" in done.stdout


def test_what_is_like_a_place_is_found_without_itself(cqm: "Cqm") -> None:
    text = cqm.text("src/greeting.py")
    (cqm.project / "src" / "parting.py").write_text(text.replace("greet", "part").replace("hello", "farewell"))
    done = cqm.run("search", "--like", "src/greeting.py:4-6")
    assert done.stdout.startswith("3 results like src/greeting.py:1-6 (greet), without itself (lexical) from ")
    assert re.match(r"#\d{8} src/parting\.py:1-6", done.stdout.split("\n\n")[1])
    found = cqm.json("search", "--like", "src/greeting.py:4")
    assert (found["query"], found["like"]) == ("src/greeting.py:4", "src/greeting.py:1-6 (greet)")
    assert found["results"][0]["path"] == "src/parting.py"
    assert "src/greeting.py" not in {result["path"] for result in found["results"]}
    assert "like" not in cqm.json("search", "greet")


def test_a_place_that_is_not_in_the_index_is_a_mistake_and_the_text_of_a_question_a_question(cqm: "Cqm") -> None:
    done = cqm.run("search", "--like", "src/nowhere.py:4")
    assert (done.returncode, "is not in the index" in done.stderr) == (2, True)
    assert "Expected one of QUERY, --like" in cqm.run("search", "greet", "--like", "src/greeting.py:4").stderr
    done = cqm.run("search", "nowhere/greeting.py:4")
    assert (done.returncode, "like" in done.stdout.splitlines()[0]) == (0, False)


def test_every_part_of_a_score_is_explained_and_they_sum_up_to_it(cqm: "Cqm") -> None:
    for asked in (["greet"], ["how are people greeted"], ["--like", "src/greeting.py:4"]):
        for result in cqm.json("search", *asked, "--explain")["results"]:
            assert sum(result["parts"].values()) == pytest.approx(result["score"])
        text = cqm.run("search", *asked, "--explain").stdout
        assert text.count(" = terms ") == len(cqm.json("search", *asked)["results"])


def test_finding_nothing_is_no_failure_and_says_what_to_do(cqm: "Cqm") -> None:
    done = cqm.run("search", "zyzzyva", "--language", "python", "--include", "docs/**")
    assert done.returncode == 0
    assert done.stdout.startswith("No results for")
    assert "without the filters" in done.stdout


def test_a_language_that_the_index_lacks_is_refused_with_those_it_has(cqm: "Cqm") -> None:
    done = cqm.run("search", "zyzzyva", "--language", "cobol")
    assert done.returncode == 2
    assert "`language cobol`: expected one that the index has.\n  There are python, markdown." in done.stderr


@pytest.mark.usefixtures("shared")
def test_a_search_sees_the_files_as_they_are_unless_told_not_to_look(cqm: "Cqm") -> None:
    cqm.run("index")
    (cqm.project / "src" / "farewell.py").write_text("def bid_farewell():\n    return 'goodbye'\n")
    assert "src/farewell.py" not in cqm.paths("bid_farewell", "--no-update")
    assert cqm.paths("bid_farewell")[0] == "src/farewell.py"


def test_not_looking_needs_an_index(cqm: "Cqm") -> None:
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
def test_a_filter_keeps_what_it_names(cqm: "Cqm", filters: list[str], expected: set[str]) -> None:
    for old in ("src/parser.py", "docs/guide.md"):
        os.utime(cqm.project / old, (1_700_000_000, 1_700_000_000))
    assert set(cqm.paths("greet name line value guide call", *filters)) == expected


@pytest.mark.usefixtures("shared")
def test_limit_and_cursor_walk_through_all_results_once(cqm: "Cqm") -> None:
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


def test_a_mode_that_is_not_to_be_had_gives_less_and_says_why(cqm: "Cqm") -> None:
    found = cqm.json("search", "greet", "--mode", "lexical")
    assert (found["mode"], found["degraded"]) == ("lexical", "")
    found = cqm.json("search", "greet", "--mode", "semantic")
    assert found["mode"] == "lexical"
    assert found["degraded"]


def test_explained_parts_sum_up_to_the_score(cqm: "Cqm") -> None:
    for hit in cqm.json("search", "greet", "--explain")["results"]:
        assert sum(hit["parts"].values()) == pytest.approx(hit["score"])
    assert re.search(r"   score [\d.]+ = ", cqm.run("search", "greet", "--explain").stdout)


@pytest.mark.usefixtures("shared")
def test_a_batch_answers_each_line_in_order(cqm: "Cqm") -> None:
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
    assert [[hit["path"] for hit in answer["results"]] for answer in answers] == [
        ["src/greeting.py"],
        ["src/parser.py"],
        [],
    ]
    assert all(list(answer) == ["id", "results", "confidence"] for answer in answers)
    assert [answer["confidence"] for answer in answers][1:] == ["high", "none"]


def test_a_question_in_another_language_is_told_in_english(cqm: "Cqm") -> None:
    question = "Wo werden die Argumente der Befehlszeile analysiert?"
    found = cqm.json("search", question)
    assert (found["query"], found["in_english"]) == (question, "argument command line parse")
    said = {
        hit["text"].split("\n")[line - hit["start_line"]][start:end].lower()
        for hit in found["results"]
        for line, start, end in hit["highlights"]
    }
    assert said & {"line", "parse_line"}
    assert 'Note: asked in English: "argument command line parse".' in cqm.run("search", question).stdout
    batch = json.dumps({"id": 1, "query": question}).encode()
    [line] = cqm.run("search", "--batch", "-", "--json", stdin=batch).stdout.splitlines()
    assert json.loads(line)["in_english"] == found["in_english"]


def test_bad_lines_of_a_batch_are_named_and_the_others_are_answered(cqm: "Cqm") -> None:
    bad = [
        b"not json",
        b'{"query": "no id"}',
        b'{"id": "x", "query": " "}',
        b"[1]",
        b"\xff\xfe",
        b'{"id": "x", "query": "\\ud800"}',
        b"[" * 100_000,
        b'{"id": "x", "query": "%s"}' % (b"w " * 150_000),
    ]
    stdin = b"\n".join([b'{"id": 1, "query": "greet"}', *bad, b'{"id": 9, "query": "parser"}', b""])
    done = cqm.run("search", "--batch", "-", "--json", stdin=stdin)
    assert done.returncode == 1
    assert [json.loads(answer)["id"] for answer in done.stdout.splitlines()] == [1, 9]
    assert re.findall(r"^line (\d+): ", done.stderr, re.MULTILINE) == ["2", "3", "4", "5", "6", "7", "8", "9"]
    assert "line 9: The query has 300,000 characters: expected at most 200,000." in done.stderr
    assert "Traceback" not in done.stderr


def test_a_batch_reader_that_goes_away_is_no_error(cqm: "Cqm") -> None:
    questions = cqm.project.parent / "questions.jsonl"
    questions.write_text('{"id": 1, "query": "greet"}\n' * 3000)
    with cqm.started("search", "--batch", str(questions), "--json") as running:
        assert running.stdout
        assert running.stderr
        assert json.loads(running.stdout.readline())["id"] == 1
        running.stdout.close()
        assert "Traceback" not in running.stderr.read()
        assert running.wait() == 0


@pytest.mark.usefixtures("shared")
def test_the_usages_of_a_symbol_are_its_definition_its_calls_and_what_it_calls(cqm: "Cqm") -> None:
    (cqm.project / "src" / "caller.py").write_text("from greeting import greet\n\n\ndef go():\n    return greet('x')\n")
    found = cqm.json("usages", "greet")
    assert [(each["path"], each["symbol"], each["doc"]) for each in found["definitions"]] == [
        ("src/greeting.py", "greet", "Say hello to somebody.")
    ]
    assert found["calls"] == [{"path": "src/caller.py", "line": 5, "symbol": "go", "text": "return greet('x')"}]
    assert "Called by:\n  src/caller.py:5  go  return greet('x')" in cqm.run("usages", "greet").stdout
    assert cqm.run("usages", "no name").returncode == 2
    uses = cqm.json("references", "greet()", "--kind", "uses", "--depth", "2")
    assert [(it["path"], it["line"], it["kind"]) for it in uses["references"]] == [("src/caller.py", 1, "import")]
    assert uses["totals"]["calls"] == 1
    assert uses["callers"] == [{"level": 1, "symbol": "go", "path": "src/caller.py", "line": 4, "calls": "greet"}]
    second = cqm.run("usages", "greet", "--limit", "1", "--cursor", "1").stdout
    assert "Called by" not in second
    assert "src/caller.py:1  import  from greeting import greet" in second


def test_a_source_keeps_what_comes_from_there(cqm: "Cqm") -> None:
    issue = {
        "number": 7,
        "title": "greet forgets the name",
        "body": "Call `greet` twice and the name is gone. " * 3,
        "state": "OPEN",
        "author": {"login": "ann"},
        "labels": [{"name": "bug"}],
        "url": "https://github.com/o/n/issues/7",
        "createdAt": "2026-01-02T03:04:05Z",
    }
    (cqm.project / "issues").mkdir()
    (cqm.project / "issues" / "7.json").write_text(json.dumps(issue))
    found = cqm.json("search", "greet name", "--source", "issue")["results"]
    assert {each["path"] for each in found} == {"issues/7.json"}
    assert found[0]["metadata"]["number"] == 7
    assert found[0]["metadata"]["labels"] == ["bug"]
    assert "# greet forgets the name" in found[0]["content"]
    assert "issues/7.json" not in cqm.paths("greet name", "--source", "code")


@pytest.mark.usefixtures("shared")
def test_mode_exact_lists_lines_as_grep_does_with_counts_and_a_next_page(cqm: "Cqm") -> None:
    expected = [
        (path, number)
        for path in ("src/greeting.py", "src/parser.py")
        for number, line in enumerate(cqm.text(path).split("\n"), start=1)
        if "def " in line
    ]
    found = cqm.json("search", "--mode", "exact", "lang:python def ")
    assert [(it["path"], it["highlights"][0][0]) for it in found["results"]] == expected
    total = {"matches": len(expected), "lines": len(expected), "files": 2, "searched": 2, "unread": 0, "complete": True}
    assert found["total"] == total
    shown = cqm.run("search", "--mode", "regex", r"^def (greet)\b", "--limit", "1", "--context", "1").stdout
    assert re.search(r"\n#\d{8} src/greeting\.py\n#\d{8} in greet \(function\)\n\d+-.*\n\d+:def greet\(", shown)
    refused = cqm.run("search", "--mode", "regex", "def (")
    assert refused.returncode == 2
    assert "`def (` is no regular expression: missing )" in refused.stderr


@pytest.fixture
def other(cqm: "Cqm") -> Path:
    """A second project beside the first, also the group `both` with it and with a folder that is gone."""
    folder = cqm.project.parent / "other"
    folder.mkdir()
    (folder / "guests.py").write_text("def greet_guests(names):\n    return [greet(name) for name in names]\n")
    own = Path(cqm.environment["HOME"]) / ".config" / "cqm" / "cqm.yml"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text(f"groups:\n  both: ['{cqm.project}', '{folder}', '{folder}-gone']\n")
    return folder


@pytest.mark.parametrize("is_group", [True, False])
def test_several_folders_are_searched_at_once_each_result_named_by_its_folder(
    cqm: "Cqm", other: Path, is_group: bool
) -> None:
    asked = ["--group", "both"] if is_group else ["--path", str(cqm.project), "--path", str(other)]
    found = cqm.json("search", "greet", *asked)
    assert {f"{cqm.project.name}/src/greeting.py", "other/guests.py"} <= {it["path"] for it in found["results"]}
    chances = [it["chance"] for it in found["results"]]
    assert chances == sorted(chances, reverse=True)
    done = cqm.run("search", "--batch", "-", "--json", *asked, stdin='{"id": 1, "query": "greet_guests"}\n')
    assert json.loads(done.stdout)["results"][0]["path"] == "other/guests.py"
    assert ("other-gone of groups in your cqm.yml is not there" in done.stderr) is is_group


def test_an_empty_folder_among_several_changes_neither_the_way_of_the_search_nor_what_is_told(
    cqm: "Cqm", tmp_path: Path
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    asked = ["--path", str(empty), "--path", str(cqm.project)]
    assert cqm.json("search", "greet", *asked)["mode"] == cqm.json("search", "greet")["mode"]
    assert "no chunk has a vector" not in cqm.run("search", "greet", *asked).stdout
    assert "The index is empty." in cqm.run("search", "greet", "--path", str(empty)).stdout


def test_an_unknown_group_is_refused_with_the_nearest_and_a_place_with_several_folders_too(
    cqm: "Cqm", other: Path
) -> None:
    assert 'group bth: expected one of groups in your cqm.yml: both. Did you mean "both"?' in (
        cqm.run("search", "greet", "--group", "bth").stderr
    )
    done = cqm.run("search", "--like", "src/greeting.py:1", "--path", str(cqm.project), "--path", str(other))
    assert "--like with several --path: expected one." in done.stderr


def test_no_project_names_groups_of_its_own(cqm: "Cqm") -> None:
    (cqm.project / "cqm.yml").write_text("groups:\n  all: [/]\n")
    assert '"groups.all" is refused: it decides which of your folders are searched' in cqm.run("search", "a").stderr


def test_results_are_a_line_each_on_request(cqm: "Cqm") -> None:
    done = cqm.run("search", "greet", "--format", "compact")
    assert re.search(
        r"\n#\d{8} src/greeting\.py:\d+  greet \(function\)  def greet\(name: str\) -> str  0\.95\n", done.stdout
    )
    assert "    return" not in done.stdout


def test_a_path_behind_the_question_narrows_the_answer_to_what_is_below_it(cqm: "Cqm") -> None:
    (cqm.project / "lib" / "src").mkdir(parents=True)
    (cqm.project / "lib" / "src" / "greet [1].py").write_text("def greet_twice():\n    return greet('x') * 2\n")
    assert {hit["path"] for hit in cqm.json("search", "greet", "src")["results"]} == {"src/greeting.py"}
    for path in ("lib", "lib/src/greet [1].py"):
        assert {hit["path"] for hit in cqm.json("search", "greet", path)["results"]} == {"lib/src/greet [1].py"}
    both = cqm.json("search", "greet", "src", "lib", "-n", "1")
    assert (len(both["results"]), both["next_cursor"]) == (1, "1")
    assert [entry["root"] for entry in cqm.json("list")["indexes"]] == [str(cqm.project)]


def test_a_wrong_cursor_is_refused_with_several_folders_too(cqm: "Cqm", other: Path) -> None:
    places = ["--path", str(cqm.project), "--path", str(other)]
    for asked in ([], places):
        done = cqm.run("search", "greet", "--cursor", "soon", *asked)
        assert (done.returncode, "`cursor soon`: expected the cursor of the page before" in done.stderr) == (2, True), (
            done.stderr
        )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["where", "are", "names", "greeted"], 'cqm search "where are names greeted"'),
        (["where", "are", "names", "src"], 'cqm search "where are names" src'),
    ],
)
def test_a_question_without_quotes_is_told_how_to_be_asked(cqm: "Cqm", words: list[str], told: str) -> None:
    done = cqm.run("search", *words)
    assert done.returncode == 2
    assert told in done.stderr


def test_a_file_of_a_project_has_no_index_of_its_own(cqm: "Cqm") -> None:
    (cqm.project / "cqm.yml").write_text("{}\n")
    done = cqm.run("index", "src/greeting.py")
    assert done.returncode == 0
    assert f"is a file of the project {cqm.project}" in done.stderr
    assert [entry["root"] for entry in cqm.json("list")["indexes"]] == [str(cqm.project)]


def test_a_file_of_the_working_folder_has_no_index_of_its_own(cqm: "Cqm") -> None:
    """Once it had one where the folder has neither .git nor a cqm.yml."""
    (cqm.project / ".git").rmdir()
    assert "is a file of the project" in cqm.run("index", "src/greeting.py").stderr
    assert cqm.paths("greet", "--path", "src/greeting.py") == ["src/greeting.py"]
    assert cqm.paths("greet", "--path", "src/greeting.py", "--path", "src/parser.py")[0] == "src/greeting.py"
    assert [entry["root"] for entry in cqm.json("list")["indexes"]] == [str(cqm.project)]


def test_a_folder_in_another_that_is_searched_too_is_searched_once(cqm: "Cqm") -> None:
    assert cqm.paths("greet", "--path", ".", "--path", "src", "--include", "*.py") == ["src/greeting.py"]


def test_a_folder_of_no_project_is_not_indexed_by_a_question_beside_it(cqm: "Cqm") -> None:
    """Once `cqm search bind /etc` indexed all of /etc."""
    outside = cqm.project.parent / "outside"
    outside.mkdir()
    (outside / "greeting.py").write_text(cqm.text("src/greeting.py"))
    refused = cqm.run("search", "greet", str(outside))
    assert refused.returncode == 2
    assert f"{outside} is in no project and not indexed. Name it with --path" in refused.stderr
    assert cqm.paths("greet", "--path", str(outside)) == ["greeting.py"]
    assert cqm.paths("greet", str(outside)) == ["greeting.py"]


@pytest.mark.parametrize(
    ("option", "near"),
    [
        ("--lang", "--language"),
        ("--type", "--kind"),
        ("--top", "--limit"),
        ("--kidn", "--kind"),
        ("--lim", "--limit"),
        ("--glob", "--include"),
    ],
)
def test_an_unknown_option_is_told_the_one_that_is_meant(cqm: "Cqm", option: str, near: str) -> None:
    assert f"Did you mean '{near}'?" in cqm.run("search", "x", option, "1").stderr


@pytest.mark.skipif(os.name == "nt", reason="a shell of Unix closes the output")
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&-", "<&- >&- 2>&-"])
def test_a_closed_stream_is_no_fault_and_files_are_parsed_all_the_same(cqm: "Cqm", closed: str) -> None:
    done = subprocess.run(
        ["sh", "-c", f'"$0" search greet {closed}', cqm.program],
        cwd=cqm.project,
        env=cqm.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), (done.stdout, done.stderr)
    assert "3 unchanged" in cqm.run("index").stdout


def test_the_help_cuts_no_summary(cqm: "Cqm") -> None:
    assert "..." not in cqm.run("--help").stdout.split("Search and read:")[1]
