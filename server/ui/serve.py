"""Serve the pages to the browser of this user until Ctrl-C."""

import os
import secrets
import sys
import tempfile
import webbrowser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path

from cqm.index.model.query import Query, SearchMode
from cqm.index.workers import Workers
from cqm.server.config.settings import Settings
from cqm.server.console import say
from cqm.server.mcp.http.serve import Pages, listening, run_until_told
from cqm.server.page import safe
from cqm.server.ui.access import OPEN, SERVED
from cqm.server.ui.app import make_app
from cqm.server.ui.library import Library, make_library
from cqm.server.workspace.workspace import Workspace

_HOST = "127.0.0.1"
_RANDOM_BYTES = 24
_FIRST_QUESTIONS = tuple(Query(text, limit=1, mode=SearchMode.LEXICAL) for text in ("where is it first", "itIsNowhere"))
"""A sentence and a name: they load everything for a person's questions. No model of a service is asked."""


def serve_ui(roots: Sequence[Path], settings: Settings, *, port: int = 0, opens: bool = True) -> None:
    """Serve the pages of some roots on the loopback address; bring their indexes up to date, and follow the files.

    Parameters:
        roots: folders or files, by absolute paths.
        settings: those outside of any project.
        port: to listen on; 0 for a free one.
        opens: whether to open the browser.

    Raises:
        ServeError: the port is in use.
        CqmError: an index can't be opened.
    """
    with listening(_HOST, port) as listener, opened_library(roots, settings) as library:
        token = secrets.token_urlsafe(_RANDOM_BYTES)
        link = f"http://{_HOST}:{listener.getsockname()[1]}/?token={token}"
        say(f"CQM shows {', '.join(map(str, roots))} at", link, "Ctrl-C ends it.")
        library.opening.set()
        with _opened(link) if opens else nullcontext():
            run_until_told(make_app(library, token), listener, partial(_open_all, library))


def _open_all(library: Library) -> None:
    """Open the indexes, which takes seconds of large ones, and have them ready for the first question."""
    try:
        for root in library.roots.values():
            library.workspace.open(root)
    finally:
        library.opening.clear()
    for name in library.roots:
        index = library.opened(name).index
        for question in _FIRST_QUESTIONS:
            index.search(question)


@contextmanager
def opened_library(roots: Sequence[Path], settings: Settings) -> Iterator[Library]:
    """Open the library of some roots while a block runs; an index is opened when a page first asks for it."""
    workspace, workers = Workspace(settings, remembered=False), Workers(count=2)
    try:
        yield make_library(roots, workspace, workers)
    finally:
        workspace.close()
        workers.close()


@contextmanager
def pages_beside(roots: Sequence[Path], settings: Settings) -> Iterator[Pages | None]:
    """Make the pages beside the MCP server; none if only one part of a process can have an index open."""
    if not settings.index.shared:
        yield None
        return
    with opened_library(roots, settings) as library:
        yield lambda token, names: make_app(library, token, names, start=SERVED if token else OPEN)


@contextmanager
def _opened(link: str) -> Iterator[None]:
    """Open a link in the browser, through a file only this user can read: others see the arguments of programs."""
    has_screen = sys.platform in {"darwin", "win32"} or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if not has_screen:
        yield
        return
    handle, name = tempfile.mkstemp(prefix="cqm-", suffix=".html")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as opened:
            opened.write(f"<!doctype html><meta http-equiv='refresh' content='0; url={safe(link)}'>")
        webbrowser.open(Path(name).as_uri())
        yield
    finally:
        Path(name).unlink(missing_ok=True)
