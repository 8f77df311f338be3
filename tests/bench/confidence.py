"""Count how often an answer's confidence is right, for questions asked of their own repository and of others.

Usage: python tests/bench/confidence.py --bench DIR --trees DIR [--of 40] [--mode M]

The folders are those of quality.py. Each repository is asked its own questions, `--of` questions of repositories in
other languages, and nonsense. Odd and even repositories are counted apart: the weights were learned from the first,
third, fifth ... by name.
"""

import argparse
import json
import random
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

NONSENSE = (
    "asdkjhaskjdh",
    "qwzx vbnm plokij",
    "how does the flux capacitor charge",
    "recipe for chocolate cake",
    "zebra quantum entanglement handler",
    "medieval castle siege tactics",
    "blorptastic fizzwidget",
)


def main() -> None:
    """Ask, and print a row for each half and kind of question."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", type=Path, required=True)
    parser.add_argument("--trees", type=Path, required=True)
    parser.add_argument("--of", type=int, default=40)
    parser.add_argument("--mode", default="hybrid")
    options = parser.parse_args()
    questions = defaultdict(list)
    for line in (options.bench / "queries.jsonl").read_text(encoding="utf-8").splitlines():
        question = json.loads(line)
        if question.get("usable", True):
            questions[question["repo"]].append(question)
    counts: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    chance = random.Random(3)
    repos = sorted(
        json.loads((options.bench / "repos.json").read_text(encoding="utf-8")), key=lambda it: str(it["name"])
    )
    for number, repo in enumerate(repos):
        own = questions[repo["name"]]
        languages = {it["language"] for it in own}
        others = [it["query"] for of in questions.values() for it in of if it["language"] not in languages]
        kinds = {
            "own": [it["query"] for it in own],
            "others": chance.sample(others, options.of),
            "nonsense": [*NONSENSE],
        }
        half = "learned from" if number % 2 == 0 else "apart"
        for kind, texts in kinds.items():
            tree = options.trees / repo["name"] / (repo["benchmark_root"] or "")
            counts[half, kind].update(confidences(tree, texts, options.mode))
    for (half, kind), of in sorted(counts.items()):
        total = sum(of.values())
        shares = "  ".join(f"{name} {of[name] / total:.3f}" for name in ("high", "low", "none"))
        print(f"{half:12} {kind:9} {total:5}  {shares}")


def confidences(tree: Path, texts: list[str], mode: str) -> list[str]:
    """Ask questions of a tree in one run of `cqm search --batch`."""
    lines = "".join(json.dumps({"id": number, "query": text}) + "\n" for number, text in enumerate(texts))
    cqm = str(Path(sys.executable).with_name("cqm"))
    command = [cqm, "search", "--path", str(tree), "--batch", "-", "--mode", mode, "--json"]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    return [json.loads(line)["confidence"] for line in done.stdout.splitlines()]


if __name__ == "__main__":
    main()
