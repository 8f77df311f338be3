from math import isfinite
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqm.index.text.terms import (
    SparseTerms,
    count_terms,
    document_terms,
    query_terms,
    stem,
    stem_term,
    stems,
    terms_said,
)

USUAL_LENGTH = 100.0


def document(text: str) -> SparseTerms:
    return document_terms(count_terms(text), USUAL_LENGTH)


def score(question: str, text: str) -> float:
    """Return what the store gives when every term is as rare as any other."""
    found = document(text)
    weights = dict(zip(found.indices, found.values, strict=True))
    terms = query_terms(question)
    return sum(value * weights.get(term, 0.0) for term, value in zip(terms.indices, terms.values, strict=True))


@pytest.mark.parametrize(
    ("word", "identifier"),
    [
        ("user", "getUserName"),
        ("user", "get_user_name"),
        ("user", "GET_USER_NAME"),
        ("http", "XMLHttpRequest"),
        ("xml", "XMLHttpRequest"),
        ("256", "sha256sum"),
        ("sum", "sha256sum"),
        ("init", "__init__"),
        ("fmt", "fmt::format"),
    ],
)
def test_a_word_finds_the_identifiers_that_it_is_part_of(word: str, identifier: str) -> None:
    assert score(word, f"x = {identifier}(1)") > 0


def test_a_word_does_not_find_identifiers_that_merely_hold_its_letters() -> None:
    assert score("rest", "interesting restore") == 0


@pytest.mark.parametrize("spelling", ["getUserName", "get_user_name", "GetUserName", "GET_USER_NAME", "getusername"])
def test_an_identifier_is_found_whole_in_every_spelling(spelling: str) -> None:
    scattered = "the user has a name; get it"
    assert score(spelling, "return getUserName()") > score(spelling, scattered)


def test_two_words_in_a_row_find_the_identifier_that_they_make() -> None:
    assert score("web socket", "class Websocket:") > 0
    assert score("web, then socket", "class Websocket:") == 0


@pytest.mark.parametrize("form", ["parse", "parses", "parsed", "parsing"])
def test_inflected_words_find_each_other(form: str) -> None:
    assert score(form, "def parse(text):") > 0
    assert score("parse", f"# {form} the text") > 0


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("class", "class"),
        ("classes", "class"),
        ("status", "status"),
        ("queries", "query"),
        ("calling", "call"),
        ("running", "run"),
        ("string", "string"),
        ("bed", "bed"),
        ("ids", "ids"),
        ("größe", "größe"),
    ],
)
def test_stemming_is_light(word: str, expected: str) -> None:
    assert stem(word) == expected


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("検索", "全文検索エンジンの設定"),
        ("エンジン", "全文検索エンジンの設定"),
        ("配置", "读取配置文件"),
        ("검색", "전문 검색엔진"),
        ("解析", "JSON解析"),
        ("json", "JSON解析"),
        ("字", "字"),
    ],
)
def test_words_written_without_spaces_are_found_inside_a_run(question: str, text: str) -> None:
    assert score(question, text) > 0


def test_runs_without_spaces_are_found_by_neighbouring_characters_only() -> None:
    assert score("索検", "全文検索エンジン") == 0


@pytest.mark.parametrize(("question", "text"), [("STRASSE", "straße"), ("Größe", "größe_max"), ("ｊｓｏｎ", "json")])  # noqa: RUF001
def test_letters_beyond_ascii_are_compared_without_case_and_width(question: str, text: str) -> None:
    assert score(question, text) > 0


def test_words_that_only_phrase_a_question_do_not_count() -> None:
    assert query_terms("How does the parser work?") == query_terms("parser")


def test_a_question_of_nothing_but_such_words_keeps_them() -> None:
    assert score("what is this", "this is what it is") > 0


@pytest.mark.parametrize("text", ["", "   \n", "=> { } ()", "---"])
def test_a_text_without_words_has_no_terms(text: str) -> None:
    assert query_terms(text) == document(text) == SparseTerms((), ())


def test_data_is_not_taken_apart() -> None:
    blob = "QmFzZTY0VGV4dA" * 10
    assert len(document(blob).indices) == 1
    assert score(blob, f'key = "{blob}"') > 0


def test_terms_are_the_same_in_every_process() -> None:
    # Stored indexes hold these numbers: a change of them is a change of TERMS_VERSION.
    assert query_terms("Parser").indices == (crc32(b"parser"),)


def test_a_repeated_word_weighs_more_but_ever_less_so() -> None:
    once, twice, thrice = (score("parse", "parse " * times + "pad " * (10 - times)) for times in (1, 2, 3))
    assert once < twice < thrice
    assert twice - once > thrice - twice


def test_a_word_weighs_less_in_a_longer_text() -> None:
    assert score("parse", "parse a line") > score("parse", "parse a line" + " and more" * 50)


def test_stems_are_in_the_order_of_the_text() -> None:
    assert stems("RetryPolicy.max_attempts") == ["retry", "policy", "max", "attempt"]


@given(st.text())
def test_every_text_gives_a_vector_that_the_store_can_take(text: str) -> None:
    for terms in (document(text), query_terms(text)):
        assert list(terms.indices) == sorted(set(terms.indices))
        assert all(0 <= index < 2**32 for index in terms.indices)
        assert all(isfinite(value) and value > 0 for value in terms.values)
        assert len(terms.indices) == len(terms.values)


@given(st.text(), st.text())
def test_the_terms_of_two_texts_add_up(first: str, second: str) -> None:
    assert count_terms(f"{first}\n{second}") == count_terms(first) + count_terms(second)


@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_every_text_with_a_word_finds_itself(text: str) -> None:
    assert (score(text, text) > 0) == bool(document(text).indices)


WORDS = st.sampled_from(["getUserNames", "user", "queries", "query", "HTTPServer2", "running", "re_entry", "é", "使う"])


@given(
    st.lists(WORDS | st.text("aeisrunygd_ES9 ", max_size=12) | st.text(max_size=6), max_size=12).map(" \n".join),
    st.lists(WORDS | st.text("aeisrunygd", min_size=1, max_size=8), min_size=1, max_size=4),
    st.booleans(),
)
def test_a_text_has_the_same_terms_looked_for_by_their_roots_as_split(text: str, asked: list[str], known: bool) -> None:
    roots = {stem_term(word): word.removesuffix("y") if known else "" for word in stems(" ".join(asked))}
    assert terms_said(text, roots) == roots.keys() & count_terms(text).keys()
