"""What a project's own cqm.yml may not decide.

A cloned repository must not send code away, widen what is readable, or write outside of itself.
"""

import ipaddress
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from cqm.server.errors import SettingsError
from cqm.server.options import EmbeddingSettings, Options
from cqm.server.sources import Name

TRUST_VARIABLE = "CQM_TRUST_PROJECT"

_DEFAULT_URLS = {"ollama": "http://127.0.0.1:11434", "openai": "https://api.openai.com/v1"}
_URL_VARIABLES = {"ollama": "OLLAMA_HOST", "openai": "OPENAI_BASE_URL"}


def trusts_every_project(environment: Mapping[str, str]) -> bool:
    """Whether the environment says that the user trusts the project at hand, whichever it is.

    Raises:
        SettingsError: CQM_TRUST_PROJECT is neither yes nor no.
    """
    word = environment.get(TRUST_VARIABLE, "").lower()
    if word not in {"", "0", "1", "false", "true", "no", "yes"}:
        raise SettingsError(f"{TRUST_VARIABLE}: expected 1 or 0, got {word!r}.")
    return word in {"1", "true", "yes"}


def refusals(
    project: Options, root: Path, *, settled: Options, without: Options, environment: Mapping[str, str]
) -> dict[Name, str]:
    """The options of an untrusted project's file that cannot be taken from it, each with the reason.

    Parameters:
        project: what the file gives.
        root: the project's folder.
        settled, without: all sources together, and all but the project's file.
        environment: variables that name the default address of a service.
    """
    refused: dict[Name, str] = {}
    if project.index.home is not None:
        refused["index", "home"] = "it could write outside of the project"
    if any(outside(folder, root) for folder in project.server.roots):
        refused["server", "roots"] = "it opens folders outside of the project"
    if project.server.http:
        refused["server", "http"] = "it opens a port of this machine"
    if project.trusted_projects:
        refused["trusted_projects",] = "no project can trust itself"
    for section in ("embedding", "late"):
        if getattr(project, section).api_key_env:
            refused[section, "api_key_env"] = "it chooses which of your secrets is sent"
    if is_elsewhere(project.late.encoder) and project.late.encoder != without.late.encoder:
        refused["late", "encoder"] = "it sends your code to a service that you did not configure"
    if _redirects(settled.embedding, without.embedding, environment):
        keys = [key for key in ("base_url", "provider", "model") if key in project.embedding.model_fields_set]
        refused["embedding", keys[0]] = "it sends your code to a service that you did not configure"
    return refused


def sends_away(embedding: EmbeddingSettings, environment: Mapping[str, str]) -> bool:
    """Whether text to embed leaves this machine: a service that is not on a loopback address, or Ollama's cloud."""
    if embedding.provider not in _DEFAULT_URLS:
        return False
    if embedding.provider == "ollama" and embedding.model.endswith(("-cloud", ":cloud")):
        return True
    url = embedding.base_url or environment.get(_URL_VARIABLES[embedding.provider], "")
    return not is_loopback(url or _DEFAULT_URLS[embedding.provider])


def is_elsewhere(place: str) -> bool:
    """Whether a folder or URL is a URL that leads away from this machine."""
    return place.startswith(("http://", "https://")) and not is_loopback(place)


def is_loopback(url: str) -> bool:
    """Whether a URL, or a host with or without a port, is on this machine."""
    try:
        host = urlsplit(url if "//" in url else f"//{url}").hostname or ""
    except ValueError:
        return False
    if host == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    # 0.0.0.0 as a target is this machine; OLLAMA_HOST is often set to it for the service.
    return address.is_loopback or address.is_unspecified


def outside(path: Path, root: Path) -> bool:
    """Whether `path` is not in `root` once links are followed."""
    return not path.resolve().is_relative_to(root.resolve())


def _redirects(settled: EmbeddingSettings, without: EmbeddingSettings, environment: Mapping[str, str]) -> bool:
    if not sends_away(settled, environment):
        return False
    same_service = (settled.provider, settled.base_url) == (without.provider, without.base_url)
    return not (same_service and sends_away(without, environment))
