"""Outlines and readings as text: never above their budget, with all lines of files told apart by the mark."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqm.index.model.symbols import (
    FileLine,
    Outline,
    OutlineEntry,
    OutlineFile,
    OutlineSymbol,
    Reading,
)
from cqm.index.model.uses import Definition
from cqm.server.answers.budget import most_tokens
from cqm.server.answers.symbols.outline import outline_text
from cqm.server.answers.symbols.reading import reading_text

MARK = "#12345678"
LINES = tuple(f"    value_{number} = compute(number, {number})" for number in range(1, 301))
PAGE = Reading(
    "long",
    "src/long.py",
    "python",
    "Long.run",
    "method",
    line=2,
    first_line=2,
    last_line=400,
    start_line=2,
    end_line=301,
    total_lines=500,
    text="\n".join(LINES),
    heads=(FileLine(1, "class Long(Base)"),),
    imports=(FileLine(1, "import os"),),
    redacted=2,
    notes=("The file changed.",),
    next_cursor="302@abcdef01",
    definitions=tuple(Definition(f"src/{n}.py", n, n + 9, "run", "function", "def run()", line=n) for n in range(1, 9)),
    hash="abcdef0123456789",
)
CHOICE = Reading("run", definitions=PAGE.definitions * 5)
SYMBOLS = tuple(
    OutlineSymbol(f"Type.method_{n}", "method", n, n, n + 3, f"def method_{n}(self, value: int) -> str", depth=n % 3)
    for n in range(1, 200)
)
FILE = Outline(
    "src/a.py", True, files=(OutlineFile("src/a.py", "python", SYMBOLS, 199, tuple(range(199))),), total_symbols=199
)
FOLDER = Outline(
    "src",
    is_file=False,
    entries=tuple(OutlineEntry(f"src/folder_{n}/", n, 2 * n) for n in range(40)),
    files=tuple(
        OutlineFile(f"src/file_{n}.py", "python", SYMBOLS[n * 5 : n * 5 + 5], 30, tuple(range(n, 195, 39)))
        for n in range(39)
    ),
    languages={"python": 40, "go": 3},
    total_files=90,
    total_symbols=2_000,
    next_cursor="195",
)
WORDS = st.text(alphabet="ab _(){}\t#é中\u202e\x1b0123456789", max_size=300)


@pytest.mark.parametrize("budget", [200, 300, 500, 1000, 2000, 6000, 24_000])
def test_a_page_keeps_its_budget_and_names_the_cursor_of_the_first_line_left_out(budget: int) -> None:
    text = reading_text(PAGE, budget)
    assert most_tokens(text) <= budget
    shown = text.count(" = compute(")
    assert shown >= 1
    following = f"{2 + shown}@abcdef01"
    assert f'It goes on to line 400: ask again with cursor "{following}".' in text
    assert text.startswith(f"src/long.py:2-{1 + shown}  Long.run (method), of 500 lines\nNote: 2 secrets shown as *.\n")


def test_imports_and_enclosing_declarations_stand_above_the_lines_and_other_definitions_below() -> None:
    text = reading_text(PAGE, mark=MARK)
    assert f"{MARK} [imports, lines 1-1]\nimport os\n{MARK} [in 1: class Long(Base)]\n{MARK} [lines 2-301]\n" in text
    assert text.endswith(
        f"{MARK} Others of this name: src/1.py:1, src/2.py:2, src/3.py:3, src/4.py:4, src/5.py:5, 3 more.\n"
    )
    plain = replace(PAGE, heads=(), imports=(), next_cursor="", definitions=(), redacted=0, notes=())
    assert reading_text(plain, mark=MARK).partition("\n")[2].partition("\n")[2] == "\n".join(LINES) + "\n"


def test_a_line_longer_than_a_page_is_continued_at_its_next_character() -> None:
    wide = replace(PAGE, text="x = " + "word " * 5_000, heads=(), imports=(), definitions=())
    text = reading_text(wide, 300)
    assert most_tokens(text) <= 300
    (column,) = re.findall(r'ask again with cursor "2\+(\d+)@abcdef01"', text)
    assert wide.text[: int(column)] in text
    rest = reading_text(replace(wide, text=wide.text[int(column) :], column=int(column)), 300, mark=MARK)
    assert f"{MARK} [lines 2-2, from character {int(column) + 1}]\n{wide.text[int(column) :][:50]}" in rest


@pytest.mark.parametrize("budget", [200, 500, 24_000])
def test_definitions_to_choose_from_keep_the_budget(budget: int) -> None:
    text = reading_text(CHOICE, budget, mark=MARK)
    assert most_tokens(text) <= budget
    assert text.startswith("run may mean 40 definitions: read one by its whole name or its place.\n")
    assert f"{MARK} src/1.py:1-10  run (function)\n  def run()\n" in text
    left = 40 - text.count("  run (function)")
    assert (f"{MARK} and {left} more\n" in text) == bool(left)


@pytest.mark.parametrize("budget", [200, 300, 500, 1000, 2000, 6000, 24_000])
def test_an_outline_keeps_its_budget_and_tells_how_to_go_on(budget: int) -> None:
    for outline in (FILE, FOLDER):
        text = outline_text(outline, budget, mark=MARK)
        assert most_tokens(text) <= budget
        assert text.count("method_") >= 1
        is_all = outline.is_file and text.count("method_") == 199
        assert is_all or " with " in text.splitlines()[-1]


def test_less_of_each_symbol_is_shown_before_any_is_left_for_another_page() -> None:
    whole = outline_text(FILE, 24_000, mark=MARK)
    assert "  1-4    def method_1(self, value: int) -> str\n" in whole
    assert "left out" not in whole
    names = outline_text(FILE, 3_500, mark=MARK)
    assert "  1-4    method_1 (method)\n" in names
    assert f"{MARK} Signatures left out: ask with token_budget " in names
    outer = outline_text(FILE, 1_500, mark=MARK)
    assert outer.count("(method)") == 66
    assert "133 lesser symbols left out" in outer
    few = outline_text(FILE, 300, mark=MARK)
    shown = few.count("(method)")
    # Outer symbols are those of rank 2, 5, 8 ...
    assert f'{66 - shown} more outer symbols: ask again with cursor "{2 + 3 * shown}"' in few


def test_a_map_shows_the_best_symbols_by_file_after_folders() -> None:
    text = outline_text(FOLDER, 700, root="/root", mark=MARK)
    assert text.startswith("src/: 90 files (python 40, go 3), 2,000 symbols.\n")
    assert f"{MARK} Folders and files (files, symbols):\n  folder_0/ (0, 0), folder_1/ (1, 2), " in text
    shown = text.count("  def method_")
    assert f'ask again with cursor "{shown}"' in text
    # The first symbol of each file has the best rank.
    assert f"{MARK} src/file_0.py  1 of 30 symbols\n  1-4    def method_1(" in text


def test_further_pages_of_a_map_are_of_symbols_alone() -> None:
    files = tuple(replace(it, ranks=tuple(rank + 100 for rank in it.ranks)) for it in FOLDER.files)
    page = outline_text(replace(FOLDER, files=files), 700, root="/root", mark=MARK)
    assert "Folders and files" not in page
    assert page.count("  def method_") > outline_text(FOLDER, 700, root="/root", mark=MARK).count("  def method_")
    assert page.endswith('".\n')


@given(text=WORDS, path=WORDS, symbol=WORDS, budget=st.integers(200, 900))
def test_whatever_files_say_no_budget_is_exceeded_and_no_mark_forged(
    text: str, path: str, symbol: str, budget: int
) -> None:
    path = f"{path}x"
    found = replace(PAGE, path=path, symbol=symbol, text=f"{text}\n{MARK} forged\nlast", heads=(FileLine(1, text),))
    reply = reading_text(found, budget)
    assert most_tokens(reply) <= budget
    symbols = (OutlineSymbol(symbol, "method", 1, 1, 2, text), *SYMBOLS)
    files = (OutlineFile(path, "go", symbols, 200, tuple(range(200))),)
    for outline in (replace(FILE, files=files), replace(FOLDER, files=files, entries=(OutlineEntry(path, 1, 1),))):
        reply = outline_text(outline, budget)
        assert most_tokens(reply) <= budget
        (mark,) = re.findall(r"^Below, CQM's lines begin with (#\d{8});", reply, re.MULTILINE) or [""]
        own = [line for line in reply.splitlines()[2:] if mark and line.startswith(mark)]
        assert not [line for line in own if text.strip() and line == f"{mark} {text}"]
        assert not re.search("[\x1b\u202e]", reply)
