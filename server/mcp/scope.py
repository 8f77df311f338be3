"""What the tools work with, and how a path that a client names becomes an index."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cqm.index.workers import Workers
from cqm.server.config.settings import Settings
from cqm.server.mcp.allowed_paths import Guard
from cqm.server.workspace.workspace import OpenIndex, Workspace


@dataclass(frozen=True, slots=True)
class Served:
    """What a server serves from, for its whole life.

    Attributes:
        guard: which paths clients may name.
        settings: those that hold without a project.
        workspace: the open indexes.
        workers: read and cut what is previewed.
    """

    guard: Guard
    settings: Settings
    workspace: Workspace
    workers: Workers

    def root_of(self, path: str | None, named: Sequence[Path]) -> tuple[Path, Path]:
        """The real path that a client means and the root whose index answers for it.

        Raises:
            PathRefusedError: the client may not name it.
            SettingsError: a cqm.yml at or above it is not valid.
        """
        real, allowed = self.guard.admit(path, named)
        return real, self.workspace.root_of(real, allowed)

    def roots_of(self, path: str | None, named: Sequence[Path]) -> tuple[Path, ...]:
        """The root of a path; without a path, those of all allowed folders and of the indexes open below them."""
        if path is not None:
            return (self.root_of(path, named)[1],)
        allowed = self.guard.granted or self.guard.roots(named)
        roots = [self.workspace.root_of(folder, folder) for folder in allowed]
        below = [root for root in self.workspace.open_roots() if any(root.is_relative_to(folder) for folder in allowed)]
        return tuple(dict.fromkeys(roots + below))

    def open(self, path: str | None, named: Sequence[Path]) -> "Place":
        """The index that answers for a path, opened.

        Raises:
            CqmError: see `root_of` and `Workspace.open`.
        """
        real, root = self.root_of(path, named)
        return Place(self.workspace.open(root), real)


@dataclass(frozen=True, slots=True)
class Place:
    """A path within an open index."""

    opened: OpenIndex
    path: Path

    def globs(self, wanted: Sequence[str]) -> tuple[str, ...]:
        """Globs relative to the path as globs relative to the root, as if they stood in a .gitignore file there."""
        base = self._base()
        if not base:
            return tuple(wanted)
        return tuple(f"{base}/{_anchored(glob)}" for glob in wanted)

    def include(self, wanted: Sequence[str]) -> tuple[str, ...]:
        """`globs`, or without any, one that matches all at or below the path."""
        base = self._base()
        if wanted or not base:
            return self.globs(wanted)
        return (f"/{base}/**",) if self.path.is_dir() else (f"/{base}",)

    def _base(self) -> str:
        root = self.opened.index.root
        parts = self.path.relative_to(root).as_posix() if self.path != root else ""
        return "".join(f"\\{char}" if char in "*?[]!#\\ " else char for char in parts)


def _anchored(glob: str) -> str:
    """A glob without a slash in front or within matches at any depth."""
    return glob.lstrip("/") if "/" in glob.rstrip("/") else f"**/{glob}"
