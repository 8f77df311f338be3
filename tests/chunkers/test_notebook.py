import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import Chunk, ChunkOptions, ChunkReport, Document
from cqm.chunkers.tokens import estimate

pytestmark = [pytest.mark.row("D4"), pytest.mark.row("B8")]

ALONE = ChunkOptions(min_tokens=0)
PYTHON = {"kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"}}


def markdown(source: str | list[str]) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def code(source: str | list[str], outputs: list[Any] | None = None, count: int | None = None) -> dict[str, Any]:
    return {"cell_type": "code", "execution_count": count, "metadata": {}, "outputs": outputs or [], "source": source}


def notebook(*cells: dict[str, Any], indent: int | None = 1) -> str:
    return json.dumps({"cells": cells, "metadata": PYTHON, "nbformat": 4, "nbformat_minor": 5}, indent=indent) + "\n"


def report_of(text: str, options: ChunkOptions = ALONE) -> ChunkReport:
    return chunk(Document("a.ipynb", text), options)


def cells_of(text: str, options: ChunkOptions = ALONE) -> list[Chunk]:
    return [piece for piece in report_of(text, options).chunks if piece.kind == "cell"]


def test_a_cell_is_shown_as_people_read_it_and_stands_where_its_json_does() -> None:
    text = notebook(markdown(["# Title\n", "Some *text*.\n"]), code(["x = 1\n", "print(x)"], count=7))
    first, second = cells_of(text)
    assert (first.content, first.strategy) == ("# Title\nSome *text*.", "notebook")
    assert second.content == "```python\nx = 1\nprint(x)\n```"
    assert second.text == text[second.start : second.end]
    assert json.loads(second.text)["source"] == ["x = 1\n", "print(x)"]
    assert second.metadata.facts == {"cell": 1, "cell_type": "code", "execution_count": 7, "kernel_language": "python"}


def test_headings_name_the_cells_below_them() -> None:
    text = notebook(markdown("# A\n"), code("x = 1"), markdown(["text\n", "## B\n"]), code("y = 2"))
    found = cells_of(text)
    assert [piece.symbol for piece in found] == ["A", "A", "A", "A > B"]
    assert found[3].metadata.headings == ("A", "B")
    assert [piece.context for piece in found] == ["", "# A", "# A", "# A\n## B"]


def test_a_hash_in_a_fence_is_no_heading() -> None:
    assert [piece.symbol for piece in cells_of(notebook(markdown("```sh\n# comment\n```\n")))] == [""]


def test_a_code_cell_defines_its_functions_and_classes() -> None:
    text = notebook(
        code("import x\n\ndef one():\n    def inner(): pass\n\nclass Two:\n    pass\n\nasync def three(): ...\n")
    )
    (cell,) = cells_of(text)
    assert (cell.symbol, cell.defines) == ("one", ("one", "Two", "three", "one.inner"))


def test_the_text_of_outputs_is_kept_and_pictures_are_named() -> None:
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": ["hello\n", "world\n"]},
        {
            "output_type": "display_data",
            "data": {"image/png": "iVBOR" * 4_000, "text/plain": ["<Figure>"]},
            "metadata": {},
        },
        {"output_type": "execute_result", "data": {"text/html": "<b>42</b>", "text/plain": "\x1b[31m42\x1b[0m"}},
        {"output_type": "error", "ename": "ValueError", "evalue": "bad value", "traceback": ["\x1b[0m"]},
    ]
    (cell,) = cells_of(notebook(code("run()", outputs)))
    assert cell.content == (
        "```python\nrun()\n```\n```output\nhello\nworld\n[image/png]\n<Figure>\n42\nValueError: bad value\n```"
    )


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("as_list", [True, False])
def test_a_cell_over_the_limit_is_divided_at_its_lines(indent: int | None, as_list: bool) -> None:
    lines = [f'value_{number} = "a\\n{number}"\n' for number in range(300)]
    text = notebook(markdown("# A"), code(lines if as_list else "".join(lines)), indent=indent)
    parts = cells_of(text, ChunkOptions())
    assert len(parts) > 2
    found = [line for part in parts for line in part.content.splitlines() if line.startswith("value")]
    assert found == [line.rstrip("\n") for line in lines]
    assert all(estimate(part.content) <= 512 + estimate("```python\n```") for part in parts)
    assert all(part.content.startswith("```python\nvalue") for part in parts[1:])


def test_small_cells_are_packed_but_a_heading_begins_a_piece() -> None:
    section = [markdown("## S"), code("x = 1  # " + "words " * 60), code("y = 2  # " + "words " * 60)]
    found = cells_of(notebook(markdown("# T"), *section, *section), ChunkOptions())
    assert len(found) < 7
    assert found[-1].content.startswith("## S")
    assert [piece.content.count("## S") for piece in found] == [1, 1]


def test_the_metadata_of_the_notebook_is_a_piece_apart() -> None:
    last = report_of(notebook(code("x = 1"))).chunks[-1]
    assert (last.kind, last.symbol) == ("metadata", "metadata")
    assert "kernelspec" in last.text


def test_notebooks_of_format_3_are_read() -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": ["Title"]},
        {"cell_type": "code", "input": ["1 + 1"], "prompt_number": 4, "outputs": [
            {"output_type": "pyout", "text": ["2"], "png": "iVBOR"}]},
    ]  # fmt: skip
    text = json.dumps({"worksheets": [{"cells": cells}], "nbformat": 3, "metadata": {"name": ""}}, indent=1)
    first, second = cells_of(text)
    assert (first.symbol, first.content) == ("Title", "## Title")
    assert second.content == "```code\n1 + 1\n```\n```output\n[image/png]\n2\n```".replace("code", "", 1)
    assert second.metadata.facts["execution_count"] == 4


@pytest.mark.parametrize("text", ['{"cells": [', "no json", '{"cells": 1}', "[]", '{"cells": [1, "x", null]}'])
def test_what_is_no_notebook_is_cut_at_lines_with_a_warning(text: str) -> None:
    report = report_of(text)
    assert {piece.strategy for piece in report.chunks} == {"lines"}
    assert "not parsed" in report.warnings[0]


SOURCES = st.text(max_size=80) | st.lists(st.text(max_size=30), max_size=6)
OUTPUTS = st.lists(
    st.one_of(
        st.builds(lambda text: {"output_type": "stream", "text": text}, SOURCES),
        st.builds(lambda text: {"output_type": "execute_result", "data": {"text/plain": text}}, SOURCES),
        st.builds(lambda name: {"output_type": "error", "ename": name, "evalue": name}, st.text(max_size=9)),
        st.just({"output_type": "display_data", "data": {"image/png": "AAAA" * 500}}),
    ),
    max_size=3,
)
CELLS = st.lists(
    st.one_of(st.builds(markdown, SOURCES), st.builds(code, SOURCES, OUTPUTS, st.integers(0, 9))), max_size=6
)


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


@given(cells=CELLS, indent=st.sampled_from([None, 1]), ascii_only=st.booleans(), small=st.booleans())
def test_any_notebook_is_chunked_without_a_gap_and_its_words_are_read(
    cells: list[dict[str, Any]], indent: int | None, ascii_only: bool, small: bool
) -> None:
    text = json.dumps({"cells": cells, "metadata": PYTHON}, indent=indent, ensure_ascii=ascii_only, sort_keys=True)
    chunks = report_of(text, ChunkOptions(max_tokens=64, min_tokens=16) if small else ALONE).chunks
    assert "".join("".join(piece.text for piece in chunks).split()) == "".join(text.split())
    assert all(piece.text == text[piece.start : piece.end] for piece in chunks)
    read = "".join(words("".join(piece.content for piece in chunks)))
    for cell in cells:
        for part in [cell["source"]] if isinstance(cell["source"], str) else cell["source"]:
            assert all("".join(words(line)) in read for line in part.split("\n"))


@pytest.mark.long
@pytest.mark.timeout(60)  # Linear work takes a second at most, what it once was took minutes.
@pytest.mark.parametrize("indent", [None, 1])
def test_a_cell_of_very_many_lines_is_divided_in_linear_time(indent: int | None) -> None:
    lines = [f"value_{number} = {number}\n" for number in range(100_000)]
    cells = cells_of(notebook(code(lines), indent=indent), ChunkOptions(max_tokens=64, min_tokens=16))
    assert len(cells) > 1_000
    assert sum(piece.content.count("value_") for piece in cells) == len(lines)


def printed(*lines: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": [f"{line}\n" for line in lines]}


def test_lines_of_an_output_which_differ_in_numbers_only_are_folded_and_stay_in_the_span() -> None:
    epochs = [
        line for n in range(10_000) for line in (f"Epoch {n}/10000", f"loss: {n / 7:.4f} - val_loss: {n / 9:.3f}")
    ]
    text = notebook(
        markdown("# Train"), code("train()", [printed("Begin", *epochs, "Saved to model.h5")]), markdown("# B")
    )
    report = report_of(text, ChunkOptions())
    (cell,) = [piece for piece in report.chunks if piece.kind == "cell"]
    assert "Begin\nEpoch 0/10000\nloss: 0.0000 - val_loss: 0.000\n" in cell.content
    assert "... 19,988 lines like these ..." in cell.content
    assert "Epoch 9999/10000" in cell.content
    assert "Saved to model.h5\n```" in cell.content
    assert "Epoch 5000/10000" in cell.text
    assert "".join(piece.text for piece in report.chunks).split() == text.split()


def test_a_long_output_of_different_lines_shows_its_beginning_and_end() -> None:
    lines = [f"{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}{chr(97 + n // 676)} happens" for n in range(8_000)]
    cells = cells_of(notebook(code("show()", [printed(*lines)])), ChunkOptions())
    assert sum(estimate(piece.content) for piece in cells) < 1.5 * ChunkOptions().max_tokens
    assert lines[0] in cells[0].content
    assert lines[-1] in cells[-1].content


def test_an_output_like_that_of_an_earlier_cell_is_told_once() -> None:
    warning = printed(*(f"warning {letter}: deprecated" for letter in "abcdefghi"))
    first, second = cells_of(notebook(code("a()", [warning]), code("b()", [warning])))
    assert "warning i" in first.content
    assert "lines as in cell 1" in second.content
    assert "warning i" not in second.content


def test_of_a_bar_that_was_drawn_over_and_over_its_last_state_is_told() -> None:
    bar = "".join(f"\r {n}%|{'#' * (n // 10)}|" for n in range(101))
    (cell,) = cells_of(notebook(code("run()", [{"output_type": "stream", "name": "stderr", "text": [bar]}])))
    assert cell.content == "```python\nrun()\n```\n```output\n 100%|##########|\n```"


@given(
    st.lists(st.lists(st.sampled_from(["epoch 1", "epoch 2", "x", "", "word " * 40, "\r1%\r2%", "語 3"]), max_size=40)),
    st.sampled_from([ALONE, ChunkOptions(max_tokens=64, min_tokens=16), ChunkOptions()]),
)
def test_whatever_is_folded_no_character_of_the_file_is_lost(outputs: list[list[str]], options: ChunkOptions) -> None:
    text = notebook(markdown("# A"), *(code(f"f({n})", [printed(*lines)]) for n, lines in enumerate(outputs)))
    chunks = report_of(text, options).chunks
    assert "".join("".join(piece.text for piece in chunks).split()) == "".join(text.split())
    assert all(piece.text == text[piece.start : piece.end] for piece in chunks)
