"""Where configuration comes from, what wins, what is refused and how the refusal reads."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from cqm.chunkers.model import ChunkOptions
from cqm.index.model import SearchMode
from cqm.index.options import IndexOptions, ScanOptions
from cqm.server.errors import SettingsError
from cqm.server.http import TOKEN_VARIABLE
from cqm.server.options import Options
from cqm.server.settings import Settings, load_settings
from cqm.server.sources import MAX_FILE_BYTES

EXAMPLE = Path(__file__).parents[2] / "cqm.yml"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def load(
    home: Path,
    project: Path | None = None,
    environment: Mapping[str, str] | None = None,
    overrides: Mapping[str, object] | None = None,
) -> Settings:
    """Settings of these sources alone: neither this process's environment nor its user's file."""
    return load_settings(project, environment=environment or {}, overrides=overrides, user=home / "cqm.yml")


def refusal(home: Path, text: str) -> str:
    """What is said of a user's file with this text."""
    (home / "cqm.yml").write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        load(home)
    return caught.value.message.replace(str(home / "cqm.yml"), "cqm.yml")


def project_refusal(
    home: Path, project: Path, text: str, environment: Mapping[str, str] | None = None
) -> SettingsError:
    """The refusal of a project's file with this text."""
    (project / "cqm.yml").write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        load(home, project, environment)
    return caught.value


# What wins.


def test_without_any_source_every_option_has_its_default(home: Path) -> None:
    assert load(home).model_dump() == Options().model_dump()


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


def test_the_model_of_late_chunking_is_a_folder_beside_the_file_that_names_it_or_an_address(
    home: Path, project: Path
) -> None:
    (project / "cqm.yml").write_text("late: {encoder: models/minilm}\n")
    assert load(home, project).late.encoder == str(project / "models" / "minilm")
    (home / "cqm.yml").write_text("late: {encoder: 'https://example.com'}\n")
    assert load(home).late.encoder == "https://example.com"
    assert load(home, environment={"CQM_LATE_ENCODER": "http://127.0.0.1:8080"}).late.encoder == "http://127.0.0.1:8080"


def test_a_relative_folder_starts_at_the_file_that_names_it(home: Path, project: Path) -> None:
    (home / "cqm.yml").write_text("index: {home: indexes}\n")
    (project / "cqm.yml").write_text("server: {roots: [src, ./docs/..]}\n")
    settings = load(home, project)
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
            'cqm.yml:1: bad value for "chunk.max_tokens": Input should be greater than or equal to 64 (got 6).',
        ),
        (
            'chunk:\n  max_tokens: "512"\n',
            'cqm.yml:2: bad value for "chunk.max_tokens": Input should be a valid integer (got "512").',
        ),
        (
            "index:\n  workers: yes\n",
            'cqm.yml:2: bad value for "index.workers": Input should be a valid integer (got true).',
        ),
        (
            "search: {mode: hybird}\n",
            (
                "cqm.yml:1: bad value for \"search.mode\": Input should be 'hybrid', 'semantic' or 'lexical' "
                '(got "hybird").'
            ),
        ),
        (
            "scan:\n  exclude:\n    - a\n    - 5\n",
            'cqm.yml:2: bad value for "scan.exclude.1": Input should be a valid string (got 5).',
        ),
        ("embedding: ollama\n", 'cqm.yml:1: "embedding" is a section: write its options below it, as `name: value`.'),
        ("- a\n", "cqm.yml:1: expected options as `name: value`."),
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
        ("search: {mode: 2001-99-99}\n", "cqm.yml: not valid YAML: month must be in 1..12."),
    ],
)
def test_a_refusal_names_file_line_and_option(home: Path, text: str, message: str) -> None:
    assert refusal(home, text) == message


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
        ("CQM_SEARCH_LIMIT", "many", 'CQM_SEARCH_LIMIT: bad value for "search.limit"'),
        ("CQM_SCAN_EXCLUDE", "[a", "CQM_SCAN_EXCLUDE: not a list as in YAML: [a"),
        ("CQM_TRUST_PROJECT", "maybe", "CQM_TRUST_PROJECT: expected 1 or 0, got 'maybe'."),
        ("CQM_EMBEDDING_BASE_URL", "ftp://host", 'CQM_EMBEDDING_BASE_URL: bad value for "embedding.base_url"'),
        ("CQM_SERVER_HTTP", "8080", 'CQM_SERVER_HTTP: bad value for "server.http"'),
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


def test_so_may_the_variable_of_the_key_for_late_chunking(home: Path) -> None:
    environment = {"CQM_LATE_API_KEY_ENV": "CQM_MY_KEY", "CQM_MY_KEY": "secret"}
    assert load(home, environment=environment).late.api_key_env == "CQM_MY_KEY"
    (home / "cqm.yml").write_text("late: {api_key_env: CQM_OTHER_KEY}\n")
    assert load(home, environment={"CQM_OTHER_KEY": "secret"}).late.api_key_env == "CQM_OTHER_KEY"


def test_the_secret_of_the_http_server_is_no_unknown_option(home: Path) -> None:
    load(home, environment={TOKEN_VARIABLE: "secret"})


def test_an_unknown_name_on_the_command_line_is_refused(home: Path) -> None:
    with pytest.raises(SettingsError, match=r'command line: unknown option "chunk.size"'):
        load(home, overrides={"chunk.size": "5"})


def test_the_least_size_of_chunks_is_within_the_largest_wherever_each_is_set(home: Path) -> None:
    (home / "cqm.yml").write_text("chunk: {min_tokens: 600}\n")
    with pytest.raises(SettingsError, match=r'"chunk.min_tokens" \(600\) is over "chunk.max_tokens" \(512\)'):
        load(home)
    assert load(home, environment={"CQM_CHUNK_MAX_TOKENS": "700"}).chunk.min_tokens == 600


# What a project may not decide.

REFUSED = [
    ("embedding: {provider: openai}", "embedding.provider"),
    ("embedding: {provider: openai, base_url: 'https://example.com/v1'}", "embedding.base_url"),
    ("embedding: {provider: ollama, base_url: 'http://10.0.0.7:11434'}", "embedding.base_url"),
    ("embedding: {provider: ollama, base_url: 'http://localhost.example.com'}", "embedding.base_url"),
    ("embedding: {provider: ollama, model: 'embed-large:cloud'}", "embedding.provider"),
    ("embedding: {api_key_env: AWS_SECRET_ACCESS_KEY}", "embedding.api_key_env"),
    ("late: {encoder: 'https://example.com'}", "late.encoder"),
    ("late: {encoder: 'http://localhost.example.com'}", "late.encoder"),
    ("late: {api_key_env: AWS_SECRET_ACCESS_KEY}", "late.api_key_env"),
    ("index: {home: elsewhere}", "index.home"),
    ("server: {roots: [..]}", "server.roots"),
    ("server: {roots: [/]}", "server.roots"),
    ("server: {http: '0.0.0.0:8080'}", "server.http"),
    ("trusted_projects: [.]", "trusted_projects"),
]


@pytest.mark.parametrize(("text", "name"), REFUSED)
def test_a_project_cannot_send_code_away_or_widen_what_is_readable(
    home: Path, project: Path, text: str, name: str
) -> None:
    error = project_refusal(home, project, text)
    assert error.message.startswith(f'{project / "cqm.yml"}:1: "{name}" is refused: ')
    assert str(home / "cqm.yml") in error.remedy
    assert "CQM_TRUST_PROJECT=1" in error.remedy


@pytest.mark.parametrize(("text", "_name"), REFUSED)
def test_a_project_that_the_user_trusts_can(home: Path, project: Path, text: str, _name: str) -> None:
    (project / "cqm.yml").write_text(text)
    load(home, project, {"CQM_TRUST_PROJECT": "1"})
    (home / "cqm.yml").write_text(f"trusted_projects: ['{project.parent}']\n")
    load(home, project)


def test_trust_in_one_project_is_none_in_another(home: Path, project: Path) -> None:
    (home / "cqm.yml").write_text("trusted_projects: [../project-2]\n")
    project_refusal(home, project, "embedding: {provider: openai}")


@pytest.mark.parametrize(
    "text",
    [
        "embedding: {provider: none}",
        "embedding: {provider: ollama}",
        "embedding: {provider: ollama, base_url: 'http://localhost:11434', model: nomic-embed-text}",
        "embedding: {provider: openai, base_url: 'http://127.0.0.1:8000/v1'}",
        "embedding: {provider: openai, base_url: 'http://[::1]:8000/v1'}",
        "late: {encoder: 'http://127.0.0.1:8080'}",
        "late: {encoder: models/minilm}",
        "server: {roots: [., src]}",
        "index: {in_project: true}\nscan: {exclude: [docs]}\nchunk: {max_tokens: 256}",
    ],
)
def test_a_project_may_decide_what_stays_on_this_machine(home: Path, project: Path, text: str) -> None:
    (project / "cqm.yml").write_text(text)
    load(home, project)


def test_the_environments_default_address_counts_when_a_project_chooses_the_provider(home: Path, project: Path) -> None:
    project_refusal(home, project, "embedding: {provider: ollama}", {"OLLAMA_HOST": "gpu.example.com:11434"})
    (project / "cqm.yml").write_text("embedding: {provider: ollama}")
    assert load(home, project, {"OLLAMA_HOST": "0.0.0.0:11434"}).embedding.provider == "ollama"


def test_a_project_cannot_turn_the_users_service_to_another_address(home: Path, project: Path) -> None:
    (home / "cqm.yml").write_text("embedding: {provider: openai, api_key_env: KEY}\n")
    error = project_refusal(home, project, "embedding: {base_url: 'https://example.com'}")
    assert "embedding.base_url" in error.message


def test_a_project_may_choose_a_model_of_the_service_that_the_user_configured(home: Path, project: Path) -> None:
    (home / "cqm.yml").write_text("embedding: {provider: openai}\n")
    (project / "cqm.yml").write_text("embedding: {provider: openai, model: text-embedding-3-large}\n")
    assert load(home, project).embedding.model == "text-embedding-3-large"


def test_an_address_in_a_projects_file_is_refused_even_when_only_the_environment_makes_it_count(
    home: Path, project: Path
) -> None:
    text = "embedding: {base_url: 'https://example.com'}"
    project_refusal(home, project, text, {"CQM_EMBEDDING_PROVIDER": "openai"})


def test_a_root_that_a_link_leads_out_of_the_project_is_refused(home: Path, project: Path) -> None:
    (project / "inside").symlink_to(home, target_is_directory=True)
    error = project_refusal(home, project, "server: {roots: [inside]}")
    assert "server.roots" in error.message


def test_a_projects_file_that_is_a_link_out_of_it_is_not_read(home: Path, project: Path) -> None:
    (home / "secret").write_text("token: abc\n")
    (project / "cqm.yml").symlink_to(home / "secret")
    with pytest.raises(SettingsError, match="a link that leads out of the project") as caught:
        load(home, project)
    assert "abc" not in str(caught.value)
