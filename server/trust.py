"""What a project's own cqm.yml may not decide.

A cloned repository must not send code away, choose the secrets that are sent, widen what is readable, write outside of
itself, have models loaded that came with it, or spend the user's money.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from cqm.index.embedding.addresses import is_loopback, ollama_url
from cqm.index.embedding.presets import PRESETS
from cqm.server.errors import SettingsError
from cqm.server.options import Options
from cqm.server.services import (
    CacheSettings,
    ContextSettings,
    EmbeddingSettings,
    LateSettings,
    ProviderSettings,
    RerankSettings,
)
from cqm.server.sources import Name
from cqm.server.values import Section

TRUST_VARIABLE = "CQM_TRUST_PROJECT"

_NO_SERVICE = frozenset({"embedded", "rules", "none"})
_SECRETS = frozenset({"api_key_env", "api_key_file", "redis_password_env"})
_ADDRESSES = ("base_url", "url", "redis_url", "encoder", "provider", "shape", "model")
"""Options that decide where a section sends text, the most telling first."""
_PAID = (EmbeddingSettings, ContextSettings)
"""Sections with a limit of what a process may spend."""


def trusts_every_project(environment: Mapping[str, str]) -> bool:
    """Whether the environment says that the user trusts the project at hand, whichever it is.

    Raises:
        SettingsError: CQM_TRUST_PROJECT is neither yes nor no.
    """
    word = environment.get(TRUST_VARIABLE, "").lower()
    if word not in {"", "0", "1", "false", "true", "no", "yes"}:
        raise SettingsError(f"{TRUST_VARIABLE}: expected 1 or 0, got {word!r}.")
    return word in {"1", "true", "yes"}


@dataclass(frozen=True, slots=True)
class _Case:
    """What there is to judge.

    Attributes:
        project: what the project's file gives.
        root: the project's folder.
        settled, without: all sources together, and all but the project's file.
        environment: variables that name the default address of a service.
    """

    project: Options
    root: Path
    settled: Options
    without: Options
    environment: Mapping[str, str]


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
    case = _Case(project, root, settled, without, environment)
    return {name: why for refused, why in _RULES for name in refused(case)}


def destination(section: Section, environment: Mapping[str, str]) -> tuple[str, ...]:
    """The service away from this machine that a section has text sent to, as it is configured; empty for none."""
    match section:
        case ProviderSettings() | ContextSettings() if _sends_away(section, environment):
            return (section.provider, section.base_url)
        case RerankSettings(provider="http", url=url, shape=shape) if (url or shape) and not is_loopback(url):
            return (shape, url)
        case LateSettings(encoder=encoder) if is_elsewhere(encoder):
            return (encoder,)
        case CacheSettings(redis_url=url) if url and not url.startswith("unix:") and not is_loopback(url):
            return (url,)
        case _:
            return ()


def is_elsewhere(place: str) -> bool:
    """Whether a folder or URL is a URL that leads away from this machine."""
    return place.startswith(("http://", "https://")) and not is_loopback(place)


def outside(path: Path, root: Path) -> bool:
    """Whether `path` is not in `root` once links are followed."""
    return not path.resolve().is_relative_to(root.resolve())


def _sends_away(section: ProviderSettings | ContextSettings, environment: Mapping[str, str]) -> bool:
    """Whether text for a model leaves this machine: a service that is not on a loopback address, or Ollama's cloud."""
    if section.provider in _NO_SERVICE:
        return False
    if section.provider == "ollama" and section.model.endswith(("-cloud", ":cloud")):
        return True
    return not is_loopback(_url_of(section, environment))


def _url_of(section: ProviderSettings | ContextSettings, environment: Mapping[str, str]) -> str:
    """Where a service is; empty when that is not known, which counts as away."""
    if section.provider == "ollama":
        return ollama_url(section.base_url, environment)
    preset = PRESETS.get(section.provider)
    return preset.at(section.base_url, environment) if preset else section.base_url


def _home(case: _Case) -> Iterator[Name]:
    if case.project.index.home is not None:
        yield ("index", "home")
    if case.project.cache.folder is not None:
        yield ("cache", "folder")


def _room(case: _Case) -> Iterator[Name]:
    given = case.project.index
    if "disk_mb" in given.model_fields_set and given.disk_mb != case.without.index.disk_mb:
        yield ("index", "disk_mb")


def _roots(case: _Case) -> Iterator[Name]:
    if any(outside(folder, case.root) for folder in case.project.server.roots):
        yield ("server", "roots")


def _port(case: _Case) -> Iterator[Name]:
    if case.project.server.http:
        yield ("server", "http")


def _trust(case: _Case) -> Iterator[Name]:
    if case.project.trusted_projects:
        yield ("trusted_projects",)


def _secrets(case: _Case) -> Iterator[Name]:
    for place, section in case.project.sections():
        yield from ((*place, key) for key, value in section if key in _SECRETS and value)


def _services(case: _Case) -> Iterator[Name]:
    """Sections and blocks that lead to a service away from here which they would not lead to without the project."""
    settled, without = dict(case.settled.sections()), dict(case.without.sections())
    for place, section in case.project.sections():
        leads_to = destination(settled[place], case.environment)
        if leads_to and leads_to != destination(without.get(place, Section()), case.environment):
            given = [key for key in _ADDRESSES if key in section.model_fields_set]
            yield (*place, given[0])


def _routes(case: _Case) -> Iterator[Name]:
    """Blocks of services away from here that only the project has embed its text."""
    own, asked = case.without.embedding, case.project.embedding
    for key, names in (("fallback", asked.fallback), ("prose", (asked.prose,))):
        added = set(names) - {*own.fallback, own.prose}
        blocks = (block for name, block in case.settled.providers.items() if name in added)
        if any(destination(block, case.environment) for block in blocks):
            yield ("embedding", key)


def _store(case: _Case) -> Iterator[Name]:
    """All of the section: it takes the index away from where the user keeps it, or fills the user's server."""
    without = case.without.store
    for key in sorted(case.project.store.model_fields_set):
        if key not in _SECRETS and getattr(case.settled.store, key) != getattr(without, key):
            yield ("store", key)


def _models(case: _Case) -> Iterator[Name]:
    if case.project.rerank.folder:
        yield ("rerank", "folder")
    encoder = case.project.late.encoder
    if encoder and not encoder.startswith(("http://", "https://")):
        yield ("late", "encoder")


def _downloads(case: _Case) -> Iterator[Name]:
    """Leave to download, and another model where the user gives that leave."""
    settled, without = dict(case.settled.sections()), dict(case.without.sections())
    for place, section in case.project.sections():
        if not isinstance(section, ProviderSettings):
            continue
        if section.pull:
            yield (*place, "pull")
        elif "model" in section.model_fields_set and _pulled(settled[place]) != _pulled(without.get(place)):
            yield (*place, "model")


def _pulled(section: Section | None) -> str:
    """The model that a section has fetched; empty for none."""
    return section.model if isinstance(section, ProviderSettings) and section.pull else ""


def _money(case: _Case) -> Iterator[Name]:
    """A limit that is raised or lifted, and prices, which could make any limit large enough."""
    limits = {key: section.budget_usd for (key, *_), section in case.without.sections() if isinstance(section, _PAID)}
    for place, section in case.project.sections():
        if isinstance(section, _PAID) and "budget_usd" in section.model_fields_set:
            limit = limits[place[0]]
            if limit and not 0 < section.budget_usd <= limit:
                yield (*place, "budget_usd")
        if any(limits.values()):
            yield from ((*place, key) for key in sorted(section.model_fields_set) if key.startswith("usd_per_million"))


_Rule = Callable[[_Case], Iterator[Name]]

_RULES: tuple[tuple[_Rule, str], ...] = (
    (_home, "it could write outside of the project"),
    (_room, "it could delete your other indexes"),
    (_roots, "it opens folders outside of the project"),
    (_port, "it opens a port of this machine"),
    (_trust, "no project can trust itself"),
    (_secrets, "it chooses which of your secrets is sent"),
    (_services, "it sends your code to a service that you did not configure"),
    (_routes, "it sends your code to a service that you did not choose to embed it"),
    (_store, "it decides where the index of your code is kept"),
    (_models, "a model that came with a project is not safe to load"),
    (_downloads, "it downloads a model"),
    (_money, "it spends more than the limit that you set"),
)
"""What finds refused options, and why they are refused."""
