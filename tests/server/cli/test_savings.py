"""`cqm savings` counts what was answered, and what reading files would have cost."""

from pathlib import Path

import pytest

from cqm.chunkers.tokens import estimate
from cqm.index import Index, Query
from cqm.index.model.asked import AskedQuestion
from cqm.index.model.query import SearchMode
from cqm.server.cli.savings import savings_of
from cqm.server.watching.questions import durations

HELLO = 'def greet(name):\n    """Greet somebody."""\n    return f"hello {name}"\n\n\n' + "LEFT = 1\n" * 200


@pytest.mark.processes
def test_answers_are_compared_with_the_files_they_are_from(tmp_path: Path) -> None:
    (tmp_path / "hello.py").write_text(HELLO)
    with Index.open(tmp_path) as index:
        index.update()
        queries = [Query("greet somebody"), Query("greet", mode=SearchMode.EXACT), Query("greet", changed_since=4e9)]
        asked = [AskedQuestion(9.0, 0.1, "agent", "search", it.text, 1, it, index.search(it)) for it in queries]
    asked.append(AskedQuestion(1.0, 0.1, "agent", "read", "greet", 1))
    found = savings_of(asked, tmp_path, 6000)
    assert (found.searches, found.since) == (1, 9.0)
    assert found.reply_tokens > 0
    assert found.first_file_tokens == found.file_tokens == estimate(HELLO)
    (tmp_path / "hello.py").unlink()
    assert savings_of(asked, tmp_path, 6000).file_tokens == 0


def test_times_of_the_last_questions_are_told_by_method() -> None:
    asked = [AskedQuestion(0.0, seconds, "agent", "search", "x", 1) for seconds in (0.5, 0.1, 0.2, 0.3)]
    asked.append(AskedQuestion(0.0, 2.0, "agent", "read", "x", 1))
    assert durations(asked) == {
        "search": {"count": 4, "p50_seconds": 0.2, "p95_seconds": 0.5, "last_seconds": 0.5},
        "read": {"count": 1, "p50_seconds": 2.0, "p95_seconds": 2.0, "last_seconds": 2.0},
    }
    assert durations([]) == {}


def test_nothing_asked_is_nothing_saved(tmp_path: Path) -> None:
    assert savings_of([], tmp_path, 6000).searches == 0
