"""A real model's server dies in the middle of indexing, and is back later."""

import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from relay import Relay
from stored_vectors import stored_spaces

from cqm.index.engine import Index
from cqm.index.model.options import CacheOptions, EmbeddingOptions, IndexOptions, RouteOptions
from cqm.index.model.query import Query, SearchMode

FUNCTION = "def {name}(values):\n" + "    # {name} looks at each of the values in turn\n" * 10 + "    return values\n"
WORDS = ("gather", "scatter", "select", "reject", "divide", "conquer", "measure", "compare", "publish", "withdraw")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    for number, word in enumerate(WORDS * 2):
        (root / f"{word}_{number}.py").write_text(FUNCTION.format(name=f"{word}_{number}"))
    return root


def counted_spaces(index: Index) -> dict[str, int]:
    """Return how many points have a vector, by its name in the store; the manifest says the same."""
    stored = stored_spaces(index)
    assert stored == {name: row.space for name, row in index._lineage.serving.manifest.chunks(stored).items()}
    return dict(Counter(stored.values()))


@pytest.mark.servers
def test_when_a_real_model_dies_another_takes_over_search_works_all_along_and_the_first_takes_back_its_chunks(
    tree: Path, tmp_path: Path, ollama_url: str, relay: Callable[[str], Relay]
) -> None:
    cut = relay(ollama_url)
    options = IndexOptions(
        home=tmp_path / "home",
        workers=1,
        embedding=EmbeddingOptions("ollama", "all-minilm", cut.url, batch_size=4),
        routes=RouteOptions(fallback=(EmbeddingOptions(),), retry_seconds=0.0),
        cache=CacheOptions(enabled=False),
    )
    failures: list[object] = []
    over = threading.Event()
    with Index.open(tree, options) as index:
        index.update()
        seeking = threading.Thread(target=_seek, args=(index, over, failures), daemon=True)
        seeking.start()
        cut.cut_after(3_000)
        for path in tree.iterdir():
            path.write_text(path.read_text() + "\n\ndone = True\n")
        summary = index.update()
        assert summary.failed == ()
        mixed = counted_spaces(index)
        assert summary.lacking == sum(count for space, count in mixed.items() if space.startswith("embedded"))
        assert summary.lacking > 0
        answer = index.search(Query("conquer_5"))
        assert answer.mode is SearchMode.HYBRID
        assert answer.hits[0].path == "conquer_5.py"
        cut.join()
        while index.improve().lacking:
            pass  # A question's call that began before the server was back is still under way.
        over.set()
        seeking.join()
        assert failures == []
        [(space, count)] = counted_spaces(index).items()
        assert space.startswith("ollama-all-minilm")
        assert count == index.status().chunks


def _seek(index: Index, over: threading.Event, failures: list[object]) -> None:
    """Search without a break: each answer has the file that was asked for first."""
    while not over.is_set():
        answer = index.search(Query("gather_0"))
        if not answer.hits or answer.hits[0].path != "gather_0.py":
            failures.append(answer)
