"""Search a tree with semble 0.7, in an interpreter that has it: for `eval_rivals.py`, which starts it.

Usage: PYTHON semble_search.py TREE RESULTS, then a question as a JSON text per line of standard input. Each is answered
by a line {"semble": [[path, start, end], ...], "semble BM25": [...]}: its ranking over BM25 alone, and BM25 alone.

The model that it would embed with is replaced by one that finds nothing: its weights are not in the package. It imports
nothing of ours.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from semble.index.create import create_index_from_path
from semble.search import _search_bm25, search
from semble.types import SearchResult


class NoModel:
    """Embeds every text as the same vector."""

    dim = 1

    def encode(self, texts: list[str], **_: Any) -> Any:
        """One vector a text."""
        return np.ones((len(texts), 1), dtype=np.float32)


class NoVectors:
    """Finds nothing."""

    def query(self, _vectors: Any, **_: Any) -> list[tuple[list[int], list[float]]]:
        """No chunk at all."""
        return [([], [])]


def spans(results: list[SearchResult]) -> list[tuple[str, int, int]]:
    """Where results are."""
    return [(each.chunk.file_path, each.chunk.start_line, each.chunk.end_line) for each in results]


def main() -> None:
    """Answer each line."""
    tree, count = Path(sys.argv[1]).resolve(), int(sys.argv[2])
    answers, sys.stdout = sys.stdout, sys.stderr
    model: Any = NoModel()
    nothing: Any = NoVectors()
    bm25, _, chunks, _ = create_index_from_path(tree, model, display_root=tree)
    for line in sys.stdin:
        text = json.loads(line)
        ranked = search(text, model, nothing, bm25, chunks, count, alpha=0.0)
        raw = _search_bm25(text, bm25, chunks, count, None)
        answers.write(json.dumps({"semble": spans(ranked), "semble BM25": spans(raw)}) + "\n")


if __name__ == "__main__":
    main()
