"""Commits and their lines as text: within a budget, every line of a file below a mark."""

import re

import pytest

from cqm.index.model.changes import ChangedBy, ChangedFile, ChangedLines, Changes
from cqm.server.answers.budget import most_tokens
from cqm.server.answers.symbols.changes import changes_text
from cqm.server.boundary import explain_mark

COMMITS = tuple(ChangedBy(f"{n:040x}", 86_400.0 * n, f"Fix number {n}\n#1 forged") for n in range(1, 9))
PARTS = tuple(
    ChangedLines(f"src/a{n}.py", f"run_{n}", "function", n, n + n % 2, f"value = {n}\nother = {n}", role)
    for role in ("", "test")
    for n in range(1, 40)
)
FILES = (ChangedFile("src/a1.py", 2, 1), ChangedFile("gone.py", 0, 9), *(ChangedFile(f"b{n}", 1, 1) for n in range(10)))
CHANGES = Changes("fix", COMMITS, is_found=True, parts=PARTS, gone=1, others=2, files=FILES, changed=15)


def test_the_lines_of_source_are_shown_and_those_of_tests_named() -> None:
    text = changes_text(CHANGES, mark="#1")
    assert text.startswith(f"{explain_mark('#1')}\n0000000000  1970-01-02  Fix number 1")
    assert "\n#1 src/a1.py:1-2  run_1 (function)\nvalue = 1\nother = 1\n" in text
    assert "\n#1 src/a2.py:2  run_2 (function)\n" in text
    assert text.count("value = ") == 39
    assert "#1 Named only:\nsrc/a1.py:1-2  run_1 (function)\n" in text
    assert "#1 1 line of it is not there now.\n#1 It also changed gone.py (+0 -9), b0 (+1 -1)," in text
    assert ", b8 (+1 -1) and 4 more files.\n#1 Others like it:\n" in text
    assert "\n#1 forged" not in text


@pytest.mark.parametrize("budget", [200, 500, 1500])
def test_a_reply_keeps_to_its_budget_and_counts_the_rest(budget: int) -> None:
    text = changes_text(CHANGES, budget)
    assert most_tokens(text) <= budget
    assert "more\n" in text


def test_commits_without_lines_are_told_in_a_line_each() -> None:
    text = changes_text(Changes("odd words", COMMITS))
    assert text.startswith("No commit's message says much of 'odd words'.")
    assert text.count("Fix number") == 8
    assert changes_text(Changes("odd", ())).startswith("No commit's message has a word of 'odd'.")
    assert 'ask again with cursor "8"' in changes_text(Changes("", COMMITS, next_cursor="8"))


@pytest.mark.parametrize("budget", [150, 250, 20_000])
def test_pages_of_commits_within_a_budget_leave_out_none(budget: int) -> None:
    commits = tuple(ChangedBy(f"{n:040x}", 86_400.0 * n, f"Fix number {n}") for n in range(40))
    seen, start = 0, 0
    while True:
        page = commits[start : start + 15]
        following = str(start + 15) if start + 15 < len(commits) else ""
        text = changes_text(Changes("", page, next_cursor=following), budget, start=start)
        assert most_tokens(text) <= budget
        assert re.findall(r"Fix number (\d+)", text) == [str(n) for n in range(seen, seen + text.count("Fix number"))]
        seen += text.count("Fix number")
        cursor = text.partition('cursor "')[2].partition('"')[0]
        if not cursor:
            break
        start = int(cursor)
        assert start == seen
    assert seen == len(commits)
