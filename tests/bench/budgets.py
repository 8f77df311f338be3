"""Count the tokens of replies, as OpenAI's encodings do, against the budgets that they were written for.

Usage: python tests/bench/budgets.py QUESTIONS.jsonl TREE [--budgets 200,500,1000,2000,4000] [--questions N]

QUESTIONS is a file as `cqm eval` takes it. TREE is indexed, or its index brought up to date, first.
"""

import argparse
import json
from pathlib import Path
from statistics import fmean

from cqm.chunkers.tokens import openai_tokenizer
from cqm.index.engine import Index
from cqm.index.model.query import Query
from cqm.server.answers.render import render_answer


def main() -> None:
    """Print a row for each budget."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions_file", type=Path, metavar="QUESTIONS.jsonl")
    parser.add_argument("tree", type=Path)
    parser.add_argument("--budgets", default="200,300,500,1000,2000,4000")
    parser.add_argument("--questions", type=int, default=200)
    given = parser.parse_args()
    lines = given.questions_file.read_text(encoding="utf-8").splitlines()[: given.questions]
    queries = [Query(json.loads(line)["query"], limit=10) for line in lines]
    tokenizer = openai_tokenizer("o200k_base")
    with Index.open(given.tree) as index:
        index.update()
        answers = [index.search(query) for query in queries]
    print(f"{'budget':>8}{'replies':>9}{'above':>7}{'largest':>9}{'mean':>7}")
    for budget in map(int, given.budgets.split(",")):
        replies = (render_answer(*pair, budget, root=str(given.tree)) for pair in zip(queries, answers, strict=True))
        shares = [tokenizer.count(reply) / budget for reply in replies]
        above = sum(share > 1 for share in shares)
        print(f"{budget:>8}{len(shares):>9}{above:>7}{max(shares):>9.3f}{fmean(shares):>7.3f}")


if __name__ == "__main__":
    main()
