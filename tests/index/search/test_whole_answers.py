"""Nothing that answers a question is hidden: by copies of another text, by the size of a page, or by an update."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from cqm.index.engine import Index
from cqm.index.model.options import IndexOptions
from cqm.index.model.query import Answer, Query

pytestmark = pytest.mark.processes


def paths_of_all_pages(index: Index, text: str) -> list[str]:
    paths, cursor = [], ""
    while True:
        answer = index.search(Query(text, limit=100, cursor=cursor))
        paths += [hit.path for hit in answer.hits]
        if not (cursor := answer.next_cursor):
            return paths


def test_copies_of_one_text_hide_no_other_text(tree: Path, options: IndexOptions) -> None:
    for number in range(130):
        (tree / f"copy_{number}.py").write_text("def charge(card):\n    return card.charge() + card.charge()\n")
    for number in range(20):
        (tree / f"own_{number}.py").write_text(
            f"def pay_{number}(card):\n    return card.charge({number}) or other()\n"
        )
    with Index.open(tree, options) as index:
        index.update()
        found = paths_of_all_pages(index, "charge card")
    assert sum(path.startswith("own_") for path in found) == 20
    assert sum(path.startswith("copy_") for path in found) == 1


def test_all_pages_together_have_all_that_matches_once(tree: Path, options: IndexOptions) -> None:
    for number in range(250):
        (tree / f"pay_{number}.py").write_text(f"def pay_{number}(card):\n    return card.charge({number})\n")
    with Index.open(tree, options) as index:
        index.update()
        found = paths_of_all_pages(index, "charge card")
    assert sorted(found) == sorted(f"pay_{number}.py" for number in range(250))


def test_scores_are_the_same_in_the_process_that_wrote_an_index_and_after_it_is_opened_again(
    tree: Path, options: IndexOptions
) -> None:
    # A file without a chunk has words of its path all the same.
    for path in ("payment/gateway/__init__.py", "invoice.py", "gateway.py"):
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text("" if path.endswith("__init__.py") else f"def settle(payment):  # {path}\n    pass\n")
    scores: list[dict[str, float]] = []

    def note(answer: Answer) -> None:
        scores.append({hit.path: round(hit.score, 4) for hit in answer.hits})

    with Index.open(tree, options) as index:
        index.update()
        note(index.search(Query("payment gateway", limit=20)))
    with Index.open(tree, options) as index:
        note(index.search(Query("payment gateway", limit=21)))
    assert scores[0] == scores[1]


def test_a_file_is_found_all_along_while_it_is_updated(tree: Path, options: IndexOptions) -> None:
    done, wrong = Event(), []

    def search(index: Index) -> int:
        count = 0
        while not done.is_set():
            count += 1
            found = {hit.path for hit in index.search(Query(f"gather value {count}")).hits}
            wrong.extend([found] * (len(found) != 3))
        return count

    with Index.open(tree, options) as index, ThreadPoolExecutor(2) as pool:
        index.update()
        searching = [pool.submit(search, index) for _ in range(2)]
        for turn in range(60):
            for number in range(3):
                text = f"def gather_{number}(value):\n    return value + {turn}\n"
                (tree / f"part_{number}.py").write_text(text)
            index.update([f"part_{number}.py" for number in range(3)])
        done.set()
        assert min(future.result() for future in searching) > 0
    assert wrong == []
