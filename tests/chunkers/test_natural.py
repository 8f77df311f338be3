"""The language of prose, on sentences whose language is known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import Document
from cqm.chunkers.natural_language import natural_language

pytestmark = pytest.mark.row("D8")

SENTENCES = {
    "en": (
        "The server reads the file and returns what it finds.",
        "Call greet with a name to see how this works.",
        "You can set a limit on the number of open connections.",
        "It is a bug when the cache keeps values that have expired.",
        "Each of the options must be given before the first call.",
        "There was an error while we were writing to the disk.",
    ),
    "de": (
        "Die Funktion gibt den Wert der Einstellung zurück.",
        "Der Server liest die Datei und schreibt eine Antwort.",
        "Wenn das Feld leer ist, wird der Name des Benutzers verwendet.",
        "Diese Einstellung kann nicht geändert werden.",
        "Für jede Anfrage wird ein neuer Prozess gestartet.",
    ),
    "fr": (
        "Cette fonction renvoie la valeur de la clé.",
        "Le serveur lit le fichier et écrit une réponse.",
        "Les options qui sont dans ce fichier ne peuvent pas être vides.",
        "Si vous voulez changer la taille, il faut le dire au serveur.",
        "Le cache est vidé pour chaque nouvelle connexion.",
    ),
    "es": (
        "Esta función devuelve el valor de la clave.",
        "El servidor lee el archivo y escribe una respuesta.",
        "Los datos no se pueden cambiar cuando el archivo está abierto.",
        "Si hay un error, el programa lo escribe en el registro.",
        "Para cada petición se crea un proceso nuevo.",
    ),
    "ja": (
        "設定ファイルを読み込み、結果を返します。",
        "この関数は引数の値を検証する。",
        "サーバーへの接続に失敗しました。",
        "データベースの接続数を変更する手順",
        "設定変更手順および検証結果一覧",
        "処理対象: 実行時引数、戻り値、発生例外",
        "ログ出力の詳細はこちらを参照してください。",
    ),
    "zh": (
        "该函数返回配置文件中的值。",
        "服务器读取文件并写入结果。",
        "如果没有设置密码就不能登录。",
        "這個函數會傳回設定檔的內容。",
        "請將檔案複製到這個目錄。",
        "数据库连接失败时应该检查网络设置",
    ),
    "ko": (
        "설정 파일을 읽고 결과를 반환합니다.",
        "서버에 연결할 수 없습니다.",
        "이 함수는 값을 검증한다.",
    ),
    "ru": (
        "Функция возвращает значение из файла настроек.",
        "Сервер не может прочитать файл.",
        "Если поле пустое, используется имя пользователя.",
    ),
    "uk": ("Функція повертає значення з файлу налаштувань, якщо він існує.",),
    "pt": ("Esta função devolve o valor da chave que está no arquivo.",),
    "it": ("Questa funzione legge il file e scrive la risposta nella cartella.",),
    "nl": ("Deze functie leest het bestand en geeft de waarde van de sleutel terug.",),
}
LABELLED = [(language, text) for language, texts in SENTENCES.items() for text in texts]


@pytest.mark.parametrize(("language", "text"), LABELLED, ids=[text[:24] for _, text in LABELLED])
def test_a_sentence_is_told_by_its_script_and_its_commonest_words(language: str, text: str) -> None:
    assert natural_language(text) == language


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("ja", "`npm install --save-dev typescript` を実行してから、設定を変更します。"),
        ("ja", "## 使い方\n\n```ts\nconst of = the(that, will, be);\nreturn of;\n```\n\nこのように呼び出します。"),
        ("en", "Use `für` and `der` here.\n\n```python\nfor x in y:\n    pass\n```\n\nThis is what you get with it."),
        ("en", "The word 日本語 is Japanese for the name of the language."),
        ("en", '<p align="center"><a href="https://example.com/der/die/das">logo</a></p>\nThis is the guide to it.'),
        ("de", "Die Methode `getName()` gibt den Namen (`String`) zurück, der nicht `null` ist."),
        ("zh", "使用 `カタカナ` 命令可以设置服务器的网络参数。"),
        ("ja", "API の Response を JSON に変換する"),
    ],
)
def test_code_and_quotations_do_not_decide(language: str, text: str) -> None:
    assert natural_language(text) == language


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\n",
        "42",
        "OK",
        "README",
        "日本",
        "中文",
        "x = [1, 2, 3]",
        "for x in y: if not x: import os as z",
        "def add(a, b):\n    return a + b\n",
        "SELECT id, name FROM users WHERE id = 1",
        "---------\n=========\n",
        "https://example.com/the/of/and",
        "alpha beta gamma delta epsilon zeta eta theta iota kappa",
    ],
)
def test_what_is_too_little_or_no_prose_has_no_language(text: str) -> None:
    assert natural_language(text) == ""


@given(st.text())
def test_any_text_has_one_language_or_none(text: str) -> None:
    assert natural_language(text) in {
        *("", "en", "de", "fr", "es", "pt", "it", "nl", "pl", "sv", "ja", "zh", "ko"),
        *("ru", "uk", "ar", "fa", "el", "he", "th", "hi"),
    }


def test_only_the_beginning_is_looked_at() -> None:
    assert natural_language("The name of the file is all that it is. " * 100 + "これは日本語です。" * 10_000) == "en"


def test_each_chunk_of_a_document_has_its_own_language() -> None:
    english = "## Use\n\n" + "You can call this with the name of a file that is to be read. " * 20
    japanese = "\n\n## 使い方\n\n" + "読み込むファイルの名前を指定して、この関数を呼び出すことができます。" * 20
    chunks = chunk(Document("guide.md", english + japanese)).chunks
    assert {part.metadata.natural_language for part in chunks if "You" in part.text} == {"en"}
    assert {part.metadata.natural_language for part in chunks if "ます" in part.text} == {"ja"}


@pytest.mark.parametrize(
    ("code", "language"),
    [
        ("# 設定ファイルを読み込んで値を返す\ndef load(path):\n    return path\n", "ja"),
        ("# Lädt die Datei und gibt den Wert zurück, der für sie gilt.\nx = 1\n", "de"),
        ("# Reads the file and returns the value of it.\nx = 1\n", ""),
        ("x = 'é'\n", ""),
    ],
)
def test_the_language_of_code_is_that_of_its_comments_where_they_are_not_ascii(code: str, language: str) -> None:
    (only,) = chunk(Document("a.py", code)).chunks
    assert only.metadata.natural_language == language
