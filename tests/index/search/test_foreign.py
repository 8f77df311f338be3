"""Questions in other languages than English, asked of code that is written in English."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from cqm.index import Index, IndexOptions, Query
from cqm.index.model.query import Confidence
from cqm.index.text.foreign.english import in_english
from cqm.index.text.foreign.languages import LANGUAGES

pytestmark = pytest.mark.processes

FILES = {
    "mail/sender.py": '''
def send_message(address, text):
    """Send a message to an address."""
    connection = open_connection(address)
    connection.write(text)
    connection.close()
''',
    "http/redirects.py": '''
def follow_redirect(request, response):
    """Follow a redirect automatically, at most ten times."""
    return request.copy(url=response.headers["Location"])
''',
    "store/cache.py": '''
def delete_expired_entries(cache, now):
    """Delete the entries of the cache whose time has expired."""
    for key in [key for key, entry in cache.items() if entry.expires < now]:
        del cache[key]
''',
    "cli/arguments.py": '''
def parse_command_line(arguments):
    """Parse the arguments of the command line."""
    return dict(argument.lstrip("-").split("=") for argument in arguments)
''',
    "auth/password.py": '''
def check_password(user, password):
    """Check the password of a user against its hash."""
    return hashed(password, user.salt) == user.password_hash
''',
    "files/archive.py": '''
def extract_archive(path, directory):
    """Extract all files of a compressed archive into a directory."""
    with opened(path) as archive:
        archive.extractall(directory)
''',
}
CACHE = "store/cache.py"
QUESTIONS = {
    "ja": ("キャッシュの期限切れのエントリを削除する", "パスワードはどこで確認されますか"),
    "ko": ("캐시에서 만료된 항목을 삭제", "사용자의 암호를 확인하는 함수"),
    "zh": ("删除缓存中过期的条目", "在哪里检查用户的密码"),
    "ru": ("удаление просроченных записей из кэша", "где проверяется пароль пользователя"),
    "de": ("Wie werden abgelaufene Einträge aus dem Cache gelöscht?", "Wo wird das Kennwort des Benutzers überprüft?"),
    "fr": ("Comment supprimer les entrées expirées du cache ?", "Où est vérifié le mot de passe de l'utilisateur ?"),
    "es": ("¿Cómo se eliminan las entradas expiradas de la caché?", "¿Dónde se comprueba la contraseña del usuario?"),
    "pt": ("Como são excluídas as entradas expiradas do cache?", "Onde a senha do usuário é verificada?"),
    "it": ("Come vengono eliminate le voci scadute della cache?", "Dove viene verificata la password dell'utente?"),
    "pl": ("Jak usuwane są wygasłe wpisy z pamięci podręcznej?", "Gdzie jest sprawdzane hasło użytkownika?"),
    "cs": ("Jak se odstraňují vypršené položky mezipaměti?", "Kde se kontroluje heslo uživatele?"),
    "tr": (
        "süresi dolan önbellek girişleri nas\u0131l silinir",
        "kullan\u0131c\u0131n\u0131n parolas\u0131 nerede denetleniyor",
    ),
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    root = tmp_path_factory.mktemp("tree")
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text.lstrip(), encoding="utf-8")
    with Index.open(root, IndexOptions(home=tmp_path_factory.mktemp("home"))) as opened:
        opened.update()
        yield opened


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_question_in_another_language_finds_code_that_is_written_in_english(index: Index, language: str) -> None:
    expected = (CACHE, "auth/password.py")
    for question, path in zip(QUESTIONS[language], expected, strict=True):
        answer = index.search(Query(question))
        assert answer.hits[0].path == path, (question, answer.in_english)
        assert answer.in_english
        assert answer.confidence is not Confidence.NONE, question


@pytest.mark.parametrize(
    "topic", ["Einträge löschen", "contraseña usuario", "s\u0131k\u0131\u015ft\u0131r\u0131lm\u0131\u015f dosya"]
)
def test_a_topic_without_little_words_is_told_by_its_letters(index: Index, topic: str) -> None:
    assert index.search(Query(topic)).in_english


def test_filters_and_pages_go_with_the_question_in_english(index: Index) -> None:
    question = "キャッシュの期限切れのエントリを削除する"
    first = index.search(Query(question, limit=1))
    second = index.search(Query(question, limit=1, cursor=first.next_cursor))
    assert (first.hits[0].path, second.in_english) == (CACHE, first.in_english)
    assert second.hits[0].path != CACHE
    assert {hit.path for hit in index.search(Query(f"{question} path:http/**")).hits} == {"http/redirects.py"}


@pytest.mark.parametrize("limit", [1, 2])
def test_pages_of_a_question_with_texts_in_its_language_have_each_result_once(tmp_path: Path, limit: int) -> None:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir()
        (tmp_path / path).write_text(text, encoding="utf-8")
    notes = "# 設定\n\nキャッシュの期限切れのエントリ\n\n# 時間\n\nキャッシュ\n"
    (tmp_path / "notes.md").write_text(notes, encoding="utf-8")
    with Index.open(tmp_path, IndexOptions(home=tmp_path / ".home")) as opened:
        opened.update()
        query = Query("キャッシュの期限", limit=limit)
        pages = [opened.search(query)]
        while cursor := pages[-1].next_cursor:
            pages.append(opened.search(replace(query, cursor=cursor)))
        whole = opened.search(replace(query, limit=100))
    assert [hit.text for page in pages for hit in page.hits] == [hit.text for hit in whole.hits]
    assert {page.in_english for page in pages} == {whole.in_english}


def test_a_name_within_the_question_stays_as_it_is(index: Index) -> None:
    answer = index.search(Query("follow_redirect はどこで定義されていますか"))
    assert answer.hits[0].symbol == "follow_redirect"


def test_a_text_in_the_language_of_the_question_answers_it(index: Index, tmp_path: Path) -> None:
    text = "# 設定\n\nキャッシュの期限切れのエントリは毎時間削除されます。\n"
    (tmp_path / "cache.py").write_text(FILES[CACHE], encoding="utf-8")
    (tmp_path / "docs.md").write_text(text, encoding="utf-8")
    with Index.open(tmp_path, IndexOptions(home=tmp_path / ".home")) as both:
        both.update()
        answer = both.search(Query("キャッシュの期限切れのエントリ 削除されます"))
    assert (answer.hits[0].path, answer.in_english) == ("docs.md", "")


def test_a_text_that_says_most_of_a_question_comes_before_one_in_english_on_its_subject(tmp_path: Path) -> None:
    written = {
        "install.en-us.md": "# Install a package\n\nInstall the package on Linux. Update this page for each package.\n",
        "install.zh-tw.md": "# 套件\n\n目前尚未發佈任何 Linux 套件。如果我們發佈了、會直接更新此網頁。\n",
    }
    for path, text in written.items():
        (tmp_path / path).write_text(text, encoding="utf-8")
    with Index.open(tmp_path, IndexOptions(home=tmp_path / ".home")) as both:
        both.update()
        answer = both.search(Query("目前尚未發佈任何 Linux 套件 如果我們發佈了 會直接更新此網頁"))
    assert (answer.hits[0].path, answer.in_english) == ("install.zh-tw.md", "")


@pytest.mark.parametrize("path", ["locales/ja.ts", "texts_ja.py", "ja.lproj/names.swift", "words.tsv", "strings.json"])
def test_translated_messages_and_data_do_not_answer_in_place_of_code(tmp_path: Path, path: str) -> None:
    rows = {"json": '{"expired": "キャッシュの期限切れのエントリを削除しました"}\n'}
    text = rows.get(path.rpartition(".")[2], "expired\tキャッシュの期限切れのエントリを削除しました\n")
    (tmp_path / path).parent.mkdir(exist_ok=True)
    (tmp_path / path).write_text(text if path.endswith(("tsv", "json")) else f"// {text}", encoding="utf-8")
    (tmp_path / "cache.py").write_text(FILES[CACHE], encoding="utf-8")
    with Index.open(tmp_path, IndexOptions(home=tmp_path / ".home")) as both:
        both.update()
        assert both.search(Query("期限切れのエントリはどこでキャッシュから削除されますか")).hits[0].path == "cache.py"
        assert both.search(Query("「キャッシュの期限切れのエントリを削除しました」")).hits[0].path == path


def test_an_answer_is_not_sure_where_few_words_of_the_question_are_known(index: Index) -> None:
    surely = index.search(Query("パスワードの確認"))
    unsure = index.search(Query("魑魅魍魎のパスワードの蹉跌と齟齬の確認"))
    assert (surely.confidence, unsure.confidence) == (Confidence.HIGH, Confidence.LOW)


@pytest.mark.parametrize(
    "question",
    [
        "where is the password checked",
        "a, b, c, d = e(k, v, z)",
        'import * as z from "zod/v4";',
        "Copyright (C) Jane Doe, <jane@doe.se>, et al.",
        "do the entries die on exit, or was it so",
        "naïve café parser",
        "one dictionary of non-overlapping types per iteration",
        "as in https://example.org/a/blob/64c81fd10509924ca4da5d93d6052a65b75418a5/il/non/mod.rs#L20",
        "the user\u2019s \u201cquoted\u201d name",
    ],
)
def test_english_and_code_are_asked_as_they_are(index: Index, question: str) -> None:
    assert index.search(Query(question)).in_english == ""


@given(
    some.text(max_size=200)
    | some.text(alphabet="キャッシュを削除 캐시 缓存的条目 wird der Cache gelöscht ß", max_size=200)
)
def test_every_text_can_be_said_in_english_or_not_at_all(text: str) -> None:
    said = in_english(text)
    assert said is None or (said.text.strip() and 0 < said.known <= 1)
