"""The key in a provider's own variable goes to the provider's host or where the user says, to no other address."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cqm.index.embedding import open_embedder
from cqm.index.model.errors import EmbeddingError
from cqm.index.model.options import EmbeddingOptions
from cqm.index.remote.keys import variable_for
from cqm.index.remote.presets import PRESETS, key_variable
from cqm.index.rerank.shapes import SHAPES
from cqm.server.config.settings import load_settings

if TYPE_CHECKING:
    from scripted_server import ScriptedServer

PROVIDERS = ("ollama", *PRESETS)
VARIABLES = frozenset(filter(None, (*map(key_variable, PROVIDERS), *(shape.key_variable for shape in SHAPES.values()))))
OF_CLIENTS = {
    "OPENAI_ORG_ID": "secret-organization",
    "OPENAI_PROJECT_ID": "secret-project",
    "OPENAI_ADMIN_KEY": "secret-admin",
    "OPENAI_CUSTOM_HEADERS": "X-Team: secret-team\nAuthorization: Bearer secret-header",
}


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every provider's key in its own variable, and what else their packages read."""
    for variable in ("OPENAI_BASE_URL", "OLLAMA_HOST"):
        monkeypatch.delenv(variable, raising=False)
    for variable in VARIABLES:
        monkeypatch.setenv(variable, f"secret-{variable}")
    for variable, value in OF_CLIENTS.items():
        monkeypatch.setenv(variable, value)


def sent(server: "ScriptedServer") -> str:
    """Every header that the server was sent."""
    assert server.requests
    return "\n".join(f"{name}: {value}" for request in server.requests for name, value in request.headers.items())


def ask(options: EmbeddingOptions, variables: Mapping[str, str] = os.environ) -> None:
    embedder = open_embedder(options, variables)
    assert embedder
    try:
        embedder.embed_documents(["one"])
    except EmbeddingError:
        pass  # the server plays OpenAI and Ollama only; what was sent to it counts
    finally:
        embedder.close()


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_address_among_the_options_gets_no_key_that_the_options_do_not_name(
    server: "ScriptedServer", provider: str
) -> None:
    path = "" if provider == "ollama" else "/v1"
    ask(EmbeddingOptions(provider, "tiny", f"{server.url}{path}", timeout_seconds=60.0))
    assert "secret" not in sent(server)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("source", ["user", "environment", "command line", "trusted project"])
def test_an_address_that_the_user_chose_gets_the_providers_key(
    server: "ScriptedServer", tmp_path: Path, monkeypatch: pytest.MonkeyPatch, provider: str, source: str
) -> None:
    path = "" if provider == "ollama" else "/v1"
    values = {"provider": provider, "model": "tiny", "base_url": f"{server.url}{path}"}
    text = f"embedding: {{{', '.join(f'{key}: {value!r}' for key, value in values.items())}}}"
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Team: mine")
    environment, overrides = {"CQM_TRUST_PROJECT": "1"}, {}
    if source == "environment":
        environment |= {f"CQM_EMBEDDING_{key}".upper(): value for key, value in values.items()}
    elif source == "command line":
        overrides = {f"embedding.{key}": value for key, value in values.items()}
    else:
        (tmp_path / "cqm.yml" if source == "user" else project / "cqm.yml").write_text(text)
    settings = load_settings(project, environment=environment, overrides=overrides, user=tmp_path / "cqm.yml")
    ask(settings.embedding_options())
    assert f"secret-{key_variable(provider)}" in sent(server)


def test_further_settings_of_openai_are_those_handed_down_and_not_the_processs(server: "ScriptedServer") -> None:
    variables = {
        "OPENAI_API_KEY": "our-key",
        "OPENAI_ORG_ID": "our-organization",
        "OPENAI_PROJECT_ID": "our-project",
        "OPENAI_CUSTOM_HEADERS": "X-Ours: our-header",
    }
    ask(EmbeddingOptions("openai", "tiny", f"{server.url}/v1", api_key_env="OPENAI_API_KEY"), variables)
    for value in ("Bearer our-key", "our-organization", "our-project", "our-header"):
        assert value in sent(server)
    assert "secret" not in sent(server)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_no_key_of_the_process_goes_where_none_is_handed_down(server: "ScriptedServer", provider: str) -> None:
    path = "" if provider == "ollama" else "/v1"
    ask(EmbeddingOptions(provider, "tiny", f"{server.url}{path}", api_key_env=key_variable(provider)), {})
    assert "secret" not in sent(server)


def test_a_key_file_that_the_user_names_for_an_address_is_the_key_for_it(
    server: "ScriptedServer", tmp_path: Path
) -> None:
    key = tmp_path / "key"
    key.touch(0o600)
    key.write_text("key-of-the-address")
    text = f"embedding: {{provider: openai, model: tiny, base_url: '{server.url}/v1', api_key_file: '{key}'}}"
    (tmp_path / "cqm.yml").write_text(text)
    ask(load_settings(environment={}, user=tmp_path / "cqm.yml").embedding_options())
    assert "Bearer key-of-the-address" in sent(server)
    assert "secret" not in sent(server)


@pytest.mark.parametrize(
    "address",
    [
        "http://api.voyageai.com/v1",
        "https://api.voyageai.com:8443/v1",
        "https://api.voyageai.com.example.org/v1",
        "https://example.org/api.voyageai.com/v1",
        "https://api.voyageai.com@example.org/v1",
        "http://127.0.0.1:8080/v1",
        "http://[::1/v1",
    ],
)
def test_an_address_that_looks_like_the_providers_is_another_one(address: str) -> None:
    own = PRESETS["voyage"]
    assert variable_for(own.key_variable, own.url, named="", base_url=address) == ""
    assert variable_for(own.key_variable, own.url, named="MINE", base_url=address) == "MINE"
    for ours in ("", "https://api.voyageai.com/v1", "https://api.voyageai.com/v2"):
        assert variable_for(own.key_variable, own.url, named="", base_url=ours) == "VOYAGE_API_KEY"
