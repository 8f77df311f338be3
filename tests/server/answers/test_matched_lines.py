"""Lines with a text or pattern, as grep prints them, within a budget."""

import pytest

from cqm.index.model.query import Answer, Confidence, Hit, Matched, Query, SearchMode
from cqm.server.answers.budget import most_tokens
from cqm.server.answers.matched_lines import matched_text

QUERY = Query("fetch(", mode=SearchMode.EXACT)


def hit(line: int, symbol: str = "", *, path: str = "src/a.py", around: int = 0) -> Hit:
    text = "\n".join(f"fetch({number})" for number in range(line - around, line + around + 1))
    kind = "function" if symbol else ""
    return Hit(path, line - around, line + around, 1.0, symbol, kind, "python", text, matches=((line, 0, 6),))


def answer(*hits: Hit, next_cursor: str = "") -> Answer:
    count = len(hits)
    return Answer(
        hits, next_cursor, QUERY.mode, "", 3, 9, complete=True, failed_files=0, updated_at=1.0,
        confidence=Confidence.HIGH if hits else Confidence.NONE, matched=Matched(count, count, min(count, 1), 3),
    )  # fmt: skip


def test_lines_stand_below_their_file_and_symbol_and_each_is_shown_once() -> None:
    text = matched_text(
        QUERY, answer(hit(4, "run", around=1), hit(6, "run", around=1), hit(8, around=1)), None, mark="#1"
    )
    assert text.startswith('3 lines of 1 file for "fetch(" (exact) from 9 chunks of 3 files')
    assert text.split("\n\n", 1)[1] == (
        "#1 src/a.py\n#1 in run (function)\n3-fetch(3)\n4:fetch(4)\n5-fetch(5)\n6:fetch(6)\n7-fetch(7)\n"
        "#1 top level\n8:fetch(8)\n9-fetch(9)\n"
    )


@pytest.mark.parametrize("budget", [200, 400, 1000])
def test_lines_beyond_the_budget_are_on_the_next_page(budget: int) -> None:
    hits = [hit(number * 3, f"run_{number}") for number in range(1, 100)]
    text = matched_text(QUERY, answer(*hits, next_cursor="99"), budget, mark="#1")
    shown = text.count(":fetch(")
    assert most_tokens(text) <= budget
    assert text.endswith(f'ask again with cursor "{shown}".\n')


def test_nothing_found_is_told_with_what_to_try() -> None:
    text = matched_text(QUERY, answer(), 1000)
    assert text.startswith('No line for "fetch(" (exact)')
    assert "mode regex" in text


def test_a_line_of_a_file_cannot_pass_for_one_of_ours() -> None:
    hostile = Hit("src/a.py", 1, 1, 1.0, "", "", "python", "fetch(\x1b[2J)", matches=((1, 0, 6),))
    assert "\x1b" not in matched_text(QUERY, answer(hostile), None)
