"""Compare our ranking with semble's, with raw BM25 and with plain hybrid: the same questions, trees and measures.

Usage: python tests/bench/eval_rivals.py CAPTURED TREES [--semble PYTHON] [--only FIELD=VALUE ...]

CAPTURED is what `evidence.py capture` wrote. PYTHON is an interpreter that has semble 0.7; its modes without weights
of a model are compared: its BM25 with its ranking, and its BM25 alone. Ours: "cqm" is `rank.rank`; "BM25" the order of
chunks by their own terms; "hybrid" that list and the one by cosine, fused by reciprocal rank (Cormack et al. 2009,
k = 60). Every system's results are shown as `evidence.py` says, so that a token buys each of them the same.
"""

import argparse
import json
import math
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from evidence import RESULTS, Ordered, _tokens, by_rank, captured, judge_all, within

from cqm.index.evaluation.evaluation import BUDGETS, Judged, Span, Summary, Topic, judge, summarise
from cqm.index.ranking.evidence import Candidate, Evidence

_K = 60
COLUMNS = (
    ("file", "NDCG@10"), ("file", "MRR@10"), ("file", "Recall@10"),
    ("span", "NDCG@10"), ("span", "MRR@10"), ("span", "Recall@10"),
    ("span recall within tokens", "500"), ("span recall within tokens", "2000"), ("file recall within tokens", "2000"),
)  # fmt: skip


def by_terms(_topic: Topic, evidence: Evidence, _folder: Path) -> list[Candidate]:
    """BM25 of chunks alone."""
    found = [chunk for chunk in evidence.candidates if chunk.id in evidence.terms]
    return sorted(found, key=lambda chunk: (-evidence.terms[chunk.id], chunk.path, chunk.start_line))


def by_fusion(_topic: Topic, evidence: Evidence, _folder: Path) -> list[Candidate]:
    """BM25 and cosine, fused by reciprocal rank."""
    fused: dict[str, float] = {}
    for scores in (evidence.terms, *evidence.dense):
        for place, name in enumerate(sorted(scores, key=lambda name: (-scores[name], name)), start=1):
            fused[name] = fused.get(name, 0.0) + 1 / (_K + place)
    found = [chunk for chunk in evidence.candidates if chunk.id in fused]
    return sorted(found, key=lambda chunk: (-fused[chunk.id], chunk.path, chunk.start_line))


OURS: Mapping[str, Ordered] = {"cqm": by_rank, "BM25": by_terms, "hybrid": by_fusion}


def semble(python: str, tree: Path, topics: Sequence[Topic]) -> dict[str, list[Judged]]:
    """Return what semble finds in a tree, by mode."""
    command = [python, str(Path(__file__).with_name("semble_search.py")), str(tree), str(RESULTS)]
    lines = "".join(f"{json.dumps(topic.text)}\n" for topic in topics)
    run = subprocess.run(command, input=lines, capture_output=True, text=True, encoding="utf-8", check=True)
    judged: dict[str, list[Judged]] = {}
    for topic, line in zip(topics, run.stdout.splitlines(), strict=True):
        for mode, results in json.loads(line).items():
            found = [Span(*result) for result in results]
            shown = {budget: within(found, lambda span: _tokens(tree, span), budget) for budget in BUDGETS}
            judged.setdefault(mode, []).append(judge(topic, found, shown))
    return judged


def systems(folder: Path, root: Path, python: str, only: Mapping[str, str]) -> Iterator[tuple[str, list[Judged]]]:
    """Every system's answers."""
    for name, order in OURS.items():
        yield name, judge_all(folder, root, order, only)
    rivals: dict[str, list[Judged]] = {}
    for tree in captured(folder) if python else ():
        topics = [topic for topic, _ in tree.asked if all(getattr(topic, key) == it for key, it in only.items())]
        for mode, judged in semble(python, root / tree.tree, topics).items() if topics else ():
            rivals.setdefault(mode, []).extend(judged)
        print(f"semble: {tree.tree} done", file=sys.stderr, flush=True)
    yield from rivals.items()


def print_tables(found: Mapping[str, Sequence[Summary]]) -> None:
    """A table for each group of questions, with a row for each system."""
    (some, *_) = found.values()
    heads = [f"{level.removesuffix(' recall within tokens')} {name}" for level, name in COLUMNS]
    print(f"| {'':42} | {' | '.join(heads)} |")
    print(f"|---|{'---:|' * len(COLUMNS)}")
    for place, group in enumerate(some):
        for name, summaries in found.items():
            summary = summaries[place]
            assert summary.group == group.group
            figures = [summary.figures[level][column] for level, column in COLUMNS]
            cells = " | ".join(f"{math.nan if value is None else value:.3f}" for value in figures)
            print(f"| {f'{summary.group} ({summary.questions}) {name}':42} | {cells} |")


def main() -> None:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("captured", type=Path)
    parser.add_argument("trees", type=Path)
    parser.add_argument("--semble", default="", metavar="PYTHON")
    parser.add_argument("--only", action="append", default=[], metavar="FIELD=VALUE")
    given = parser.parse_args()
    only = dict(each.split("=", 1) for each in given.only)
    trees = given.trees.resolve()
    answers = systems(given.captured, trees, given.semble, only)
    print_tables({name: list(summarise(judged)) for name, judged in answers})


if __name__ == "__main__":
    main()
