"""Where configuration comes from, what wins, what is refused and how the refusal reads."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from cqm.chunkers.model import ChunkOptions
from cqm.index.contextual import CHATS, RULES
from cqm.index.embedding import PROVIDERS as EMBEDDERS
from cqm.index.model.options import IndexOptions, ScanOptions
from cqm.index.model.query import SearchMode
from cqm.index.rerank import PROVIDERS as RERANKERS
from cqm.index.rerank import SHAPES
from cqm.server.config.options import Options
from cqm.server.config.settings import Settings, load_settings
from cqm.server.config.sources import MAX_FILE_BYTES
from cqm.server.errors import SettingsError
from cqm.server.mcp.http.access import TOKEN_VARIABLE

EXAMPLE = Path(__file__).parents[3] / "cqm.yml"


def one_of(names: Iterable[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} or {last}"


NO_SHAPE = ('""', *SHAPES)


def load(
    home: Path,
    project: Path | None = None,
    environment: Mapping[str, str] | None = None,
    overrides: Mapping[str, object] | None = None,
) -> Settings:
    """Settings of these sources alone: neither this process's environment nor its user's file."""
    return load_settings(project, environment=environment or {}, overrides=overrides, user=home / "cqm.yml")


def refusal(home: Path, text: str) -> str:
    """Return what is said of a user's file with this text."""
    (home / "cqm.yml").write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        load(home)
    return caught.value.message.replace(str(home / "cqm.yml"), "cqm.yml")


# What wins.


def test_without_any_source_every_option_has_its_default(home: Path) -> None:
    assert load(home).model_dump() == Options().model_dump()


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("code", "code"),
        ("all", "all"),
        ("none", "none"),
        ("true", "all"),
        ("false", "none"),
        ("1", "all"),
        ("off", "none"),
    ],
)
def test_which_generated_files_are_indexed_is_a_word_or_as_before_true_or_false(
    home: Path, written: str, meant: str
) -> None:
    assert load(home, environment={"CQM_SCAN_INCLUDE_GENERATED": written}).scan.include_generated == meant
    (home / "cqm.yml").write_text(f"scan: {{include_generated: {written}}}", encoding="utf-8")
    assert load(home).scan.include_generated == meant


def test_the_command_line_wins_over_the_environment_the_project_the_user_and_the_default(
    home: Path, project: Path
) -> None:
    environment = {"CQM_CHUNK_MAX_TOKENS": "400", "CQM_SEARCH_LIMIT": "4", "CQM_SEARCH_MODE": "lexical"}
    (home / "cqm.yml").write_text(
        "chunk: {max_tokens: 200, min_tokens: 20, max_parse_bytes: 2}\nsearch: {limit: 2, mode: semantic}\n"
    )
    (project / "cqm.yml").write_text("chunk: {max_tokens: 300, min_tokens: 30}\nsearch: {limit: 3}\n")
    settings = load(home, project, environment, {"chunk.max_tokens": "500"})
    assert settings.chunk.max_tokens == 500
    assert (settings.search.limit, settings.search.mode) == (4, SearchMode.LEXICAL)
    assert settings.chunk.min_tokens == 30
    assert settings.chunk.max_parse_bytes == 2
    assert settings.chunk_options() == ChunkOptions(500, 30, 2)
    assert settings.scan_options() == ScanOptions()


def test_an_option_without_a_value_and_an_empty_variable_are_left_to_the_next_source(home: Path, project: Path) -> None:
    (home / "cqm.yml").write_text("search: {limit: 2}\n")
    (project / "cqm.yml").write_text("search:\n  limit:\nscan:\n")
    assert load(home, project, {"CQM_SEARCH_LIMIT": ""}).search.limit == 2


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "chunk:\n"])
def test_a_file_that_sets_nothing_is_no_problem(home: Path, text: str) -> None:
    (home / "cqm.yml").write_text(text)
    assert load(home).chunk_options() == ChunkOptions()


def test_a_byte_order_mark_is_no_part_of_the_file(home: Path) -> None:
    (home / "cqm.yml").write_text("search: {limit: 2}\n", encoding="utf-8-sig")
    assert load(home).search.limit == 2


@pytest.mark.parametrize(("text", "value"), [("[a, 'b c']", ("a", "b c")), ("docs/**", ("docs/**",)), ("[]", ())])
def test_a_list_in_a_variable_is_written_as_in_yaml(home: Path, text: str, value: tuple[str, ...]) -> None:
    assert load(home, environment={"CQM_SCAN_EXCLUDE": text}).scan.exclude == value
    assert load(home, overrides={"scan.exclude": text}).scan.exclude == value


def test_the_model_of_late_chunking_is_a_folder_beside_the_file_that_names_it_or_an_address(home: Path) -> None:
    (home / "cqm.yml").write_text("late: {encoder: models/minilm}\n")
    assert load(home).late.encoder == str(home / "models" / "minilm")
    (home / "cqm.yml").write_text("late: {encoder: 'https://example.com'}\n")
    assert load(home).late.encoder == "https://example.com"
    assert load(home, environment={"CQM_LATE_ENCODER": "http://127.0.0.1:8080"}).late.encoder == "http://127.0.0.1:8080"


def test_a_relative_folder_starts_at_the_file_that_names_it(home: Path, project: Path) -> None:
    (home / "cqm.yml").write_text("index: {home: indexes}\n")
    (project / "cqm.yml").write_text("server: {roots: [src, ./docs/..]}\n")
    settings = load(home, project, {"CQM_TRUST_PROJECT": "1"})
    assert settings.index.home == home / "indexes"
    assert settings.server.roots == (project / "src", project)


def test_a_tilde_is_the_home_folder(home: Path) -> None:
    assert load(home, environment={"CQM_INDEX_HOME": "~/indexes"}).index.home == Path.home() / "indexes"


def test_each_root_has_its_own_file_over_the_same_other_sources(home: Path, tmp_path: Path) -> None:
    for name, limit in (("a", 256), ("b", 384)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "cqm.yml").write_text(f"chunk: {{max_tokens: {limit}}}\n")
        (tmp_path / name / "file.py").write_text("")
    settings = load(home, environment={"CQM_INDEX_WORKERS": "3"})
    assert settings.index_options(tmp_path / "a") == IndexOptions(chunk=ChunkOptions(max_tokens=256), workers=3)
    assert settings.index_options(tmp_path / "b" / "file.py").chunk.max_tokens == 384
    assert settings.for_root(tmp_path / "a").for_root(tmp_path / "b").chunk.max_tokens == 384


def test_settings_made_in_code_hold_for_every_root(project: Path, tmp_path: Path) -> None:
    settings = Settings.model_validate({"index": {"home": tmp_path / "indexes"}})
    assert settings.index_options(project).home == tmp_path / "indexes"


# What is refused, and how that reads.


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("chunk:\n  max_token: 5\n", 'cqm.yml:2: unknown option "chunk.max_token". Did you mean "chunk.max_tokens"?'),
        ("\n\nchunks: {}\n", 'cqm.yml:3: unknown option "chunks". Did you mean "chunk"?'),
        ("max_tokens: 128\n", 'cqm.yml:1: unknown option "max_tokens". Did you mean "chunk.max_tokens"?'),
        ("zzz: 1\n", 'cqm.yml:1: unknown option "zzz".'),
        (
            "chunk: {max_tokens: 6}\n",
            "cqm.yml:1: `chunk.max_tokens: 6`: expected 64 to 8192. Remove it for the default, 512.",
        ),
        (
            'chunk:\n  max_tokens: "512"\n',
            (
                'cqm.yml:2: `chunk.max_tokens: "512"`: expected a whole number, 64 to 8192. Remove it for the default, '
                "512."
            ),
        ),
        (
            "index:\n  workers: yes\n",
            "cqm.yml:2: `index.workers: true`: expected a whole number, 0 to 256. Remove it for the default, 0.",
        ),
        (
            "search: {mode: hybird}\n",
            (
                'cqm.yml:1: `search.mode: "hybird"`: expected hybrid, semantic, lexical, exact or regex. Remove it '
                'for the default, "hybrid".'
            ),
        ),
        (
            "scan:\n  exclude:\n    - a\n    - 5\n",
            "cqm.yml:2: `scan.exclude.1: 5`: expected text. Remove it for the default.",
        ),
        ("rerank: {base_url: x}\n", 'cqm.yml:1: unknown option "rerank.base_url". Did you mean "rerank.url"?'),
        (
            "embedding: {provider: olama}\n",
            (
                f'cqm.yml:1: `embedding.provider: "olama"`: expected {one_of(EMBEDDERS)}. Remove it for the default, '
                '"embedded".'
            ),
        ),
        (
            "context: {provider: voyage}\n",
            (
                f'cqm.yml:1: `context.provider: "voyage"`: expected {one_of((RULES, *CHATS))}. '
                'Remove it for the default, "rules".'
            ),
        ),
        (
            "rerank: {provider: x}\n",
            f'cqm.yml:1: `rerank.provider: "x"`: expected {one_of(RERANKERS)}. Remove it for the default, "none".',
        ),
        (
            "rerank: {shape: x}\n",
            f'cqm.yml:1: `rerank.shape: "x"`: expected {one_of(NO_SHAPE)}. Remove it for the default.',
        ),
        (
            'search: {mode: "\\ud800"}\n',
            "cqm.yml:1: a value is not valid text: unexpected end of hex escape at line 1 column 28.",
        ),
        ("embedding: ollama\n", 'cqm.yml:1: "embedding" is a section: write its options below it, as `name: value`.'),
        ("- a\n", "cqm.yml:1: expected options as `name: value`."),
        (
            'search: {limit: 3}\nscan: {exclude: ["["]}\n',
            "cqm.yml:2: The exclude pattern '[' is malformed: a set without an end.",
        ),
        ("scan: {}\nchunk: {}\nscan: {}\n", 'cqm.yml:3: "scan" is already set in line 1.'),
        ("chunk:\n  max_tokens: 64\n  max_tokens: 65\n", 'cqm.yml:3: "max_tokens" is already set in line 2.'),
        ("? [a]\n: b\n", "cqm.yml:1: an option's name must be a word."),
        ("chunk: {max_tokens: 1\n", "cqm.yml:2: not valid YAML: expected ',' or '}', but got '<stream end>'."),
        ("a: &a [x]\nb: *a\n", "cqm.yml:2: not valid YAML: aliases are not allowed here."),
        ("a: " + "[" * 2000, "cqm.yml:1: not valid YAML: nested too deeply."),
        (
            "search: {mode: !!python/name:os.system x}\n",
            (
                "cqm.yml:1: not valid YAML: could not determine a constructor for the tag "
                "'tag:yaml.org,2002:python/name:os.system'."
            ),
        ),
    ],
)
def test_a_refusal_names_file_line_and_option(home: Path, text: str, message: str) -> None:
    assert refusal(home, text) == message


def test_a_date_that_does_not_exist_is_refused_in_the_words_of_python(home: Path) -> None:
    # From 3.14 on they go on with ", not 99".
    assert refusal(home, "search: {mode: 2001-99-99}\n").startswith("cqm.yml: not valid YAML: month must be in 1..12")


def test_every_problem_of_a_file_is_named_in_the_order_of_its_lines(home: Path) -> None:
    message = refusal(home, "search: {limit: 0}\nindex: {wrkers: 1}\nchunk: {min_tokens: x}\n")
    assert [line.partition(": ")[0] for line in message.splitlines()] == ["cqm.yml:1", "cqm.yml:2", "cqm.yml:3"]


def test_a_file_beyond_the_size_limit_is_not_parsed(home: Path) -> None:
    assert refusal(home, "#" * (MAX_FILE_BYTES + 1)) == "cqm.yml: larger than 64 KiB."


def test_a_file_that_is_not_utf8_is_refused(home: Path) -> None:
    (home / "cqm.yml").write_bytes(b"# caf\xe9\n")
    with pytest.raises(SettingsError, match="not UTF-8"):
        load(home)


def test_a_folder_named_like_the_file_is_refused(home: Path, project: Path) -> None:
    (project / "cqm.yml").mkdir()
    with pytest.raises(SettingsError, match="cannot be read"):
        load(home, project)


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        (
            "CQM_CHUNK_MAX_TOKEN",
            "5",
            'CQM_CHUNK_MAX_TOKEN: there is no such option. Did you mean "CQM_CHUNK_MAX_TOKENS"?',
        ),
        ("CQM_SEARCH_LIMIT", "many", 'CQM_SEARCH_LIMIT: `search.limit: "many"`: expected a whole number, 1 to 100.'),
        ("CQM_SCAN_EXCLUDE", "[a", "CQM_SCAN_EXCLUDE: not a list as in YAML: [a"),
        ("CQM_TRUST_PROJECT", "maybe", "CQM_TRUST_PROJECT: expected 1 or 0, got 'maybe'."),
        (
            "CQM_EMBEDDING_BASE_URL",
            "ftp://host",
            'CQM_EMBEDDING_BASE_URL: `embedding.base_url: "ftp://host"`: ',
        ),
        (
            "CQM_CACHE_REDIS_URL",
            "http://host",
            'CQM_CACHE_REDIS_URL: `cache.redis_url: "http://host"`: expected redis://',
        ),
        ("CQM_PROVIDERS_A_MODEL", "x", "CQM_PROVIDERS_A_MODEL: there is no such option. Blocks are written in cqm.yml"),
        ("CQM_SERVER_HTTP", "8080", 'CQM_SERVER_HTTP: `server.http: "8080"`: expected HOST:PORT'),
    ],
)
def test_a_refused_variable_is_named(home: Path, variable: str, value: str, message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load(home, environment={variable: value})
    assert caught.value.message.startswith(message)


def test_the_variable_of_a_key_may_begin_as_ours_do(home: Path) -> None:
    environment = {"CQM_EMBEDDING_API_KEY_ENV": "CQM_MY_KEY", "CQM_MY_KEY": "secret"}
    assert load(home, environment=environment).embedding.api_key_env == "CQM_MY_KEY"
    (home / "cqm.yml").write_text("embedding: {api_key_env: CQM_OTHER_KEY}\n")
    assert load(home, environment={"CQM_OTHER_KEY": "secret"}).embedding.api_key_env == "CQM_OTHER_KEY"


@pytest.mark.parametrize(
    ("section", "key"),
    [
        ("late", "api_key_env"),
        ("context", "api_key_env"),
        ("rerank", "api_key_env"),
        ("store", "api_key_env"),
        ("cache", "redis_password_env"),
        ("providers.b", "api_key_env"),
    ],
)
def test_so_may_the_variable_of_every_other_secret(home: Path, section: str, key: str) -> None:
    name, _, block = section.partition(".")
    own = f"{name}: {{{block}: {{provider: openai, {key}: CQM_KEY}}}}" if block else f"{name}: {{{key}: CQM_KEY}}"
    (home / "cqm.yml").write_text(own)
    secret = {"CQM_KEY": "secret"}
    assert load(home, environment=secret).model_fields_set == {name}
    (home / "cqm.yml").write_text("providers: {b: {provider: openai}}")
    assert load(home, environment=secret, overrides={f"{section}.{key}": "CQM_KEY"})
    if not block:
        assert load(home, environment={**secret, f"CQM_{name}_{key}".upper(): "CQM_KEY"})


def test_the_secret_of_the_http_server_is_no_unknown_option(home: Path) -> None:
    load(home, environment={TOKEN_VARIABLE: "secret"})


def test_an_unknown_name_on_the_command_line_is_refused(home: Path) -> None:
    with pytest.raises(SettingsError, match=r'command line: unknown option "chunk.size"'):
        load(home, overrides={"chunk.size": "5"})


@pytest.mark.parametrize(
    "text",
    [
        "embedding: {base_url: 'https://user:hunter2@example.com'}",
        "embedding: {api_key_env: sk-hunter2}",
        "embedding: {api_key: hunter2}",
        "rerank: {url: 'https://hunter2@example.com'}",
        "cache: {redis_url: 'redis://:hunter2@example.com/0'}",
        "store: {url: 'https://hunter2@example.com'}",
        "cache: {redis_password_env: 'hunter2!'}",
        "providers: {a: {provider: openai, api_key_env: 'hunter2!'}}",
    ],
)
def test_a_secret_in_the_wrong_place_is_refused_without_being_repeated(home: Path, text: str) -> None:
    assert "hunter2" not in refusal(home, text)


def test_the_least_size_of_chunks_is_within_the_largest_wherever_each_is_set(home: Path) -> None:
    (home / "cqm.yml").write_text("chunk: {min_tokens: 600}\n")
    with pytest.raises(SettingsError, match=r'"chunk.min_tokens" \(600\) is over "chunk.max_tokens" \(512\)'):
        load(home)
    assert load(home, environment={"CQM_CHUNK_MAX_TOKENS": "700"}).chunk.min_tokens == 600
    (home / "cqm.yml").write_text("chunk: {overlap_tokens: 257}\n")
    with pytest.raises(
        SettingsError, match=r'"chunk.overlap_tokens" \(257\) is over half of "chunk.max_tokens" \(512\)'
    ):
        load(home)


@pytest.mark.parametrize(
    "text",
    [
        "chunk: {rules: {docs/**: {strategy: hierarchical, target_tokens: 512}, '*.sql': fixed}}",
        "chunk: {rules: ['docs/** hierarchical:target_tokens=512', '*.sql fixed']}",
    ],
)
def test_rules_of_chunking_are_a_mapping_or_a_list(home: Path, project: Path, text: str) -> None:
    (project / "cqm.yml").write_text(text, encoding="utf-8")
    rules = ("docs/** hierarchical:target_tokens=512", "*.sql fixed")
    assert load(home, project).chunk_options().rules == rules


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("chunk:\n  rules: {docs/**: javadoc}", "names the strategy 'javadoc'"),
        ("chunk:\n  rules: {docs/**: {strategy: fixed, size: 3}}", "option 'size': expected one of"),
        ("chunk:\n  rules: [docs/**]", "expected FILES STRATEGY"),
        ("chunk:\n  rules: {docs/**: [fixed]}", "expected FILES STRATEGY"),
        ("chunk:\n  rules: 7", "expected a list"),
    ],
)
def test_a_wrong_rule_of_chunking_is_refused_with_its_line(home: Path, text: str, message: str) -> None:
    told = refusal(home, text)
    assert message in told
    assert "cqm.yml:2" in told
