"""The quality gates, and what is done so that little is stopped by them."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqm.chunkers.chunking import chunk
from cqm.chunkers.errors import CqmError, QualityError
from cqm.chunkers.model import ChunkOptions, ChunkReport, Document, Metadata, Piece
from cqm.chunkers.quality import Finding, added, check_metadata, gates, is_meaningless, is_small, without_small

pytestmark = pytest.mark.row("D9")

OPTIONS = ChunkOptions()
LONG = "This sentence is here so that the text has the length of a chunk of its own. " * 8


def found(path: str, text: str, options: ChunkOptions = OPTIONS) -> dict[str, Finding]:
    findings = gates(chunk(Document(path, text), options), options)
    return {finding.gate: finding for finding in findings}


def pieces(*texts: str, **of_all: object) -> tuple[str, list[Piece]]:
    """A text and one piece for each of its parts."""
    text, cut = "".join(texts), []
    for part in texts:
        start = cut[-1].end if cut else 0
        cut.append(Piece(start, start + len(part), "code")._replace(**of_all))  # type: ignore[arg-type]
    return text, cut


def texts_of(text: str, cut: list[Piece]) -> list[str]:
    return [text[piece.start : piece.end] for piece in cut]


def test_an_ordinary_document_passes_every_gate() -> None:
    assert found("a.md", f"# Title\n\n{LONG}\n") == {}


def test_q1_a_small_document_is_small_and_fine() -> None:
    finding = found("a.py", "x = 1\n")["Q1"]
    assert (finding.count, finding.is_error, finding.examples) == (1, False, ("a.py:1",))
    assert "all of its document" in finding.message


@pytest.mark.row("B12")
def test_q1_a_small_piece_joins_a_neighbour() -> None:
    text, cut = pieces(LONG, "});\n", LONG, "and so on\n")
    assert texts_of(text, without_small(text, cut, OPTIONS)) == [f"{LONG}}});\n", f"{LONG}and so on\n"]


def test_q1_a_heading_joins_its_section() -> None:
    text, cut = pieces(LONG, "# Use\n", LONG)
    cut[1], cut[2] = cut[1]._replace(symbol="Use"), cut[2]._replace(symbol="Use > More", defines=("Use > More",))
    joined = without_small(text, cut, OPTIONS)
    assert texts_of(text, joined) == [LONG, f"# Use\n{LONG}"]
    assert joined[1].symbol == "Use > More"


def test_q1_what_joins_keeps_all_names_and_is_called_what_the_larger_is_called() -> None:
    text, cut = pieces(LONG, "x = 1\n")
    cut = [cut[0]._replace(kind="function", symbol="f", defines=("f",)), cut[1]._replace(symbol="x", defines=("x",))]
    (joined,) = without_small(text, cut, OPTIONS)
    assert (joined.kind, joined.symbol, joined.defines) == ("function", "f", ("f", "x"))


def test_q1_nothing_joins_across_the_documents_of_a_text() -> None:
    text, cut = pieces(LONG, "Fixed, thanks.\n", LONG)
    cut = [piece._replace(facts={"number": number}) for number, piece in enumerate(cut)]
    assert without_small(text, cut, OPTIONS) == cut


def test_q1_nothing_grows_over_the_limit() -> None:
    text, cut = pieces(LONG, "and so on\n", LONG)
    assert without_small(text, cut, ChunkOptions(max_tokens=len(LONG) // 4)) == cut


def test_q1_symbols_that_options_keep_apart_stay_apart() -> None:
    text, cut = pieces(LONG, "int x;\n", LONG, defines=("A.x",))
    assert without_small(text, cut, ChunkOptions(apart=True)) == cut
    assert without_small(text, cut, ChunkOptions(min_tokens=0)) == cut
    assert len(without_small(text, cut, OPTIONS)) == 2


def test_q1_the_tree_of_pieces_stays_a_tree() -> None:
    text, cut = pieces("# A\n", LONG, "# B\n", LONG)
    tree = [piece._replace(level=index % 2) for index, piece in enumerate(cut)]
    assert without_small(text, tree, OPTIONS) == tree


def test_q1_joined_pieces_show_what_people_read_of_both() -> None:
    text, cut = pieces('{"body": "One\\n"}', f'{{"body": "{LONG}"}}')
    (joined,) = without_small(text, [cut[0]._replace(content="One"), cut[1]._replace(content=LONG)], OPTIONS)
    assert joined.content == f"One\n{LONG}"


@given(
    st.lists(
        st.tuples(st.sampled_from(["}\n", "word\n", "--\n", "a b c d e f g h\n" * 9]), st.integers(0, 2)), max_size=20
    )
)
def test_q1_joining_loses_nothing_and_keeps_the_order(parts: list[tuple[str, int]]) -> None:
    text, cut = pieces(*(part for part, _ in parts))
    cut = [piece._replace(level=level) for piece, (_, level) in zip(cut, parts, strict=True)]
    joined = without_small(text, cut, ChunkOptions(max_tokens=64, min_tokens=16))
    assert "".join(texts_of(text, joined)) == text
    assert [piece.start for piece in joined] == sorted({piece.start for piece in joined})


def test_q2_large_chunks_are_counted_in_one_line() -> None:
    fence = "```\n" + "code code code\n" * 200 + "```\n"
    report = found("a.md", f"# A\n\n{fence}\n# B\n\n{fence}\n# C\n\n{LONG}")["Q2"]
    assert (report.count, report.is_error) == (2, False)
    assert "2,048 characters or 512 tokens" in report.message


def test_q2_the_users_own_limit_is_the_one_that_counts() -> None:
    text = f"# A\n\n{LONG * 5}"
    assert "Q2" not in found("a.md", text, ChunkOptions(max_tokens=2048))


@pytest.mark.parametrize("name", ["path", "source_type", "content_type"])
def test_q3_a_chunk_without_required_metadata_is_an_error_that_names_chunk_and_field(name: str) -> None:
    report = chunk(Document("a.py", "def f():\n    return 1\n"))
    (part,) = report.chunks
    check_metadata(part)
    lacking = replace(part, path="") if name == "path" else replace(part, metadata=replace(part.metadata, **{name: ""}))
    with pytest.raises(QualityError, match=rf"{lacking.path}:1 lacks {name}") as caught:
        check_metadata(lacking)
    assert isinstance(caught.value, CqmError)
    assert caught.value.remedy
    (finding,) = (it for it in gates(replace(report, chunks=(lacking,)), OPTIONS) if it.gate == "Q3")
    assert (finding.count, finding.is_error, name in finding.message) == (1, True, True)


def test_q3_a_chunk_that_lacks_all_metadata_is_told_once_a_field() -> None:
    report = chunk(Document("a.py", "x = 1\n"))
    bare = ChunkReport((replace(report.chunks[0], metadata=Metadata()),), report.statistics)
    assert [it.message for it in gates(bare, OPTIONS) if it.is_error] == ["without source_type", "without content_type"]


@pytest.mark.parametrize("text", ["---\n", "});\n", "=====\n* * *\n", "。。。\n", "{}\n[]\n"])
def test_q4_a_document_of_nothing_but_symbols_is_told(text: str) -> None:
    assert found("a.txt", text)["Q4"].count == 1
    assert is_meaningless(text)


@pytest.mark.parametrize("text", ["a", "1", "語", "😀", "--- x ---", "é"])
def test_q4_a_letter_a_digit_or_a_picture_has_a_meaning(text: str) -> None:
    assert not is_meaningless(text)


def test_q4_symbols_between_text_are_part_of_it() -> None:
    text = f"{LONG}\n\n* * *\n\n{LONG}\n\n---\n\n{LONG}\n"
    for path in ("a.txt", "a.md", "a.ini", "a.py"):
        report = chunk(Document(path, text), ChunkOptions(max_tokens=256, min_tokens=0))
        assert len(report.chunks) > 1
        assert not any(is_meaningless(part.text) for part in report.chunks)
        assert "".join("".join(part.text.split()) for part in report.chunks) == "".join(text.split())


@pytest.mark.parametrize(("text", "small"), [("", True), ("a" * 49, True), ("a" * 50, False), ("a" + " " * 60, True)])
def test_small_is_under_fifty_characters_without_the_white_space_around_them(text: str, *, small: bool) -> None:
    assert is_small(text) is small


@pytest.mark.row("D10")
def test_findings_of_many_documents_add_up_with_the_first_examples() -> None:
    one = Finding("Q1", "small", 2, examples=("a:1", "a:2"))
    other = Finding("Q1", "small", 3, examples=("b:1", "b:2", "b:3", "b:4"))
    error = Finding("Q3", "without path", 1, is_error=True, examples=("c:1",))
    summed = added([one, error, other])
    assert summed == (Finding("Q1", "small", 5, examples=("a:1", "a:2", "b:1", "b:2", "b:3")), error)


def test_a_small_section_that_joins_a_larger_one_keeps_its_code_and_languages() -> None:
    text = f"# A\n\n{LONG}\n\n```js\nx\n```\n\n## B\n\n```py\ny\n```\n"
    (part,) = (part for part in chunk(Document("a.md", text), ChunkOptions(min_tokens=1)).chunks if "y\n" in part.text)
    assert (part.symbol, part.metadata.has_code) == ("A", True)
    assert part.metadata.facts["code_languages"] == ("js", "py")


def test_facts_of_joined_pieces_are_lists_united_in_order_and_the_larger_ones_others() -> None:
    text, cut = pieces("x\n", LONG)
    cut[0] = cut[0]._replace(facts={"has_code": True, "tags": ("b", "a"), "key_path": "x", "rows": 1})
    cut[1] = cut[1]._replace(facts={"has_code": False, "tags": ("a", "c"), "key_path": "y"})
    (joined,) = without_small(text, cut, OPTIONS)
    assert joined.facts == {"has_code": True, "tags": ("b", "a", "c"), "key_path": "y"}
