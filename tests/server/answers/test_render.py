"""Answers as text: what is named, what a token budget cuts, and what a terminal gets to see."""

import re
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cqm.chunkers.tokens import openai_tokenizer
from cqm.index.model.freshness import Freshness, FreshState
from cqm.index.model.query import Answer, Confidence, Hit, Query, SearchMode
from cqm.server import console
from cqm.server.answers import terminal
from cqm.server.answers.budget import most_tokens
from cqm.server.answers.render import render_answer, shown_spans

LINES = "\n".join(f"    line {number} of the body" for number in range(1, 41))
HIT = Hit(
    path="src/url.py",
    start_line=10,
    end_line=50,
    score=0.8312,
    symbol="Url.parse",
    kind="method",
    language="python",
    text=f"def parse(text):\n{LINES}\n",
    parts={"lexical": 0.5, "semantic": 0.3312},
)
ANSWER = Answer(
    hits=(HIT,),
    next_cursor="",
    mode=SearchMode.HYBRID,
    degraded="",
    files=210,
    chunks=1234,
    complete=True,
    failed_files=0,
    updated_at=1.0,
)
QUERY = Query("where are urls parsed")
MARK = "#01234567"


def hits(count: int) -> tuple[Hit, ...]:
    return tuple(replace(HIT, path=f"src/file_{number}.py", score=1 / (number + 1)) for number in range(count))


def test_a_hit_is_its_place_symbol_kind_and_score_and_its_lines() -> None:
    text = render_answer(QUERY, ANSWER, 6000, mark=MARK)
    assert f"\n\n{MARK} src/url.py:10-50  Url.parse (method)  0.831\n{HIT.text.rstrip()}\n" in text


def test_a_hit_without_a_symbol_is_named_by_its_kind() -> None:
    text = render_answer(QUERY, replace(ANSWER, hits=(replace(HIT, symbol="", kind="text"),)), 6000)
    assert "src/url.py:10-50  (text)  0.831\n" in text


def test_the_header_says_what_was_searched_how_and_how_fresh_it_is() -> None:
    query = replace(QUERY, languages=("python",), include=("src/**",))
    header = render_answer(query, ANSWER, 6000, root="/home/me/urls").splitlines()[0]
    assert header.startswith('1 result for "where are urls parsed" (hybrid, language python, include src/**) from ')
    assert "1,234 chunks of 210 files in /home/me/urls, updated " in header
    assert header.endswith(" weeks ago, freshness unknown.")


@pytest.mark.parametrize(
    ("freshness", "end", "notes"),
    [
        (Freshness(FreshState.FRESH, 0), " weeks ago, fresh.", []),
        (Freshness(FreshState.UNKNOWN), " weeks ago, freshness unknown.", []),
        (Freshness(FreshState.STALE, 1234), " weeks ago.", ["Note: 1,234 changed files are not indexed yet."]),
        (
            Freshness(FreshState.STALE, None, git_head="b" * 40, indexed_head="a" * 40),
            " weeks ago.",
            [f"Note: the index is of commit {'a' * 10}, HEAD is {'b' * 10}."],
        ),
    ],
)
def test_an_answer_says_how_fresh_it_is_and_what_it_lacks(freshness: Freshness, end: str, notes: list[str]) -> None:
    header, *rest = render_answer(QUERY, replace(ANSWER, freshness=freshness), 6000).splitlines()
    assert header.endswith(end)
    assert [line for line in rest if line.startswith("Note: ")] == notes


@pytest.mark.parametrize(
    ("answer", "note"),
    [
        (replace(ANSWER, degraded="Ollama is down."), "Note: Ollama is down."),
        (
            replace(ANSWER, degraded="Ollama is down.", mode=SearchMode.LEXICAL),
            "Note: searched by words alone: Ollama is down.",
        ),
        (replace(ANSWER, complete=False), "Note: the index is not complete yet"),
        (replace(ANSWER, failed_files=3), "Note: 3 file(s) could not be indexed"),
    ],
)
def test_each_reason_to_doubt_the_answer_is_said_before_the_hits(answer: Answer, note: str) -> None:
    text = render_answer(QUERY, answer, 6000)
    assert note in text
    assert text.index(note) < text.index("src/url.py")
    assert note not in render_answer(QUERY, ANSWER, 6000)


def test_a_long_query_is_shortened_to_one_line() -> None:
    header = render_answer(replace(QUERY, text="why\n" * 200), ANSWER, 6000).splitlines()[0]
    assert header.startswith('1 result for "why why')
    assert len(header) < 200


def test_the_parts_of_a_score_are_named_on_request() -> None:
    assert " = lexical 0.500 + semantic 0.331\n" in render_answer(QUERY, ANSWER, 6000, explain=True)
    assert "lexical" not in render_answer(QUERY, ANSWER, 6000)


def test_the_next_page_is_offered() -> None:
    assert 'cursor "10"' in render_answer(QUERY, replace(ANSWER, next_cursor="10"), 6000)
    assert "cursor" not in render_answer(QUERY, ANSWER, 6000)


def test_a_hit_that_exceeds_the_budget_is_cut_after_a_line_and_says_how_much_is_missing() -> None:
    text = render_answer(QUERY, ANSWER, 300)
    shown = re.findall(r"^    line \d+ of the body$", text, re.MULTILINE)
    missing = re.search(r"^#\d{8} \[lines (\d+)-50 left out\]$", text, re.MULTILINE)
    assert missing
    assert 0 < len(shown) < 40
    assert 10 + 1 + len(shown) == int(missing[1])


def test_hits_beyond_the_budget_are_named_without_their_lines() -> None:
    text = render_answer(QUERY, replace(ANSWER, hits=hits(10)), 600)
    with_lines, bare = text.split("Named only, their lines are beyond the budget of 600 tokens:\n")
    assert "line 1 of the body" in with_lines
    assert "of the body" not in bare
    assert "src/file_" in bare


def test_hits_that_cannot_even_be_named_are_counted() -> None:
    text = render_answer(QUERY, replace(ANSWER, hits=hits(100)), 1000)
    counted = re.search(r"(\d+) more results are beyond the budget", text)
    assert counted
    assert len(re.findall(r"^(?:#\d{8} )?src/file_\d+\.py:", text, re.MULTILINE)) + int(counted[1]) == 100


@given(
    budget=st.integers(300, 5000),
    sizes=st.lists(st.integers(1, 300), max_size=40),
    line=st.sampled_from(
        ["", "x" * 200, "  return {self.head[0]: b'\\x00', **rest}", "検索は速い。", "0x3fa9b2c1, 0.25, -17"]
    ),
    cursor=st.sampled_from(["", "40"]),
    confidence=st.sampled_from(Confidence),
)
# Once five attempts with less room each made the same reply, which was above its budget.
@example(budget=595, sizes=[26, 1], line="0x3fa9b2c1, 0.25, -17", cursor="", confidence=Confidence.HIGH)
def test_no_answer_exceeds_its_budget_as_a_model_counts_it(
    budget: int, sizes: list[int], line: str, cursor: str, confidence: Confidence
) -> None:
    found = tuple(replace(HIT, text="\n".join([line] * lines)) for lines in sizes)
    answer = replace(ANSWER, hits=found, next_cursor=cursor, degraded="There is no embedder.", complete=False)
    answer = replace(answer, confidence=confidence)
    assert openai_tokenizer("o200k_base").count(render_answer(QUERY, answer, budget)) <= budget


@pytest.mark.parametrize(
    ("query", "answer", "advice"),
    [
        (QUERY, replace(ANSWER, hits=()), "Try the name of a symbol or file"),
        (replace(QUERY, languages=("cobol",)), replace(ANSWER, hits=()), "without the filters (language cobol)"),
        (QUERY, replace(ANSWER, hits=(), chunks=0, files=0), "The index is empty. Check its status"),
        (replace(QUERY, cursor="50"), replace(ANSWER, hits=()), "There is no further page."),
    ],
)
def test_when_nothing_is_found_the_answer_says_what_to_do(query: Query, answer: Answer, advice: str) -> None:
    text = render_answer(query, answer, 6000)
    assert text.startswith("No results for ")
    assert advice in text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31mred", "a␛[31mred"),
        ("bell\x07 back\x08 del\x7f", "bell␇ back␈ del\\u007f"),
        ("\x9b31m", "\\u009b31m"),
        ("access\u202e level", "access\\u202e level"),
        ("two\r\nlines\tand\rmore", "two\nlines\tand␍more"),
        ("plain äöü 日本語", "plain äöü 日本語"),
    ],
)
def test_control_characters_are_shown_and_not_obeyed(text: str, shown: str) -> None:
    assert console.visible(text) == shown


def test_a_terminal_sees_no_escape_of_an_indexed_file(capsys: pytest.CaptureFixture[str]) -> None:
    evil = replace(HIT, path="a\x1b[2J.py", symbol="f\x1b]0;x\x07", text="x = 1 \x1b[31m\x9b31m\n" * 900, end_line=909)
    terminal.show_answer(QUERY, replace(ANSWER, hits=(evil,)), root="/r\x1b[2J", explain=True)
    shown = capsys.readouterr().out
    assert not set(shown) & {"\x1b", "\x9b", "\x07"}
    assert re.search(r"\[lines \d+-909 left out\]", shown)


def definitions(count: int) -> tuple[Hit, ...]:
    names = [f"Type{number}.{'run' if number % 2 else 'Run'}" for number in range(count)]
    return tuple(
        replace(
            HIT, path=f"src/file_{number}.py", symbol=name, line=7, signature=f"def run(self,\n  n{number})", chance=0.1
        )
        for number, name in enumerate(names)
    )


def test_ten_definitions_of_the_name_asked_for_are_a_line_each_and_passages_on_request() -> None:
    found, query = replace(ANSWER, hits=definitions(10), asked_names=("run",)), replace(QUERY, text="run")
    text = render_answer(query, found, 6000, mark=MARK)
    assert f"\n{MARK} src/file_3.py:7  Type3.run (method)  def run(self, n3)  0.10\n" in text
    assert text.count("src/file_") == 10
    assert HIT.text not in text
    assert [span.start for span in shown_spans(query, found, 6000)] == [7] * 10
    assert HIT.text in render_answer(query, found, 6000, mark=MARK, compact=False)
    for others in (definitions(9), (*definitions(9), HIT)):
        assert HIT.text in render_answer(query, replace(found, hits=others), 6000, mark=MARK)
    # Headings and keys have no signature: their lines alone tell nothing.
    headings = tuple(replace(hit, signature="", kind="section") for hit in definitions(10))
    assert HIT.text in render_answer(query, replace(found, hits=headings), 6000, mark=MARK)
    # A question that is no name has no definitions.
    assert HIT.text in render_answer(query, replace(found, asked_names=()), 6000, mark=MARK)


def test_a_definition_found_in_two_chunks_is_one_compact_line_and_overloads_are_two() -> None:
    long, other = definitions(2)
    overload = replace(long, line=90)
    hits = (long, other, replace(long, start_line=40, end_line=80), overload)
    text = render_answer(QUERY, replace(ANSWER, hits=hits), 6000, mark=MARK, compact=True)
    assert [text.count(it) for it in ("file_0.py:7 ", "file_0.py:90 ", "file_1.py:7 ")] == [1, 1, 1]
    assert text.index("file_0.py:7") < text.index("file_1.py:7")


def test_compact_lines_beyond_the_budget_are_counted() -> None:
    found = replace(ANSWER, hits=(HIT, *definitions(60)))
    text = render_answer(QUERY, found, 400, mark=MARK, compact=True)
    shown = text.count("src/")
    assert 5 < shown < 61
    assert f"{61 - shown} more results are beyond the budget of 400 tokens" in text
    assert most_tokens(text) <= 400


def named(symbol: str, rank: int, *, asked_line: int | None = None) -> Hit:
    path = f"src/file_{rank}.py"
    return replace(
        HIT, path=path, symbol=symbol, line=10, extent=(10, 14), chance=0.95 / (1 + rank), asked_line=asked_line
    )


def test_a_definition_asked_for_is_shown_alone_and_a_few_others_are_told_in_a_line_each() -> None:
    others = [named(f"Url.other_{rank}", rank) for rank in range(1, 10)]
    found = replace(ANSWER, hits=(named("Url.parse", 0), *others), asked_names=("parse",))
    text = render_answer(replace(QUERY, text="Url.parse"), found, 6000, mark=MARK)
    assert f"{MARK} src/file_0.py:10-14  Url.parse (method)  0.95\n" in text
    assert "line 4 of the body" in text
    # Nothing around the definition, and no word about what is left out of its chunk.
    assert "line 5 of the body" not in text
    assert "left out" not in text
    assert f"{MARK} Named only, less likely:\nsrc/file_1.py:" in text
    assert text.count("src/file_") == 5
    assert 'cursor "5"' in text
    assert shown_spans(replace(QUERY, text="Url.parse"), found, 6000)[0].end == 14


@pytest.mark.parametrize(("budget", "is_told"), [(6000, True), (500, False)])
def test_a_comment_stands_with_its_definition_unless_it_would_fill_the_reply(budget: int, is_told: bool) -> None:
    comment = [f"# remark {number} of the comment" for number in range(60)]
    text = "\n".join([*comment, "def parse(text):", "    return split(text)"])
    hit = replace(HIT, start_line=1, end_line=62, symbol="Url.parse", line=61, extent=(61, 62), chance=0.95, text=text)
    shown = render_answer(replace(QUERY, text="Url.parse"), replace(ANSWER, hits=(hit,)), budget, mark=MARK)
    assert "return split(text)" in shown
    assert ("remark 0 " in shown) is is_told


def test_the_frames_of_a_trace_are_shown_and_other_results_wait_for_the_next_page() -> None:
    frames = [named(f"step_{rank}", rank, asked_line=12) for rank in range(3)]
    found = replace(ANSWER, hits=(*frames, *(named(f"word_{rank}", rank) for rank in range(3, 10))))
    text = render_answer(replace(QUERY, text="panic: x\n src/a.go:12\n src/b.go:12"), found, 6000, mark=MARK)
    assert text.count("line 2 of the body") == 3
    assert text.count("src/file_") == 3


def test_room_that_is_left_shows_the_least_likely_results_too() -> None:
    chances = (0.4, 0.2, 0.009)
    found = tuple(replace(hit, chance=chance) for hit, chance in zip(hits(3), chances, strict=True))
    text = render_answer(QUERY, replace(ANSWER, hits=found), 6000, mark=MARK)
    assert text.count("line 40 of the body") == 3
    assert "Named only" not in text


def test_surroundings_are_left_out_where_they_hardly_hold_the_answer() -> None:
    long = "\n".join(f"    line {number} of the body" for number in range(1, 900))
    unlikely = replace(HIT, text=f"def parse(text):\n{long}\n", end_line=909, extent=(10, 12), chance=0.05)
    text = render_answer(QUERY, replace(ANSWER, hits=(unlikely,)), 24_000, mark=MARK)
    assert "line 2 of the body" in text
    assert "line 800 of the body" not in text
