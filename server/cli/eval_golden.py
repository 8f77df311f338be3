"""Golden files of search: the ranks of every question and the totals, so a change of ranking is a diff to review.

`ranks.txt` has three lines a question: its id and text; the expected targets; the ranks of each target's file and
lines. `totals.txt` has the tables. git shows both well.
"""

from collections.abc import Mapping, Sequence
from difflib import unified_diff
from pathlib import Path

from cqm.index.evaluation.evaluation import Judged, Target
from cqm.index.evaluation.metrics import Rank

_RANKS, _TOTALS = "ranks.txt", "totals.txt"


def write_golden(folder: Path, judged: Sequence[Judged], totals: str) -> None:
    """Write both files for later comparisons."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in _texts(judged, totals).items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def compare_golden(folder: Path, judged: Sequence[Judged], totals: str) -> str:
    """Compare with the golden files; return a unified diff, empty without differences."""
    lines: list[str] = []
    for name, text in _texts(judged, totals).items():
        path = folder / name
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        lines += unified_diff(before.splitlines(), text.splitlines(), f"{path}", f"{name} now", n=2, lineterm="")
    return "".join(f"{line}\n" for line in lines)


def _texts(judged: Sequence[Judged], totals: str) -> Mapping[str, str]:
    blocks = map(_block, sorted(judged, key=lambda each: each.topic.id))
    return {_RANKS: "\n".join(blocks), _TOTALS: totals}


def _block(judged: Judged) -> str:
    topic = judged.topic
    expected = ", ".join(map(_place, topic.targets))
    ranks = f"file {_list(judged.files)}" + (f"  lines {_list(judged.spans)}" if judged.spans else "")
    return f"{topic.id}  {' '.join(topic.text.split())}\n  expected {expected}\n  ranks    {ranks}\n"


def _place(target: Target) -> str:
    return target.path if target.start is None else f"{target.path}:{target.start}-{target.end}"


def _list(ranks: Sequence[Rank]) -> str:
    return ", ".join("-" if rank is None else str(rank) for rank in ranks)
