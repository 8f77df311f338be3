"""State of a server shared by its tools; it turns a client's path into an index."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path

from cqm.index.workers import Workers
from cqm.server.answers.budget import most_tokens
from cqm.server.answers.merged import names_of, within_root
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
from cqm.server.mcp.pending_changes import PATIENCE_SECONDS
from cqm.server.workspace.workspace import OpenIndex, Workspace

_LINES = re.compile(r"(?::[0-9]+(?:-[0-9]+)?|#L[0-9]+(?:-L?[0-9]+)?)$")

_MOST_PATHS = 100_000
_MOST_NEAR = 5


@dataclass(slots=True)
class Told:
    """Facts a client told of itself in its session."""

    roots: ClientRoots = NO_ROOTS


@dataclass(frozen=True, slots=True)
class Served:
    """Objects a server uses for its whole life.

    Attributes:
        guard: checks the paths of clients.
        workers: read and cut previewed files.
        views: draw replies for clients that show them; None for none.
        client: the last roots of the client. Only over stdio is a client asked, and there is one only.
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
        """Take the client's roots; if they are new, close indexes no longer served."""
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
        opened = self.workspace.open_roots() if self.guard.given else ()
        if any(not any(root.is_relative_to(folder) for folder in allowed) for root in opened):
            self.workspace.keep(allowed)

    def missing_note(self, path: object, named: ClientRoots, asked: Sequence[Path] = ()) -> str:
        """Write a note about vanished served folders, for an answer about all of them.

        Parameters:
            path: of the call; with one, the answer is not about all.
            asked: the answering roots; a vanished one may answer from its last index.
        """
        if path:
            return ""
        if not self.guard.given:
            return named.note
        return left_out([it for it in self.guard.missing if Path(os.path.realpath(it)) not in asked])

    def root_of(self, path: str | None, named: ClientRoots) -> tuple[Path, Path]:
        """Resolve a client's path; return the real path, and the root of its index.

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
        """Find the one indexed file or folder with this end of a path, in any case and with any slashes.

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
        """Name the roots of all allowed folders, as results of several show them; empty if there is only one."""
        if len(self.guard.given) == 1:  # without a look at its path: most servers have one
            return {}
        roots = [*dict.fromkeys(self.guard.granted or self.guard.roots(named))]
        return dict(zip(roots, names_of(roots), strict=True)) if len(roots) > 1 else {}

    def named_roots(self, roots: Sequence[Path], named: ClientRoots) -> list[str]:
        """Name some roots like all allowed ones: a name means the same folder in every call."""
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

        The name of a group stands for its existing folders.

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
        """The path relative to the root if it is a file, even the root itself; empty for a folder."""
        return (self.relative or self.path.name) if self.path.is_file() else ""

    def tokens_left(self, token_budget: int | None, notes: str) -> int:
        """Return the tokens of a reply, by default from the settings, less those of its notes."""
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
    """A folder asked by a tool: its name among several, its place in its index, and notes for the reply.

    `patience`: seconds to wait for changes if the index lacks what is asked for. `is_of_several`: whether other folders
    are open too. `above`: a note above the answers of all folders.
    """

    name: str
    at: OpenPath
    notes: str
    patience: float = PATIENCE_SECONDS
    is_of_several: bool = False
    above: str = ""


def known_paths(paths: Sequence[str], root: Path, asked: str) -> tuple[list[str], list[str]]:
    """Return the paths with the end of the one asked for; without any, similarly spelled ones."""
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
        what: a place such as `api/src/app.py:10`; anything else stays unchanged.
        path: of the call; with one, places have no folder in front.
    """
    is_of_several = len(asked) > 1 or asked[0].is_of_several
    within = {it.name: within_root(what, it.name) for it in asked} if path is None and is_of_several else {}
    names = {name: place for name, place in within.items() if place}
    return [it for it in asked if it.name in names] or asked, names


def _anchored(glob: str) -> str:
    """Anchor a glob: without a slash in front or within, it matches at any depth."""
    return glob.lstrip("/") if "/" in glob.rstrip("/") else f"**/{glob}"
