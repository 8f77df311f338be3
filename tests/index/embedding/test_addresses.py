"""Addresses that can be used, and those of this machine."""

import pytest

from cqm.index.model.errors import EmbeddingError
from cqm.index.remote.addresses import is_address, is_loopback, ollama_url
from cqm.index.remote.endpoint import Endpoint

USELESS = [
    "",
    "http://",
    "http://[::1",
    "http://127.0.0.1:abc",
    "http://127.0.0.1:99999",
    "http://127.0.0.1:0",
    "ftp://example.com",
    "example.com",
    "http://exa mple.com",
    "http://example.com\n",
]


@pytest.mark.parametrize("url", USELESS)
def test_an_address_that_cannot_be_used_is_an_error_with_a_remedy(url: str) -> None:
    assert not is_address(url)
    with pytest.raises(EmbeddingError, match="not valid") as caught:
        Endpoint(url)
    assert "http" in caught.value.remedy


def test_the_password_of_such_an_address_is_not_told() -> None:
    with pytest.raises(EmbeddingError) as caught:
        Endpoint("http://user:hunter2@127.0.0.1:port")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.8.9.1:80", "[::1]:80", "0.0.0.0", "[::]:11434"])
def test_this_machine_has_several_addresses(host: str) -> None:
    assert is_loopback(host)
    assert is_loopback(f"http://{host}/v1")
    assert Endpoint(f"http://{host}").is_loopback


@pytest.mark.parametrize("host", ["localhost.example.com", "10.0.0.7", "example.com:80", "[::1", ""])
def test_everything_else_is_elsewhere(host: str) -> None:
    assert not is_loopback(host)


@pytest.mark.parametrize(
    ("base_url", "variable", "url"),
    [
        ("", "", "http://127.0.0.1:11434"),
        ("", "gpu.example.com", "http://gpu.example.com:11434"),
        ("", "0.0.0.0:8000", "http://127.0.0.1:8000"),
        ("", "[::1]:8000", "http://[::1]:8000"),
        ("", "https://ollama.com", "https://ollama.com"),
        ("http://127.0.0.1:1", "gpu.example.com", "http://127.0.0.1:1"),
    ],
)
def test_ollama_is_where_the_options_or_its_variable_say(base_url: str, variable: str, url: str) -> None:
    assert ollama_url(base_url, {"OLLAMA_HOST": variable}) == url
