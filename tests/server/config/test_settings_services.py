"""Settings of models, of the services that run them and of the cache; and the merging of blocks under `providers`."""

from pathlib import Path

import pytest
import yaml

from cqm.index.model.options import (
    CacheOptions,
    ContextOptions,
    EmbeddingOptions,
    IndexOptions,
    RerankOptions,
    RouteOptions,
    StoreOptions,
)
from cqm.server.config.merge import option_names
from cqm.server.config.options import Options
from cqm.server.config.settings import Settings, load_settings
from cqm.server.errors import SettingsError

MODEL = {
    "provider": "ollama",
    "model": "all-minilm",
    "base_url": "http://127.0.0.1:1/v1",
    "api_key_env": "KEY",
    "api_key_file": "/keys/key",
    "dimensions": 256,
    "batch_size": 7,
    "timeout_seconds": 5.5,
    "query_prefix": "query: ",
    "document_prefix": "",
    "context_tokens": 300,
    "long_texts": "cut",
    "concurrency": 3,
    "requests_per_minute": 60,
    "tokens_per_minute": 9000,
    "usd_per_million_tokens": 0.02,
    "quality": 0.5,
    "pull": True,
}
ROUTES = {"choose": "quality", "budget_usd": 1.5, "retry_seconds": 5.0, "query_seconds": 2.0}
CACHE = {
    "enabled": False,
    "memory_mb": 1,
    "redis_url": "redis://127.0.0.1:6379/0",
    "redis_password_env": "PASSWORD",
    "disk_mb": 2,
    "folder": "/cache",
}
CONTEXT = {
    "provider": "openai",
    "model": "gpt",
    "base_url": "http://127.0.0.1:1/v1",
    "api_key_env": "KEY",
    "api_key_file": "/keys/key",
    "timeout_seconds": 5.5,
    "place": "both",
    "max_tokens": 60,
    "window_tokens": 4000,
    "concurrency": 2,
    "usd_per_million_input": 0.1,
    "usd_per_million_output": 0.4,
    "budget_usd": 2.5,
}
RERANK = {
    "provider": "http",
    "url": "http://127.0.0.1:1/rerank",
    "model": "bge",
    "shape": "tei",
    "api_key_env": "KEY",
    "api_key_file": "/keys/key",
    "folder": "/models/reranker",
    "words": False,
    "reader": False,
    "depth": 20,
    "deadline_seconds": 0.5,
    "weight": 0.25,
}
STORE = {
    "url": "https://qdrant.example:6333",
    "only_bases": True,
    "api_key_env": "KEY",
    "api_key_file": "/keys/key",
    "ca_file": "/keys/ca.pem",
    "prefix": "team_a",
    "shard_number": 2,
    "replication_factor": 3,
    "write_consistency_factor": 2,
    "quantization": "binary",
    "on_disk": True,
    "timeout_seconds": 2.5,
    "retry_seconds": 7.5,
}
NAMES = {"fallback": ["a", "b"], "prose": "b"}
BLOCKS = {"a": {"provider": "embedded"}, "b": MODEL}


def load(folder: Path, **sections: object) -> Settings:
    """Settings of a user's file with these sections."""
    (folder / "cqm.yml").write_text(yaml.safe_dump(sections), encoding="utf-8")
    return load_settings(environment={}, user=folder / "cqm.yml")


def message(folder: Path, text: str) -> str:
    """Return what is said of a user's file with this text."""
    (folder / "cqm.yml").write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        load_settings(environment={}, user=folder / "cqm.yml")
    return caught.value.message.replace(str(folder / "cqm.yml"), "cqm.yml")


def test_every_option_of_a_service_reaches_the_layer_that_it_is_for(tmp_path: Path) -> None:
    embedding = MODEL | ROUTES | NAMES
    load(tmp_path, embedding=embedding, providers=BLOCKS, cache=CACHE, context=CONTEXT, rerank=RERANK, store=STORE)
    made = load_settings(environment={}, user=tmp_path / "cqm.yml").index_options(tmp_path / "project" / "file.py")
    model = EmbeddingOptions(**MODEL)  # type: ignore[arg-type]
    assert made == IndexOptions(
        embedding=model,
        routes=RouteOptions((EmbeddingOptions(), model), model, **ROUTES),  # type: ignore[arg-type]
        cache=CacheOptions(**CACHE | {"folder": Path("/cache")}),  # type: ignore[arg-type]
        context=ContextOptions(**CONTEXT),  # type: ignore[arg-type]
        rerank=RerankOptions(**RERANK),  # type: ignore[arg-type]
        store=StoreOptions(**STORE),  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("section", "values"),
    [
        ("embedding", MODEL | ROUTES | NAMES),
        ("cache", CACHE),
        ("context", CONTEXT),
        ("rerank", RERANK),
        ("store", STORE),
    ],
)
def test_no_option_of_a_service_is_left_out_of_the_test_above(section: str, values: dict[str, object]) -> None:
    defaults = Options().model_dump(mode="json")[section]
    assert defaults.keys() == values.keys()
    assert [key for key in values if values[key] == defaults[key]] == []


SERVICES = {"cache": CACHE, "context": CONTEXT, "rerank": RERANK, "store": STORE}


@pytest.mark.parametrize("name", [name for name in option_names(Options) if name[0] in SERVICES])
def test_a_variable_sets_each_of_them_too(tmp_path: Path, name: tuple[str, str]) -> None:
    section, key = name
    value = SERVICES[section][key]
    variable = f"CQM_{section}_{key}".upper()
    settings = load_settings(environment={variable: str(value)}, user=tmp_path / "cqm.yml")
    assert settings.model_dump(mode="json")[section][key] == value


def test_an_empty_prefix_is_a_prefix_and_no_value_is_the_models_own(tmp_path: Path) -> None:
    own = load(tmp_path, embedding={"query_prefix": None}).embedding_options()
    none = load(tmp_path, embedding={"query_prefix": ""}).embedding_options()
    assert (own.query_prefix, none.query_prefix) == (None, "")


def test_key_files_models_and_caches_are_found_from_the_file_that_names_them(tmp_path: Path) -> None:
    embedding = {"api_key_file": "key", "fallback": ["a"]}
    block = {"provider": "openai", "api_key_file": "~/key"}
    load(
        tmp_path,
        embedding=embedding,
        providers={"a": block},
        rerank={"folder": "model", "api_key_file": "k"},
        cache={"folder": "cache"},
        context={"api_key_file": "../key"},
        store={"ca_file": "ca.pem", "api_key_file": "~/key", "url": "http://127.0.0.1:6333/"},
    )
    made = load_settings(environment={}, user=tmp_path / "cqm.yml").index_options(tmp_path / "project" / "file.py")
    assert made.embedding.api_key_file == str(tmp_path / "key")
    assert made.routes.fallback[0].api_key_file == str(Path.home() / "key")
    assert (made.rerank.folder, made.rerank.api_key_file) == (str(tmp_path / "model"), str(tmp_path / "k"))
    assert made.cache.folder == tmp_path / "cache"
    assert (made.store.ca_file, made.store.api_key_file) == (str(tmp_path / "ca.pem"), str(Path.home() / "key"))
    assert made.store.url == "http://127.0.0.1:6333"
    assert made.context.api_key_file == str(tmp_path.parent / "key")


def test_layers_add_to_a_block_option_by_option(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "cqm.yml").write_text(
        "providers:\n  a: {provider: ollama, model: x, batch_size: 5, dimensions: 8}\nembedding: {fallback: [a]}\n"
    )
    (project / "cqm.yml").write_text("providers:\n  a: {model: y, batch_size:}\n  b: {provider: embedded}\n")
    settings = load_settings(
        project,
        environment={"CQM_TRUST_PROJECT": "1"},
        overrides={"providers.a.dimensions": "16", "embedding.fallback": "[a, b]"},
        user=tmp_path / "cqm.yml",
    )
    assert settings.route_options().fallback == (
        EmbeddingOptions("ollama", "y", batch_size=5, dimensions=16),
        EmbeddingOptions("embedded"),
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "embedding:\n  fallback: [loca]\nproviders:\n  local: {provider: embedded}\n",
            'cqm.yml:2: "embedding.fallback" names "loca", not a block of "providers". Did you mean "local"?',
        ),
        ("embedding:\n\n  prose: x\n", 'cqm.yml:3: "embedding.prose" names "x", not a block of "providers".'),
        ("providers:\n  a:\n    model: x\n", 'cqm.yml:2: "providers.a" needs a "provider" that embeds.'),
        ("providers:\n  a: {provider: none}\n", 'cqm.yml:2: "providers.a" needs a "provider" that embeds.'),
        (
            "providers:\n  a:\n    provider: ollama\n    modl: x\n",
            'cqm.yml:4: unknown option "providers.a.modl". Did you mean "providers.a.model"?',
        ),
        (
            "providers:\n  a: {provider: ollama, fallback: [b]}\n",
            'cqm.yml:2: unknown option "providers.a.fallback". Did you mean "embedding.fallback"?',
        ),
        ("providers: ollama\n", 'cqm.yml:1: "providers" is a section: write its options below it, as `name: value`.'),
        (
            "providers:\n  a: x\n",
            'cqm.yml:2: "providers.a" is a section: write its options below it, as `name: value`.',
        ),
        (
            "providers:\n  'a b': {provider: ollama}\n",
            "cqm.yml:2: `providers.a b`: expected a name of at most 40 letters, digits, _ and -.",
        ),
        (
            "providers:\n  a:\n    provider: ollama\n    batch_size: -1\n",
            "cqm.yml:4: `providers.a.batch_size: -1`: expected 0 to 2048. Remove it for the default, 0.",
        ),
        (
            "providers:\n  a: {provider: ollama}\n  a: {provider: jina}\n",
            'cqm.yml:3: "a" is already set in line 2.',
        ),
        (
            "providers:\n  a:\n    provider: ollama\n    provider: jina\n",
            'cqm.yml:4: "provider" is already set in line 3.',
        ),
    ],
)
def test_what_is_wrong_with_a_block_is_told_by_its_line(tmp_path: Path, text: str, said: str) -> None:
    assert message(tmp_path, text) == said


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("providers.a.modl", 'command line: unknown option "providers.a.modl". Did you mean "providers.a.model"?'),
        ("providers.b.model", 'command line: providers.b.model: "providers.b" needs a "provider" that embeds.'),
        ("embedding.prose", 'command line: embedding.prose: "embedding.prose" names "x", not a block of "providers".'),
    ],
)
def test_so_is_what_is_wrong_with_one_on_the_command_line(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "cqm.yml").write_text("providers: {a: {provider: embedded}}")
    with pytest.raises(SettingsError) as caught:
        load_settings(environment={}, overrides={name: "x"}, user=tmp_path / "cqm.yml")
    assert caught.value.message == said


def test_a_block_that_no_option_names_is_no_problem(tmp_path: Path) -> None:
    assert load(tmp_path, providers=BLOCKS).route_options() == RouteOptions()


@pytest.mark.parametrize("url", ["http://[::1", "http://127.0.0.1:abc", "http://127.0.0.1:99999", "http://"])
@pytest.mark.parametrize(
    "option", ["embedding.base_url", "context.base_url", "rerank.url", "late.encoder", "store.url"]
)
def test_an_address_that_cannot_be_used_is_told_where_it_stands(tmp_path: Path, option: str, url: str) -> None:
    """Once a malformed one passed, and gave a traceback where it was used."""
    section, key = option.split(".")
    (tmp_path / "cqm.yml").write_text(f"{section}: {{{key}: '{url}'}}\n")
    with pytest.raises(SettingsError, match=rf"cqm\.yml:1: .*{option}.*expected http"):
        load_settings(tmp_path, environment={"CQM_TRUST_PROJECT": "1"}, user=tmp_path / "none.yml")
