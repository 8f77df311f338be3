"""Plan changes of clients' files: which bytes each would get, or why it is left alone. Nothing is written here."""

import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from cqm.server.setup import files
from cqm.server.setup.command import is_ours
from cqm.server.setup.edits import BrokenFileError
from cqm.server.setup.files import RefusedError, UnreadableError, backup_of
from cqm.server.setup.formats import (
    Format,
    as_read,
    entry_in,
    snippet,
    with_entry,
    without_entry,
    written_entry_in,
)

_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
_NAME = b"cqm"
"""In every entry of ours."""


class Action(StrEnum):
    """The fate of a file."""

    CREATE = "create"
    ADD = "add"
    UPDATE = "update"
    REMOVE = "remove"
    RESTORE = "restore"
    DELETE = "delete"
    DISCARD = "discard"
    UNCHANGED = "unchanged"
    KEPT = "kept"
    REFUSED = "refused"

    @property
    def writes(self) -> bool:
        """Whether the file is changed."""
        return self not in {Action.UNCHANGED, Action.KEPT, Action.REFUSED}


@dataclass(frozen=True, slots=True)
class Spot:
    """The place of an entry in a file of this machine, and the entry wanted there.

    Attributes:
        client: the client's name for people.
        kind: "server" or "instructions".
        file: absolute; it may be a link.
        path: keys down to the entry.
        bounds: folders a link may lead into.
        lacks: an option missing to write the entry, with the reason; empty for none.
    """

    client: str
    kind: str
    file: Path
    path: tuple[str, ...]
    form: Format
    entry: Mapping[str, object]
    bounds: tuple[Path, ...]
    lacks: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """A planned change of a file.

    Attributes:
        detail: the reason, for people.
        before: its bytes; None for no file.
        after: its bytes afterwards; None for no file.
        was_ours: it had an entry of ours already: it is no file of the user's own to give back.
    """

    spot: Spot
    action: Action
    real: Path
    detail: str = ""
    before: bytes | None = None
    after: bytes | None = None
    was_ours: bool = False


def planned(spots: Sequence[Spot], *, removes: bool, replaces: bool) -> list[Change]:
    """Plan the changes of several places; a file named twice gets both, one after the other.

    Parameters:
        removes: take entries out.
        replaces: overwrite entries which the user wrote.
    """
    changes: list[Change] = []
    pending: dict[Path, bytes | None] = {}
    for spot in spots:
        change = _planned(spot, pending, removes=removes, replaces=replaces)
        changes.append(change)
        if change.action.writes:
            pending[change.real] = change.after
    return changes


def _planned(spot: Spot, pending: Mapping[Path, bytes | None], *, removes: bool, replaces: bool) -> Change:
    real, data = spot.file, None
    try:
        real = files.real_path(spot.file, spot.bounds)
        data = pending[real] if real in pending else files.read(real)
        text = "" if data is None else data.decode("utf-8")
        change = _removal(spot, real, data, text) if removes else _entry(spot, real, data, text, replaces=replaces)
    except RefusedError as error:
        if removes and not isinstance(error, UnreadableError):
            return Change(spot, Action.UNCHANGED, real, f"has no entry of cqm setup: {error.message}")
        return Change(spot, Action.REFUSED, real, str(error))
    except BrokenFileError as error:
        return _unparsed(spot, real, data, f"line {error.line}: {error.why}", removes=removes)
    except UnicodeDecodeError:
        return _unparsed(spot, real, data, "it is not UTF-8", removes=removes)
    if change.action.writes and real.exists() and not real.stat().st_mode & _WRITABLE:
        return Change(spot, Action.REFUSED, real, "it is read-only: make it writable, and run this again")
    linked = "" if real == Path(os.path.abspath(spot.file)) else f"a link to {real}"  # noqa: PTH100 - see real_path
    detail = ", ".join(filter(None, [change.detail, linked]))
    return replace(change, detail=detail)


def _unparsed(spot: Spot, real: Path, data: bytes | None, why: str, *, removes: bool) -> Change:
    """Refuse a file unlike its client's documents; one without our name has nothing to remove."""
    if not removes:
        return Change(spot, Action.REFUSED, real, why)
    if _NAME not in (data or b""):
        return Change(spot, Action.UNCHANGED, real, "has no entry")
    return Change(spot, Action.REFUSED, real, f"{why}. If there is an entry `cqm`, delete it yourself")


def _entry(spot: Spot, real: Path, data: bytes | None, text: str, *, replaces: bool) -> Change:
    """Plan a new entry, or a newer one in the place of one of ours."""
    old = entry_in(text, spot.form, spot.path)
    wanted = as_read(spot.entry, spot.form, spot.path)
    if old == wanted:
        return Change(spot, Action.UNCHANGED, real, "is set up", data, data)
    if old is not None and not replaces and not is_ours(old, wanted):
        return Change(spot, Action.KEPT, real, "has an entry of your own; --replace overwrites it", data, data)
    if spot.lacks:
        if is_ours(old, wanted):
            return Change(spot, Action.KEPT, real, f"keeps its entry: {spot.lacks}", data, data)
        return Change(spot, Action.REFUSED, real, spot.lacks)
    after = with_entry(text, spot.form, spot.path, spot.entry).encode()
    action = Action.CREATE if data is None else Action.ADD if old is None else Action.UPDATE
    return Change(spot, action, real, "", data, after, was_ours=is_ours(old, wanted))


def _removal(spot: Spot, real: Path, data: bytes | None, text: str) -> Change:
    """Plan to restore the former file, or, if it changed since, the present one without our entry."""
    old = entry_in(text, spot.form, spot.path)
    if data is not None and old is None and backup_of(real).exists():
        return Change(spot, Action.DISCARD, real, "has no entry", data, data)
    if data is None or old is None:
        return Change(spot, Action.UNCHANGED, real, "has no entry", data, data)
    if not is_ours(old, as_read(spot.entry, spot.form, spot.path)):
        return Change(spot, Action.KEPT, real, "has an entry which cqm setup did not write", data, data)
    entry = written_entry_in(text, spot.form, spot.path)
    backup = _own_file(spot, files.read(backup_of(real)))
    if isinstance(entry, dict) and backup is None and snippet(entry, spot.form, spot.path) == text:
        return Change(spot, Action.DELETE, real, "", data, None)
    if isinstance(entry, dict) and backup is not None and _again(backup, spot, entry) == data:
        return Change(spot, Action.RESTORE, real, "", data, backup)
    had_section = backup is None or _has(backup, spot)
    after = without_entry(text, spot.form, spot.path, is_empty_kept=had_section)
    return Change(spot, Action.REMOVE, real, "", data, after.encode())


def _own_file(spot: Spot, backup: bytes | None) -> bytes | None:
    """Return the copy of a file as it was without us; None where the copy already has an entry of ours."""
    if backup is None:
        return None
    try:
        entry = entry_in(backup.decode("utf-8"), spot.form, spot.path)
    except (BrokenFileError, UnicodeDecodeError):
        return backup
    return None if is_ours(entry, as_read(spot.entry, spot.form, spot.path)) else backup


def _again(backup: bytes, spot: Spot, entry: Mapping[str, object]) -> bytes | None:
    """Return the file which `cqm setup` made of an older one; None if it could not have."""
    try:
        return with_entry(backup.decode("utf-8"), spot.form, spot.path, entry).encode()
    except (BrokenFileError, UnicodeDecodeError):
        return None


def _has(backup: bytes, spot: Spot) -> bool:
    """Whether an older file had the object around the entry."""
    try:
        return entry_in(backup.decode("utf-8"), spot.form, spot.path[:-1]) is not None
    except (BrokenFileError, UnicodeDecodeError):
        return True


def apply(change: Change) -> None:
    """Write a change; keep a copy of a file which gets its first entry, drop it when the entry goes.

    Raises:
        RefusedError: the file has changed meanwhile.
        OSError: it can't be written.
    """
    backup = backup_of(change.real)
    match change.action:
        case Action.CREATE:
            files.replace(change.real, change.after or b"", None)
            backup.unlink(missing_ok=True)
        case Action.ADD | Action.UPDATE:
            if change.action is Action.ADD or not (change.was_ours or backup.exists()):
                files.keep_backup(change.real, change.before or b"")
            files.replace(change.real, change.after or b"", change.before)
        case Action.REMOVE | Action.RESTORE:
            files.replace(change.real, change.after or b"", change.before)
            backup.unlink(missing_ok=True)
        case Action.DELETE:
            files.delete(change.real, change.before, change.spot.bounds)
            backup.unlink(missing_ok=True)
        case Action.DISCARD:
            backup.unlink(missing_ok=True)
        case _:
            pass
