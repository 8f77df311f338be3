import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqm.chunkers.decode import HEAD_BYTES, MIXED, Decoded, decode, is_binary
from cqm.chunkers.errors import UndecodableError

JAPANESE = "/* 変数を初期化する。エラー処理もここで行う */\nint main(void) { return 0; }\n"

LEGACY = [
    ("cp932", JAPANESE),
    ("cp932", "# 設定\nvalue = 1\n"),
    ("euc_jp", JAPANESE),
    ("euc_jp", "// 初期化処理\nint x = 1;\n"),
    ("gb18030", "/* 初始化变量以后函数返回一个值 */\nint main(void) { return 0; }\n"),
    ("big5", "// 這是變數初始化以後函數返回一個值。\nint x = 1;\n"),
    ("cp949", "// 변수 초기화\nint x = 1;\n"),
    ("cp1252", "# Auteur: José Müller, für die Größe\ndef f(x):\n    return x\n"),
    ("cp1252", "// Copyright © 2003 Acme\nint x = 1;\n" + "int y;\n" * 100),
    ("cp1252", "// Número máximo de años\nint x;\n"),
    ("cp1251", "// Инициализация переменной\nint x = 1;\n"),
    ("koi8_r", "// Это русский текст. Функция возвращает значение.\nint x;\n"),
    ("cp1250", "// Zażółć gęślą jaźń. Příliš žluťoučký kůň.\nint x;\n"),
]


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_utf8_comes_back_as_it_was_written(text: str) -> None:
    text = text.removeprefix("\ufeff")
    assert decode(text.encode()) == Decoded(text, "utf-8")


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_a_byte_order_mark_decides_and_is_stripped(mark: bytes, encoding: str) -> None:
    data = mark + JAPANESE.encode(encoding)
    assert decode(data) == Decoded(JAPANESE, encoding)
    assert not is_binary(data)


@pytest.mark.parametrize(("encoding", "text"), LEGACY)
def test_a_legacy_encoding_is_detected_in_code_with_comments(encoding: str, text: str) -> None:
    assert decode(text.encode(encoding)) == Decoded(text, encoding)


@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
def test_a_few_bytes_of_cp1252_in_utf8_change_no_other_letter(mark: bytes) -> None:
    text = "# für José, Zoë, Åsa, Ólafur, Łukasz\n"
    data = mark + text.encode() + "# de Iñaki\n".encode("cp1252") + b"# \x81\n"
    assert decode(data) == Decoded(f"{text}# de Iñaki\n# \x81\n", MIXED)


def test_a_legacy_character_far_from_the_start_is_found() -> None:
    text = "int x = 1;\n" * 20_000 + "// Größe\n"
    assert decode(text.encode("cp1252")).text == text


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf\xff\xfe",
        b"\xff\xfea",
        b"\xde\xad\xbe\xefadd.wasm\xde\xad\xbe\xef10",
        bytes(range(1, 256)) * 20,
        b"\x81\xff\x81\xff\xfe\x80" * 50,
    ],
)
def test_what_no_encoding_explains_is_refused_with_a_remedy(data: bytes) -> None:
    with pytest.raises(UndecodableError) as caught:
        decode(data)
    assert caught.value.remedy


@given(st.binary(max_size=300))
def test_any_bytes_are_decoded_strictly_or_refused(data: bytes) -> None:
    try:
        decoded = decode(data)
    except UndecodableError:
        return
    if decoded.encoding == MIXED:
        valid = data.decode("utf-8", "ignore").removeprefix("\ufeff")
        rest = iter(decoded.text)
        assert all(character in rest for character in valid)
        odd = len(data) - len(data.decode("utf-8", "ignore").encode())
        assert len(decoded.text) == len(valid) + odd
    else:
        assert decoded.text == data.decode(decoded.encoding, "strict").removeprefix("\ufeff")


@given(
    st.text(st.characters(min_codepoint=0xC0, exclude_categories=["Cs"]), min_size=6, max_size=50), st.integers(0, 50)
)
def test_one_byte_of_cp1252_among_letters_of_utf8_is_one_character(text: str, place: int) -> None:
    before, after = text[:place], text[place:]
    decoded = decode(f"{before}\n".encode() + b"\xe9" + f"\n{after}".encode())
    assert decoded == Decoded(f"{before}\né\n{after}".removeprefix("\ufeff"), MIXED)


def test_a_nul_in_valid_utf8_is_kept() -> None:
    assert decode(b"a\x00b\n").text == "a\x00b\n"


@pytest.mark.parametrize(
    "head",
    [
        b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
        b"%PDF-1.7\nstream",
        b"\x7fELF\x02\x01\x01\x00",
        b"plain text with one \x00 in it",
        "UTF-16 without a mark".encode("utf-16-le"),
        b"\x01\x02\x03\x04 text",
    ],
)
def test_binary_files_are_recognised_by_their_head(head: bytes) -> None:
    assert is_binary(head)


@pytest.mark.parametrize("head", [b"", b"text\r\n\twith tabs\x0c\n", b"\x1b[31mred\x1b[0m\n", JAPANESE.encode("cp932")])
def test_text_is_not_binary(head: bytes) -> None:
    assert not is_binary(head)


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=HEAD_BYTES))
def test_text_without_control_characters_is_never_binary(text: str) -> None:
    assert not is_binary(text.encode())


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_read(encoding: str) -> None:
    text = "using System;\r\n\r\n// 語: a comment\r\nclass A\r\n{\r\n}\r\n"
    data = text.encode(encoding)
    assert not is_binary(data)
    assert decode(data) == Decoded(text, encoding)


@pytest.mark.parametrize(
    "data",
    [
        b"\x01\x00\x02\x00" * 400,
        b"a\x00b\x00\n\x00c\x00\x00\x00" * 40,
        bytes(range(256)) * 4,
        b"text\n\x00and more\n",
        b"R\x00I\x00F\x00F\x00" * 40,
        b"a\x00",
    ],
)
def test_bytes_with_nul_which_are_no_text_stay_binary(data: bytes) -> None:
    assert is_binary(data)
