"""The indexes of a page, and their files by the paths shown."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Event
from urllib.parse import quote

from cqm.index.model.query import Answer, Query
from cqm.index.workers import Workers
from cqm.server.answers.merged import each_answer, joined, names_of, of_each_root
from cqm.server.answers.status_text import pace_text
from cqm.server.config.settings import Settings
from cqm.server.errors import OpeningError, PathRefusedError
from cqm.server.workspace.workspace import OpenIndex, Workspace

_EDITORS = {
    "vscode": "vscode://file/{path}:{line}",
    "cursor": "cursor://file/{path}:{line}",
    "windsurf": "windsurf://file/{path}:{line}",
    "zed": "zed://file/{path}:{line}",
    "idea": "idea://open?file=/{path}&line={line}",
}
"""Addresses to open a line of a file, by `ui.editor`; "none" has no row."""


@dataclass(frozen=True, slots=True)
class Library:
    """Everything shown on the pages.

    Attributes:
        folders: as given; a link among them may lead elsewhere later.
        opening: set while another thread opens the indexes: nothing waits for it then.
    """

    folders: tuple[Path, ...]
    workspace: Workspace
    workers: Workers
    opening: Event = field(default_factory=Event)

    @property
    def roots(self) -> Mapping[str, Path]:
        """Real paths, by the names before paths where there are several."""
        real = tuple(dict.fromkeys(Path(os.path.realpath(folder)) for folder in self.folders))
        if not set(real) >= set(self.workspace.open_roots()):
            self.workspace.keep(real)
        return dict(zip(names_of(real), real, strict=True))

    @property
    def settings(self) -> Settings:
        """The settings outside of any project, with the page's own section."""
        return self.workspace.settings

    def opened(self, name: str) -> OpenIndex:
        """Open the index of a root by its name; bring it up to date and follow its files, unless done before.

        Raises:
            OpeningError: another thread opens it.
            CqmError: it can't be opened.
        """
        root = self.roots[name]
        if self.opening.is_set() and not self.workspace.opened(root):
            raise OpeningError(f"The index of {root} is being opened.")
        opened = self.workspace.open(root)
        if not opened.is_in_step and not opened.running_job():
            opened.start_or_join()
        return opened

    def ask(self, query: Query, root: str = "") -> Answer:
        """Answer a question from the index of a root, or from all when `root` is empty."""
        roots = self.roots
        if len(roots) == 1:
            return self.opened(next(iter(roots))).index.search(query)
        names = [root] if root in roots else self._askable(roots)
        each = of_each_root(query)
        return joined(query, each_answer({name: partial(self._asked, name, each) for name in names}))

    def _askable(self, roots: Mapping[str, Path]) -> list[str]:
        """Name the roots that exist or have an open index; all if none has."""
        return [it for it, root in roots.items() if root.exists() or self.workspace.opened(root)] or list(roots)

    def _asked(self, name: str, query: Query) -> Answer:
        return self.opened(name).index.search(query)

    def states(self, root: str = "") -> Iterator[str]:
        """Tell in sentences why an answer may be another one: a root is gone, new, or its settings can't be read.

        Parameters:
            root: name of the only root searched; empty for all.
        """
        for name, folder in self.roots.items():
            if root in self.roots and root != name:
                continue
            if not folder.exists():
                held = "this is its last index" if self.workspace.opened(folder) else "it is not in this answer"
                yield f"{folder} does not exist any more; {held}. Bring it back or mount its disk."
                continue
            opened = self.workspace.open(folder)
            if problem := self.workspace.settings_problem(folder):
                yield problem
            job = opened.running_job()
            if job and not opened.is_complete:
                yield f"Indexing {folder} goes on, and what is missing cannot be found: {pace_text(job.progress)}."

    def locate(self, path: str) -> tuple[OpenIndex, str, str]:
        """Find the index of a shown path; return it with the path in it, and the prefix of that path on pages.

        Raises:
            PathRefusedError: it belongs to no root, or is no path.
        """
        if "\0" in path:
            raise PathRefusedError("path: expected no NUL character.")
        if path.startswith("/") or ".." in path.split("/"):
            where = ", ".join(map(str, self.roots.values()))
            raise PathRefusedError(f"{path} is outside of {where}.", remedy="Give a path below it, as results show it.")
        if len(self.roots) == 1:
            return self.opened(next(iter(self.roots))), path, ""
        for name in self.roots:
            if path == name or path.startswith(f"{name}/"):
                return self.opened(name), path[len(name) + 1 :], f"{name}/"
        raise PathRefusedError(f"{path or 'path'}: expected a path that begins with one of {', '.join(self.roots)}.")

    def locate_file(self, path: str) -> tuple[OpenIndex, str]:
        """Find the index of the shown path of a file; return it with the path in it.

        Raises:
            PathRefusedError: it belongs to no root, or is no path of a file.
        """
        if not path:
            raise PathRefusedError("path: expected that of a file.", remedy="Choose a result of a search.")
        opened, relative, _ = self.locate(path)
        if not relative and not opened.index.root.is_file():
            raise PathRefusedError(f"{path} is a folder.", remedy="Name a file in it.")
        return opened, relative

    def editor_links(self) -> Callable[[str, int], str]:
        """Return a writer of addresses in the user's editor for a shown path and line; empty ones if none is wanted."""
        form, roots = _EDITORS.get(self.settings.ui.editor, ""), self.roots
        wholes = {name: root for name, root in roots.items() if root.is_file()}

        def link(path: str, line: int) -> str:
            if not form:
                return ""
            name = next((it for it in roots if len(roots) == 1 or path.startswith(f"{it}/")), path)
            relative = path if len(roots) == 1 else path[len(name) + 1 :]
            whole = (wholes.get(name) or roots[name] / relative).as_posix()
            return form.format(path=quote(whole.lstrip("/"), errors="backslashreplace"), line=line)

        return link


def make_library(roots: Sequence[Path], workspace: Workspace, workers: Workers) -> Library:
    """Make the library of some roots; their indexes are opened on demand."""
    return Library(tuple(roots), workspace, workers)
