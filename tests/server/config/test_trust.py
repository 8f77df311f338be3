"""The options a project's own cqm.yml may decide, those it may not, and the difference that trust makes."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from cqm.server.config.settings import Settings, load_settings
from cqm.server.errors import SettingsError


def load(home: Path, project: Path, environment: Mapping[str, str] | None = None) -> Settings:
    """Settings of these sources alone: neither this process's environment nor its user's file."""
    return load_settings(project, environment=environment or {}, user=home / "cqm.yml")


def project_refusal(
    home: Path, project: Path, text: str, environment: Mapping[str, str] | None = None
) -> SettingsError:
    """The refusal of a project's file with this text."""
    (project / "cqm.yml").write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        load(home, project, environment)
    return caught.value


REFUSED = [
    ("embedding: {provider: openai}", "embedding.provider"),
    ("embedding: {provider: openai, base_url: 'https://example.com/v1'}", "embedding.base_url"),
    ("embedding: {provider: ollama, base_url: 'http://10.0.0.7:11434'}", "embedding.base_url"),
    ("embedding: {provider: ollama, base_url: 'http://localhost.example.com'}", "embedding.base_url"),
    ("embedding: {provider: ollama, model: 'embed-large:cloud'}", "embedding.provider"),
    ("embedding: {provider: voyage}", "embedding.provider"),
    ("embedding: {provider: ollama}", "embedding.provider"),
    ("embedding: {provider: ollama, base_url: 'http://localhost:11434'}", "embedding.base_url"),
    ("embedding: {provider: openai, base_url: 'http://[::1]:8000/v1'}", "embedding.base_url"),
    ("embedding: {base_url: 'http://127.0.0.1:8000/v1'}", "embedding.base_url"),
    ("providers: {a: {provider: embedded}}", "providers.a.provider"),
    ("context: {provider: ollama}", "context.provider"),
    ("context: {provider: openai, base_url: 'http://127.0.0.1:8000/v1'}", "context.base_url"),
    ("rerank: {provider: http, url: 'http://127.0.0.1:8080/v1/rerank'}", "rerank.url"),
    ("late: {encoder: 'http://127.0.0.1:8080'}", "late.encoder"),
    ("cache: {redis_url: 'redis://127.0.0.1:6379/0'}", "cache.redis_url"),
    ("cache: {redis_url: 'unix:///run/redis.sock'}", "cache.redis_url"),
    ("cache: {disk_mb: 1}", "cache.disk_mb"),
    ("cache: {enabled: false}", "cache.enabled"),
    ("index: {in_project: true}", "index.in_project"),
    ("index: {workers: 1}", "index.workers"),
    ("index: {shared: false}", "index.shared"),
    ("server: {roots: [., src]}", "server.roots"),
    ("embedding: {provider: jina}", "embedding.provider"),
    ("embedding: {provider: llamacpp, base_url: 'http://10.0.0.7:8080'}", "embedding.base_url"),
    ("providers: {a: {provider: voyage}}", "providers.a.provider"),
    ("providers: {a: {provider: vllm, base_url: 'http://10.0.0.7:8000/v1'}}", "providers.a.base_url"),
    ("providers: {a: {provider: ollama, api_key_env: AWS_SECRET_ACCESS_KEY}}", "providers.a.api_key_env"),
    ("providers: {a: {provider: ollama, api_key_file: /etc/key}}", "providers.a.api_key_file"),
    ("providers: {a: {provider: ollama, pull: true}}", "providers.a.pull"),
    ("embedding: {provider: ollama, pull: true}", "embedding.pull"),
    ("context: {provider: openai}", "context.provider"),
    ("context: {provider: openai, base_url: 'https://example.com/v1'}", "context.base_url"),
    ("context: {provider: ollama, model: 'gpt-oss:120b-cloud'}", "context.provider"),
    ("context: {api_key_env: AWS_SECRET_ACCESS_KEY}", "context.api_key_env"),
    ("context: {api_key_file: ~/.aws/credentials}", "context.api_key_file"),
    ("rerank: {provider: http, url: 'https://example.com/rerank'}", "rerank.url"),
    ("rerank: {provider: http, shape: cohere}", "rerank.provider"),
    ("rerank: {api_key_env: AWS_SECRET_ACCESS_KEY}", "rerank.api_key_env"),
    ("rerank: {api_key_file: ~/.aws/credentials}", "rerank.api_key_file"),
    ("cache: {redis_url: 'redis://example.com:6379/0'}", "cache.redis_url"),
    ("cache: {redis_password_env: AWS_SECRET_ACCESS_KEY}", "cache.redis_password_env"),
    ("cache: {folder: cache}", "cache.folder"),
    ("embedding: {api_key_env: AWS_SECRET_ACCESS_KEY}", "embedding.api_key_env"),
    ("embedding: {api_key_file: ~/.aws/credentials}", "embedding.api_key_file"),
    ("late: {encoder: 'https://example.com'}", "late.encoder"),
    ("late: {encoder: 'http://localhost.example.com'}", "late.encoder"),
    ("late: {encoder: models/minilm}", "late.encoder"),
    ("chunk: {rules: {docs/**: late}}", "chunk.rules"),
    ("rerank: {folder: models/reranker}", "rerank.folder"),
    ("late: {api_key_env: AWS_SECRET_ACCESS_KEY}", "late.api_key_env"),
    ("store: {url: 'https://example.com:6333'}", "store.url"),
    ("store: {url: 'http://127.0.0.1:6333'}", "store.url"),
    ("store: {ca_file: ca.pem}", "store.ca_file"),
    ("store: {replication_factor: 50}", "store.replication_factor"),
    ("store: {api_key_env: AWS_SECRET_ACCESS_KEY}", "store.api_key_env"),
    ("store: {api_key_file: ~/.aws/credentials}", "store.api_key_file"),
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
    assert f'{project / "cqm.yml"}:1: "{name}" is refused: ' in error.message
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
        "scan: {exclude: [docs], include_vendored: true, max_file_bytes: 1000}\nchunk: {max_tokens: 256}",
        "chunk: {min_tokens: 64, overlap_percent: 10, apart: true, max_parse_bytes: 0}\ncontext: {place: both}",
        "chunk: {overlap_tokens: 0, rules: {docs/**: sentence, lib/**: 'fixed:size_tokens=256,overlap_tokens=64'}}",
        "search: {limit: 5, mode: semantic}",
        "watch: {enabled: false, debounce_ms: 500, reconcile_seconds: 900, poll_seconds: 60}",
        "embedding: {provider: none}\ncontext: {provider: rules}\nrerank: {provider: none}",
    ],
)
def test_a_project_may_decide_how_its_own_files_are_indexed_and_searched(home: Path, project: Path, text: str) -> None:
    (project / "cqm.yml").write_text(text)
    assert load(home, project)


@pytest.mark.parametrize(
    ("own", "less", "more", "name"),
    [
        ("scan: {max_file_bytes: 5000}", "4000", "5001", "scan.max_file_bytes"),
        ("chunk: {max_parse_bytes: 5000}", "0", "5001", "chunk.max_parse_bytes"),
        ("", "256", "1024", "chunk.max_tokens"),
        ("chunk: {max_tokens: 1024}", "1000", "1025", "chunk.max_tokens"),
        ("", "10", "50", "chunk.overlap_percent"),
        ("chunk: {overlap_tokens: 64}", "32", "128", "chunk.overlap_tokens"),
        ("", "{lib/**: 'fixed:size_tokens=512'}", "{lib/**: 'fixed:size_tokens=2048'}", "chunk.rules"),
        ("", "{lib/**: 'hierarchical:parent_tokens=512'}", "{lib/**: 'sentence:target_tokens=700'}", "chunk.rules"),
        ("", "{lib/**: 'fixed:overlap_percent=20'}", "{lib/**: 'fixed:overlap_percent=50'}", "chunk.rules"),
        ("search: {limit: 3}", "2", "50", "search.limit"),
        ("scan: {use_gitignore: false}", "true", "", "scan.use_gitignore"),
        ("", "true", "false", "scan.use_gitignore"),
        ("watch: {enabled: false}", "false", "true", "watch.enabled"),
        ("watch: {debounce_ms: 50}", "51", "49", "watch.debounce_ms"),
        ("watch: {poll_seconds: 50}", "51", "0.1", "watch.poll_seconds"),
        ("watch: {reconcile_seconds: 50}", "51", "1", "watch.reconcile_seconds"),
        ("search: {mode: lexical}", "lexical", "hybrid", "search.mode"),
        ("embedding: {provider: openai}", "none", "embedded", "embedding.provider"),
        ("context: {provider: openai}", "rules", "ollama", "context.provider"),
        ("rerank: {provider: http}", "none", "onnx", "rerank.provider"),
    ],
)
def test_a_project_may_ask_for_less_than_the_user_and_not_for_more(
    home: Path, project: Path, own: str, less: str, more: str, name: str
) -> None:
    (home / "cqm.yml").write_text(own)
    section, key = name.split(".")
    (project / "cqm.yml").write_text(f"{section}: {{{key}: {less}}}")
    load(home, project)
    if more:
        assert f'"{name}" is refused: ' in project_refusal(home, project, f"{section}: {{{key}: {more}}}").message


def test_the_refusal_of_a_larger_size_tells_the_largest(home: Path, project: Path) -> None:
    message = project_refusal(home, project, "chunk:\n  max_parse_bytes: 16000000\n").message
    assert message == (
        f'{project / "cqm.yml"}:2: "chunk.max_parse_bytes" is refused: a project may only lower it, '
        "and it is 1000000 without this file."
    )


def test_what_the_user_never_wants_indexed_stays_out_whatever_a_project_excludes(home: Path, project: Path) -> None:
    (home / "cqm.yml").write_text("scan: {exclude: ['*.key', notes]}\n")
    for asked, settled in (("[]", ()), ("[docs, notes]", ("docs",))):
        (project / "cqm.yml").write_text(f"scan: {{exclude: {asked}}}\n")
        assert load(home, project).scan.exclude == ("*.key", "notes", *settled)
    assert load(home, project, {"CQM_SCAN_EXCLUDE": "tmp"}).scan.exclude == ("tmp",)


def test_what_a_project_asks_for_and_the_users_environment_decides_is_no_refusal(home: Path, project: Path) -> None:
    (project / "cqm.yml").write_text("embedding: {provider: openai}\nindex: {workers: 8}\n")
    environment = {"CQM_EMBEDDING_PROVIDER": "none", "CQM_INDEX_WORKERS": "2"}
    assert load(home, project, environment).embedding.provider == "none"


def test_a_project_cannot_take_the_index_off_the_users_server(home: Path, project: Path) -> None:
    (home / "cqm.yml").write_text("store: {url: 'https://example.com:6333', prefix: mine}")
    for text, name in (("url: ''", "url"), ("url: 'https://example.org:6333'", "url"), ("prefix: yours", "prefix")):
        assert f'"store.{name}" is refused: it decides' in project_refusal(home, project, f"store: {{{text}}}").message
    (project / "cqm.yml").write_text("store: {url: 'https://example.com:6333', prefix: mine, shard_number: 1}")
    assert load(home, project).store.prefix == "mine"


def test_a_project_cannot_turn_the_users_service_to_another_address(home: Path, project: Path) -> None:
    (home / "cqm.yml").write_text("embedding: {provider: openai, api_key_env: KEY}\n")
    error = project_refusal(home, project, "embedding: {base_url: 'https://example.com'}")
    assert "embedding.base_url" in error.message


def test_a_project_may_state_what_the_user_configured_and_not_choose_another_model(home: Path, project: Path) -> None:
    (home / "cqm.yml").write_text("embedding: {provider: openai, model: text-embedding-3-small}\n")
    (project / "cqm.yml").write_text("embedding: {provider: openai, model: text-embedding-3-small}\n")
    assert load(home, project).embedding.provider == "openai"
    error = project_refusal(home, project, "embedding: {model: text-embedding-3-large}\n")
    assert '"embedding.model" is refused: it decides how your models are used.' in error.message


def test_an_address_in_a_projects_file_is_refused_even_when_only_the_environment_makes_it_count(
    home: Path, project: Path
) -> None:
    text = "embedding: {base_url: 'https://example.com'}"
    project_refusal(home, project, text, {"CQM_EMBEDDING_PROVIDER": "openai"})


def test_a_root_that_a_link_leads_out_of_the_project_is_refused(home: Path, project: Path) -> None:
    (project / "inside").symlink_to(home, target_is_directory=True)
    error = project_refusal(home, project, "server: {roots: [inside]}")
    assert "server.roots" in error.message


@pytest.mark.parametrize("inside", [False, True])
def test_a_projects_file_that_is_a_link_is_not_read(home: Path, project: Path, inside: bool) -> None:
    target = (project if inside else home) / "secret"
    target.write_text("token: abc\n")
    (project / "cqm.yml").symlink_to(target)
    with pytest.raises(SettingsError, match="cannot be read: it is a link") as caught:
        load(home, project)
    assert "abc" not in str(caught.value)


def test_the_users_own_file_may_be_a_link(home: Path, tmp_path: Path) -> None:
    (tmp_path / "dotfiles.yml").write_text("search: {limit: 3}\n")
    (home / "cqm.yml").symlink_to(tmp_path / "dotfiles.yml")
    assert load_settings(environment={}, user=home / "cqm.yml").search.limit == 3


CLOUD = "providers: {cloud: {provider: voyage}, local: {provider: ollama}}\n"


@pytest.mark.parametrize("route", ["fallback: [local, cloud]", "prose: cloud"])
def test_a_project_cannot_route_its_text_to_a_service_that_the_user_configured_but_does_not_use(
    home: Path, project: Path, route: str
) -> None:
    (home / "cqm.yml").write_text(CLOUD)
    error = project_refusal(home, project, f"embedding: {{{route}}}")
    assert f'"embedding.{route.partition(":")[0]}" is refused' in error.message


def test_a_project_cannot_turn_a_block_of_the_users_to_another_address(home: Path, project: Path) -> None:
    (home / "cqm.yml").write_text(f"{CLOUD}embedding: {{fallback: [cloud, local]}}")
    for block in ("cloud", "local"):
        error = project_refusal(home, project, f"providers: {{{block}: {{base_url: 'https://example.com'}}}}")
        assert f'"providers.{block}.base_url" is refused' in error.message


def test_a_project_cannot_switch_on_a_reranker_that_is_elsewhere(home: Path, project: Path) -> None:
    (home / "cqm.yml").write_text("rerank: {url: 'https://example.com/rerank'}")
    error = project_refusal(home, project, "rerank: {provider: http}")
    assert '"rerank.provider" is refused' in error.message


def test_a_project_cannot_decide_what_a_run_may_spend(home: Path, project: Path) -> None:
    (home / "cqm.yml").write_text("embedding: {budget_usd: 5}\ncontext: {budget_usd: 1}\n")
    (project / "cqm.yml").write_text("embedding: {budget_usd: 5}\ncontext: {budget_usd: 1}\n")
    assert load(home, project).embedding.budget_usd == 5
    for text, name in (
        ("embedding: {budget_usd: 6}", "embedding.budget_usd"),
        ("embedding: {budget_usd: 0}", "embedding.budget_usd"),
        ("context: {budget_usd: 2}", "context.budget_usd"),
        ("embedding: {usd_per_million_tokens: 0}", "embedding.usd_per_million_tokens"),
        ("context: {usd_per_million_input: 0}", "context.usd_per_million_input"),
        ("context: {usd_per_million_output: 0}", "context.usd_per_million_output"),
        ("providers: {a: {provider: ollama, usd_per_million_tokens: 0}}", "providers.a.usd_per_million_tokens"),
    ):
        assert f'"{name}" is refused: it ' in project_refusal(home, project, text).message


def test_every_refused_option_of_a_project_is_named_with_its_line_and_reason(home: Path, project: Path) -> None:
    text = "cache:\n  redis_url: redis://example.com\n  folder: x\nproviders:\n  a:\n    provider: jina\n"
    lines = project_refusal(home, project, text).message.splitlines()
    place = project / "cqm.yml"
    assert lines == [
        f'{place}:2: "cache.redis_url" is refused: it sends your code to a service that you did not configure.',
        f'{place}:3: "cache.folder" is refused: it could write outside of the project.',
        f'{place}:6: "providers.a.provider" is refused: it sends your code to a service that you did not configure.',
    ]


def test_a_project_cannot_choose_the_model_that_the_user_has_fetched(home: Path, project: Path) -> None:
    (home / "cqm.yml").write_text(
        "embedding: {provider: ollama, model: a, pull: true}\nproviders: {x: {provider: ollama, model: a, pull: true}}"
    )
    for text, name in (
        ("embedding: {model: b}", "embedding.model"),
        ("providers: {x: {model: b}}", "providers.x.model"),
    ):
        assert f'"{name}" is refused: ' in project_refusal(home, project, text).message
    (project / "cqm.yml").write_text("embedding: {model: a}\nproviders: {x: {model: a}}")
    assert load(home, project).embedding.model == "a"
