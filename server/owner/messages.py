"""Messages between an owner and its clients, and their encoding."""

import functools
import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from cqm.chunkers import errors as chunking_errors
from cqm.chunkers.errors import CqmError
from cqm.index import tracing
from cqm.index.model import errors as indexing_errors
from cqm.index.model.options import IndexOptions
from cqm.server import errors as sharing_errors
from cqm.server.console import plain
from cqm.server.errors import SharingError
from cqm.server.owner.wire import Message, decoded
from cqm.server.typed import typed
from cqm.server.version import VERSION

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Value = TypeVar("Value")

PROTOCOL = 12
"""Increases with every change of the messages."""
WELCOME, LEAVING, RESULT, FAILURE, PROGRESS, CANCEL = "welcome", "leaving", "result", "failure", "progress", "cancel"
REPORT = "report"
"""The one key of every message except greetings and requests."""
NOTICE = "notice"
"""Key beside a welcome and a result: the index is open with other options than the client's."""
ASKS, USERS, DISMISSES = "asks", "users", "dismisses"
"""Question to the owner, in place of a client in a greeting: a list of its users, or a request to leave if there are
none.
"""
OWNS, FOLDER, ROOT = "owns", "folder", "root"
"""Request to the user's owner, with these two beside it: to own another index, too."""
_RELEASE = re.compile(r"v?(\d{1,9}(?:\.\d{1,9})*)")
_STAGE = re.compile(r"[.-]?(dev|a|b|rc|post)(\d{1,9})")
_STAGES = ("dev", "a", "b", "rc", "", "post")
"""Stages of a version, in the order of time; "" is the release itself, and the end of a version with other stages."""


@dataclass(frozen=True, slots=True)
class Build:
    """Version of CQM run by a process: an owner and its clients run the same."""

    protocol: int
    version: str

    @property
    def order(self) -> tuple[int, tuple[int, ...], tuple[tuple[int, int], ...]]:
        """Sort key: the newer of two builds is greater, as 0.2.0 is than 0.2.0rc1. 0.2 is 0.2.0; no version is 0."""
        public = self.version.partition("+")[0]
        found = _RELEASE.match(public)
        release = [*map(int, found[1].split("."))] if found else []
        while release and not release[-1]:
            release.pop()
        stages = [(_STAGES.index(stage), int(number)) for stage, number in _STAGE.findall(public)]
        return self.protocol, tuple(release), (*stages, (_STAGES.index(""), 0))


@functools.cache
def this_build() -> Build:
    """Return the build of this process."""
    return Build(PROTOCOL, VERSION)


@dataclass(frozen=True, slots=True)
class Client:
    """A user of an index.

    Attributes:
        id: of one opened index in one process.
        command: start of its command line.
    """

    id: str
    pid: int = field(default_factory=os.getpid)
    command: str = field(default_factory=lambda: " ".join([Path(sys.argv[0]).name, *sys.argv[1:3]]))

    def __str__(self) -> str:
        """Name the client in messages."""
        return f"process {self.pid} ({self.command})"


@dataclass(frozen=True, slots=True)
class Greeting:
    """The first message of a connection.

    Attributes:
        variables: of its environment, for reaching services; see `client_options.service_variables`.
        idle_seconds: time the owner waits for another client after the last one left.
        adopts: whether its options hold even for connected clients with other ones.
        token: proves access to the owner's address file; empty on a unix socket.
        remembered: whether the owner keeps the client's last questions for people to look at.
    """

    build: Build
    client: Client
    root: str
    options: IndexOptions
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    idle_seconds: float = 60.0
    adopts: bool = False
    token: str = field(default="", repr=False)
    remembered: bool = True


@dataclass(frozen=True, slots=True)
class Failure:
    """An error: its class, and the fields of `CqmError`."""

    kind: str
    message: str
    remedy: str = ""
    retryable: bool = False


@dataclass(frozen=True, slots=True)
class Reply(Generic[Value]):
    """The result of a call, and the notice beside it; see `NOTICE`."""

    result: Value
    notice: str = ""


@dataclass(frozen=True, slots=True)
class Method:
    """A method of `FollowedIndex` callable from another process.

    Attributes:
        gives: type of its result.
        takes: types of its arguments by name, except `report` and `cancelled`, which stay with the client.
        is_run: whether it takes long, reports progress and can be cancelled.
        is_brief: whether it takes a moment only, so it needn't wait for longer ones.
    """

    gives: Any
    takes: Mapping[str, Any] = field(default_factory=dict)
    is_run: bool = False
    is_brief: bool = False


@functools.cache
def methods() -> Mapping[str, Method]:
    """Methods clients may call, by name. A new one needs a row here and a method in `FollowedIndex` and `RemoteIndex`.

    Only an owner asks for the table: a client loads only the types of its calls.
    """
    from cqm.index.model.asked import AskedQuestion
    from cqm.index.model.changes import Changes, ChangesQuery
    from cqm.index.model.outcomes import Estimate, Exported, Improved, Published
    from cqm.index.model.progress import UpdateSummary
    from cqm.index.model.query import Answer, FileProblem, Query
    from cqm.index.model.secrets import RedactedFile
    from cqm.index.model.status import IndexStatus
    from cqm.index.model.symbols import Outline, OutlineQuery, Reading, ReadQuery
    from cqm.index.model.uses import ReferenceGroup, SymbolUses
    from cqm.server.config.watch_options import WatchOptions
    from cqm.server.watching.reports import Backlog

    return {
        "update": Method(UpdateSummary, {"paths": tuple[str, ...] | None, "anew": bool}, is_run=True),
        "improve": Method(Improved, is_run=True),
        "search": Method(Answer, {"query": Query}, is_brief=True),
        "usages": Method(
            SymbolUses,
            {"name": str, "limit": int, "cursor": str, "groups": tuple[ReferenceGroup, ...], "depth": int},
            is_brief=True,
        ),
        "outline": Method(Outline, {"query": OutlineQuery}, is_brief=True),
        "paths": Method(tuple[str, ...], {"part": str, "limit": int}, is_brief=True),
        "read": Method(Reading, {"query": ReadQuery}, is_brief=True),
        "changes": Method(Changes, {"query": ChangesQuery}, is_brief=True),
        "status": Method(IndexStatus, {"look": bool}),
        "skipped": Method(tuple[FileProblem, ...], is_brief=True),
        "secrets": Method(tuple[RedactedFile, ...], is_brief=True),
        "estimate": Method(Estimate),
        "compact": Method(None),
        "export": Method(Exported, {"file": str}),
        "restore": Method(UpdateSummary, {"file": str}, is_run=True),
        "publish": Method(Published, {"name": str, "keep": int}),
        "take": Method(UpdateSummary, {"name": str}, is_run=True),
        "follow": Method(None, {"options": WatchOptions}),
        "backlog": Method(Backlog, is_brief=True),
        "wait": Method(bool, {"seconds": float}),
        "retry_models": Method(None, is_brief=True),
        "warm": Method(None, is_brief=True),
        "asked": Method(tuple[AskedQuestion, ...], is_brief=True),
    }


def request(method: str, arguments: Mapping[str, object]) -> Message:
    """Encode a call.

    Parameters:
        method: a row of `methods`.
        arguments: by name, all the method takes.
    """
    message = {"method": method, "arguments": {name: written(value) for name, value in arguments.items()}}
    return {**message, "trace": trace} if (trace := tracing.carried()) else message


def read_request(message: Message) -> tuple[str, dict[str, Any], Mapping[str, str]]:
    """Decode a call into its method, its arguments by name, and its trace.

    Raises:
        SharingError: no index has the method, or it takes other arguments.
    """
    method, given = message.get("method"), message.get("arguments", {})
    if not isinstance(method, str) or not isinstance(given, dict):
        raise SharingError("A message was not understood: expected a method and its arguments by name.")
    known = methods()
    if method not in known:
        raise SharingError(f"Unknown method {method!r}: expected one of {sorted(known)}.")
    takes = known[method].takes
    if takes.keys() != given.keys():
        raise SharingError(f"Method {method}: expected arguments {sorted(takes)}, got {sorted(given)}.")
    arguments = {name: read(takes[name], value) for name, value in given.items()}
    return method, arguments, read(_TRACE, message["trace"]) if "trace" in message else {}


_TRACE = Mapping[str, str]


def written(value: object) -> Any:  # noqa: ANN401 - JSON
    """Convert a value to JSON types. Without its type: making an adapter takes a client longer than all it sends."""
    return plain(value)


def encoded(key: str, kind: Any, value: object, further: Mapping[str, object]) -> bytes:  # noqa: ANN401 - any type
    """Encode a typed value under a key, beside further JSON values, in a sixth of `written`'s time."""
    from pydantic_core import PydanticSerializationError  # start-up time of clients, here and below

    try:
        text = _adapter(kind).dump_json(value)
    except PydanticSerializationError:
        # A file's name isn't valid Unicode.
        return json.dumps({key: written(value), **further}).encode("ascii")
    others = json.dumps(further).encode("ascii")[1:] if further else b"}"
    return b'{"%s":%s%s%s' % (key.encode("ascii"), text, b"," if further else b"", others)


def read(kind: Any, value: object) -> Any:  # noqa: ANN401 - a value of `kind`
    """Convert a client's JSON types to a value of a type.

    Raises:
        SharingError: the value doesn't fit the type.
    """
    from pydantic import ValidationError

    try:
        return _adapter(kind).validate_python(value)
    except ValidationError as error:
        # Without the input: it may hold a secret.
        places = ", ".join(".".join(map(str, problem["loc"])) or problem["type"] for problem in error.errors())
        raise SharingError(f"A message was not understood: {places}.") from error


def read_reply(gives: type[Value], message: bytes) -> Reply[Value]:
    """Decode the reply to a call, in a third of the time of `reply_in`; for a process with pydantic loaded.

    Raises:
        CqmError: the call failed.
        SharingError: the message is no reply, or its result has another form.
    """
    from pydantic import ValidationError

    try:
        reply: Reply[Value] = _adapter(Reply[gives]).validate_json(message)  # type: ignore[valid-type]  # a value here
    except ValidationError:
        # A failure, or a file name in invalid Unicode.
        return reply_in(gives, decoded(message))
    return reply


def reply_in(gives: type[Value], message: Message) -> Reply[Value]:
    """Take the reply to a call from a decoded message; raises as `read_reply` does."""
    if FAILURE in message:
        raise error_of(taken(Failure, message[FAILURE]))
    return Reply(taken(gives, message.get(RESULT)), message.get(NOTICE, ""))


def taken(kind: type[Value], value: object) -> Value:
    """Convert JSON types of an owner, which is of the same build, to a value of a type.

    Raises:
        SharingError: the value has another form.
    """
    try:
        return typed(kind, value)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise SharingError(f"A message was not understood: {error}.") from error


def read_build(greeting: Message) -> Build:
    """Read the build from a greeting; it is the part understood by all builds.

    Raises:
        SharingError: the message isn't a greeting.
    """
    build: Build = read(Build, greeting.get("build"))
    return build


def failure_of(error: Exception) -> Failure:
    """Convert an error for sending."""
    if isinstance(error, CqmError):
        return Failure(type(error).__name__, error.message, error.remedy, error.retryable)
    return Failure(
        SharingError.__name__,
        f"Unexpected {type(error).__name__}: {error}.",
        "This is a fault of CQM; the owner's log, which `cqm status` names, has the details.",
    )


def error_of(failure: Failure) -> CqmError:
    """Convert a received error for raising again, with its former class where this build has one."""
    kind = _error_classes().get(failure.kind, CqmError)
    return kind(failure.message, remedy=failure.remedy, retryable=failure.retryable)


@functools.cache
def _adapter(kind: Any) -> "TypeAdapter[Any]":  # noqa: ANN401 - any type
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


@functools.cache
def _error_classes() -> dict[str, type[CqmError]]:
    named = (item for module in (chunking_errors, indexing_errors, sharing_errors) for item in vars(module).values())
    return {kind.__name__: kind for kind in named if isinstance(kind, type) and issubclass(kind, CqmError)}
