"""The uses of a symbol as text: within a budget, every line of a file below a mark."""

import pytest

from cqm.chunkers.tokens import estimate
from cqm.index.model.uses import Caller, CallSite, Definition, Reference, ReferenceGroup, SymbolUses
from cqm.server.answers.symbols.usages import usage_text

GROUPS = [*ReferenceGroup]


def reference(number: int, group: ReferenceGroup, *, is_sure: bool = True, of: str = "") -> Reference:
    text = f"value = fetch({number}, 'some text of this line')"
    return Reference("src/caller.py", number, f"Caller.run_{number}", text, group, "call", "syntax", is_sure, of)


DEFINITION = Definition("src/client.py", 3, 9, "Client.fetch", "method", "def fetch(self)", "Fetch.\n\nSlowly.", 3)
NAMESAKE = Definition("src/other.py", 5, 6, "Other.fetch", "method", line=5)
OVERRIDING = Definition("src/sub.py", 7, 8, "Sub.fetch", "method", line=7, overrides="Client")
REFERENCES = tuple(reference(number + 1, GROUPS[number // 50]) for number in range(200))
TOTALS = {"definitions": 1, "namesakes": 2, "calls": 50, "uses": 50, "tests": 50, "documentation": 50}
USES = SymbolUses(
    "Client.fetch",
    (DEFINITION,),
    (CallSite("src/caller.py", 1, "Caller.run_1", "value = fetch(1)"),),
    (Definition("src/retries.py", 1, 2, "limit_retries", "function"),),
    200,
    is_complete=True,
    references=REFERENCES,
    totals=TOTALS,
    namesakes=(OVERRIDING, NAMESAKE),
    callers=(Caller(1, "run", "src/a.py", 4, "fetch"), Caller(2, "main", "src/a.py", 9, "run")),
)


def test_groups_overriding_members_namesakes_callees_and_callers_have_titles_of_their_own() -> None:
    text = usage_text(USES, mark="#1")
    assert text.startswith("Client.fetch: 1 definition, 50 calls, 50 other uses, 50 lines in tests, 50 lines in doc")
    assert "#1 src/client.py:3-9  Client.fetch (method)\n  def fetch(self)\n  | Fetch.\n" in text
    assert "#1 Overridden by:\n  src/sub.py:7-8  Sub.fetch (method)\n" in text
    assert "#1 1 other definition of this last name:\n  src/other.py:5-6  Other.fetch (method)\n" in text
    assert "#1 Called by:\n  src/caller.py\n    1  Caller.run_1  value = fetch(1, " in text
    assert "#1 In tests:\n  src/caller.py\n    101  Caller.run_101  call  value" in text
    assert "#1 Calls:\n  src/retries.py:1-2  limit_retries (function)\n" in text
    assert "#1 Callers of callers:\n  2  src/a.py:9  main calls run\n" in text
    assert "cursor" not in text


@pytest.mark.parametrize("budget", [200, 300, 500, 1000, 2000, 4000])
def test_an_answer_keeps_to_its_budget_and_names_the_cursor_of_the_first_line_left_out(budget: int) -> None:
    text = usage_text(USES, budget, start=40)
    assert estimate(text) <= budget
    shown = text.count("  value = fetch(")
    assert f'ask again with cursor "{40 + shown}".' in text


def test_references_of_others_and_doubtful_ones_are_told_apart() -> None:
    calls = ReferenceGroup.CALLS
    doubtful = (
        reference(1, calls),
        reference(2, calls, is_sure=False),
        reference(3, calls, is_sure=False, of="O.fetch"),
    )
    uses = SymbolUses("fetch", (DEFINITION,), (), (), 3, is_complete=True, references=doubtful, totals={"calls": 3})
    text = usage_text(uses, mark="#1")
    assert "#1 Called by:\n  src/caller.py:1  " in text
    assert "#1 Called by, perhaps of another with this name:\n  src/caller.py:2  " in text
    assert "#1 Called by, of others with this name:\n  src/caller.py:3  Caller.run_3  (of O.fetch)  " in text


def test_a_name_without_a_definition_is_told_with_its_lines_and_only_an_unknown_word_as_none() -> None:
    lines = (reference(1, ReferenceGroup.USES),)
    found = SymbolUses("thing", (), (), (), 0, is_complete=True, references=lines, totals={"uses": 1}, by_word=1)
    assert usage_text(found).startswith("thing: 0 definitions, 1 other use\nNote: 1 line told apart by words")
    nothing = SymbolUses("thing", (), (), (), 0, is_complete=True)
    assert usage_text(nothing) == "thing is no word of any file in the index. Search for it in other words.\n"
