"""State of a server shared by its tools; it turns a client's path into an index."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path
from typing import TypeVar

from cqm.chunkers.errors import CqmError
from cqm.index.model.errors import NotIndexedError, QueryError
from cqm.index.workers import Workers
from cqm.server.answers.budget import most_tokens
from cqm.server.answers.merged import below_each_other, names_of, told_once, within_root
from cqm.server.boundary import new_mark
from cqm.server.client_views import Views
from cqm.server.config.settings import Settings
from cqm.server.console import one_line
from cqm.server.errors import MissingPathError, PathRefusedError
from cqm.server.mcp.allowed_paths import (
    BRING_BACK,
    NO_ROOTS,
    ClientRoots,
    Guard,
    gone,
    left_out,
    roots_of_uris,
    without_ending,
)
from cqm.server.mcp.behind import LACKS, PATIENCE_SECONDS, ask_again
from cqm.server.workspace.workspace import OpenIndex, Workspace

_LINES = re.compile(r"(?::[0-9]+(?:-[0-9]+)?|#L[0-9]+(?:-L?[0-9]+)?)$")

_MOST_PATHS = 100_000
_MOST_NEAR = 5
_HEAD_TOKENS = 16
"""Of the line with a folder's name above the answer of its index."""
_Found = TypeVar("_Found")


@dataclass(slots=True)
class Told:
    """Facts a client told of itself in its session."""

    roots: ClientRoots = NO_ROOTS


@dataclass(frozen=True, slots=True)
class Served:
    """Objects a server uses for its whole life.

    Attributes:
        guard: checks the paths of clients.
        workspace: the open indexes.
        workers: read and cut previewed files.
        views: draw replies for clients that show them; None for none.
        client: the roots told last by the client. Only over stdio a client is asked, and there it is one.
    """

    guard: Guard
    workspace: Workspace
    workers: Workers
    views: Views | None = None
    client: Told = field(default_factory=Told)

    @property
    def settings(self) -> Settings:
        """The settings outside of any project."""
        return self.workspace.settings

    def take_roots(self, uris: Sequence[str]) -> ClientRoots:
        """Take the roots that the client tells; where they are new, let go of indexes no longer served."""
        before = self.client.roots
        self.client.roots = now = roots_of_uris(uris, before)
        if now != before:
            try:
                self.workspace.keep(self.guard.roots(now))
            except PathRefusedError:
                self.workspace.keep(())
        return now

    def _let_go(self, named: ClientRoots) -> None:
        """Let go of the indexes of folders left by a switched link."""
        allowed = (*self.guard.granted, *named.folders)
        if self.guard.given and any(not _is_below(root, allowed) for root in self.workspace.open_roots()):
            self.workspace.keep(allowed)

    def missing_note(self, path: object, named: ClientRoots, asked: Sequence[Path] = ()) -> str:
        """Write a note about served folders that are gone, for an answer about all of them.

        Parameters:
            path: in the call; with one, it is not about all.
            named: the client's own roots.
            asked: the answering roots, perhaps a missing one from its last index.
        """
        if path:
            return ""
        if not self.guard.given:
            return named.note
        return left_out([it for it in self.guard.missing if Path(os.path.realpath(it)) not in asked])

    def root_of(self, path: str | None, named: ClientRoots) -> tuple[Path, Path]:
        """Resolve a client's path; return the real path, and the root whose index answers for it.

        Raises:
            PathRefusedError: the client may not name it.
            SettingsError: a cqm.yml at or above it is not valid.
        """
        try:
            real, allowed = self.guard.admit(path, named)
        except MissingPathError:
            real, allowed = self.guard.admit(self._meant(path or "", named), named)
        return real, self.workspace.root_of(real, allowed)

    def _meant(self, path: str, named: ClientRoots) -> str:
        """Find the one file or folder that the indexes know by the end of a path, in any case and with any slashes.

        Raises:
            MissingPathError: there is none, or any of several; its remedy names the nearest.
        """
        roots = self.guard.there(named)
        found, near = list[Path](), list[str]()
        for folder, name in zip(roots, names_of(roots), strict=True):
            root = self.workspace.root_of(folder, folder)
            if opened := self.workspace.open(root) if len(roots) == 1 else self.workspace.opened(root):
                meant, alike = known_paths(opened.index.paths("", _MOST_PATHS), root, without_ending(path))
                found += [root / it for it in meant]
                near += [f"{name}/{it}" if len(roots) > 1 else it for it in (*meant, *alike)]
        if len(found) == 1:
            return str(found[0])
        raise self.guard.not_there(path, roots, near[:_MOST_NEAR])

    def roots_of(self, path: str | None, named: ClientRoots) -> tuple[Path, ...]:
        """Return the root of a path; without a path, those of all allowed folders and of open indexes below them."""
        if path is not None:
            return (self.root_of(path, named)[1],)
        allowed = self.guard.there(named)
        roots = [self.workspace.root_of(folder, folder) for folder in allowed]
        below = [root for root in self.workspace.open_roots() if any(root.is_relative_to(folder) for folder in allowed)]
        return tuple(dict.fromkeys(roots + below))

    def names(self, named: ClientRoots) -> dict[Path, str]:
        """Name the roots of all allowed folders, as results of several show them; empty where it is one."""
        if len(self.guard.given) == 1:  # without a look at its path: most servers have one
            return {}
        roots = [*dict.fromkeys(self.guard.granted or self.guard.roots(named))]
        return dict(zip(roots, names_of(roots), strict=True)) if len(roots) > 1 else {}

    def named_roots(self, roots: Sequence[Path], named: ClientRoots) -> list[str]:
        """Name some roots as all allowed ones are named, so that a name means the same folder in every call."""
        names = self.names(named)
        return [names[root] for root in roots] if names.keys() >= set(roots) else names_of(roots)

    def open(self, path: str | None, named: ClientRoots) -> "OpenPath":
        """Open the index answering for a path.

        Raises:
            CqmError: see `root_of` and `Workspace.open`.
        """
        real, root = self.root_of(path, named)
        return OpenPath(self.workspace.open(root), real)

    def opened(self, named: ClientRoots) -> "list[list[OpenPath]]":
        """Return all allowed folders as `open_all` does, if their indexes are open with their present settings."""
        allowed = self.guard.there(named)
        found = [(self.workspace.opened(folder), folder) for folder in allowed]
        is_ready = all(opened and not opened.changing.is_behind for opened, _ in found)
        return [[OpenPath(opened, folder)] for opened, folder in found if opened] if is_ready else []

    def open_all(self, path: str | Sequence[str] | None, named: ClientRoots) -> "list[list[OpenPath]]":
        """Open the indexes answering for one path or several, for all open folders without any; group them by index.

        The name of a group stands for those of its folders that are there.

        Raises:
            CqmError: see `open`.
        """
        asked = [path] if isinstance(path, str) else path or self.guard.there(named)
        if not path:
            self._let_go(named)
        groups = self.settings.groups
        there = {name: [it for it in of_group if it.exists()] or of_group for name, of_group in groups.items()}
        folders = [folder for each in asked for folder in there.get(str(each)) or self.guard.places(str(each), named)]
        of_root: dict[Path, list[OpenPath]] = {}
        for folder in folders:
            at = self.open(str(folder), named)
            of_root.setdefault(at.opened.index.root, []).append(at)
        return list(of_root.values())


@dataclass(frozen=True, slots=True)
class OpenPath:
    """A path within an open index."""

    opened: OpenIndex
    path: Path

    @property
    def relative(self) -> str:
        """The path relative to the root; empty for the root."""
        root = self.opened.index.root
        return self.path.relative_to(root).as_posix() if self.path != root else ""

    @property
    def file(self) -> str:
        """The path relative to the root if it is a file, also if that is the root; empty for a folder."""
        return (self.relative or self.path.name) if self.path.is_file() else ""

    def tokens_left(self, token_budget: int | None, notes: str) -> int:
        """Return the tokens of a reply, by default those of the settings, that its notes leave."""
        budget = token_budget or self.opened.settings.server.token_budget
        return budget - ceil(most_tokens(notes))

    def globs(self, wanted: Sequence[str]) -> tuple[str, ...]:
        """Convert globs relative to the path, as in a .gitignore file there, to globs relative to the root."""
        base, root = self._base(), f"{self.opened.index.root.as_posix()}/"
        if not base:
            return tuple(wanted)
        return tuple(
            glob if glob.startswith(root) else f"{base}/{_anchored(glob.removeprefix('./'))}" for glob in wanted
        )

    def include(self, wanted: Sequence[str]) -> tuple[str, ...]:
        """Convert globs; without any, make one matching everything at or below the path."""
        base = self._base()
        if wanted or not base:
            return self.globs(wanted)
        return (f"/{base}/**",) if self.path.is_dir() else (f"/{base}",)

    def _base(self) -> str:
        from cqm.index.text.globs import escaped  # start-up time

        return escaped(self.relative)


@dataclass(frozen=True, slots=True)
class Asked:
    """A folder that a tool asks: its name among several, where in its index it is, and notes for the reply.

    `patience` are the seconds to wait for changes where the index lacks what is asked for; `is_of_several` whether
    other folders are open too; `above` a note above the answers of all folders.
    """

    name: str
    at: OpenPath
    notes: str
    patience: float = PATIENCE_SECONDS
    is_of_several: bool = False
    above: str = ""


def known_paths(paths: Sequence[str], root: Path, asked: str) -> tuple[list[str], list[str]]:
    """Return those of some paths that a path means by its end, and else those spelled almost so."""
    from cqm.index.search.named.tree_paths import TreePaths  # start-up time

    tree = TreePaths(paths, str(root))
    meant = tree.every_meant(asked)
    return meant, [] if meant else tree.near(asked)


def missing_note(root: Path) -> str:
    """Write a note where a root is gone: its indexed files are searched, though nothing is there any more."""
    return "" if root.exists() else f"Note: {one_line(gone(root))} {BRING_BACK} This answers from its index.\n"


def split_place(what: str) -> tuple[str, str]:
    """Split a place such as `src/app.py:10-40` into its path and the lines after it, which may be empty."""
    path = _LINES.sub("", what.strip())
    return path, what.strip()[len(path) :]


def in_own_folder(what: str, path: str | None, asked: list[Asked]) -> tuple[list[Asked], dict[str, str]]:
    """Return the folder before a place, as a search of several folders prints it, else all; and the place within each.

    Parameters:
        what: a place such as `api/src/app.py:10`, or anything else, which stays as it is.
        path: as the call has it; with one, no folder stands before a place.
        asked: the folders.
    """
    is_of_several = len(asked) > 1 or asked[0].is_of_several
    within = {it.name: within_root(what, it.name) for it in asked} if path is None and is_of_several else {}
    names = {name: place for name, place in within.items() if place}
    return [it for it in asked if it.name in names] or asked, names


def _is_below(root: Path, folders: Sequence[Path]) -> bool:
    return any(root.is_relative_to(folder) for folder in folders)


def _anchored(glob: str) -> str:
    """Anchor a glob: without a slash in front or within, it matches at any depth."""
    return glob.lstrip("/") if "/" in glob.rstrip("/") else f"**/{glob}"


def answered(
    asked: Sequence[Asked],
    ask: Callable[[Asked, int], _Found],
    write: Callable[[_Found, Asked, int, str], str],
    is_there: Callable[[_Found], bool],
    cursor: str = "",
    budget: int | None = None,
    is_near: Callable[[_Found], bool] | None = None,
) -> str:
    """Ask one index, or those of several folders; write the answers of those that found something below their names.

    Parameters:
        asked: the folders.
        ask: an index, with the tokens of the reply.
        write: what it found, with the tokens and the mark of the reply; an empty mark stands for a new one.
        is_there: whether an index found anything.
        cursor: of the page before, which is one folder's.
        budget: tokens of the whole reply; None for the usual number.
        is_near: whether an index has something almost like it, for where none found anything.

    Raises:
        CqmError: that of the only index, or all refuse.
        PathRefusedError: a cursor of one of several folders.
    """
    above = asked[0].above
    if len(asked) == 1:
        head = above + (below_each_other({asked[0].name: ""}, "") if asked[0].is_of_several else "")
        tokens = asked[0].at.tokens_left(budget, asked[0].notes + head)
        with _telling(above):
            it, answer = _in_step(asked[0], tokens, ask, is_there)
        return head + it.notes + write(answer, it, tokens, "")
    names = ", ".join(it.name for it in asked)
    if cursor:
        raise PathRefusedError("path: expected the folder that the cursor is of.", remedy=f"Give one of: {names}.")
    found, errors = list[tuple[Asked, _Found]](), dict[str, CqmError]()
    for it in asked:
        try:
            found.append(_in_step(it, it.at.tokens_left(budget, it.notes), ask, is_there))
        except (QueryError, NotIndexedError) as error:
            errors[it.name] = error
    if not found:
        remedies = told_once({name: error.remedy for name, error in errors.items()})
        first = next(iter(errors.values()))
        messages = told_once({name: error.message for name, error in errors.items()})
        message = " ".join([*messages, f"Looked for in {names}."])
        with _telling(above):
            raise type(first)(message, remedy=" ".join(remedies))
    is_near = is_near or is_there
    found = next(filter(None, ([it for it in found if kept(it[1])] for kept in (is_there, is_near))), found)
    mark = new_mark(repr(it) for _, it in found)
    tokens = min(it.at.tokens_left(budget, it.notes + above) for it, _ in found) // len(found) - _HEAD_TOKENS
    texts = {it.name: it.notes + write(some, it, tokens, mark) for it, some in found}
    # A folder that lacks a name is no news; one that cannot answer is.
    texts |= {name: f"{one_line(str(error))}\n" for name, error in errors.items() if not isinstance(error, LACKS)}
    return above + below_each_other(texts, mark)


@contextmanager
def _telling(note: str) -> Iterator[None]:
    """Add a note to an error about what an index lacks: it may be in what the note is about."""
    try:
        yield
    except LACKS as error:
        if not note:
            raise
        message = f"{error.message} {note.strip()}"
        raise type(error)(message, remedy=error.remedy, retryable=error.retryable) from error


def _in_step(
    it: Asked, tokens: int, ask: Callable[[Asked, int], _Found], is_there: Callable[[_Found], bool]
) -> tuple[Asked, _Found]:
    """Ask the index of a folder, once more after its changes where it lacks what is asked for."""
    found, notes = ask_again(
        it.at.opened, lambda: ask(it, tokens), notes=it.notes, patience=it.patience, is_there=is_there
    )
    return replace(it, notes=notes), found
