"""Passages of an answer: what is joined, what is left out under a budget, and whether the numbers of lines are true."""

import re
from dataclasses import replace
from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqm.chunkers.tokens import estimate
from cqm.index.evaluation.evaluation import Span
from cqm.index.model.query import Answer, Hit, Parent, Query, SearchMode
from cqm.server.answers.budget import most_tokens
from cqm.server.answers.render import render_answer, shown_spans

QUERY = Query("how is the flux measured")
MARK = "#01234567"
BODY = "\n".join(f"    step_{number}()" for number in range(2, 8))


def chunk(position: int, start: int, text: str, **changes: object) -> Hit:
    """A chunk of src/a.py that begins at a line."""
    end = start + len(text.rstrip().split("\n")) - 1
    name = f"Meter.part_{position}"
    made = Hit("src/a.py", start, end, 2 - position / 10, name, "method", "python", text, position=position)
    return replace(made, **changes)  # type: ignore[arg-type]


def answer(*hits: Hit, parents: tuple[Parent, ...] = ()) -> Answer:
    return Answer(hits, "", SearchMode.HYBRID, "", 1, 9, complete=True, failed_files=0, updated_at=1.0, parents=parents)


FIRST = chunk(0, 1, f"def part_0():\n{BODY}\n")
SECOND = chunk(1, 9, f"def part_1():\n{BODY}\n")
FOURTH = chunk(3, 30, f"def part_3():\n{BODY}\n")
ELSEWHERE = replace(FOURTH, path="src/b.py", score=1.95)


def shown(found: Answer, budget: int = 6000) -> str:
    return render_answer(QUERY, found, budget, mark=MARK).split("\n\n", 1)[1]


def test_hits_side_by_side_are_one_passage_at_the_place_of_the_better_one() -> None:
    text = shown(answer(SECOND, ELSEWHERE, FIRST))
    head = "src/a.py:1-15  Meter.part_0 (method), Meter.part_1 (method)  1.900"
    assert text.startswith(f"{MARK} {head}\n{FIRST.text}\n{SECOND.text}\n{MARK} src/b.py:30-36")
    assert text.count("src/a.py") == 1


def test_hits_with_another_chunk_between_them_stay_apart() -> None:
    assert shown(answer(FIRST, FOURTH)).count("src/a.py:") == 2


def test_lines_that_two_chunks_share_are_shown_once() -> None:
    overlapping = chunk(1, 6, "    step_6()\n    step_7()\n    step_8()\n")
    text = shown(answer(FIRST, overlapping))
    assert re.findall(r"step_(\d)", text) == [*"2345678"]
    assert text.startswith(f"{MARK} src/a.py:1-8 ")


def test_chunks_that_meet_in_the_middle_of_a_line_are_not_joined() -> None:
    halves = chunk(0, 1, "one = [1, 2,"), chunk(1, 1, " 3, 4]\ntwo = 2")
    assert shown(answer(*halves)).count("src/a.py:") == 2


def test_the_declarations_that_a_chunk_stands_in_are_told_above_it() -> None:
    inside = replace(FOURTH, context="class Meter(Base):\n    class Inner:")
    assert shown(answer(inside)).split("\n")[1:3] == [f"{MARK} [in class Meter(Base): > class Inner:]", "def part_3():"]
    assert "[in" not in shown(answer(replace(inside, context="class " + "Meter" * 30)), 150)


def test_a_parent_of_which_parts_are_hits_is_shown_whole_and_once_where_there_is_room() -> None:
    head = chunk(2, 17, "class Other:\n    x = 1\n", score=0.0, symbol="Meter", kind="class")
    whole = Parent("src/a.py", "Meter", 0, 3, (head, replace(FOURTH, start_line=20, end_line=26)))
    found = answer(SECOND, FIRST, parents=(whole,))
    text = shown(found)
    assert text.startswith(f"{MARK} src/a.py:1-26  Meter (whole)  1.900\n")
    assert [text.count(part.text.rstrip()) for part in (FIRST, SECOND, head, FOURTH)] == [1, 1, 1, 1]
    assert "left out" not in text
    assert shown_spans(QUERY, found, 6000) == [Span("src/a.py", 1, 26)]
    # Not where one of its hits is cut, nor where a chunk of it is not at hand.
    assert "(whole)" not in render_answer(QUERY, found, 150)
    assert "(whole)" not in shown(answer(SECOND, parents=(whole,)))


def test_the_lines_that_say_what_is_asked_are_shown_of_a_long_chunk_with_what_is_left_out() -> None:
    lines = [f"    self.step_{number}()" for number in range(60)]
    lines[41] = "    return self.flux.measure()"
    long = chunk(0, 11, "\n".join(["@cached", "def part_0(self):", *lines]))
    text = shown(answer(long), 250)
    marks = re.findall(r"\[lines? ([\d-]+) left out\]", text)
    assert "    return self.flux.measure()\n" in text
    assert "def part_0(self):\n" in text
    assert marks[0] == "11"
    assert marks[-1].endswith("-72")
    spans = shown_spans(QUERY, answer(long), 250)
    assert spans[0] == Span("src/a.py", 12, 12)
    assert spans[1].start <= 11 + 2 + 41 <= spans[1].end


def test_a_short_function_among_others_is_shown_rather_than_a_part_of_two() -> None:
    functions = [f"def other_{n}():\n" + "\n".join(f"    step_{n}_{m}()" for m in range(9)) for n in range(6)]
    functions[3] = "def flux():\n    # measured\n" + "\n".join(f"    flow_{n}()" for n in range(6))
    packed = chunk(0, 1, "\n\n\n".join(functions), symbol="other_0")
    text = shown(answer(packed), 260)
    assert functions[3] in text


def test_of_a_content_lines_are_counted_and_not_numbered() -> None:
    content = "\n".join(f"cell line {number}" for number in range(200))
    notebook = chunk(0, 5, "{...}", content=content)
    text = shown(answer(notebook), 300)
    assert re.search(rf"^{MARK} \[\d+ lines left out\]$", text, re.MULTILINE)
    assert "lines 5" not in text


@pytest.mark.parametrize("budget", [300, 600, 6000])
def test_every_hit_of_a_passage_has_its_score_explained(budget: int) -> None:
    parts = {"terms": 1.0, "dense": 0.9}
    found = answer(replace(SECOND, parts=parts), replace(FIRST, parts={"terms": 2.0}))
    text = render_answer(QUERY, found, budget, explain=True)
    assert "= terms 1.000 + dense 0.900" in text
    assert "= terms 2.000" in text


@pytest.mark.parametrize("budget", [200, 220, 260])
def test_explained_scores_stay_within_a_small_budget(budget: int) -> None:
    """Once the parts of a score came on top of it."""
    parts = dict.fromkeys(("terms", "place", "dense", "lines", "file", "matches", "file_dense", "exact"), -1.234)
    found = answer(replace(SECOND, parts=parts), replace(FIRST, parts=parts))
    text = render_answer(QUERY, found, budget, explain=True)
    assert most_tokens(text) <= budget
    assert "= terms -1.234 + place -1.234" in text


WORDS = st.sampled_from(
    ["flux", "measured", "x = 1", "    return", "", "    # " + "long " * 30, "0;17;" * 40, "流れを測る" * 9]
)


@given(
    lines=st.lists(WORDS, min_size=30, max_size=120),
    sizes=st.lists(st.integers(1, 25), min_size=3, max_size=12),
    order=st.randoms(use_true_random=False),
    budget=st.integers(250, 3000),
)
def test_what_is_shown_are_the_file_s_lines_by_their_numbers_and_the_rest_is_told(
    lines: list[str], sizes: list[int], order: object, budget: int
) -> None:
    lines = [f"line {number} {line}".rstrip() for number, line in enumerate(lines, 1)]
    cuts = [min(cut, len(lines)) for cut in accumulate(sizes, initial=0)]
    chunks = [
        chunk(position, first + 1, "\n".join(lines[first:last]))
        for position, (first, last) in enumerate(pairwise(cuts))
        if first < last
    ]
    order.shuffle(chunks)  # type: ignore[attr-defined]
    found = answer(*chunks[: len(chunks) // 2 + 1])
    text = render_answer(QUERY, found, budget, mark=MARK)
    assert estimate(text) <= budget
    spans = shown_spans(QUERY, found, budget)
    numbers = [int(number) for number in re.findall(r"^line (\d+)", text, re.MULTILINE)]
    assert numbers == [number for span in spans for number in range(span.start, span.end + 1)]
    for block in text.split("\n\n")[1:]:
        if not (place := re.match(rf"{MARK} src/a\.py:(\d+)-(\d+)  ", block)):
            continue
        told = {int(number) for number in re.findall(r"^line (\d+)", block, re.MULTILINE)}
        for first, last in re.findall(rf"^{MARK} \[lines? (\d+)(?:-(\d+))? left out\]$", block, re.MULTILINE):
            told |= {*range(int(first), int(last or first) + 1)}
        assert told == {*range(int(place[1]), int(place[2]) + 1)}
        assert set(re.findall(r"^line .*$", block, re.MULTILINE)) <= set(lines)


def test_a_part_of_a_parent_that_joins_none_of_its_hits_is_not_shown_alone() -> None:
    """It was a passage without hits, on which showing an answer failed."""
    third = chunk(2, 15, "half_of_a_line()\n    rest()\n")
    whole = Parent("src/a.py", "Meter", 0, 2, (third,))
    found = answer(FIRST, SECOND, parents=(whole,))
    text = shown(found)
    assert "rest()" not in text
    assert "part_1" in text
    assert shown_spans(QUERY, found, 6000) == [Span("src/a.py", 1, 15)]


@pytest.mark.parametrize("place", [0, 3, 5])
def test_the_definition_a_hit_was_found_for_is_shown_before_what_surrounds_it(place: int) -> None:
    functions = [f"# Part {number}.\ndef part_{number}():\n{BODY}\n" for number in range(6)]
    start = 1 + sum(function.count("\n") + 1 for function in functions[:place])
    last = start + functions[place].count("\n") - 1
    packed = replace(chunk(0, 1, "\n".join(functions)), extent=(start + 1, last), symbol=f"part_{place}")
    text = shown(answer(packed, FOURTH, ELSEWHERE), 260)
    assert functions[place].rstrip() in text
    assert packed.text.rstrip() not in text


@pytest.mark.parametrize(
    ("language", "above", "line", "below"),
    [
        ("python", 'def part():\n    """How the flux is measured.\n', "    measured flux", '    """\n'),
        ("go", "// Part measures the flux.\n", "// measured flux", "func part() {\n"),
        ("c", "void part() {\n/* how\n", "the flux is measured", "*/\n"),
    ],
)
def test_the_code_of_a_definition_without_room_is_shown_before_the_rest_of_its_long_comment(
    language: str, above: str, line: str, below: str
) -> None:
    comment = "".join(f"{line} {number} times\n" for number in range(200))
    text = f"{above}{comment}{below}{BODY}\n"
    long = replace(
        chunk(0, 1, text, language=language),
        extent=(1, text.count("\n")),
        symbol="part",
        metadata={"source_type": "code"},
    )
    found = shown(answer(long, FOURTH, ELSEWHERE), 300)
    assert BODY in found
    assert f"{line} 0 times" in found
    assert f"{line} 150 times" not in found
    assert "left out]" in found


def test_a_word_that_stands_in_a_comment_below_a_definition_alone_was_not_shown() -> None:
    filler = "\n".join(f"VALUE_{number} = {number}" for number in range(60))
    text = f"import a\n\n\ndef part():\n{BODY}\n\n\n{filler}\n# zqxkcd\n"
    packed = chunk(0, 1, text, extent=(4, 4 + BODY.count("\n") + 1), symbol="part", chance=0.95)
    found = answer(packed, replace(FOURTH, chance=0.47), replace(ELSEWHERE, chance=0.32))
    assert "# zqxkcd" in render_answer(Query("zqxkcd"), found, 6000)


@pytest.mark.parametrize("line", [1, 40, 200])
def test_the_line_that_a_trace_names_is_shown_however_long_its_function_is(line: int) -> None:
    text = "def run():\n" + "".join(f"    flux_{number} = measure({number})\n" for number in range(2, 201))
    long = replace(chunk(0, 1, text), extent=(1, 200), asked_line=line)
    assert text.split("\n")[line - 1] in shown(answer(long, FOURTH, ELSEWHERE), 300).split("\n")
