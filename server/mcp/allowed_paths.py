"""Check the folders a client may name: every path of a tool call passes here before anything is read."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from cqm.server.answers.merged import names_of
from cqm.server.config.project_root import is_too_wide, left_by_link, project_root
from cqm.server.errors import MissingPathError, PathRefusedError

_HOW_TO_ALLOW = "Ask the user to allow it: `cqm serve {}--root FOLDER`, `server.roots` in the user's own cqm.yml{}."
_BY_STDIO = _HOW_TO_ALLOW.format("", ", or the folders opened in the client (its MCP roots)")
_BY_HTTP = _HOW_TO_ALLOW.format("--http ... ", "")

_HOW_TO_OPEN = (
    "Open a folder that exists in the client, or ask the user to allow one: `cqm serve --root FOLDER`, or "
    "`server.roots` in the user's own cqm.yml."
)

BRING_BACK = "Bring it back or mount its disk, or serve the folder that it is now."
"""The remedy for a vanished served folder."""
_MOST_SHOWN = 200
"""Characters of a path in a message."""
_ENDING = re.compile(r"(?::[0-9]{1,9}(?:[-:][0-9]{1,9})?|#L[0-9]{1,9}(?:-L?[0-9]{1,9})?|/\*{1,2})$")
_MOST_COMPARED = 2_000
_MOST_NEAR = 3


@dataclass(frozen=True, slots=True)
class ClientRoots:
    """The folders a client has open, as it told them last.

    Attributes:
        folders: real paths.
        missing: those not on this machine, as the client names them.
        are_closed: whether it had folders open, and closed the last one.
    """

    folders: tuple[Path, ...] = ()
    missing: tuple[str, ...] = ()
    are_closed: bool = False

    @property
    def problem(self) -> str:
        """A sentence telling why none of a client's folders can be served; empty if some can."""
        if self.folders:
            return ""
        if self.missing:
            return f"No folder is allowed. Open in the client, but not on this machine: {self._missing_names}."
        return "No folder is allowed: the client has closed the last one." if self.are_closed else ""

    @property
    def note(self) -> str:
        """A note for an answer without folders of the client; empty if it lacks none."""
        if not self.missing:
            return ""
        return f"Note: open in the client, but not on this machine, so not in this answer: {self._missing_names}.\n"

    @property
    def _missing_names(self) -> str:
        return ", ".join(map(_shown, self.missing))


NO_ROOTS = ClientRoots()


@dataclass(frozen=True, slots=True)
class Guard:
    """The readable folders, by their real paths: no link leads out of them.

    Attributes:
        given: folders from the command line and the settings, as named there, made absolute. Each call resolves links
            among them again: one may lead to another release by now.
        first: the first real paths of the given folders.
        working: the project around the working folder; it counts when none is granted.
        ask_clients: whether roots named by a client count too. They do over stdio: the client there is the user's own
            program. A network client can't grant itself anything.
    """

    given: tuple[Path, ...]
    working: Path
    ask_clients: bool = True
    first: tuple[Path, ...] = ()

    @property
    def granted(self) -> tuple[Path, ...]:
        """The given folders as real paths, with missing ones.

        Raises:
            PathRefusedError: a link was switched and leads out of its project now: it may be a stranger's.
        """
        real = tuple(Path(os.path.realpath(folder)) for folder in self.given)
        if real != self.first:
            for folder, now, first in zip(self.given, real, self.first, strict=True):
                if now != first and (project := left_by_link(folder)):
                    message = f"The folder {_shown(str(folder))} that is served leads out of {project} now."
                    raise PathRefusedError(message, remedy=f"Serve {_shown(str(now))} itself, if you want that.")
        return tuple(dict.fromkeys(real))

    @property
    def missing(self) -> tuple[Path, ...]:
        """The missing ones of the given folders, as they are named."""
        return tuple(folder for folder in self.given if not folder.exists())

    def there(self, named: ClientRoots = NO_ROOTS) -> tuple[Path, ...]:
        """Return the folders for a call without a path: the existing ones, all if none is there.

        Raises:
            PathRefusedError: see `roots`.
        """
        allowed = self.granted or self.roots(named)
        return tuple(folder for folder in allowed if folder.exists()) or allowed

    def roots(self, named: ClientRoots = NO_ROOTS) -> tuple[Path, ...]:
        """Return the folders allowed to a client with these own roots, without repetition.

        Raises:
            PathRefusedError: no folder is granted, and those of the client are gone, or it closed the last one; or it
                has none, and the working folder is the home folder or the top of a disk. Desktop programs start
                servers there, and nobody wants it indexed.
        """
        folders = (*self.granted, *(named.folders if self.ask_clients else ()))
        if folders:
            return tuple(dict.fromkeys(folders))
        if named.problem:
            # A client with folders means one of them, never the working folder of this server.
            raise PathRefusedError(named.problem, remedy=_HOW_TO_OPEN)
        if is_too_wide(self.working):
            raise PathRefusedError(
                f"No folder is allowed: this server was started in {self.working} without one.",
                remedy=self._how_to_allow,
            )
        return (self.working,)

    @property
    def _how_to_allow(self) -> str:
        return _BY_STDIO if self.ask_clients else _BY_HTTP

    def decides_alone(self, path: str | None) -> bool:
        """Whether the client's roots make no difference for a path, so it needn't be asked for them."""
        if not self.ask_clients:
            return True
        if not self.given or path is None or not path.strip():
            return bool(self.given)
        return _is_in(_locate(path, self.granted), self.granted)

    def admit(self, path: str | None, named: ClientRoots = NO_ROOTS) -> tuple[Path, Path]:
        """Resolve a client's path; return the real path and its allowed root, the nearest of several.

        Parameters:
            path: in the client's words: absolute, relative to a root, or with "~"; None for the only root, of the
                granted ones when there are any.

        Raises:
            PathRefusedError: it is outside the roots, doesn't exist, or is None with several roots.
        """
        if path is None or not path.strip():
            root = _only(self.there(named))
            if not root.exists():
                raise PathRefusedError(gone(root), remedy=BRING_BACK)
            return root, root
        roots = self.roots(named)
        real = _locate(path.strip(), roots)
        holders = [root for root in roots if real.is_relative_to(root)]
        if not holders:
            message = f"path {_shown(path)} is outside the allowed folders: {', '.join(map(str, roots))}."
            raise PathRefusedError(message, remedy=self._how_to_allow)
        root = max(holders, key=lambda root: len(root.parts))
        if not root.exists():
            raise PathRefusedError(gone(root), remedy=BRING_BACK)
        if not real.exists():
            raise self.not_there(path, roots)
        return real, root

    def not_there(self, path: str, roots: Sequence[Path], near: Sequence[str] = ()) -> MissingPathError:
        """Return the error for a path where nothing is; by default the nearest are looked for on disk."""
        near = near or _nearest(path.strip(), tuple(roots))
        remedy = f"Did you mean {', '.join(map(_shown, near))}? " if near else ""
        remedy += f"Give a path below {', '.join(map(str, roots))}."
        remedy += " A glob goes in `include`." if "*" in path else ""
        return MissingPathError(f"path {_shown(path)}: expected an existing file or folder.", remedy=remedy)

    def places(self, path: str, named: ClientRoots = NO_ROOTS) -> tuple[str, ...]:
        """Return a client's path as it is in each root with it: several may have a folder `src`.

        Raises:
            PathRefusedError: see `roots`.
        """
        roots = self.roots(named)
        if len(roots) == 1 or not path.strip() or _by_name(path.strip(), roots):
            return (path,)
        with _resolving(path):
            there = [it for it in _plain(path.strip(), roots) if it.exists() and _is_in(it, roots)]
        return tuple(map(str, dict.fromkeys(there))) or (path,)


def gone(root: Path) -> str:
    """Write a sentence about a vanished served folder."""
    return f"The folder {_shown(str(root))} that is served does not exist any more."


def left_out(roots: Sequence[Path]) -> str:
    """Write a note about vanished served folders, for an answer of the others; empty for none."""
    return "".join(f"Note: {gone(root)} It is not in this answer. {BRING_BACK}\n" for root in roots)


def make_guard(granted: Iterable[Path], *, working: Path | None = None, ask_clients: bool = True) -> Guard:
    """Make a guard of folders in the user's words; without any, of the project around the working folder.

    It is the project of `cqm search` there. A folder may be missing: its disk may be mounted later.

    Raises:
        PathRefusedError: a granted folder has an impossible name.
    """
    folders = tuple(_named(folder) for folder in granted)
    first = tuple(Path(os.path.realpath(folder)) for folder in folders)
    return Guard(folders, project_root((working or Path.cwd()).resolve()), ask_clients, first)


def roots_of_uris(uris: Sequence[str], before: ClientRoots = NO_ROOTS) -> ClientRoots:
    """Read a client's roots: real paths of `file:` URIs, and the others by name."""
    found = [(uri, _path_of_uri(uri)) for uri in uris]
    folders = tuple(path for _, path in found if path is not None)
    missing = tuple(_name_of_uri(uri) for uri, path in found if path is None)
    return ClientRoots(folders, missing, are_closed=not uris and before != NO_ROOTS)


def _path_of_uri(uri: str) -> Path | None:
    try:
        return Path(path).resolve(strict=True) if (path := _local_path(uri)) else None
    except (OSError, RuntimeError, ValueError):
        # It doesn't exist, is too long for a path, or has an impossible character.
        return None


def _name_of_uri(uri: str) -> str:
    try:
        return _local_path(uri) or uri
    except ValueError:
        return uri


def _local_path(uri: str) -> str:
    """Return the path of a `file:` URI; empty for another URI, or one of another machine."""
    parts = urlsplit(uri)
    is_here = parts.scheme == "file" and parts.netloc in ("", "localhost")
    return url2pathname(parts.path) if is_here else ""


def _named(folder: Path) -> Path:
    try:
        named = Path(os.path.abspath(folder.expanduser()))  # noqa: PTH100 - `resolve` follows links
        named.exists()
    except (OSError, RuntimeError, ValueError) as error:
        message = f"The root {_shown(str(folder))} cannot be served: {_shown(str(error))}."
        raise PathRefusedError(message, remedy="Check the path.") from error
    return named


def _only(roots: tuple[Path, ...]) -> Path:
    if len(roots) == 1:
        return roots[0]
    raise PathRefusedError(
        "path: expected one, since several folders are open.", remedy=f"Give one of: {', '.join(map(str, roots))}."
    )


def _locate(path: str, roots: tuple[Path, ...]) -> Path:
    """Resolve a path; look for a relative one in each root, then beside it, and take the first hit.

    Lines after it (`client.py:20`) and an ending for all of a folder (`lib/**`) are dropped unless they are part of a
    name. Among several roots, a root's name in front counts first, as in results.
    """
    bare = without_ending(path)
    spelled = dict.fromkeys((path, bare))
    if len(roots) > 1:
        candidates = [real for it in spelled for real in (*_by_name(it, roots), *_plain(it, roots))]
    else:
        candidates = [real for it in spelled for real in (*_plain(it, roots), *_by_name(it, roots))]
    with _resolving(path):
        return next((real for real in candidates if real.exists() and _is_in(real, roots)), candidates[0])


def without_ending(path: str) -> str:
    """Return a path without lines after it, and without an ending for all of a folder."""
    return _ENDING.sub("", path) or path


def _plain(path: str, roots: tuple[Path, ...]) -> list[Path]:
    """Resolve a path relative to each root."""
    with _resolving(path):
        return [(root / Path(path).expanduser()).resolve() for root in roots]


def _by_name(path: str, roots: tuple[Path, ...]) -> list[Path]:
    """Resolve a path with the name of a root in front, as in results of several roots."""
    named = [(root, Path(name)) for root, name in zip(roots, names_of(roots), strict=True)]
    named += [(root, Path(root.name)) for root in roots]
    with _resolving(path):
        wanted = Path(path).expanduser()
        return [(root / wanted.relative_to(name)).resolve() for root, name in named if _begins(wanted, name)]


@contextmanager
def _resolving(path: str) -> Iterator[None]:
    if "\0" in path:
        raise PathRefusedError("path: expected no NUL character.")
    try:
        yield
    except (OSError, RuntimeError, ValueError) as error:
        why = (isinstance(error, OSError) and error.strerror) or str(error)
        raise PathRefusedError(f"path {_shown(path)} cannot be resolved: {why}.", remedy="Check the path.") from error


def _nearest(path: str, roots: tuple[Path, ...]) -> list[str]:
    """Name the roots, or files and folders with a similar name in the deepest existing folder of a path.

    Names are as a client may give them: from their root, with its name in front where there are several.
    """
    names = dict(zip(roots, names_of(roots), strict=True))
    by_name = {root: _by_name(path, (root,)) for root in roots} if len(roots) > 1 else {}
    near: list[tuple[int, str]] = []
    for root in roots:
        for real in by_name.get(root) or ([] if any(by_name.values()) else _plain(path, (root,))):
            folder = next((it for it in real.parents if it.is_dir()), root)
            if not folder.is_relative_to(root):
                continue
            depth, missing = len(folder.relative_to(root).parts), real.relative_to(folder).parts[0]
            found = [folder.relative_to(root) / name for name in _alike(missing, _names_in(folder))]
            near += [(depth, (Path(names[root]) / it if len(roots) > 1 else it).as_posix()) for it in found]
    deepest = max((depth for depth, _ in near), default=0)
    is_of_root = len(roots) == 1 or deepest or any(by_name.values())
    of_roots = [] if is_of_root else _alike(Path(path).parts[0], names.values())
    return [*dict.fromkeys((*of_roots, *(name for depth, name in near if depth == deepest)))][:_MOST_NEAR]


def _names_in(folder: Path) -> list[str]:
    """Return names of a folder, of a huge one the first; hidden ones are nobody's slip."""
    try:
        with os.scandir(folder) as entries:
            return [it.name for it in islice(entries, _MOST_COMPARED) if not it.name.startswith(".")]
    except OSError:
        # It cannot be read, so nothing in it is suggested.
        return []


def _alike(name: str, names: Iterable[str]) -> list[str]:
    by_folded = {it.casefold(): it for it in names}
    return [by_folded[it] for it in get_close_matches(name[:_MOST_SHOWN].casefold(), by_folded, _MOST_NEAR)]


def _begins(path: Path, name: Path) -> bool:
    return bool(name.parts) and path.parts[: len(name.parts)] == name.parts


def _shown(path: str) -> str:
    """Show a path in one line, cut where it is too long to read."""
    shown = path.encode("utf-8", "backslashreplace").decode()
    shown = "".join(character if character.isprintable() else repr(character)[1:-1] for character in shown)
    return shown if len(shown) <= _MOST_SHOWN else f"{shown[:_MOST_SHOWN]}..."


def _is_in(path: Path, roots: tuple[Path, ...]) -> bool:
    return any(path.is_relative_to(root) for root in roots)
