from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

from cqm.index.engine import Index
from cqm.index.model import Query
from cqm.index.options import IndexOptions
from cqm.index.turns import Turns

SOON = 30.0


def test_an_update_that_takes_long_keeps_no_search_waiting_until_its_end() -> None:
    turns, entered = Turns(), Event()

    def search() -> None:
        with turns:
            entered.set()

    with ThreadPoolExecutor(1) as pool, turns.first():
        pool.submit(search)
        assert entered.wait(SOON)


def test_two_searches_go_at_once_and_the_next_when_one_of_them_ends() -> None:
    turns, going, may_end, third = Turns(), [Event(), Event()], [Event(), Event()], Event()

    def search(number: int) -> None:
        with turns:
            going[number].set()
            may_end[number].wait(SOON)

    def search_last() -> bool:
        with turns:
            third.set()
            return may_end[0].is_set()

    with ThreadPoolExecutor(3) as pool:
        for number in range(2):
            pool.submit(search, number)
            assert going[number].wait(SOON)
        last = pool.submit(search_last)
        may_end[0].set()
        assert third.wait(SOON)
        assert last.result(), "it began before another had ended"
        assert not may_end[1].is_set()
        may_end[1].set()


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
