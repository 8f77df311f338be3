import pytest

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import Document
from cqm.chunkers.strategies.sentence import SentenceOptions
from cqm.chunkers.strategies.sentences import sentences_of
from cqm.chunkers.tokens import openai_tokenizer

pytestmark = pytest.mark.row("B3")

EXACT = openai_tokenizer("cl100k_base")
SMALL = SentenceOptions(target_tokens=128, max_tokens=192, min_tokens=0, sentence_overlap=0)


def sentences(text: str) -> list[str]:
    ends = [unit.end for unit in sentences_of(text, (0, len(text)))]
    return [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]


@pytest.mark.parametrize(("text", "at"), [("", 0), ("Some text.", 0), ("Some text.\n", 11)])
def test_no_text_has_no_sentences(text: str, at: int) -> None:
    assert sentences_of(text, (at, at)) == []


@pytest.mark.parametrize(
    "expected",
    [
        ["It is. ", "Is it? ", "Yes!"],
        ["Mr. Smith paid 3.14 dollars to J. K. Rowling. ", "She went."],
        ['He said "Stop." ', "They did."],
        ["これは文です。", "本当ですか？", "はい！"],  # noqa: RUF001 - full-width
        ["彼は「行く。」と言った。", "終わり。"],
        ["「そうです。」と言った。", "「はい。」", "彼は立った。"],
        [
            "「行く。」って言う。",
            "『はい。』だった。",
            "【注意。】とある。",
            "〝ええ。〟と答えた。",
            "｢はい。｣と言った。",
        ],
        ["すごい！と言った。", "とても良い！", "とても。", "本当ですか？と聞いた。"],  # noqa: RUF001 - full-width
        ["「そうです。」\nと言った。", "これで終わり。"],
        ["「はい。」", "それから帰った。", "「いいえ。」が答えだ。"],
        ["日本語です。", "English too. ", "終わり"],
        ["One.\r\n", "Two.\r\n\r\n", "Three."],
        ["A line\nwithout an end\n\n", "Another one"],
        ["# Title\n", "First.\n", "## Next\n\n", "Second."],
        ["Title\n=====\n\n", "First. ", "Second."],
        ["Before:\n\n", "```py\n# no. heading! here?\n\nx = 1\n```\n\n", "After."],
        ["- one item\n", "- another item\n", "1. third"],
        ["| a | b |\n", "|---|---|\n", "| 1. x | 2 |\n"],
        ["Alice: hello\n", "Bob: bye\n"],
        ["One\u2028two. ", "Three\xa0four.\u3000", "Five."],
        ["Lone \ud800 one. ", "Two."],
    ],
)
def test_sentences_of_english_and_japanese_end_where_readers_end_them(expected: list[str]) -> None:
    assert sentences("".join(expected)) == expected


def test_own_delimiters_cut_no_quotation_from_what_follows_it() -> None:
    parts = ["「そうです。」と言った。", "『はい。』", "終わり。", "Yes. ", "v1.2 is out"]
    text = "".join(parts)
    ends = [unit.end for unit in sentences_of(text, (0, len(text)), delimiters=(".", "。"))]
    assert [text[start:end] for start, end in zip([0, *ends], ends, strict=False)] == parts


def test_a_sentence_longer_than_what_is_read_at_once_is_one() -> None:
    long = "word " * 1_000 + "end. "
    assert sentences(f"Short one. {long}Another one.") == ["Short one. ", long, "Another one."]


TEXT = "".join(f"Sentence number {number} tells of something else, at some length. " for number in range(120))


def test_chunks_are_whole_sentences_of_about_the_target() -> None:
    chunks = chunk(Document("a.txt", TEXT), SMALL).chunks
    assert len(chunks) > 10
    assert all(piece.text.startswith("Sentence") and piece.text.endswith(". ") for piece in chunks)
    assert all(96 <= piece.tokens <= 128 for piece in chunks)


@pytest.mark.parametrize("overlap", range(6))
def test_a_chunk_repeats_as_many_sentences_of_the_one_before_it_as_asked_for(overlap: int) -> None:
    options = SentenceOptions(target_tokens=128, max_tokens=512, sentence_overlap=overlap)
    chunks = chunk(Document("a.txt", TEXT), options).chunks
    repeated = [piece.text[: piece.overlap_before].count("Sentence") for piece in chunks]
    assert repeated == [0] + [overlap] * (len(chunks) - 1)


def test_sentences_are_repeated_only_as_far_as_the_maximum_has_room() -> None:
    text = "".join("x" * 200 + ". " for _ in range(20))
    report = chunk(Document("a.txt", text), SentenceOptions(128, 160, 0, sentence_overlap=5))
    assert {piece.overlap_before for piece in report.chunks[1:]} <= {0, 202}
    assert all(piece.tokens <= 160 for piece in report.chunks)


PARAGRAPHS = "".join("A sentence of a paragraph. " * 12 + "\n\n" for _ in range(12))


def test_chunks_end_with_paragraphs_when_those_are_preferred() -> None:
    preferred = chunk(Document("a.txt", PARAGRAPHS), SMALL).chunks
    assert all(PARAGRAPHS[piece.end :].startswith("\n") or piece.text.endswith("\n") for piece in preferred)
    options = SentenceOptions(128, 192, 0, sentence_overlap=0, prefer_paragraphs=False)
    others = chunk(Document("a.txt", PARAGRAPHS), options).chunks
    assert any(not piece.text.endswith("\n") for piece in others)


def test_a_sentence_over_the_maximum_is_a_chunk_of_its_own_with_a_warning() -> None:
    long = "very long " * 150 + "sentence. "
    report = chunk(Document("a.txt", f"First one. {long}Last one."), SMALL)
    assert long in [piece.text for piece in report.chunks]
    assert report.warnings[0].startswith("1 sentences or fences are over max_tokens=192")
    assert "target_tokens=128" in report.warnings[1]


@pytest.mark.row("B12")
def test_small_chunks_are_joined_to_a_neighbour_and_never_lost() -> None:
    text = "Short. " + "long " * 120 + "one. Tiny."
    apart = chunk(Document("a.txt", text), SentenceOptions(128, 192, 0, sentence_overlap=0)).chunks
    joined = chunk(Document("a.txt", text), SentenceOptions(128, 192, 64, sentence_overlap=0)).chunks
    assert [len(apart), len(joined)] == [3, 1]
    assert joined[0].text == text


@pytest.mark.row("B12")
def test_headings_stay_with_what_follows_them_and_fences_whole() -> None:
    code = "```py\n" + "x = 1  # one. two. three.\n" * 15 + "```\n"
    text = "".join(f"{'Some prose. ' * 20}\n\n## Part {number}\n\n{code}\n" for number in range(5))
    chunks = chunk(Document("a.md", text), SMALL).chunks
    for number in range(5):
        (holder,) = [piece for piece in chunks if f"## Part {number}" in piece.text]
        assert "```py" in holder.text
    assert all(piece.text.count("```") % 2 == 0 for piece in chunks)


def test_a_tokenizer_counts_the_sentences_and_the_chunks() -> None:
    text = "日本語の文です。" * 200
    options = SentenceOptions(128, 192, 0, sentence_overlap=0, tokenizer=EXACT)
    chunks = chunk(Document("a.txt", text), options).chunks
    assert [piece.tokens for piece in chunks] == [EXACT.count(piece.text) for piece in chunks]
    assert len(chunks) != len(chunk(Document("a.txt", text), SMALL).chunks)
    assert max(piece.tokens for piece in chunks) <= 128
