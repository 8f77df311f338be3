"""Notes naming a generation's collection and server, written to its folder before the collection is made or used.

The collection has a random name and a mark known only to its note. So a copy of an index on another machine, or one
restored from a backup, never writes into another index's collection. A base has no such note: nobody writes into it.
"""

import json
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from cqm.chunkers.errors import CqmError
from cqm.index.disk.durable import replace_file
from cqm.index.disk.locations import PROJECT_FOLDER
from cqm.index.disk.private import ForeignFileError, read_private
from cqm.index.model.errors import BaseGoneError, DamagedIndexError, StoreError
from cqm.index.model.options import StoreOptions
from cqm.index.store.frozen import FrozenNote, parse_frozen

NOTE_FILE, BASE_FILE, FROZEN_FILE = "collection.json", "base.json", "frozen.json"
FREQUENCIES_FILE = "frequencies.jsonl"
"""Frequencies of the words of a base on a server."""
_LONGEST_LABEL = 40
_NAME, _URL = re.compile("[A-Za-z0-9_-]{1,128}"), re.compile(r"[\x21-\x7e]{1,2000}")
_NOT_IN_NAMES = re.compile("[^A-Za-z0-9_-]+")

_Note = TypeVar("_Note")


@dataclass(frozen=True, slots=True)
class CollectionNote:
    """The collection of a generation.

    Attributes:
        alias: always stands for the serving generation's collection.
        marks: marks the collection may have; two while one replaces the other, none before it is made.
    """

    url: str
    name: str
    alias: str
    marks: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Name the collection and its server."""
        return f"{self.name} at {self.url}"

    def marked(self, *marks: str) -> "CollectionNote":
        """Return the note with other marks."""
        return replace(self, marks=marks)


@dataclass(frozen=True, slots=True)
class BaseNote:
    """The shared base under a generation's local layer.

    Attributes:
        name: the team's name of the base.
        spaces: names of its possible vectors.
        points: of chunks and files.
        others: all other points.
    """

    url: str
    name: str
    collection: str
    spaces: tuple[str, ...]
    points: int
    others: int

    def __str__(self) -> str:
        """Name the base and its server."""
        return f"the base {self.name} ({self.collection} at {self.url})"

    in_folder = False
    frequencies = FREQUENCIES_FILE

    def missing(self, count: int) -> int:
        """Return the number of points missing from a collection that has `count` now."""
        return max(0, self.points + self.others - count)

    def gone(self, missing: int = 0) -> CqmError:
        """Return the error of a missing base, or of one with lost points."""
        if missing:
            return BaseGoneError(
                f"The index stands on {self}, and {missing:,} of its points are gone.",
                remedy=f"Run `cqm publish {self.name}` where it is made, then `cqm take {self.name}` here.",
            )
        remedy = f"Run `cqm take {self.name}` to have the present one."
        return BaseGoneError(f"The index stands on {self}, which is gone.", remedy=remedy)


def new_mark() -> str:
    """Return an unused mark."""
    return secrets.token_hex(8)


def new_note(place: Path, options: StoreOptions) -> CollectionNote:
    """Return a note for a new collection, with the index's existing alias on this server, if any."""
    folder = place.parent
    known = (note.alias for note in _notes(folder) if note.url == options.url)
    inside = folder.parent
    label = inside.parent.name if inside.name == PROJECT_FOLDER else folder.name.rpartition("-")[0]
    label = _NOT_IN_NAMES.sub("_", label)[:_LONGEST_LABEL] or "root"
    fresh = f"{options.prefix}-{label}-{secrets.token_hex(4)}"
    alias = next((name for name in known if name.startswith(f"{options.prefix}-")), fresh)
    return CollectionNote(options.url, f"{alias}-{secrets.token_hex(4)}", alias)


def _notes(folder: Path) -> Iterator[CollectionNote]:
    for path in sorted(folder.glob(f"*/{NOTE_FILE}")):
        if note := read_note(path.parent):
            yield note


def read_note(place: Path) -> CollectionNote | None:
    """Return the note in a generation's folder; None if it is not on a server.

    Raises:
        DamagedIndexError: the note is damaged.
        StoreError: it cannot be read.
    """
    return _read(place, NOTE_FILE, _collection_note)


def read_base(place: Path) -> BaseNote | None:
    """Return the note of the base of a generation; None without one.

    Raises:
        DamagedIndexError, StoreError: as `read_note`.
    """
    return _read(place, BASE_FILE, _base_note)


def read_frozen(place: Path) -> FrozenNote | None:
    """Return the note of the base in a generation's folder; None without one.

    Raises:
        DamagedIndexError, StoreError: as `read_note`.
    """
    return _read(place, FROZEN_FILE, parse_frozen)


def write_note(place: Path, note: CollectionNote | BaseNote | FrozenNote) -> None:
    """Write the note atomically and durably.

    Raises:
        StoreError: it cannot be written.
    """
    path = place / _FILES[type(note)]
    try:
        replace_file(path, json.dumps(asdict(note)))
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error}.", remedy="Free space.") from error


def _read(place: Path, file: str, note: Callable[[Any], _Note]) -> _Note | None:
    path = place / file
    try:
        return note(json.loads(read_private(place, file)))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ForeignFileError as error:
        raise DamagedIndexError(f"{path} {error.strerror}.") from error
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error}.", remedy="Mend its permissions.") from error
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedIndexError(f"{path} is damaged.") from error


def _collection_note(found: Any) -> CollectionNote:  # noqa: ANN401 - any JSON
    note = CollectionNote(str(found["url"]), str(found["name"]), str(found["alias"]), tuple(found["marks"]))
    _require_names(note.url, note.name, note.alias, *note.marks)
    return note


def _base_note(found: Any) -> BaseNote:  # noqa: ANN401 - any JSON
    numbers = int(found["points"]), int(found["others"])
    note = BaseNote(str(found["url"]), str(found["name"]), str(found["collection"]), tuple(found["spaces"]), *numbers)
    _require_names(note.url, note.name, note.collection, *note.spaces)
    return note


_FILES = {CollectionNote: NOTE_FILE, BaseNote: BASE_FILE, FrozenNote: FROZEN_FILE}


def _require_names(url: str, *names: object) -> None:
    """Refuse names unfit for requests to the server, messages and logs."""
    if not (all(isinstance(name, str) and _NAME.fullmatch(name) for name in names) and _URL.fullmatch(url)):
        raise ValueError


def server_of(place: Path) -> str:
    """Name a generation's collection or base and its server; empty for one in its folder."""
    with suppress(DamagedIndexError, StoreError):
        if note := read_base(place) or read_note(place):
            return str(note)
    return ""
