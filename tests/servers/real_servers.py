"""Fixtures: where the real servers are that `tests/servers/start` starts. Tests that want one are marked `servers`."""

import os
from collections.abc import Generator
from typing import Any

import pytest

_PREFIX = "CQM_TEST_"
_WORKER_INPUT = "cqm_test_addresses"

ADDRESSES = pytest.StashKey[dict[str, str]]()
"""The variables of the running servers, by name."""

USED_SERVER = "used server"
"""The user property of a test that took a server's address; its value is the name of the variable."""


def pytest_configure(config: pytest.Config) -> None:
    """Hide the variables: `cqm`, which many tests start, refuses those of its prefix that it does not know."""
    found = {name: os.environ.pop(name) for name in [*os.environ] if name.startswith(_PREFIX)}
    # A worker of xdist starts after the variables are gone, and gets them from the controller.
    config.stash[ADDRESSES] = getattr(config, "workerinput", {}).get(_WORKER_INPUT, found)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Pass the variables to a worker of xdist."""
    node.workerinput[_WORKER_INPUT] = node.config.stash[ADDRESSES]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Show them to tests that are marked."""
    shown = item.config.stash[ADDRESSES] if item.get_closest_marker("servers") else {}
    os.environ.update(shown)
    try:
        return (yield)
    finally:
        for name in shown:
            os.environ.pop(name, None)


def _address(request: pytest.FixtureRequest, name: str) -> str:
    if request.node.get_closest_marker("servers") is None:
        pytest.fail(f"{request.node.name} wants a real server and is not marked so: @pytest.mark.servers")
    variable = f"{_PREFIX}{name}"
    address = os.environ.get(variable, "")
    if not address:
        pytest.skip(f"{variable} is not set; tests/servers/start DIR prints how")
    request.node.user_properties.append((USED_SERVER, variable))
    return address


@pytest.fixture
def ollama_url(request: pytest.FixtureRequest) -> str:
    """Ollama with the models all-minilm and smollm2:135m."""
    return _address(request, "OLLAMA_URL")


@pytest.fixture
def openai_url(request: pytest.FixtureRequest) -> str:
    """OpenAI's protocol, ending in /v1, with the model all-minilm; CQM_TEST_OPENAI_KEY is the key that it wants."""
    return _address(request, "OPENAI_URL")


@pytest.fixture
def openai_chat_url(request: pytest.FixtureRequest) -> str:
    """OpenAI's protocol, ending in /v1, with the chat model smollm2:135m; CQM_TEST_OPENAI_KEY is its key as well."""
    return _address(request, "OPENAI_CHAT_URL")


@pytest.fixture
def llama_tokens_url(request: pytest.FixtureRequest) -> str:
    """`llama-server --embeddings --pooling none` with all-MiniLM-L6-v2, without a key."""
    return _address(request, "LLAMA_TOKENS_URL")


@pytest.fixture
def rerank_url(request: pytest.FixtureRequest) -> str:
    """`llama-server --reranking` with a model whose scores mean nothing; it wants CQM_TEST_OPENAI_KEY."""
    return _address(request, "RERANK_URL")


@pytest.fixture
def redis_url(request: pytest.FixtureRequest) -> str:
    """Redis, empty but for what other tests left: use keys of your own."""
    return _address(request, "REDIS_URL")
