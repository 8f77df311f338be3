"""What a project's own cqm.yml may not decide, what it may, and how trust changes that."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from cqm.server.errors import SettingsError
from cqm.server.settings import Settings, load_settings


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
        "embedding: {provider: llamacpp}",
        "embedding: {fallback: [a], prose: b}\nproviders: {a: {provider: vllm}, b: {provider: tei}}",
        "embedding: {fallback: [a], choose: cost, budget_usd: 5}\nproviders: {a: {provider: embedded}}",
        "context: {provider: ollama}",
        "context: {provider: openai, base_url: 'http://127.0.0.1:8000/v1'}",
        "rerank: {provider: http, url: 'http://127.0.0.1:8080/v1/rerank', shape: jina}",
        "cache: {redis_url: 'redis://127.0.0.1:6379/0', memory_mb: 0, disk_mb: 10}",
        "cache: {redis_url: 'unix:///run/redis.sock'}",
        "server: {roots: [., src]}",
        "index: {in_project: true}\nscan: {exclude: [docs]}\nchunk: {max_tokens: 256}",
    ],
)
def test_a_project_may_decide_what_stays_on_this_machine(home: Path, project: Path, text: str) -> None:
    (project / "cqm.yml").write_text(text)
    load(home, project)


def test_a_project_cannot_take_the_index_off_the_users_server(home: Path, project: Path) -> None:
    (home / "cqm.yml").write_text("store: {url: 'https://example.com:6333', prefix: mine}")
    for text, name in (("url: ''", "url"), ("url: 'https://example.org:6333'", "url"), ("prefix: yours", "prefix")):
        assert f'"store.{name}" is refused: it decides' in project_refusal(home, project, f"store: {{{text}}}").message
    (project / "cqm.yml").write_text("store: {url: 'https://example.com:6333', prefix: mine, shard_number: 1}")
    assert load(home, project).store.prefix == "mine"


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


CLOUD = "providers: {cloud: {provider: voyage}, local: {provider: ollama}}\n"


@pytest.mark.parametrize("route", ["fallback: [local, cloud]", "prose: cloud"])
def test_a_project_cannot_route_its_text_to_a_service_that_the_user_configured_but_does_not_use(
    home: Path, project: Path, route: str
) -> None:
    (home / "cqm.yml").write_text(CLOUD)
    error = project_refusal(home, project, f"embedding: {{{route}}}")
    assert f'"embedding.{route.partition(":")[0]}" is refused' in error.message


@pytest.mark.parametrize("route", ["fallback: [local, cloud]", "prose: cloud"])
def test_a_project_may_route_its_text_to_the_services_that_the_user_has_embed_text(
    home: Path, project: Path, route: str
) -> None:
    (home / "cqm.yml").write_text(f"{CLOUD}embedding: {{fallback: [cloud]}}")
    (project / "cqm.yml").write_text(f"embedding: {{{route}}}")
    assert load(home, project).route_options()


def test_a_project_cannot_turn_a_block_of_the_users_to_another_address(home: Path, project: Path) -> None:
    (home / "cqm.yml").write_text(f"{CLOUD}embedding: {{fallback: [cloud, local]}}")
    for block in ("cloud", "local"):
        error = project_refusal(home, project, f"providers: {{{block}: {{base_url: 'https://example.com'}}}}")
        assert f'"providers.{block}.base_url" is refused' in error.message


def test_a_project_cannot_switch_on_a_reranker_that_is_elsewhere(home: Path, project: Path) -> None:
    (home / "cqm.yml").write_text("rerank: {url: 'https://example.com/rerank'}")
    error = project_refusal(home, project, "rerank: {provider: http}")
    assert '"rerank.provider" is refused' in error.message


def test_a_project_may_lower_what_a_run_may_spend_and_cannot_raise_it(home: Path, project: Path) -> None:
    (home / "cqm.yml").write_text("embedding: {budget_usd: 5}\ncontext: {budget_usd: 1}\n")
    (project / "cqm.yml").write_text("embedding: {budget_usd: 4}\ncontext: {budget_usd: 1}\n")
    assert load(home, project).embedding.budget_usd == 4
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
        assert f'"{name}" is refused: it downloads a model.' in project_refusal(home, project, text).message
    (project / "cqm.yml").write_text("embedding: {model: a}\nproviders: {x: {model: a}, y: {provider: ollama}}")
    assert load(home, project).embedding.model == "a"
