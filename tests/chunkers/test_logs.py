import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import Chunk, ChunkOptions, Document

pytestmark = [pytest.mark.row("D4"), pytest.mark.row("B8")]

SMALL = ChunkOptions(max_tokens=64, min_tokens=0)
TRACE = (
    "Traceback (most recent call last):\n"
    '  File "app.py", line 3, in main\n'
    "    run()\n"
    "app.errors.RunError: it broke\n"
    "\n"
    "Caused by: java.io.IOException: no file\n"
    "\tat Main.main(Main.java:3)\n"
)


def chunks_of(text: str, path: str = "app.log", options: ChunkOptions = SMALL) -> tuple[Chunk, ...]:
    return chunk(Document(path, text), options).chunks


def info(number: int) -> str:
    return f"2024-05-01 10:00:{number % 60:02},123 INFO app - handled request {number}\n"


LINES = {
    "2024-05-01T10:00:00.123Z ERROR it broke": ("2024-05-01T10:00:00.123Z", "ERROR"),
    "[2024-05-01 10:00:00] production.WARNING: it broke": ("2024-05-01 10:00:00", "WARN"),
    '127.0.0.1 - me [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.0" 200 1': ("10/Oct/2000:13:55:36 -0700", ""),
    "Oct 11 22:14:15 host su: failed": ("Oct 11 22:14:15", ""),
    'time="2024-01-01T10:00:00Z" level=warning msg="x"': ("2024-01-01T10:00:00Z", "WARN"),
    '{"level":"info","ts":"2024-01-01T10:00:00Z","msg":"x"}': ("2024-01-01T10:00:00Z", "INFO"),
    "E0102 15:04:05.123456 1 main.go:1] oops": ("E0102 15:04:05.123456", "ERROR"),
    "10:00:00.123 [main] DEBUG org.example - x": ("10:00:00.123", "DEBUG"),
    "[INFO] Building": ("", "INFO"),
    " WARN [main] low": ("", "WARN"),
    "FATAL: it broke": ("", "FATAL"),
}


@pytest.mark.parametrize("line", LINES)
def test_records_of_many_formats_are_known_by_time_or_level(line: str) -> None:
    time, level = LINES[line]
    (piece,) = chunks_of(f"{line}\n" * 3)
    assert (piece.strategy, piece.kind) == ("log", "records")
    assert piece.metadata.facts == {
        "records": 3,
        **({"first_time": time, "last_time": time} if time else {}),
        **({"levels": (level,)} if level else {}),
    }


def test_pieces_are_whole_records_with_their_times_and_levels() -> None:
    text = "".join(info(number) for number in range(30)).replace("INFO app - handled request 4", "ERROR app - 4")
    chunks = chunks_of(text)
    assert len(chunks) > 5
    assert all(piece.text.startswith("2024") and piece.tokens <= 64 for piece in chunks)
    first = chunks[0].metadata.facts
    assert (first["first_time"], chunks[0].symbol.partition(" - ")[0]) == ("2024-05-01 10:00:00,123",) * 2
    assert {piece.metadata.facts["levels"] for piece in chunks} == {("INFO",), ("ERROR", "INFO")}


def test_a_stack_trace_stays_with_its_record_even_over_the_limit() -> None:
    failed = info(5).replace("INFO", "ERROR") + TRACE
    text = "".join(info(number) for number in range(5)) + failed + "".join(info(number) for number in range(6, 20))
    (piece,) = (piece for piece in chunks_of(text) if "Traceback" in piece.text)
    assert failed.strip() in piece.text
    assert piece.metadata.facts["exceptions"] == ("app.errors.RunError", "java.io.IOException")


def test_a_record_far_over_the_limit_is_cut_at_lines() -> None:
    text = info(1) * 3 + "  a line of a dump\n" * 200 + info(2)
    chunks = chunks_of(text)
    assert len(chunks) > 10
    assert all(piece.tokens <= 64 for piece in chunks)
    assert chunks[3].metadata.facts["first_time"] == "2024-05-01 10:00:01,123"


def test_a_text_that_looks_like_a_log_is_one_and_prose_is_none() -> None:
    assert {piece.strategy for piece in chunks_of("".join(map(info, range(9))), "output.txt")} == {"log"}
    assert {piece.strategy for piece in chunks_of("".join(map(info, range(9))), "app.log.1")} == {"log"}
    prose = "On 2024-05-01 10:00 we met.\n\nWARNING: this is prose, with a date.\n\nAnd more of it.\n\nThe end.\n"
    assert {piece.strategy for piece in chunks_of(prose, "a.txt")} == {"prose"}
    assert {piece.strategy for piece in chunks_of("compiling a\ncompiling b\nlinking\n")} == {"prose"}


PARTS = st.sampled_from([info(1), TRACE, "plain\n", "\n", "  indented\n", *(f"{line}\n" for line in LINES)])


@given(st.lists(PARTS | st.text(max_size=40), max_size=30), st.sampled_from([SMALL, ChunkOptions()]))
def test_any_log_is_chunked_without_a_gap(parts: list[str], options: ChunkOptions) -> None:
    text = "".join(parts)
    chunks = chunks_of(text, "app.log", options)
    # What is no log after all is prose, whose chunks overlap.
    covered = {place for piece in chunks for place in range(piece.start, piece.end)}
    assert not [place for place, character in enumerate(text) if place not in covered and not character.isspace()]
    assert all(piece.text == text[piece.start : piece.end] for piece in chunks)


@pytest.mark.parametrize("part", ["2024-05-01 10:00:00 ", "[", "ERROR ", '{"', "a.b.", "AError", "a [", "\n", "10:"])
def test_no_repetition_is_too_slow(part: str) -> None:
    text = "".join(map(info, range(4))) + part * 30_000
    assert "".join("".join(piece.text for piece in chunks_of(text)).split()) == "".join(text.split())
