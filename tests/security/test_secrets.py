"""Secrets in a repository: nobody gets them, in no way in which CQM stores, sends or shows text."""

import json
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_server import ScriptedServer
from secrets_forms import FORMS, innocent_forms, with_dollar
from secrets_logins import logins
from secrets_set import Planted, innocent_lines, planted, planted_by_form
from secrets_values import OTHER_TOKENS

from cqm.index.model.secrets import SecretOptions
from cqm.index.secrets.file_names import is_secret_path, shown_path
from cqm.index.secrets.forms import RULES
from cqm.index.secrets.redaction import find_secrets, redact

ALONE = {"CQM_EMBEDDING_PROVIDER": "none", "CQM_INDEX_SHARED": "0"}


def _words(table: str) -> list[str]:
    return table.split()


KNOWN = "KNOWN-FOR-SECRETS-7f3a"

SECRET_NAMES = _words("""
    .env .ENV .env~ .env.local.bak .env.prod.swp .envrc prod.env .dev.vars .envs/.production/.django
    kubeconfig kubeconfig.yaml .kube/config .aws/credentials .aws/config .dockerconfigjson .docker/config.json
    office.ovpn .bash_history .zsh_history .python_history .psql_history .mysql_history .node_repl_history
    fish_history credentials.tfrc.json terraform.tfvars prod.auto.tfvars terraform.tfstate
    service-account.json .pgpass .my.cnf .netrc _netrc .git-credentials .pypirc id_rsa id_ed25519 deploy_rsa
    server.pem site.key a.p12 a.pfx a.jks a.keystore a.kdbx a.ppk key.asc .htpasswd secrets.yml secrets.json
    Secrets.yaml credentials vault_pass.txt .vault_pass .terraformrc .config/gh/hosts.yml
    .azure/accessTokens.json .config/gcloud/application_default_credentials.json .s3cfg .boto rclone.conf
    filezilla.xml sitemanager.xml wg0.conf app-firebase-adminsdk-x1.json GoogleService-Info.plist
    local.settings.json UserSecrets/7f/secrets.json ansible-vault-password
""")
INNOCENT_NAMES = _words("""
    credentials.py token.rs secrets.py keystore.go env.ts public.pem ca.pem id_rsa.pub .env.example
    .env.sample .env.template .env.dist .env.local.example terraform.tfvars.example secrets_test.go
    tokens.json tokenizer.json Secret.java keys.py auth.js password.ts passwords.md history.py vault_test.go
    config.json monkey.c env.d.ts
""")


ZEROS = bytes(65_536)


@pytest.fixture(scope="module")
def secrets() -> list[Planted]:
    """A planted secret of each kind and part of the labelled set, each in a folder of its own."""
    parts = [{it.kind: it for it in planted(part, 5)} for part in ("tuning", "held")]
    both = [it for part in parts for it in part.values()]
    return [replace(it, path=f"p{number}/{it.path}") for number, it in enumerate(both)]


def write(folder: Path, path: str, text: str) -> None:
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def lines_of(secret: Planted) -> list[bytes]:
    """Return what may be nowhere: the value, or of one of several lines those that are long."""
    lines = [it.strip(" \\\"'+n") for it in secret.value.splitlines()]
    return [it.encode() for it in lines if len(it) > 10 or len(lines) == 1]


def leaked(secrets: list[Planted], data: bytes) -> list[tuple[str, str]]:
    return [(it.kind, it.path) for it in secrets if any(line in data for line in lines_of(it))]


def everything_below(folder: Path) -> bytes:
    """All files but for blocks of zeros: those of a store have 400 MB of them, and hold a few kB."""
    return b"\n".join(written(it) for it in folder.rglob("*") if it.is_file() and not it.is_symlink())


def written(path: Path) -> bytes:
    with path.open("rb") as file:
        blocks = iter(partial(file.read, len(ZEROS)), b"")
        return b"".join(b"\0" if block == ZEROS else block for block in blocks)


def test_no_provider_no_file_and_no_answer_has_a_planted_secret(
    stranger: Path, victim_of: Callable[[Path, str], Any], secrets: list[Planted], server: ScriptedServer
) -> None:
    for secret in secrets:
        write(stranger, secret.path, secret.text)
    for number, name in enumerate(SECRET_NAMES):
        write(stranger, f"n{number}/{name}", f"{KNOWN}\n")
    victim = victim_of(stranger, "cp -r")
    settings = {
        "CQM_EMBEDDING_PROVIDER": "openai",
        "CQM_EMBEDDING_MODEL": "tiny",
        "CQM_EMBEDDING_BASE_URL": f"{server.url}/v1",
        "CQM_INDEX_SHARED": "0",
    }
    indexed = victim.json("index", **settings)
    assert not indexed["failed"]
    questions = ("password token key", secrets[0].value, KNOWN)
    said = [victim.run("search", it, "--limit", "100", "--json", **settings).stdout for it in questions]
    said.append(json.dumps(indexed))
    said.append(victim.run("status", "--secrets", "--skipped", **settings).stdout)
    said.append(victim.run("status", "--secrets", "--json", **settings).stdout)
    said.append(victim.run("report", "--json", **ALONE).stdout)
    # A question is the user's own text.
    asked = secrets[0].value
    texts = [text for request in server.embeddings for text in request.texts if text not in questions]
    assert len(texts) > len(secrets) / 2
    others = [it for it in secrets if it.value != asked]
    assert leaked(others, "\n".join([*texts, *said]).encode()) == []
    assert leaked(others, everything_below(victim.home)) == []
    assert KNOWN not in "".join(texts)
    assert KNOWN.encode() not in everything_below(victim.home / ".cache" / "cqm" / "indexes")


def test_a_preview_shows_no_secret_in_any_form(stranger: Path, victim_of: Callable[[Path, str], Any]) -> None:
    secret = next(it for it in planted("held", 5) if it.kind == "databricks")
    write(
        stranger, "app.py", f'def connect():\n    return Client(password="Zx9kQ!2mvLpq")\n\n\nKEY = "{secret.value}"\n'
    )
    victim = victim_of(stranger, "cp -r")
    page = victim.project.parent / "page.html"
    said = [victim.run("preview", "app.py", *how, **ALONE).stdout for how in ((), ("--json",), ("--html", str(page)))]
    shown = "".join([*said, page.read_text()])
    assert "Zx9kQ!2mvLpq" not in shown
    assert secret.value not in shown
    assert "secrets redacted: 2" in said[1]
    assert '"start_line": 1' in said[1]


def test_status_lists_path_line_and_kind_of_what_was_redacted_and_never_a_value(
    stranger: Path, victim_of: Callable[[Path, str], Any]
) -> None:
    write(stranger, "app.py", '"""An app."""\n\nNAME = "app"\nPASSWORD = "Zx9kQ!2mvLpq"\n')
    write(stranger, ".env~", "A=b\n")
    victim = victim_of(stranger, "cp -r")
    victim.json("index", **ALONE)
    told = victim.run("status", "--secrets", **ALONE).stdout
    assert "redacted: 1 secret in 1 file" in told
    assert "  app.py:4: password\n" in told
    assert "  .env~: left out whole\n" in told
    listed = victim.json("status", "--secrets", **ALONE)
    assert (listed["redacted_secrets"], listed["redacted_files"]) == (1, 1)
    assert listed["secrets"] == [{"path": "app.py", "findings": [{"line": 4, "kind": "password", "count": 1}]}]
    assert "Zx9kQ" not in told + json.dumps(listed)


def test_results_have_the_lines_of_the_file_although_a_key_was_redacted_in_it(
    stranger: Path, victim_of: Callable[[Path, str], Any]
) -> None:
    key = next(it for it in planted("tuning", 5) if it.kind == "RSA PRIVATE KEY" and it.path == "keys.py")
    write(stranger, "deploy.py", key.text + '\n\ndef after_the_key():\n    """Find me below the key."""\n')
    victim = victim_of(stranger, "cp -r")
    hit = next(it for it in victim.json("search", "after_the_key", **ALONE)["results"] if it["path"] == "deploy.py")
    text = (stranger / "deploy.py").read_text()
    line = text.split("\n").index("def after_the_key():") + 1
    assert hit["start_line"] <= line <= hit["end_line"]
    assert len(hit["text"]) <= len(text)


def test_only_the_user_allows_a_value_to_be_indexed(stranger: Path, victim_of: Callable[[Path, str], Any]) -> None:
    write(stranger, "app.py", 'PASSWORD = "Zx9kQ!2mvLpq"\nOTHER_PASSWORD = "Kq7!nnv2Lpwe"\n')
    write(stranger, "cqm.yml", "secrets:\n  allow: ['.+']\n")
    victim = victim_of(stranger, "cp -r")
    refused = victim.run("search", "password", **ALONE)
    assert refused.returncode != 0
    assert "Zx9kQ" not in refused.stdout
    (victim.project / "cqm.yml").unlink()
    assert "Zx9kQ" not in victim.run("search", "password", **ALONE).stdout
    settings = victim.home / ".config" / "cqm" / "cqm.yml"
    settings.parent.mkdir(parents=True)
    settings.write_text("secrets:\n  allow: ['^Zx9k']\n")
    # The index of other options is not this one: it is made anew.
    found = victim.run("search", "password", **ALONE).stdout
    assert "Zx9kQ!2mvLpq" in found
    assert "Kq7!nnv2Lpwe" not in found


def test_files_known_for_secrets_are_told_by_name_and_innocent_ones_are_not() -> None:
    assert [it for it in SECRET_NAMES if not is_secret_path(f"deep/{it}")] == []
    assert [it for it in SECRET_NAMES if not is_secret_path(it.upper())] == []
    assert [it for it in INNOCENT_NAMES if is_secret_path(f"deep/{it}")] == []


def test_nothing_is_redacted_that_only_stands_for_a_secret() -> None:
    text = innocent_lines()
    assert [text[it.start : it.end] for it in find_secrets(text, "notes.txt")] == []


def test_nothing_is_redacted_in_innocent_lines_of_any_notation() -> None:
    found = {path: [text[it.start : it.end] for it in find_secrets(text, path)] for path, text in innocent_forms()}
    assert {path: values for path, values in found.items() if values} == {}


@pytest.mark.parametrize("part", FORMS)
def test_secrets_are_found_in_unusual_notations_names_tables_and_calls(part: str) -> None:
    planted_ones = list(planted_by_form(part, 5))
    missed = [it for it in planted_ones if it.value in redact(it.text, it.path, SecretOptions()).text]
    assert len(missed) <= len(planted_ones) // 50, [it.text for it in missed]


@pytest.mark.parametrize(("half", "most"), [("logins", 2), ("logins held", 14)])
def test_most_secrets_in_logins_are_found_also_of_the_half_that_no_rule_was_tuned_on(half: str, most: int) -> None:
    missed = [kind for kind, path, text, value in logins(half) if value in redact(text, path, SecretOptions()).text]
    assert len(missed) <= most, missed


def test_no_login_in_any_form_is_indexed_or_shown(stranger: Path, victim_of: Callable[[Path, str], Any]) -> None:
    found = [it for it in logins("logins") if it[3] not in redact(it[2], it[1], SecretOptions()).text]
    for number, (_kind, path, text, _value) in enumerate(found):
        write(stranger, f"p{number}/{path}", text)
    victim = victim_of(stranger, "git clone")
    said = [victim.run(*words, **ALONE).stdout for words in (("index",), ("search", "--limit", "100", "root password"))]
    said += [victim.run("search", "--mode", "regex", it, **ALONE).stdout for it in ("root.*", "pass.*", "-[pPuw] .*")]
    said += [victim.run("read", f"p{number}/{it[1]}", **ALONE).stdout for number, it in [*enumerate(found)][::20]]
    assert any("*****" in it for it in said)
    assert [it for it in found if it[3] in "".join(said)] == []
    kept = everything_below(victim.home / ".cache" / "cqm" / "indexes")
    assert [it for it in found if it[3].encode() in kept] == []


def found_in(text: str, path: str) -> list[str]:
    return [text[it.start : it.end] for it in find_secrets(text, path)]


def test_a_dollar_within_a_password_makes_it_no_variable() -> None:
    rng = Random(1)
    for path, text in (
        ("a.ini", "password=%s\n"),
        ("a.php", "<?php $password = '%s';\n"),
        ("a.md", "Password: `%s`\n"),
    ):
        for value in (with_dollar(rng) for _ in range(50)):
            assert found_in(text % value, path) == [value]


@pytest.mark.parametrize("kind", OTHER_TOKENS)
def test_tokens_of_a_service_are_found_by_their_form(kind: str) -> None:
    for value in (OTHER_TOKENS[kind](Random(seed)) for seed in range(20)):
        assert found_in(f'client = make("{value}")\n', "a.py") == [value]


@pytest.mark.parametrize("part", ["tuning", "held"])
def test_every_planted_secret_is_redacted_whatever_its_characters_are_by_chance(part: str) -> None:
    planted_ones = [it for seed in range(1, 6) for it in planted(part, seed)]
    assert [it.text for it in planted_ones if it.value in redact(it.text, it.path, SecretOptions()).text] == []


def test_what_a_rule_matches_in_the_labelled_sets_stands_in_a_line_where_it_is_searched() -> None:
    both = [*planted("tuning", 3), *planted("held", 3), *(it for part in FORMS for it in planted_by_form(part, 3))]
    lines = [line for it in both for line in it.text.splitlines()]
    lines += [line for _, _, text, _ in logins("logins") for line in text.splitlines()]
    lines += ["Ann:500:aad3b435b51404eeaad3b435b51404ee:5835048ce94ad0564e29a924a03510ef:::"]
    lines += ["mnemonic: legal winner thank year wave sausage worth useful legal winner thank yellow"]
    lines += [
        "mysql -u ann -pXk29vbQqz9Kd dump",
        "//registry.npmjs.org/:_authToken=Xk29vbQqz9Kd77Lm",
        "userPassword: {SSHA}Xk29vbQqz9Kd77LmXk29vbQqz9Kd77Lm",
        "plink -ssh me@h -pw Xk29vbQqz9Kd77Lm",
        "smbclient //nas/share -U me%Xk29vbQqz9Kd",
        "lftp -u me,Xk29vbQqz9Kd ftp.shop.com",
        "xfreerdp /v:h /u:me /p:Xk29vbQqz9Kd",
        "erl -setcookie Xk29vbQqz9Kd",
        'send "Xk29vbQqz9Kd\\r"',
        "ann:Xk29vbQqz9Kd:1001:1001::/home/ann:/bin/sh",
        'c = connect("scott/Xk29vbQqz9Kd@orcl")',
        "enable password 7 0822455D0A16",
        "enable password 0 Xk29vbQqz9Kd",
        'open("mysql", "root:Xk29vbQqz9Kd@tcp(h:3306)/shop")',
        'r.execute_command("AUTH", "app", "Xk29vbQqz9Kd")',
    ]
    for rule in RULES:
        matches = [(line, it) for line in lines for it in rule.pattern.finditer(line) if rule.is_secret(it["secret"])]
        assert matches
        for line, it in matches:
            assert it["secret"] in "".join(found_in(line, "a.txt")), rule


@pytest.mark.parametrize(
    "token",
    ["AKIA" + "QXEABWXRAHQLCGFT", "glrt-" + "srCtOKbLuIgzjVSIkCOR", "hf_" + "maDzGgcedglqfKeOPOrKTStyWGrsFCVVYg"],
)
def test_tokens_without_digits_are_found(token: str) -> None:
    assert found_in(f"x = use({token})\n", "a.py") == [token]


def test_the_private_part_of_a_json_web_key_is_found_in_a_program() -> None:
    value = "dMKmwJVTk0nZSaG" + "pMlOOB4OWJARyILXT0NNBJvXMeqM"
    assert found_in('x = {"kty": "OKP", "crv": "Ed25519", "d": "' + value + '"}\n', "a.py") == [value]


def test_a_password_of_mariadb_is_found_as_one_of_mysql() -> None:
    assert found_in("mariadb -u ann -pXk29vbQqz9Kd dump\n", "a.sh") == ["Xk29vbQqz9Kd"]


def test_values_of_a_mapping_are_secrets_if_its_name_is_a_plural() -> None:
    mapping = ' = {"label": "Xk29vbQqz9Kd77"}\n'
    assert found_in("passphrases" + mapping, "a.py") == ["Xk29vbQqz9Kd77"]
    assert found_in("passphrase" + mapping, "a.py") == []


def test_pass_is_a_name_but_for_the_statement_of_python() -> None:
    text = "- name: x\n  pass\n  value: Xk29vbQqz9Kd77\n"
    assert found_in(text.replace("x\n  pass", "pass"), "a.yml") == ["Xk29vbQqz9Kd77"]
    assert found_in(text, "a.py") == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.toml", '[database.password]\nadmin = "§" # of all\n'),
        ("a.ini", "[passwords]\nroot=§\n"),
        ("router.conf", "enable password 0 §\n"),
        ("a.json", '{"p\\u0061ssword": "§"}\n'),
        ("a.js", 'const o = {"passw\\x6frd": "§"};\n'),
        ("a.py", 'p\u0430ssw\u043erd = "§"\n'),
        ("a.py", '# \u043f\u0430\u0440\u043e\u043b\u044c\n\u0430uth_t\u043eken = "§"\n'),
    ],
)
def test_a_password_in_a_table_under_an_escaped_or_lookalike_name_or_of_a_router_was_shown(
    path: str, text: str
) -> None:
    value = "G7hT9kQ2vLx81pZ"
    found = redact(text.replace("§", value), path, SecretOptions())
    assert found.text == text.replace("§", "*" * len(value))


def test_passwords_that_a_router_encodes_were_shown() -> None:
    text = "username bob password 7 0822455D0A16\n server-key 7 13061E010803557878\n key 7 045802150C2E\n"
    assert redact(text, "a.conf", SecretOptions()).text == (
        "username bob password 7 ************\n server-key 7 ******************\n key 7 ************\n"
    )
    assert not find_secrets("pass 7 0822 tests\nthe key 7 0822455 items\n", "a.txt")


def test_what_a_table_of_passwords_says_about_them_is_shown() -> None:
    text = '[password]\nmin_length = 12\npath = "/etc/shop/pw9.txt"\n[shop]\nname = "G7hT9kQ2vLx81pZ"\n'
    assert not find_secrets(text, "a.toml")


def test_a_pass_of_rendering_is_no_password() -> None:
    assert not find_secrets('draw_pass_1 = SubResource("QuadMesh_nikp6")\n', "a.tscn")


def test_a_redacted_value_in_letters_that_nobody_sees_leaves_all_other_characters() -> None:
    text = "name: a\u200bb\nDB_PASS\u200bWORD=xK9m\u200bQp2vL7nq\nend: c\u00add\n"
    redacted = redact(text, "a.env.txt", SecretOptions()).text
    assert redacted == text.replace("xK9m\u200bQp2vL7nq", "*" * 13)
    first = "\ufeffn\u200b\u200bame: \uff41\n"
    assert redact(first + text, "a.env.txt", SecretOptions()).text == first + redacted


REPEATED = (
    *(
        "password=",
        "token: ",
        "password: \n  ",
        'PASSWORDS = {"a": ',
        "- name: DB_PASSWORD\n  value",
        '"password" , default',
    ),
    *(
        "| password |\n|---|---|\n",
        'password": {"type": "string", ',
        "password ((((",
        "jwt.a(",
        "auth(a,",
        '"kty" {',
        "пароль: ",
    ),
    *(
        "password = '' ",
        "password='a' + ",
        "${password:",
        "cookie; a=",
        "pass\u200bword=",
        "set -x -x ",
        "password is ",
    ),
    *(
        "chpasswd:\n",
        "chpasswd\nann:x9Kd77Lm\n",
        "Private-Lines: 1\nAAAAAAAAAAAAAAAAAAAA\n",
        "login: a / b ",
        "password%22:%22",
        "[passwords]\na = Xk29vbQqz9Kd\n",
        "p\\u0061ss",
    ),
)


@pytest.mark.parametrize("piece", REPEATED)
@pytest.mark.parametrize("path", ["a.yml", "a.py", "a.csv"])
def test_the_time_for_hostile_text_grows_with_its_length(piece: str, path: str) -> None:
    def seconds(length: int) -> float:
        text = piece * (length // len(piece))
        began = time.process_time()
        find_secrets(text, path)
        return time.process_time() - began

    seconds(1_000)
    assert seconds(80_000) < 20 * max(seconds(8_000), 0.01)


def test_no_answer_and_no_file_of_an_index_has_a_secret_of_a_file_name(
    stranger: Path, victim_of: Callable[[Path, str], Any]
) -> None:
    values = ("ghp_" + "a8Xk2mQ9zR4tV7wY1bN6cJ3pL5sD0fGhK2eU", "AKIA" + "QWERTZUIOPASDFGH", "xK9mQp2vL7nq")
    write(stranger, f"names/{values[0]}.txt", "f names\n")
    write(stranger, f"names/{values[1]}/a.py", "def f():\n    return names\n")
    write(stranger, f"names/password={values[2]}.txt", "f names\n")
    victim = victim_of(stranger, "cp -r")
    asked = (("index", "--json"), ("search", "f names"), ("search", "--mode", "regex", "f"), ("search", "f", "--json"))
    asked += (("outline",), ("status", "--skipped"), ("status", "--secrets"), ("status", "--skipped", "--json"))
    said = "".join(victim.run(*words, **ALONE).stdout for words in asked)
    assert [it for it in values if it in said] == []
    assert [it for it in values if it.encode() in everything_below(victim.home / ".cache" / "cqm" / "indexes")] == []
    assert said.count("left out whole") >= len(values)
    assert "names/password=[secret " in said


@given(
    st.lists(
        st.one_of(
            st.text(max_size=60),
            st.sampled_from([it.text for it in planted("tuning", 9)]),
            st.sampled_from(
                [
                    "password = ",
                    "İ token: '",
                    "pass\u200bword: a1B2c3D4e5",
                    "密码:",
                    "- name: TOKEN\n value: ",
                    "\r",
                    "\u2028",
                    "\x00",
                    "-----BEGIN PRIVATE KEY-----",
                    "\ud800",
                ]
            ),
        ),
        max_size=6,
    ),
    st.sampled_from(["a.py", "a.yml", "a.txt", "Dockerfile", "a.json"]),
)
def test_redaction_keeps_length_and_lines_and_finds_nothing_more_in_its_own_output(
    pieces: list[str], path: str
) -> None:
    text = "".join(pieces)
    once = redact(text, path, SecretOptions())
    assert len(once.text) == len(text)
    assert [len(it) for it in once.text.splitlines()] == [len(it) for it in text.splitlines()]
    assert all(new in {old, "*"} for old, new in zip(text, once.text, strict=True))
    assert redact(once.text, path, SecretOptions()).text == once.text
    lines = text.count("\n") + 1
    assert all(1 <= it.line <= lines and it.count > 0 for it in once.findings)


def test_a_value_before_its_name_was_found_only_once_that_behind_it_was_redacted() -> None:
    text = "VALUE:000012346Aa5NAME:TOKEN\nVAL:23456Aa00001"
    assert redact(text, "a.py", SecretOptions()).text == "VALUE:************NAME:TOKEN\nVAL:************"


def test_words_with_hyphens_are_read_in_one_way_each() -> None:
    """Regression: each further word took five times as long, 15 of them hours."""
    value = "-".join(["abcd"] * 50) + "-x9%"
    [found] = find_secrets(f"The password is {value}", "a.md")
    assert found.end - found.start == len(value)


def test_a_password_in_a_file_s_name_is_hidden_behind_its_dots_too() -> None:
    shown = shown_path("a/password=Xk29vbQq.z9Kd77")
    assert "z9Kd77" not in shown
    assert shown_path("a/password=Xk29vbQqz9Kd77.txt").endswith(".txt")


@pytest.mark.parametrize("line", ["get(u, HTTP_AUTHORIZATION='Token {}')", 'x = {{"HTTP_AUTHORIZATION": "Token {}"}}'])
def test_a_word_that_overlaps_another_hides_no_secret(line: str) -> None:
    token = "401f7ac837da42b97f613d" + "789819ff93537bee6a"
    assert found_in(f"{line.format(token)}\n", "a.py") == [token]
