"""Messages between a worker and its parent, and a parent's requests to the process forking the workers.

A parent's messages are pickled: a worker trusts them. A worker's are not trusted, since a file may have taken the
worker over. They hold tuples, lists, dictionaries, texts and numbers only, and unpickling them can name no class or
function. `plain` makes such values of dataclasses, `restored` makes dataclasses of them.
"""

import io
import pickle
import socket
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from operator import attrgetter
from types import NoneType, UnionType
from typing import Any, NoReturn, Union, get_args, get_origin, get_type_hints

from cqm.chunkers.errors import CqmError
from cqm.index.model.errors import WorkerError
from cqm.index.workers.limits import MEMORY_BYTES

REQUEST = struct.Struct("<Bq")
"""Request and worker's number. FORK brings a descriptor: the worker's end of its connection."""
REPLY = struct.Struct("<q")
"""Number of the new worker, or exit status of an ended one, as from `os.waitpid`."""
FORK, END, LOAD = 1, 2, 3
"""LOAD: load the rules for secrets, for workers forked later."""

RESULT, FAILURE, QUESTION, RETIRED = 0, 1, 2, 3
"""Messages of a worker: (RESULT, value), (FAILURE, class, message, remedy, retryable), (QUESTION, value), or (RETIRED,
lack) if it needs the rules for secrets (RULES) or a grammar, by its name: it waits for its replacement by a worker with
them. Any message of the parent instead means that there is none."""
RULES = "rules"

_LENGTH = struct.Struct("<Q")
_LONGEST = 512 << 20
"""Bytes of a message; the chunks of a file take a few times its size."""

Restore = Callable[[Any], Any]


def send(connection: socket.socket, value: object) -> None:
    """Send a value.

    Raises:
        OSError: the other side is gone.
    """
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    connection.sendall(_LENGTH.pack(len(data)) + data)


def receive_trusted(connection: socket.socket) -> Any:  # noqa: ANN401 - any picklable value
    """Receive a parent's message.

    Raises:
        OSError: the other side is gone.
    """
    return pickle.loads(_received(connection))  # noqa: S301 - see above


def receive_plain(connection: socket.socket) -> Any:  # noqa: ANN401 - plain data
    """Receive a worker's message.

    Raises:
        OSError: the other side is gone.
        pickle.UnpicklingError: it is no plain data.
    """
    return _PlainUnpickler(io.BytesIO(_received(connection))).load()


class _PlainUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> NoReturn:
        """Refuse: without a class or function a pickle can do nothing."""
        raise pickle.UnpicklingError(f"a worker named {module}.{name}")


def _received(connection: socket.socket) -> bytearray:
    (length,) = _LENGTH.unpack(_exactly(connection, _LENGTH.size))
    if length > _LONGEST:
        raise OSError(f"a message of {length} bytes was announced")
    return _exactly(connection, length)


def _exactly(connection: socket.socket, size: int) -> bytearray:
    data = bytearray(size)
    view = memoryview(data)
    done = 0
    while done < size:
        count = connection.recv_into(view[done:])
        if not count:
            raise ConnectionResetError("the other side is gone")
        done += count
    return data


def plain(value: object) -> object:
    """Return a value as tuples, lists, dictionaries, texts and numbers."""
    if type(value) is tuple:
        return tuple([it if type(it) in _LEAVES else plain(it) for it in value])
    if is_dataclass(value) and not isinstance(value, type):
        return tuple([it if type(it) in _LEAVES or is_plain else plain(it) for it, is_plain in _values(value)])
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return tuple([it if type(it) in _LEAVES else plain(it) for it in value])
    return value


_LEAVES = frozenset({str, int, float, bool, NoneType, bytes})
_NUMBERS = frozenset({tuple[int, ...], tuple[float, ...]})


def _values(value: object) -> Iterator[tuple[Any, bool]]:
    """Give the values of a dataclass's fields, and whether each is surely plain."""
    kind: type = type(value)
    values_of, are_plain = _fields(kind)
    return zip(values_of(value), are_plain, strict=True)


@cache
def _fields(kind: type) -> tuple[Callable[[Any], tuple[Any, ...]], tuple[bool, ...]]:
    """Return a getter of a dataclass's field values, and which fields hold only numbers: most of a file's chunks."""
    names, hints = _names(kind), get_type_hints(kind)
    are_plain = tuple(hints[name] in _NUMBERS for name in names)
    return (attrgetter(*names) if len(names) > 1 else lambda value: (getattr(value, names[0]),)), are_plain


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(it.name for it in fields(kind))


def restored(kind: Any, value: object) -> Any:  # noqa: ANN401 - a value of `kind`
    """Restore a value of a type from the result of `plain`.

    Parameters:
        kind: a dataclass, an enumeration, or a tuple, mapping or union of such and of plain types.

    Raises:
        TypeError, ValueError: it is no such value.
    """
    restore = _restorer(kind)
    return value if restore is None else restore(value)


@cache
def _restorer(kind: Any) -> Restore | None:  # noqa: ANN401 - a type
    """Return a function restoring values of a type; None if they are plain."""
    if is_dataclass(kind) and isinstance(kind, type):
        return _restorer_of_dataclass(kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in {Union, UnionType}:
        [restore] = {_restorer(it) for it in arguments if it is not NoneType} or {None}
        return restore and (lambda value: None if value is None else restore(value))
    if origin is tuple:
        return _restorer_of_tuple(arguments)
    return None


def _restorer_of_dataclass(kind: type) -> Restore:
    hints = get_type_hints(kind)
    places = [(place, restore) for place, name in enumerate(_names(kind)) if (restore := _restorer(hints[name]))]

    def restore_all(values: Any) -> Any:  # noqa: ANN401 - plain data
        if not places:
            return kind(*values)
        found = list(values)
        for place, restore in places:
            found[place] = restore(found[place])
        return kind(*found)

    return restore_all


def _restorer_of_tuple(arguments: tuple[Any, ...]) -> Restore | None:
    if len(arguments) == 2 and arguments[1] is Ellipsis:  # noqa: PLR2004 - tuple[X, ...]
        restore = _restorer(arguments[0])
        return restore and (lambda values: tuple([restore(it) for it in values]))
    restorers = [_restorer(it) for it in arguments]
    if not any(restorers):
        return None
    return lambda values: tuple(
        [it if restore is None else restore(it) for it, restore in zip(values, restorers, strict=True)]
    )


def result_of(message: Any, gives: Any) -> Any:  # noqa: ANN401 - a message, a type, and a value of it
    """Return the result in a message.

    Raises:
        CqmError: the task raised it.
        WorkerError: the task needs more memory than a worker may take.
        TypeError: the message is something else.
    """
    if message[0] == RESULT:
        return restored(gives, message[1])
    if message[0] == FAILURE:
        _, kind, text, remedy, retryable = message
        if kind == MemoryError.__name__:
            raise WorkerError(f"parsing it needs more than {MEMORY_BYTES >> 20} MB")
        raise _errors().get(kind, CqmError)(text, remedy=remedy, retryable=bool(retryable))
    raise TypeError("a worker sent something else than a result")


def _errors() -> dict[str, type[CqmError]]:
    found: dict[str, type[CqmError]] = {}
    waiting: list[type[CqmError]] = [CqmError]
    while waiting:
        kind = waiting.pop()
        found[kind.__name__] = kind
        waiting += kind.__subclasses__()
    return found
