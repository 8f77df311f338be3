"""Types of option values, by `Option.kind`, and the base of the sections of cqm.yml."""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationInfo

from cqm.index.remote.addresses import is_address


def _absolute(path: Path, info: ValidationInfo) -> Path:
    try:
        expanded = path.expanduser()
    except RuntimeError as error:
        raise ValueError(str(error)) from error
    base = (info.context or {}).get("base", Path())
    return Path(os.path.abspath(base / expanded))  # noqa: PTH100 - Path.resolve() would follow links


Folder = Annotated[Path, AfterValidator(_absolute)]
"""A folder; `~` is the home folder, and a relative path starts at the file naming it."""


def _path_text(text: str, info: ValidationInfo) -> str:
    return str(_absolute(Path(text), info)) if text else ""


PathText = Annotated[str, AfterValidator(_path_text)]
"""A file or folder in the same way, or empty."""


def _reachable(url: str) -> str:
    if url and not is_address(url):
        raise ValueError("expected http:// or https://, a host, and perhaps a port and a path")
    return url


def _folder_or_url(place: str, info: ValidationInfo) -> str:
    return _reachable(place) if place.startswith(("http://", "https://")) else _path_text(place, info)


FolderOrUrl = Annotated[str, AfterValidator(_folder_or_url)]
"""The same, or an address, http:// or https://, or empty."""


def _compiles(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"expected a regular expression: {error}") from error
    if re.search(pattern, ""):
        raise ValueError("expected a regular expression that does not match everything")
    return pattern


Pattern = Annotated[str, AfterValidator(_compiles)]
"""A regular expression needing at least one character."""


def matching(pattern: str, expected: str) -> AfterValidator:
    """Take only texts matching a pattern as a whole; refuse others with the message `expected`."""

    def checked(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(expected)
        return text

    return AfterValidator(checked)


# No address may hold a user name or a password (Redis takes it as a parameter too): a file is no place for secrets.
Url = Annotated[
    str,
    matching(r"(https?://[^\s\\@]+)?", "expected http:// or https://, without user name or password"),
    AfterValidator(_reachable),
]
"""The address of a service, or empty."""
RedisUrl = Annotated[
    str,
    matching(
        r"((rediss?|unix)://[^\s\\@?]+)?",
        "expected redis://HOST:PORT/NUMBER, rediss:// or unix://PATH, without a password or parameters",
    ),
]
"""The address of a Redis, or empty."""
Variable = Annotated[
    str,
    matching(
        r"([A-Za-z_][A-Za-z0-9_]*)?", "expected the name of an environment variable that holds the secret, no secret"
    ),
]
"""The name of an environment variable, or empty."""
_HOST_AND_PORT = r"((\[[0-9A-Fa-f:.]+\]|[^\s:/\[\]]+):[0-9]{1,5})?"


class Section(BaseModel):
    """Options under one key of cqm.yml."""

    # Most of them are never given, and building a validator takes ten times as long as using it.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)
    declaring: ClassVar[Any] = None
    """The dataclass declaring the options; None for a section written by hand."""


def _row_of(rows: Callable[[], Iterable[str]]) -> Any:  # noqa: ANN401 - a type
    """Take only names of a table's rows; the table is loaded when a value is given."""

    def checked(name: str) -> str:
        known = [row or '""' for row in rows()]
        if (name or '""') not in known:
            raise ValueError(f"expected {', '.join(known[:-1])} or {known[-1]}")
        return name

    return Annotated[str, AfterValidator(checked)]


def _readable_rule(text: str) -> str:
    from cqm.chunkers.errors import ChunkOptionError
    from cqm.chunkers.strategies.options import rule_of  # only where there are rules

    try:
        rule_of(text)
    except ChunkOptionError as error:
        raise ValueError(str(error)) from error
    return text


def rules_of_mapping(given: object) -> object:
    """Turn a mapping of files to ways of cutting them into rules, a text each; a list becomes a tuple.

    rules_of_mapping({"docs/**": {"strategy": "fixed", "size_tokens": 256}})  # ("docs/** fixed:size_tokens=256",)
    """
    if isinstance(given, Mapping):
        return tuple(f"{files} {way if isinstance(way, str) else _one_way(way)}" for files, way in given.items())
    return tuple(given) if isinstance(given, list) else given


def _one_way(way: object) -> str:
    if not isinstance(way, Mapping):
        return ""
    values = {name: _as_text(value) for name, value in way.items() if name != "strategy"}
    options = ",".join(f"{name}={value}" for name, value in values.items())
    return f"{way.get('strategy', 'auto')}{':' * bool(options)}{options}"


def _as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


_YES, _NO = {"true", "1", "yes", "on", "t", "y"}, {"false", "0", "no", "off", "f", "n"}


def _which_generated(given: object) -> object:
    # This option was true or false, in every word for them.
    word = str(given).lower()
    return "all" if word in _YES else "none" if word in _NO else given


def _embedders() -> Iterable[str]:
    from cqm.index.embedding import PROVIDERS

    return PROVIDERS


def _orders() -> Iterable[str]:
    from cqm.index.embedding.opening import ORDERS

    return ORDERS


def _writers() -> Iterable[str]:
    from cqm.index.contextual import CHATS, RULES

    return (RULES, *CHATS)


def _rerankers() -> Iterable[str]:
    from cqm.index.rerank import PROVIDERS

    return PROVIDERS


def _shapes() -> Iterable[str]:
    from cqm.index.rerank import SHAPES

    return ("", *SHAPES)


def _quantizations() -> Iterable[str]:
    from cqm.index.store.qdrant_models import QUANTIZATIONS

    return QUANTIZATIONS


KINDS: Mapping[str, Any] = {
    "generated files": Annotated[Literal["code", "all", "none"], BeforeValidator(_which_generated)],
    "folder": Folder,
    "file": PathText,
    "folder or url": FolderOrUrl,
    "url": Url,
    "redis url": RedisUrl,
    "variable": Variable,
    "pattern": Pattern,
    "host and port": Annotated[str, matching(_HOST_AND_PORT, "expected HOST:PORT, such as 127.0.0.1:8080")],
    "host name": Annotated[
        str, matching(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?", "expected a name alone, such as cqm.example.org")
    ],
    "collection prefix": Annotated[
        str, matching("[A-Za-z0-9][A-Za-z0-9_-]{0,39}", "expected at most 40 letters, digits, _ and -")
    ],
    "chunk rule": Annotated[str, AfterValidator(_readable_rule)],
    "embedding provider": _row_of(_embedders),
    "order of models": _row_of(_orders),
    "context writer": _row_of(_writers),
    "reranker": _row_of(_rerankers),
    "rerank shape": _row_of(_shapes),
    "quantization": _row_of(_quantizations),
}
"""Forms of a text or path, by `Option.kind`."""
