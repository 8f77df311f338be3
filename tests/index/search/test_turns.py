import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from cqm.index.engine import Index
from cqm.index.model.options import IndexOptions
from cqm.index.model.query import Query
from cqm.index.search.fairness import Turns

SOON = 240.0


def test_an_update_that_takes_long_keeps_no_search_waiting_until_its_end() -> None:
    turns, entered = Turns(), Event()

    def search() -> None:
        with turns:
            entered.set()

    with ThreadPoolExecutor(1) as pool, turns.first():
        pool.submit(search)
        assert entered.wait(SOON)


def test_a_search_begins_when_the_one_before_it_ends_or_waits_for_something_else() -> None:
    turns, going, may_wait, second, may_end = Turns(), Event(), Event(), Event(), Event()

    def search() -> bool:
        with turns:
            going.set()
            assert may_wait.wait(SOON)
            assert not second.is_set(), "it began before the first had ended or waited"
            with turns.away():
                assert second.wait(SOON)
                may_end.set()
            return may_end.is_set()

    def search_meanwhile() -> None:
        with turns:
            second.set()
            assert may_end.wait(SOON)

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(search)
        assert going.wait(SOON)
        other = pool.submit(search_meanwhile)
        may_wait.set()
        assert first.result(SOON)
        other.result(SOON)


def test_searches_have_their_turns_in_the_order_in_which_they_came() -> None:
    turns, began = Turns(), []
    with ThreadPoolExecutor(8) as pool:

        def search(number: int) -> None:
            with turns:
                began.append(number)

        with turns:
            for number in range(8):
                pool.submit(search, number)
                until(lambda number=number: len(turns._line) == number + 2)
    assert began == list(range(8))


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SOON
    while not condition():
        assert time.monotonic() < deadline


@pytest.mark.processes
def test_updates_back_to_back_leave_searches_their_turns(tree: Path, options: IndexOptions) -> None:
    found = 0
    with Index.open(tree, options) as index, ThreadPoolExecutor(4) as pool:
        index.update()
        done = Event()

        def update() -> int:
            turn = 0
            while not done.is_set():
                turn += 1
                (tree / "part_0.py").write_text(f"def gather_0(value):\n    return value + {turn}\n")
                # Whoever follows the update may search too.
                index.update(["part_0.py"], report=lambda _: found_by(index, "gather_1"))
            return turn

        updating = pool.submit(update)
        searches = [pool.submit(found_by, index, f"gather_2 value {number}") for number in range(60)]
        found = sum(search.result(SOON) for search in searches)
        done.set()
        assert updating.result(SOON) > 0
    assert found == 60


def found_by(index: Index, text: str) -> bool:
    return bool(index.search(Query(text)).hits)
