"""`cqm eval`: files of questions, measures, results of each question, golden files."""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Cqm

DOCUMENTS = Path(__file__).parents[2] / "chunkers" / "golden" / "documents"
GOLDEN = Path(__file__).parent / "golden_search"

ASKED: list[dict[str, Any]] = [
    {
        "id": "split",
        "query": "split a line at the equals sign",
        "language": "python",
        "category": "doc",
        "targets": [{"path": "src/parser.py", "start": 7, "end": 10}],
    },
    {
        "id": "hello",
        "query": "how to greet people",
        "language": "markdown",
        "targets": [{"path": "docs/guide.md"}],
        "apart": True,
    },
]


def asked(cqm: "Cqm", questions: list[dict[str, Any]], name: str = "questions.jsonl") -> str:
    """A file of questions beside the project."""
    path = cqm.project.parent / name
    path.write_text("".join(f"{json.dumps(question)}\n" for question in questions), encoding="utf-8")
    return str(path)


def test_each_level_language_and_category_has_its_measures(cqm: "Cqm") -> None:
    summaries = {each["group"]: each for each in cqm.json("eval", asked(cqm, ASKED), "--mode", "lexical")}
    assert {name: each["questions"] for name, each in summaries.items()} == {
        "all": 2,
        "language markdown": 1,
        "language python": 1,
        "category doc": 1,
        "apart: no word in a name": 1,
    }
    assert summaries["all"]["figures"]["file"]["MRR@10"] == 1
    assert summaries["language python"]["figures"]["span"]["Pass@1"] == 1
    assert summaries["language markdown"]["figures"]["span"]["Pass@1"] is None
    assert summaries["all"]["figures"]["span recall within tokens"] == dict.fromkeys(("500", "1000", "2000", "4000"), 1)


def test_the_measures_read_as_tables(cqm: "Cqm") -> None:
    done = cqm.run("eval", asked(cqm, ASKED), ".")
    assert done.returncode == 0, done.stderr
    heads = [line.split("|")[1].strip() for line in done.stdout.splitlines() if "| questions |" in line]
    assert heads == [
        "file",
        "span",
        "file recall within tokens",
        "span recall within tokens",
        "line recall within tokens",
    ]
    assert "| language python          |         1 |" in done.stdout


def test_what_a_budget_cuts_off_is_not_recalled(cqm: "Cqm") -> None:
    paths = [f"src/polite{number}.py" for number in range(8)]
    for number, path in enumerate(paths):
        body = "".join(f"    greet_politely('{number} {line}')\n" for line in range(20))
        (cqm.project / path).write_text(f"def polite{number}():\n{body}", encoding="utf-8")
    targets = [{"path": path, "start": 1, "end": 21} for path in paths]
    file = asked(cqm, [{"id": "1", "query": "callers of greet_politely", "targets": targets}])
    (everything, *_) = cqm.json("eval", file, "--mode", "lexical")
    for level in ("file recall within tokens", "span recall within tokens"):
        recalled = list(everything["figures"][level].values())
        assert recalled == sorted(recalled)
        assert recalled[0] < recalled[-1] == 1


def test_a_few_lines_of_a_long_target_show_it_and_count_as_so_much_of_its_lines(cqm: "Cqm") -> None:
    body = "".join(f"    greet_politely({number})\n" for number in range(150))
    (cqm.project / "src" / "polite.py").write_text(f"def polite():\n{body}", encoding="utf-8")
    target = {"path": "src/polite.py", "start": 1, "end": 151}
    file = asked(cqm, [{"id": "1", "query": "greet_politely", "targets": [target]}])
    (everything, *_) = cqm.json("eval", file, "--mode", "lexical")
    assert everything["figures"]["span recall within tokens"]["500"] == 1
    assert 0 < everything["figures"]["line recall within tokens"]["500"] < 0.5


def test_only_the_questions_that_are_wanted_are_asked(cqm: "Cqm") -> None:
    (everything, *_) = cqm.json("eval", asked(cqm, ASKED), "--only", "language=python", "--only", "category=doc")
    assert everything["questions"] == 1
    done = cqm.run("eval", asked(cqm, ASKED), "--only", "language=cobol")
    assert (done.returncode, "expected a question with" in done.stderr) == (2, True)
    assert "expected one of language" in cqm.run("eval", asked(cqm, ASKED), "--only", "colour=red").stderr


def test_the_ranks_of_each_question_are_written_to_a_file(cqm: "Cqm", tmp_path: Path) -> None:
    assert cqm.run("eval", asked(cqm, ASKED), "--results", str(tmp_path / "ranks.jsonl")).returncode == 0
    first, second = map(json.loads, (tmp_path / "ranks.jsonl").read_text(encoding="utf-8").splitlines())
    assert (first["id"], first["files"], first["spans"]) == ("split", [1], [1])
    assert (second["files"], second["spans"], second["apart"]) == ([1], [], True)
    assert first["within"]["500"] == {"files": 1.0, "spans": 1.0, "lines": 1.0}


def test_a_file_in_a_folder_that_is_not_there_is_refused_before_anything_is_indexed(cqm: "Cqm", tmp_path: Path) -> None:
    done = cqm.run("eval", asked(cqm, ASKED), "--results", str(tmp_path / "none" / "ranks.jsonl"))
    assert done.returncode == 2
    assert f"expected a file in an existing folder. Make {tmp_path / 'none'}" in " ".join(done.stderr.split())
    assert not cqm.json("status")["exists"]


def test_questions_name_the_trees_that_they_are_asked_of_and_repos_json_their_roots(cqm: "Cqm") -> None:
    trees = cqm.project / "trees"
    shutil.copytree(cqm.project / "src", trees / "one" / "inner" / "src")
    shutil.copytree(cqm.project / "src", trees / "two")
    questions = [
        {"id": "1", "query": "greet", "repo": "one", "relevant": [{"path": "inner/src/greeting.py", "start": None}]},
        {"id": "2", "query": "parse line", "repo": "two", "relevant": [{"path": "parser.py"}], "usable": True},
        {"id": "4", "query": "greet", "repo": "one", "relevant": [{"path": "src/greeting.py"}]},
        {"id": "3", "query": "nowhere", "repo": "three", "relevant": [{"path": "x"}], "usable": False},
    ]
    file = asked(cqm, questions)
    roots = [{"name": "one", "benchmark_root": "inner"}, {"name": "two", "benchmark_root": None}]
    Path(file).with_name("repos.json").write_text(json.dumps(roots), encoding="utf-8")
    (everything, mean, *_) = cqm.json("eval", file, "trees", "--mode", "lexical")
    assert (everything["questions"], everything["figures"]["file"]["Pass@1"]) == (3, 1)
    assert mean["group"] == "mean of trees"


@pytest.mark.parametrize("inner", ["/etc", "../.."])
def test_a_tree_that_is_not_below_the_root_is_not_indexed(cqm: "Cqm", inner: str) -> None:
    file = asked(cqm, [{"id": "1", "query": "greet", "tree": "src", "targets": [{"path": "greeting.py"}]}])
    Path(file).with_name("repos.json").write_text(json.dumps([{"name": "src", "benchmark_root": inner}]), "utf-8")
    done = cqm.run("eval", file, ".")
    assert (done.returncode, "expected a tree in" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "line 1: not JSON"),
        ("[]", "line 1: expected an object"),
        ('{"id": "1", "query": "x"}', 'line 1: "targets": expected a list'),
        ('{"query": "x", "targets": [{"path": "a"}]}', "line 1: \"id\" '': expected text"),
        (
            '{"id": "1", "query": "x", "targets": [{"path": "a", "start": 4, "end": 2}]}',
            "expected a path, with start and end",
        ),
        ('{"id": "1", "query": "x", "targets": [{"path": "a"}]}\n' * 2, "line 2: \"id\" '1': expected each id once"),
    ],
)
def test_a_bad_line_is_named(cqm: "Cqm", line: str, complaint: str) -> None:
    (cqm.project / "bad.jsonl").write_text(line, encoding="utf-8")
    done = cqm.run("eval", "bad.jsonl")
    assert done.returncode == 2
    assert complaint in done.stderr


def test_a_target_that_no_file_has_was_a_plain_miss(cqm: "Cqm") -> None:
    line = '{"id": "1", "query": "greet", "targets": [{"path": "src/greetings.py"}, {"path": "src/greeting.py"}]}'
    (cqm.project / "renamed.jsonl").write_text(line, encoding="utf-8")
    done = cqm.run("eval", "renamed.jsonl")
    assert done.returncode == 0
    assert "has no file for 1: src/greetings.py. Correct these targets." in done.stderr


def test_a_change_of_ranking_is_a_difference_from_the_golden_files(cqm: "Cqm", tmp_path: Path) -> None:
    command = ["eval", asked(cqm, ASKED), "--mode", "lexical", "--golden", str(tmp_path / "golden")]
    assert cqm.run(*command, "--accept").returncode == 0
    assert cqm.run(*command).returncode == 0
    for number in range(60):
        (cqm.project / "docs" / f"{number}.md").write_text("How to greet people.\n" * (number + 1), encoding="utf-8")
    changed = cqm.run(*command)
    assert changed.returncode == 1
    assert "-  ranks    file 1\n" in changed.stdout
    assert "totals.txt now" in changed.stdout


def test_accepting_needs_to_know_where(cqm: "Cqm") -> None:
    assert "--accept needs --golden" in cqm.run("eval", asked(cqm, ASKED), "--accept").stderr


def test_the_ranks_of_real_questions_are_those_that_were_reviewed(cqm: "Cqm") -> None:
    """`CQM_WRITE_GOLDEN=1 tests/run tests/server/cli/test_eval.py` writes them anew."""
    tree = cqm.project.parent / "documents"
    shutil.copytree(DOCUMENTS, tree)
    accept = ["--accept"] if os.environ.get("CQM_WRITE_GOLDEN") else []
    golden = ["--golden", str(GOLDEN), "--set", "embedding.provider=embedded", *accept]
    done = cqm.run("eval", str(GOLDEN / "questions.jsonl"), str(tree), *golden)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such device")
@pytest.mark.parametrize(
    ("command", "code", "told"),
    [
        (("eval", "/dev/zero"), 2, "expected a regular file"),
        (("search", "--batch", "/dev/zero"), 2, "line 1: expected an object of a question"),
        (("bulk", "/dev/zero", "out"), 1, "The list has over"),
    ],
)
def test_a_list_without_an_end_is_refused(cqm: "Cqm", command: tuple[str, ...], code: int, told: str) -> None:
    done = cqm.run(*command)
    assert (done.returncode, told in done.stderr) == (code, True)
