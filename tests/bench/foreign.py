"""Ask a benchmark's questions in other languages: NDCG@10 of unique files beside the same questions in English.

Usage: python tests/bench/foreign.py --bench DIR --trees DIR [--others]

DIRs are those of `quality.py`; `foreign_questions.tsv` has its questions in other languages. Prints how many are
answered with each confidence. With --others each is asked of another repository, where none has an answer.
"""

import argparse
import json
from collections import Counter, defaultdict
from pathlib import Path
from statistics import fmean
from typing import Any

from quality import Answered, answers_of

_QUESTIONS = Path(__file__).with_name("foreign_questions.tsv")
_APART = 7
"""Places between a repository and the one that is asked with --others, by name."""


def asked(bench: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the questions in all languages, by repository; each has its own id, and `of` names the English one."""
    lines = (bench / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    known = {question["id"]: question for question in map(json.loads, lines)}
    rows = [line.split("\t") for line in _QUESTIONS.read_text(encoding="utf-8").splitlines()]
    rows += [[name, "en", known[name]["query"]] for name in dict.fromkeys(row[0] for row in rows)]
    found = defaultdict(list)
    for name, language, text in rows:
        question = known[name] | {"id": f"{name} {language}", "of": name, "language": language, "query": text}
        found[question["repo"]].append(question)
    return found


def print_table(answered: list[Answered]) -> None:
    """Print a row for each language."""
    english = {each.question["of"]: each for each in answered if each.question["language"] == "en"}
    groups = defaultdict(list)
    for each in answered:
        groups[each.question["language"]].append(each)
    print("language  questions  NDCG@10  in English  in ten  high  low  none")
    for language, some in sorted(groups.items(), key=lambda group: -len(group[1])):
        told = Counter(each.confidence for each in some)
        mean, beside = (fmean(it.ndcg for it in of) for of in (some, [english[it.question["of"]] for it in some]))
        found = sum(each.ndcg > 0 for each in some)
        counts = f"{found:6}  {told['high']:4} {told['low']:4}  {told['none']:4}"
        print(f"{language:8}  {len(some):9}  {mean:7.3f}  {beside:10.3f}  {counts}")


def main() -> None:
    """Ask all, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", type=Path, required=True)
    parser.add_argument("--trees", type=Path, required=True)
    parser.add_argument("--others", action="store_true", help="ask each question of another repository")
    given = parser.parse_args()
    questions, answered = asked(given.bench), list[Answered]()
    repositories = json.loads((given.bench / "repos.json").read_text(encoding="utf-8"))
    names = sorted(repo["name"] for repo in repositories)
    for repo in repositories:
        name = names[names.index(repo["name"]) - _APART] if given.others else repo["name"]
        if questions[name]:
            tree = given.trees / repo["name"] / (repo["benchmark_root"] or "")
            answered.extend(answers_of(tree, questions[name], ["--limit", "10"]))
    print_table(answered)


if __name__ == "__main__":
    main()
