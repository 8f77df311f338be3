import csv
import io

import pytest
from gapless import assert_gapless
from hypothesis import given
from hypothesis import strategies as st

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import ChunkOptions, ChunkReport, Document

pytestmark = [pytest.mark.row("D4"), pytest.mark.row("B8")]

SMALL = ChunkOptions(max_tokens=64, min_tokens=0)


def report_of(text: str, path: str = "a.csv", options: ChunkOptions = SMALL) -> ChunkReport:
    return chunk(Document(path, text), options)


def rows(count: int, delimiter: str = ",") -> str:
    return "".join(delimiter.join((str(number), f"name {number}", f"{number}.5")) + "\n" for number in range(count))


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_pieces_are_whole_records_and_later_ones_have_the_header_in_the_context(delimiter: str) -> None:
    header = delimiter.join(("id", "name", "value"))
    chunks = report_of(f"{header}\n{rows(60, delimiter)}").chunks
    assert len(chunks) > 3
    assert chunks[0].text.startswith(f"{header}\n0{delimiter}")
    assert [piece.context for piece in chunks] == ["", *[header] * (len(chunks) - 1)]
    assert {piece.strategy for piece in chunks} == {"table"}
    assert {piece.metadata.facts["delimiter"] for piece in chunks} == {delimiter}
    assert {piece.metadata.facts["columns"] for piece in chunks} == {("id", "name", "value")}
    assert all(piece.tokens <= 64 for piece in chunks)


def test_a_piece_is_named_by_its_rows() -> None:
    chunks = report_of("id,name,value\n" + rows(60)).chunks
    first = 1
    for piece in chunks:
        count = piece.metadata.facts["rows"]
        assert isinstance(count, int)
        assert piece.metadata.facts["first_row"] == first
        assert piece.symbol == f"rows {first}-{first + count - 1}"
        first += count
    assert first == 61


def test_a_table_without_a_header_has_no_columns() -> None:
    chunks = report_of(rows(30)).chunks
    assert {piece.context for piece in chunks} == {""}
    assert "columns" not in chunks[0].metadata.facts
    assert chunks[0].symbol.startswith("rows 1-")


def test_a_record_with_line_ends_in_quotes_is_never_cut() -> None:
    records = [f'{number},"first line\nsecond, ""line"" {number}\nthird"\n' for number in range(20)]
    chunks = report_of("id,text\n" + "".join(records)).chunks
    assert len(chunks) > 3
    assert [piece.text.count('"') % 2 for piece in chunks] == [0] * len(chunks)
    assert all(piece.text.endswith('third"\n') for piece in chunks)


def test_quotes_inside_of_fields_hide_nothing() -> None:
    chunks = report_of("id,size\n" + '1,5" pipe\n' * 40).chunks
    assert len(chunks) > 1
    assert sum(int(str(piece.metadata.facts["rows"])) for piece in chunks) == 40


def test_a_quote_that_is_never_closed_is_told_and_its_lines_are_records() -> None:
    report = report_of("id,text\n" + '1,"open\n' + "2,closed and long enough\n" * 6_000)
    assert report.warnings == ("line 2: a quote is never closed, so lines are records from there",)
    assert all(piece.tokens <= 64 for piece in report.chunks)


def test_quoted_column_names_are_read_without_quotes() -> None:
    facts = report_of('"first ""name""","b, c"\n1,2\n').chunks[0].metadata.facts
    assert facts["columns"] == ('first "name"', "b, c")


def test_a_record_over_the_limit_is_cut_inside() -> None:
    report = report_of("id,text\n1," + "word " * 500 + "\n2,short\n")
    assert all(piece.tokens <= 64 for piece in report.chunks)


CELLS = st.text(alphabet="ab1,;\t|\"' \n\r語", max_size=12)


@given(
    table=st.lists(st.lists(CELLS, min_size=1, max_size=5), max_size=20),
    delimiter=st.sampled_from([",", ";", "\t", "|"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_any_table_is_chunked_without_a_gap(table: list[list[str]], delimiter: str, quoting: int) -> None:
    written = io.StringIO()
    csv.writer(written, delimiter=delimiter, quoting=quoting).writerows(table)  # type: ignore[arg-type]
    text = written.getvalue()
    chunks = report_of(text).chunks
    assert_gapless(text, chunks)
    assert all(piece.tokens <= 64 for piece in chunks)


@pytest.mark.long
@pytest.mark.timeout(60)  # Linear work takes a second at most, quadratic work minutes.
@pytest.mark.parametrize("part", [",", '"', ',"', '"\n', "a,b\n", "\n", "\0", ';"a\n', "2007", "1,", "-1.5e"])
def test_no_repetition_is_too_slow(part: str) -> None:
    text = part * 50_000
    assert "".join("".join(piece.text for piece in report_of(text).chunks).split()) == "".join(text.split())
