"""The options a project's own cqm.yml may set, and the direction of the change.

The file comes with a clone, so a stranger wrote it. It may say which of the project's own files are indexed, how they
are cut and how they are searched. It may not reach for the network, keys, money, other folders or other projects, and
it may not make this machine work harder. Every option missing in `ALLOWED` is refused, also a new one.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cqm.chunkers.model import LATE
from cqm.index.model.query import SearchMode
from cqm.server.config.merge import given
from cqm.server.config.options import Options
from cqm.server.config.sources import ANY, Name
from cqm.server.errors import SettingsError

TRUST_VARIABLE = "CQM_TRUST_PROJECT"

_ABSENT = object()
"""The value of an option in a missing block."""


@dataclass(frozen=True, slots=True)
class Change:
    """A kind of change by a project's file to an option.

    Attributes:
        admits: whether the change is allowed, given the value without the project and the value with it.
        refusal: says why another change is refused; `{}` stands for the value without the project.
    """

    admits: Callable[[Any, Any], bool]
    refusal: str


def _only(*, value: object, why: str) -> Change:
    return Change(lambda _, new: bool(new == value), f"{why}: a project may only set it to {str(value).lower()}")


_SERVICE = "it sends your code to a service that you did not configure"
_WIDER = "it would index files that you keep out"
_MACHINE = "it decides how much work this machine does"

_FREELY = Change(lambda _old, _new: True, "")
_LOWER = Change(lambda old, new: bool(new < old), "a project may only lower it, and it is {} without this file")
_HIGHER = Change(lambda old, new: bool(new > old), "a project may only raise it, and it is {} without this file")
_NOT_FROM_LEXICAL = Change(
    lambda old, _: old is not SearchMode.LEXICAL,
    "your questions are not sent to a model, and a project cannot change it",
)


def _late_rules(rules: Sequence[str]) -> frozenset[str]:
    from cqm.chunkers.strategies.options import rule_of  # only where there are rules

    return frozenset(rule for rule in rules if rule_of(rule).strategy == LATE)


ALLOWED: Mapping[Name, Change] = {
    # Which of its own files are indexed. No project lets in more than the user does, by size or by ignore rules:
    # .gitignore, .git/info/exclude and the global ignore file keep the user's own notes and secrets out.
    ("scan", "max_file_bytes"): _LOWER,
    ("scan", "use_gitignore"): _only(value=True, why=_WIDER),
    ("scan", "exclude"): _FREELY,  # added to the patterns of the user's file, see settings.py
    ("scan", "include_generated"): _FREELY,
    ("scan", "include_vendored"): _FREELY,
    ("scan", "include_lock_files"): _FREELY,
    # How they are cut. Parsing costs memory in proportion to the file; larger chunks cost their reader tokens, and
    # overlap makes a model read the same text again. Packing more small ones together costs nothing.
    ("chunk", "max_tokens"): _LOWER,
    ("chunk", "min_tokens"): _FREELY,
    ("chunk", "overlap_percent"): _LOWER,
    ("chunk", "overlap_tokens"): _LOWER,
    ("chunk", "apart"): _FREELY,
    ("chunk", "rules"): Change(
        lambda old, new: _late_rules(new) <= _late_rules(old),
        "the strategy late has your token encoder read the project's files",
    ),
    ("chunk", "max_parse_bytes"): _LOWER,
    ("context", "place"): _FREELY,
    # How they are searched.
    ("search", "limit"): _LOWER,
    ("search", "mode"): _NOT_FROM_LEXICAL,
    # Less is sent: a project may opt out of a service, never into one.
    ("embedding", "provider"): _only(value="none", why=_SERVICE),
    ("context", "provider"): _only(value="rules", why=_SERVICE),
    ("rerank", "provider"): _only(value="none", why=_SERVICE),
    # How soon changes are noticed: only less work than the user asked for.
    ("watch", "enabled"): _only(value=False, why=_MACHINE),
    ("watch", "debounce_ms"): _HIGHER,
    ("watch", "reconcile_seconds"): _HIGHER,
    ("watch", "poll_seconds"): _HIGHER,
}
"""The options open to an untrusted project, and the changes allowed."""

_SECRET = "it chooses which of your secrets is sent"  # noqa: S105 - no password
_MONEY = "it decides what of your money is spent"
_ELSEWHERE = "it could write outside of the project"

_REASONS: Mapping[Name, str] = {
    ("index", "home"): _ELSEWHERE,
    ("index", "in_project"): "where your indexes are kept is your choice",
    ("index", "disk_mb"): "it could delete your other indexes",
    ("index",): _MACHINE,
    ("cache", "folder"): _ELSEWHERE,
    ("cache", "redis_url"): _SERVICE,
    ("cache",): "your other projects share the cache",
    ("store",): "it decides where the index of your code is kept",
    ("server", "roots"): "it decides which folders are open to clients",
    ("server", "http"): "it opens a port of this machine",
    ("server", "hosts"): "it decides by which names a port of this machine is reached",
    ("server",): "it holds for all projects that are served",
    ("ui",): "it decides which program of yours a link opens",
    ("secrets",): "it could have your secrets stored, sent and shown",
    ("groups",): "it decides which of your folders are searched",
    ("trusted_projects",): "no project can trust itself",
    ("rerank", "folder"): "a model that came with a project is not safe to load",
    ("watch",): _MACHINE,
    (ANY, "api_key_env"): _SECRET,
    (ANY, "api_key_file"): _SECRET,
    (ANY, "redis_password_env"): _SECRET,
    (ANY, "provider"): _SERVICE,
    (ANY, "base_url"): _SERVICE,
    ("rerank", "url"): _SERVICE,
    (ANY, "shape"): _SERVICE,
    (ANY, "encoder"): _SERVICE,
    (ANY, "fallback"): "it sends your code to a service that you did not choose to embed it",
    (ANY, "prose"): "it sends your code to a service that you did not choose to embed it",
    (ANY, "pull"): "it downloads a model",
    (ANY, "budget_usd"): _MONEY,
    (ANY, "usd_per_million_tokens"): _MONEY,
    (ANY, "usd_per_million_input"): _MONEY,
    (ANY, "usd_per_million_output"): _MONEY,
    ("embedding",): "it decides how your models are used",
    ("providers",): "it decides how your models are used",
    ("context",): "it decides how your models are used",
    ("rerank",): "it decides how your models are used",
    ("late",): "it decides how your models are used",
}
"""Reasons for refusing an option; the first found counts: by full name, by name in any section, by section."""
_NOT_ALLOWED = "only you may set it"


def trusts_every_project(environment: Mapping[str, str]) -> bool:
    """Whether the environment makes every project trusted.

    Raises:
        SettingsError: CQM_TRUST_PROJECT is neither yes nor no.
    """
    word = environment.get(TRUST_VARIABLE, "").lower()
    if word not in {"", "0", "1", "false", "true", "no", "yes"}:
        raise SettingsError(f"{TRUST_VARIABLE}: expected 1 or 0, got {word!r}.")
    return word in {"1", "true", "yes"}


def outside(path: Path, root: Path) -> bool:
    """Whether `path` is not in `root` once links are followed."""
    return not path.resolve().is_relative_to(root.resolve())


def refusals(project: Options, *, settled: Options, without: Options) -> dict[Name, str]:
    """Find the forbidden changes of an untrusted project's file, each with the reason.

    An option with the same value without the file is not changed: stating a default is no attack.

    Parameters:
        project: the values of the file.
        settled: all sources together.
        without: all sources but the project's file.
    """
    after, before = settled.model_dump(), without.model_dump()
    found = {}
    for name in _names(given(project)):
        old, new = _value(before, name), _value(after, name)
        if old != new and (reason := _reason(name, old, new) or _larger_rule(name, new, before["chunk"])):
            found[name] = reason
    return found


def _larger_rule(name: Name, new: Any, chunk: Mapping[str, Any]) -> str:  # noqa: ANN401 - a value of any option
    """Say which rule of a project has larger sizes or more overlap than the user's; empty where none has."""
    if name != ("chunk", "rules"):
        return ""
    from cqm.chunkers.strategies.options import rule_of  # only where there are rules

    size, percent = chunk["max_tokens"], chunk["overlap_percent"]
    most = {"overlap_percent": percent, "overlap_tokens": max(chunk["overlap_tokens"], size * percent // 100)}
    for rule in new:
        for key, value in rule_of(rule).values.items():
            limit = most.get(key, size if key.endswith("_tokens") else None)
            if limit is not None and value.isdecimal() and int(value) > limit:
                return f"{key}={value} of a rule is larger than your own {limit}, and a project may only lower it"
    return ""


def _reason(name: Name, old: object, new: object) -> str:
    """Say why a change is refused; empty if it is allowed."""
    if (change := ALLOWED.get(name)) and old is not _ABSENT:
        return "" if change.admits(old, new) else change.refusal.format(old)
    patterns = (name, (ANY, name[-1]), name[:1])
    return next((_REASONS[pattern] for pattern in patterns if pattern in _REASONS), _NOT_ALLOWED)


def _names(values: Mapping[str, object], above: Name = ()) -> Iterator[Name]:
    """Yield the options of nested sections and blocks."""
    for key, value in values.items():
        name = (*above, key)
        if isinstance(value, dict):
            yield from _names(value, name)
        else:
            yield name


def _value(values: object, name: Name) -> object:
    for part in name:
        if not isinstance(values, dict) or part not in values:
            return _ABSENT
        values = values[part]
    return values
