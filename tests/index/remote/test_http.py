"""The way of a client to its service, by variables handed down: proxies, exceptions, certificates."""

from pathlib import Path
from typing import TYPE_CHECKING

import certifi
import httpx2
import pytest

from cqm.index.model.errors import RerankError
from cqm.index.remote.endpoint import Endpoint
from cqm.index.remote.http import client_options, making, proxy_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from scripted_server import ScriptedServer

FAR = Endpoint("https://api.example.com/v1")
PROXY = "http://proxy:3128"


@pytest.mark.parametrize(
    ("variables", "proxy"),
    [
        ({}, None),
        ({"https_proxy": PROXY}, PROXY),
        ({"HTTPS_PROXY": PROXY}, PROXY),
        ({"https_proxy": PROXY, "HTTPS_PROXY": "http://other"}, PROXY),
        ({"https_proxy": "", "HTTPS_PROXY": PROXY}, None),
        ({"https_proxy": "proxy:3128"}, PROXY),
        ({"http_proxy": PROXY}, None),
        ({"all_proxy": PROXY}, PROXY),
        ({"ALL_PROXY": PROXY, "https_proxy": "http://other"}, "http://other"),
    ],
)
def test_the_proxy_is_that_of_the_scheme_else_that_of_all(variables: dict[str, str], proxy: str | None) -> None:
    assert proxy_of(FAR, variables) == proxy


@pytest.mark.parametrize(
    ("url", "exceptions"),
    [
        ("https://api.example.com/v1", "*"),
        ("https://api.example.com/v1", "other.com, *"),
        ("https://api.example.com/v1", "api.example.com"),
        ("https://api.example.com/v1", "other.com,API.Example.Com"),
        ("https://api.example.com/v1", "example.com"),
        ("https://api.example.com/v1", ".example.com"),
        ("https://api.example.com/v1", "*.example.com"),
        ("https://api.example.com/v1", "https://api.example.com"),
        ("https://api.example.com:8443/v1", "example.com"),
        ("https://api.example.com:8443/v1", "example.com:8443"),
        ("https://name:secret@api.example.com/v1", "example.com"),
        ("http://10.1.2.3:8080", "10.1.2.3"),
        ("http://10.1.2.3:8080", "10.1.2.3:8080"),
        ("http://10.1.2.3:8080", "192.168.0.0/16,10.0.0.0/8"),
        ("http://[fd00::1]:8080", "fd00::1"),
        ("http://[fd00::1]:8080", "[fd00::1]"),
        ("http://[fd00::1]:8080", "[fd00::1]:8080"),
        ("http://[fd00::1]:8080", "fd00::/8"),
    ],
)
def test_an_exception_goes_there_directly(url: str, exceptions: str) -> None:
    for name in ("no_proxy", "NO_PROXY"):
        assert proxy_of(Endpoint(url), {"all_proxy": PROXY, name: exceptions}) is None


@pytest.mark.parametrize(
    ("url", "exceptions"),
    [
        ("https://api.example.com/v1", ""),
        ("https://api.example.com/v1", "ample.com"),
        ("https://api.example.com/v1", "www.example.com"),
        ("https://api.example.com/v1", "example.com:8443"),
        ("https://api.example.com/v1", "http://api.example.com"),
        ("https://api.example.com/v1", "10.0.0.0/8"),
        ("http://10.1.2.3:8080", "10.1.2.3:80"),
        ("http://10.1.2.3:8080", "10.2.0.0/16"),
        ("http://10.1.2.3:8080", "10.0.0.0/99,fd00::/8"),
    ],
)
def test_what_no_exception_names_goes_through_the_proxy(url: str, exceptions: str) -> None:
    assert proxy_of(Endpoint(url), {"all_proxy": PROXY, "no_proxy": exceptions}) == PROXY


def test_a_client_goes_through_the_proxy_of_its_variables_and_not_of_the_process(
    serve: "Callable[[], ScriptedServer]", monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, foreign = serve(), serve()
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.setenv(name, foreign.url)
    with httpx2.Client(**client_options(Endpoint("http://models.invalid"), {"http_proxy": ours.url})) as client:
        client.get("http://models.invalid/here")
    assert [request.path for request in ours.requests] == ["http://models.invalid/here"]
    assert foreign.requests == []


@pytest.mark.parametrize("url", ["http://localhost:1/v1", "http://127.0.0.1:1/v1", "http://[::1]:1/v1"])
def test_nothing_for_this_machine_takes_a_proxy(url: str) -> None:
    assert "proxy" not in client_options(Endpoint(url), {"all_proxy": PROXY})


def test_certificates_are_those_of_the_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "nowhere"))
    assert client_options(FAR, {})["verify"] is True
    httpx2.Client(**client_options(FAR, {})).close()
    found = client_options(FAR, {"SSL_CERT_FILE": certifi.where()})["verify"]
    assert found.cert_store_stats()["x509_ca"] > 0
    assert client_options(FAR, {"SSL_CERT_DIR": str(tmp_path)})["verify"].cert_store_stats()["x509_ca"] == 0


@pytest.mark.parametrize("variables", [{"https_proxy": "gopher://proxy"}, {"SSL_CERT_FILE": "/nowhere/at/all"}])
def test_a_way_that_cannot_be_used_is_an_error_of_its_service(variables: dict[str, str]) -> None:
    message = r"connection to https://api\.example\.com/v1 cannot be made"
    with pytest.raises(RerankError, match=message), making(FAR, RerankError):
        httpx2.Client(**client_options(FAR, variables))
