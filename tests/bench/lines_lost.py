"""Count where replies lose the lines asked for: in the ranking, by doubt, or in what is shown of a result.

Usage: python tests/bench/lines_lost.py QUESTIONS.jsonl TREES [--home DIR] [--budgets 500,1000,2000,4000]
                                        [--only FIELD=VALUE ...] [--questions N]

QUESTIONS is a file as `cqm eval` takes it; questions without lines are left out. Each tree is indexed below DIR first.
All columns are shares of the wanted lines and add up to 1:

- shown: within the budget.
- cut: a result among the first ten has them, and the reply shows others of it, or only its name.
- doubt: a result among the first ten has them, and an answer of low confidence leaves that result out.
- later: results 11 to 50 have them.
- nowhere: none of 50 results has them.

"tokens" is the mean of a reply's, "no content" the share that CQM's own lines take, both by `o200k_base`.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from evidence import read

from cqm.chunkers.tokens import openai_tokenizer
from cqm.index.engine import Index
from cqm.index.evaluation.evaluation import Span, Topic
from cqm.index.model.options import IndexOptions
from cqm.index.model.query import Answer, Hit, Query
from cqm.server.answers.render import render_answer, shown_spans, trusted_part

PAGE, RESULTS = 10, 50
MARK = "#50642042"


class Asked(NamedTuple):
    """A question with its answer of 50 results."""

    topic: Topic
    query: Query
    answer: Answer


class Lost(NamedTuple):
    """Shares of a question's wanted lines by what became of them; then the tokens of the reply and of CQM's lines."""

    shown: float
    cut: float
    doubt: float
    later: float
    nowhere: float
    tokens: float
    own: float


def answered(root: Path, tree: str, topics: Sequence[Topic], home: Path | None) -> Iterator[Asked]:
    """Index a tree and ask its questions."""
    with Index.open(root / tree, IndexOptions(home=home)) as index:
        if index.update().lacking:
            index.improve()
        for topic in topics:
            query = Query(topic.text, limit=RESULTS)
            # Its age must not decide what fits into a budget.
            yield Asked(topic, query, replace(index.search(query), updated_at=time.time()))


def share(topic: Topic, spans: Sequence[Span]) -> float:
    """Return the mean share of each target's lines in some spans."""
    shares = []
    for path, start, end in topic.targets:
        if start is not None and end is not None:
            seen = {n for it in spans if it.path == path for n in range(max(it.start, start), min(it.end, end) + 1)}
            shares.append(len(seen) / (end - start + 1))
    return fmean(shares)


def lost(asked: Asked, budget: int) -> Lost:
    """Follow a question's wanted lines through its reply."""
    topic, query, answer = asked
    page = replace(answer, hits=answer.hits[:PAGE])
    shown = shown_spans(query, page, budget)
    trusted, first, found = (_spans(it) for it in (trusted_part(query, page).hits, page.hits, answer.hits))
    # What is shown beside the results, of their parents, counts as if it were theirs.
    shares = [share(topic, it) for it in (shown, [*shown, *trusted], [*shown, *first], [*shown, *found])]
    cut, doubt, later, nowhere = (after - before for before, after in zip(shares, [*shares[1:], 1.0], strict=True))
    reply = render_answer(query, page, budget, mark=MARK)
    tokenizer = openai_tokenizer("o200k_base")
    lines = reply.split("\n")
    above = next((place + 1 for place, line in enumerate(lines) if MARK in line), len(lines))
    own = "\n".join([*lines[:above], *(line for line in lines[above:] if line.startswith(MARK))])
    return Lost(shares[0], cut, doubt, later, nowhere, tokenizer.count(reply), tokenizer.count(own))


def _spans(hits: Sequence[Hit]) -> list[Span]:
    return [Span(hit.path, hit.start_line, hit.end_line) for hit in hits]


def main() -> None:
    """Print a row for each budget."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions_file", type=Path, metavar="QUESTIONS.jsonl")
    parser.add_argument("trees", type=Path)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--budgets", default="500,1000,2000,4000")
    parser.add_argument("--only", action="append", default=[], metavar="FIELD=VALUE")
    parser.add_argument("--questions", type=int, default=75, help="of a tree at most")
    given = parser.parse_args()
    only = dict(each.split("=", 1) for each in given.only)
    everything: list[Asked] = []
    for tree, topics in read(given.questions_file).items():
        wanted = [it for it in topics if all(getattr(it, name) == value for name, value in only.items())]
        lined = [it for it in wanted if any(target.start for target in it.targets)][: given.questions]
        everything += answered(given.trees, tree, lined, given.home) if lined else []
    print(
        f"{len(everything)} questions\n{'budget':>8}"
        + "".join(f"{name:>9}" for name in Lost._fields[:6])
        + "  no content"
    )
    for budget in map(int, given.budgets.split(",")):
        rows = [lost(asked, budget) for asked in everything]
        *shares, tokens, own = (fmean(column) for column in zip(*rows, strict=True))
        print(f"{budget:>8}" + "".join(f"{it:>9.3f}" for it in shares) + f"{tokens:>9.0f}{own / tokens:>12.3f}")


if __name__ == "__main__":
    main()
