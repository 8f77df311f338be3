"""Count how often an answer's confidence is right, for questions asked of their own repository and of others.

Usage: python tests/bench/confidence.py --bench DIR --trees DIR [--packages DIR] [--of 40] [--mode M]

The folders are those of quality.py; `--packages` is the one that question_set.py made. Each repository and package is
asked its own questions, `--of` questions of those in other languages, and nonsense. Own questions count if the answer
is among the first ten. The weights were learned from the first, third, fifth ... of each kind, by name.
"""

import argparse
import json
import random
import subprocess
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NONSENSE = (
    "asdkjhaskjdh",
    "qwzx vbnm plokij",
    "how does the flux capacitor charge",
    "recipe for chocolate cake",
    "zebra quantum entanglement handler",
    "medieval castle siege tactics",
    "blorptastic fizzwidget",
)


_LEAST = 12
"""Questions of a package."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A tree with questions of its own: each a text, and the files and lines that answer it."""

    name: str
    kind: str
    language: str
    tree: Path
    questions: list[tuple[str, list[tuple[str, int, int]]]]


def repositories(bench: Path, trees: Path) -> list[Asked]:
    """Read the benchmark; any line of a relevant file answers."""
    own = defaultdict(list)
    for line in (bench / "queries.jsonl").read_text(encoding="utf-8").splitlines():
        it = json.loads(line)
        if it.get("usable", True):
            own[it["repo"]].append((it["query"], [(each["path"], 1, sys.maxsize) for each in it["relevant"]]))
    repos = json.loads((bench / "repos.json").read_text(encoding="utf-8"))
    return [
        Asked(
            it["name"], "repository", it["language"], trees / it["name"] / (it["benchmark_root"] or ""), own[it["name"]]
        )
        for it in repos
    ]


def packages(made: Path) -> list[Asked]:
    """Read the questions by span, each package a tree of its own."""
    own = defaultdict(list)
    for line in (made / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        it = json.loads(line)
        package = it["targets"][0]["path"].partition("/")[0]
        answers = [(each["path"].partition("/")[2], each["start"], each["end"]) for each in it["targets"]]
        own[it["language"], package].append((it["query"], answers))
    return [
        Asked(
            name, "package", language, made / "trees" / language / name, random.Random(5).sample(of, min(30, len(of)))
        )
        for (language, name), of in own.items()
        if len(of) >= _LEAST
    ]


def main() -> None:
    """Ask, and print a row for each half and kind of question."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", type=Path, required=True)
    parser.add_argument("--trees", type=Path, required=True)
    parser.add_argument("--packages", type=Path)
    parser.add_argument("--of", type=int, default=40)
    parser.add_argument("--mode", default="hybrid")
    options = parser.parse_args()
    sources = repositories(options.bench, options.trees) + (packages(options.packages) if options.packages else [])
    counts: defaultdict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    chance = random.Random(3)
    seen: Counter[str] = Counter()
    for source in sorted(sources, key=lambda it: it.name):
        of_others = [text for it in sources if it.language != source.language for text, _ in it.questions]
        asked: list[tuple[str, str, list[tuple[str, int, int]]]] = [
            *(("own", *question) for question in source.questions),
            *(("others", text, []) for text in chance.sample(of_others, options.of)),
            *(("nonsense", text, []) for text in NONSENSE),
        ]
        half = "learned from" if seen[source.kind] % 2 == 0 else "apart"
        seen[source.kind] += 1
        found = replies(source.tree, [text for _, text, _ in asked], options.mode)
        for (kind, _, wanted), reply in zip(asked, found, strict=True):
            if kind != "own" or is_answered(reply["results"], wanted):
                counts[half, source.kind, kind][reply["confidence"]] += 1
    for (half, of, kind), shares in sorted(counts.items()):
        total = sum(shares.values())
        told = "  ".join(f"{name} {shares[name] / total:.3f}" for name in ("high", "low", "none"))
        print(f"{half:12} {of:10} {kind:9} {total:5}  {told}")


def is_answered(results: list[dict[str, Any]], wanted: list[tuple[str, int, int]]) -> bool:
    """Whether one of the first ten results has a line that answers."""
    return any(
        (path == it["path"] or path.endswith(f"/{it['path']}")) and it["start_line"] <= end and it["end_line"] >= start
        for it in results[:10]
        for path, start, end in wanted
    )


def replies(tree: Path, texts: list[str], mode: str) -> list[dict[str, Any]]:
    """Ask questions of a tree in one run of `cqm search --batch`."""
    lines = "".join(json.dumps({"id": number, "query": text}) + "\n" for number, text in enumerate(texts))
    cqm = str(Path(sys.executable).with_name("cqm"))
    command = [cqm, "search", "--path", str(tree), "--batch", "-", "--mode", mode, "--json"]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


if __name__ == "__main__":
    main()
