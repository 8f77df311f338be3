"""Measure search quality: the real command line answers a benchmark's questions; NDCG@10 over unique files.

Usage: python tests/bench/quality.py --bench DIR --trees DIR [--results FILE] [--limit N] [--mode M] [--set OPTION]...

DIR of --bench holds `repos.json` (name, language, benchmark_root: the folder to index, or null for all) and
`queries.jsonl` (id, repo, language, category, query, relevant: targets with a path); DIR of --trees holds the
repositories by name. Each is indexed afresh in a temporary folder, then `cqm search --batch` answers its questions.

A file counts at its first result. With --limit 10 (a page) the results may come from fewer than ten files; with
50 or more the order of files is what counts. FILE gets a line per question: id and results with path, start and end.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

DEPTH = 10
COMMAND = Path(sys.executable).with_name("cqm")


@dataclass(frozen=True, slots=True)
class Answered:
    """A question with the paths and lines that were found for it, best first, and how sure the answer is."""

    question: dict[str, Any]
    results: tuple[dict[str, Any], ...]
    confidence: str = ""

    @property
    def ndcg(self) -> float:
        """NDCG@10 of unique files, every target equally relevant."""
        files = list(dict.fromkeys(result["path"] for result in self.results))[:DEPTH]
        targets = [target["path"] for target in self.question["relevant"]]
        places = {next((i for i, file in enumerate(files) if is_same_file(file, target)), None) for target in targets}
        gain = sum(1 / math.log2(place + 2) for place in places if place is not None)
        return gain / sum(1 / math.log2(place + 2) for place in range(min(DEPTH, len(targets))))


def is_same_file(found: str, target: str) -> bool:
    """Whether both paths name one file; one of them may be relative to a folder further down."""
    return found == target or target.endswith(f"/{found}") or found.endswith(f"/{target}")


def answers(bench: Path, trees: Path, options: Sequence[str]) -> Iterator[Answered]:
    """Index every repository and answer its questions."""
    questions = defaultdict(list)
    for line in (bench / "queries.jsonl").read_text(encoding="utf-8").splitlines():
        question = json.loads(line)
        if question.get("usable", True):
            questions[question["repo"]].append(question)
    for repo in json.loads((bench / "repos.json").read_text(encoding="utf-8")):
        tree = trees / repo["name"] / (repo["benchmark_root"] or "")
        yield from answers_of(tree, questions[repo["name"]], options)


def answers_of(tree: Path, questions: Sequence[dict[str, Any]], options: Sequence[str]) -> Iterator[Answered]:
    """Answer the questions about one tree, by an index of its own."""
    with tempfile.TemporaryDirectory() as home:
        batch = Path(home, "questions.jsonl")
        batch.write_text("".join(json.dumps({"id": q["id"], "query": q["query"]}) + "\n" for q in questions), "utf-8")
        # Alone: an owner still writes when the answers are there, into a folder that is deleted then.
        where = ["--path", str(tree), "--set", f"index.home={home}", "--set", "index.shared=false"]
        where += ["--batch", str(batch), "--json"]
        run = subprocess.run([COMMAND, "search", *where, *options], capture_output=True, check=False)
    found = {line["id"]: line for line in map(json.loads, run.stdout.decode().splitlines())}
    if run.returncode or len(found) != len(questions):
        sys.exit(
            f"{tree}: exit code {run.returncode}, {len(found)} of {len(questions)} answered\n{run.stderr.decode()}"
        )
    for question in questions:
        answer = found[question["id"]]
        yield Answered(question, tuple(answer["results"]), answer["confidence"])


def results_line(answered: Answered) -> str:
    """A line of RESULTS.jsonl."""
    results = [{"path": r["path"], "start": r["start_line"], "end": r["end_line"]} for r in answered.results]
    return json.dumps({"id": answered.question["id"], "results": results}) + "\n"


def print_table(answered: Sequence[Answered], key: str) -> None:
    """Mean NDCG@10 for each value of a question's field."""
    groups = defaultdict(list)
    for each in answered:
        groups[each.question[key]].append(each.ndcg)
    print(f"\n{key:22} questions  NDCG@{DEPTH}")
    for name, values in sorted(groups.items()):
        print(f"{name:22} {len(values):9}  {fmean(values):.3f}")


def mean_over_repositories(answered: Iterable[Answered]) -> float:
    """The figure that is compared: every repository weighs the same."""
    groups = defaultdict(list)
    for each in answered:
        groups[each.question["repo"]].append(each.ndcg)
    return fmean(fmean(values) for values in groups.values())


def main() -> None:
    """Run the benchmark and print its tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", type=Path, required=True)
    parser.add_argument("--trees", type=Path, required=True)
    parser.add_argument("--results", type=Path, default=Path("RESULTS.jsonl"))
    parser.add_argument("--limit", type=int, default=50)
    parser.add_argument("--mode", default="hybrid")
    parser.add_argument("--set", action="append", default=[])
    given = parser.parse_args()
    options = ["--limit", str(given.limit), "--mode", given.mode]
    options += [part for value in given.set for part in ("--set", value)]
    answered = []
    with given.results.open("w", encoding="utf-8") as results:
        for each in answers(given.bench, given.trees, options):
            answered.append(each)
            results.write(results_line(each))
    for key in ("repo", "language", "category"):
        print_table(answered, key)
    print(f"\n{len(answered)} questions, NDCG@{DEPTH} of unique files, mean over repositories: ", end="")
    print(f"{mean_over_repositories(answered):.4f}")


if __name__ == "__main__":
    main()
