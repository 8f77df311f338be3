"""What an owner and its clients say to each other, and how that is written."""

import functools
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from cqm.chunkers import errors as chunking_errors
from cqm.chunkers.errors import CqmError
from cqm.chunkers.extras import DISTRIBUTION
from cqm.index.model import errors as indexing_errors
from cqm.index.model.options import IndexOptions
from cqm.index.model.progress import Estimate, Improved, Progress, UpdateSummary
from cqm.index.model.query import Answer, FileProblem, Query, SymbolUses
from cqm.index.model.secrets import RedactedFile
from cqm.index.model.status import IndexStatus
from cqm.server import errors as sharing_errors
from cqm.server.errors import SharingError
from cqm.server.owner.wire import Message

PROTOCOL = 3
"""Goes up with every change of what is said here."""
WELCOME, LEAVING, RESULT, FAILURE, PROGRESS, CANCEL = "welcome", "leaving", "result", "failure", "progress", "cancel"
"""The one key of every message but a greeting and a request."""
NOTICE = "notice"
"""Beside a welcome and a result: that the index is open with other options than the client's."""
ASKS, USERS, DISMISSES = "asks", "users", "dismisses"
"""In place of a client in a greeting, what is asked of the owner: who uses the index, or to leave if nobody does."""


@dataclass(frozen=True, slots=True)
class Build:
    """Which CQM a process runs: an owner and its clients run the same."""

    protocol: int
    version: str

    @property
    def order(self) -> tuple[int, ...]:
        """To tell which of two is newer."""
        numbers = "".join(char if char.isdecimal() else " " for char in self.version).split()
        return (self.protocol, *map(int, numbers))


@functools.cache
def this_build() -> Build:
    """The CQM that this process runs."""
    return Build(PROTOCOL, version(DISTRIBUTION))


@dataclass(frozen=True, slots=True)
class Client:
    """Who uses an index.

    Attributes:
        id: of one opened index in one process.
        pid: of the process.
        command: how it was started.
    """

    id: str
    pid: int = field(default_factory=os.getpid)
    command: str = field(default_factory=lambda: " ".join([Path(sys.argv[0]).name, *sys.argv[1:3]]))

    def __str__(self) -> str:
        """For messages."""
        return f"process {self.pid} ({self.command})"


@dataclass(frozen=True, slots=True)
class Greeting:
    """The first message of a connection.

    Attributes:
        build: what the client runs.
        client: who it is.
        root: of the index.
        options: of the index.
        variables: of its environment, those that services are reached with; see `variables.service_variables`.
        idle_seconds: how long the owner waits for another client when the last one is gone.
        adopts: whether its options are to be taken also while others are here with other ones.
        token: what proves that the client may read the owner's address; empty on a unix socket.
    """

    build: Build
    client: Client
    root: str
    options: IndexOptions
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    idle_seconds: float = 60.0
    adopts: bool = False
    token: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Request:
    """A call of a method of the index, with its arguments by name."""

    method: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Failure:
    """An error: its class, and what `CqmError` says of it."""

    kind: str
    message: str
    remedy: str = ""
    retryable: bool = False


@dataclass(frozen=True, slots=True)
class Method:
    """A method of `cqm.index.engine.Index` as it is called from another process.

    Attributes:
        gives: the type of its result.
        takes: the types of its arguments by their names, but for `report` and `cancelled`, which stay with the client.
        is_run: whether it goes on for long, reports progress and can be cancelled.
        is_brief: whether it is done in a moment, so that it need not wait until longer ones are.
    """

    gives: Any
    takes: Mapping[str, Any] = field(default_factory=dict)
    is_run: bool = False
    is_brief: bool = False


METHODS: Mapping[str, Method] = {
    "update": Method(UpdateSummary, {"paths": tuple[str, ...] | None, "anew": bool}, is_run=True),
    "improve": Method(Improved, is_run=True),
    "search": Method(Answer, {"query": Query}, is_brief=True),
    "usages": Method(SymbolUses, {"name": str, "limit": int}, is_brief=True),
    "status": Method(IndexStatus, {"look": bool}),
    "skipped": Method(tuple[FileProblem, ...], is_brief=True),
    "secrets": Method(tuple[RedactedFile, ...], is_brief=True),
    "estimate": Method(Estimate),
    "compact": Method(None),
    "retry_models": Method(None, is_brief=True),
    "warm": Method(None, is_brief=True),
}
"""What clients may call, by its name. A row here and the method in `RemoteIndex` are all that a new one needs."""


def request(method: str, arguments: Mapping[str, object]) -> Message:
    """A call as it is sent.

    Parameters:
        method: a row of METHODS.
        arguments: by name, all that it takes.
    """
    takes = METHODS[method].takes
    values = {name: written(takes[name], value) for name, value in arguments.items()}
    return {"method": method, "arguments": values}


def read_request(message: Message) -> tuple[str, dict[str, Any]]:
    """The method that is called, and its arguments by name.

    Raises:
        SharingError: no index has it, or it takes others.
    """
    called: Request = read(Request, message)
    if called.method not in METHODS:
        raise SharingError(f"{called.method!r} was asked for, which no index has.")
    takes = METHODS[called.method].takes
    if takes.keys() != called.arguments.keys():
        raise SharingError(f"{called.method} was asked for with {sorted(called.arguments)}, not {sorted(takes)}.")
    return called.method, {name: read(takes[name], value) for name, value in called.arguments.items()}


def written(kind: Any, value: object) -> Any:  # noqa: ANN401 - JSON
    """A value of a type as JSON has it."""
    return _adapter(kind).dump_python(value, mode="json")


def encoded(key: str, kind: Any, value: object, further: Mapping[str, object]) -> bytes:  # noqa: ANN401 - any type
    """A message with a value of a type under a key, and what else it holds, as JSON: a sixth of `written`'s time.

    Parameters:
        key: of the value.
        kind: its type.
        value: to send.
        further: JSON values by their keys.
    """
    try:
        text = _adapter(kind).dump_json(value)
    except PydanticSerializationError:
        # The name of a file that is no valid Unicode.
        return json.dumps({key: written(kind, value), **further}).encode("ascii")
    others = json.dumps(further).encode("ascii")[1:] if further else b"}"
    return b'{"%s":%s%s%s' % (key.encode("ascii"), text, b"," if further else b"", others)


def read(kind: Any, value: object) -> Any:  # noqa: ANN401 - a value of `kind`
    """A value of a type from JSON.

    Raises:
        SharingError: it is none.
    """
    try:
        return _adapter(kind).validate_python(value)
    except ValidationError as error:
        # Without the input: it may hold a secret.
        places = ", ".join(".".join(map(str, problem["loc"])) or problem["type"] for problem in error.errors())
        raise SharingError(f"A message came that is not understood: {places}.") from error


def read_build(greeting: Message) -> Build:
    """What a client runs; of its greeting, this is what all builds understand.

    Raises:
        SharingError: it is no greeting.
    """
    build: Build = read(Build, greeting.get("build"))
    return build


def failure_of(error: Exception) -> Failure:
    """An error as it is sent."""
    if isinstance(error, CqmError):
        return Failure(type(error).__name__, error.message, error.remedy, error.retryable)
    return Failure(
        SharingError.__name__,
        f"Unexpected {type(error).__name__}: {error}.",
        "This is a fault of CQM; owner.log in the index folder has the details.",
    )


def error_of(failure: Failure) -> CqmError:
    """An error as it is raised again: of the class that it had, where there is one here."""
    kind = _error_classes().get(failure.kind, CqmError)
    return kind(failure.message, remedy=failure.remedy, retryable=failure.retryable)


def read_progress(value: object) -> Progress:
    """How far a run is."""
    progress: Progress = read(Progress, value)
    return progress


@functools.cache
def _adapter(kind: Any) -> TypeAdapter[Any]:  # noqa: ANN401 - any type
    return TypeAdapter(kind)


@functools.cache
def _error_classes() -> dict[str, type[CqmError]]:
    named = (item for module in (chunking_errors, indexing_errors, sharing_errors) for item in vars(module).values())
    return {kind.__name__: kind for kind in named if isinstance(kind, type) and issubclass(kind, CqmError)}
