"""Checks of this machine for `cqm doctor`, one a row. Checks of services are in `service_checks`."""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import version
from pathlib import Path

from cqm.chunkers.extras import ADDS, extras_in_use, how_to_add, how_to_repair
from cqm.index.disk.locations import index_folder
from cqm.index.files import git
from cqm.index.files.git_folder import git_folder_at
from cqm.index.files.git_index import tracked_by
from cqm.index.model.options import IndexOptions
from cqm.server.config.settings import Settings
from cqm.server.watching.events import LIMIT_ERRORS, how_to_get_watches, open_changes

_LEAST_FREE = 200 << 20
"""Bytes; room for the index of a large repository."""
_NO_GIT = "git is not installed"
_WATCHES = Path("/proc/sys/fs/inotify/max_user_watches")
_GIBIBYTE = 1 << 30


class Verdict(StrEnum):
    """Result of a check."""

    OK = "ok"
    PROBLEM = "problem"
    OFF = "not configured"


@dataclass(frozen=True, slots=True)
class Found:
    """Result of a check with its details and, for a problem, the remedy."""

    verdict: Verdict
    detail: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Checked:
    """A finished check: its name, result and duration."""

    name: str
    verdict: Verdict
    detail: str
    remedy: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Case:
    """A root to check, with its settings and the index options made of them."""

    root: Path
    settings: Settings
    options: IndexOptions

    @property
    def folder(self) -> Path:
        """The root, or the folder of a single file."""
        return self.root if self.root.is_dir() else self.root.parent


Row = tuple[str, Callable[[], Found]]
"""Name of a check for people, and the check itself; it raises `CqmError` for problems it doesn't explain itself."""


def good(*facts: str) -> Found:
    """Report a passed check with its facts; empty facts are left out."""
    return Found(Verdict.OK, ", ".join(filter(None, facts)))


def bad(detail: str, remedy: str = "") -> Found:
    """Report a problem."""
    return Found(Verdict.PROBLEM, detail, remedy)


def off(why: str) -> Found:
    """Report a check skipped because it isn't configured."""
    return Found(Verdict.OFF, why)


def check_git(root: Path) -> Found:
    """Check whether git's list of files is readable (it decides about indexing), and whether git itself answers."""
    folder = root if root.is_dir() else root.parent
    program, version = git.program("git", folder), git.version(folder)
    top = next((place for place in (folder, *folder.parents) if os.path.lexists(place / ".git")), None)
    if program and version is None:
        return bad(f"{program} does not answer", "Run `git version` to see why.")
    if top is None:
        return off("not a git repository; .gitignore files still count" if program else _NO_GIT)
    place = git_folder_at(top)
    if place is None:
        return bad(f"{top / '.git'} is not a git repository", "Repair it, or delete it.")
    if tracked_by(place.own) is None:
        remedy = "Run `git status` there. Until it is repaired, tracked files matching a .gitignore are left out."
        return bad(f"{place.own / 'index'} cannot be read", remedy)
    return good("reads this repository", version or f"{_NO_GIT}: core.excludesFile does not count")


def check_parsers(_root: Path) -> Found:
    """Check whether the grammar of every language loads and parses; name the languages an extra would add.

    Those still packed in the bundle are compared with their checksums: unpacking them all takes seconds and 77 MB.
    """
    from cqm.chunkers.code.syntax import parse
    from cqm.chunkers.grammars import BUNDLE, MissingGrammarError, grammar, waiting_in_bundle
    from cqm.chunkers.languages.table import GUESSED, LANGUAGES

    try:
        waiting = waiting_in_bundle()
    except OSError as error:
        return bad(str(error), f"Install CQM again: {how_to_repair()}")
    broken, missing, packed = [], dict[str, list[str]](), 0
    for language in (*LANGUAGES, *GUESSED):
        module, name = language.grammar
        if module == BUNDLE and name in waiting:
            packed += 1
            if not waiting[name]:
                broken.append(f"{language.name} (damaged in {BUNDLE})")
            continue
        try:
            parse(b"\n", grammar(*language.grammar))
        except MissingGrammarError as error:
            if language.extra:
                missing.setdefault(language.extra, []).append(language.name)
            else:
                broken.append(f"{language.name} ({error})")
    if broken:
        return bad(f"no grammar of {', '.join(broken)}", f"Install CQM again: {how_to_repair()}")
    found = f"{len(LANGUAGES) + len(GUESSED) - sum(map(len, missing.values())) - packed} grammars load and parse"
    found += f", {packed} more are unpacked when first needed" if packed else ""
    lacks = [f"for all symbols of {', '.join(names)}: {how_to_add(extra)}" for extra, names in missing.items()]
    return good(found, "; ".join(lacks)) if lacks else good(found)


def check_extras(_root: Path) -> Found:
    """Name the installed extras, and the use of each of the others."""
    installed = {*extras_in_use()}
    others = [f"{extra}: {added}" for extra, added in ADDS.items() if extra not in installed]
    found = f"installed: {', '.join(sorted(installed & ADDS.keys())) or 'none'}"
    if not others:
        return good(found)
    first = others[0].partition(":")[0]
    listed = "\n".join([f"{found}. Others would add:", *others])
    return Found(Verdict.OK, listed, f"To add one, such as {first}: {how_to_add(first)}")


def check_mcp(_root: Path) -> Found:
    """Check whether the MCP server can be made; name its tools."""
    import anyio

    try:
        from cqm.server.mcp.allowed_paths import make_guard
        from cqm.server.mcp.app import make_server
    except ImportError as error:
        return bad(f"the MCP server cannot be loaded: {error}", f"Install CQM again: {how_to_repair()}")
    tools = anyio.run(make_server(Settings(), make_guard(())).list_tools)
    return good(f"mcp {version('mcp')}", f"tools {', '.join(tool.name for tool in tools)}")


def check_folder(case: Case) -> Found:
    """Check whether the index's folder is writable; report the free space."""
    folder = index_folder(case.root, case.options)
    there = next(place for place in (folder, *folder.parents) if place.exists())
    remedy = "Free space, repair its permissions, or set index.home to another folder."
    try:
        with tempfile.TemporaryFile(dir=there) as file:
            file.write(b"\0")
        free = shutil.disk_usage(there).free
    except OSError as error:
        return bad(f"{there} cannot be written: {error.strerror or error}", remedy)
    room = f"{free / _GIBIBYTE:.1f} GiB free"
    return good(str(folder), room) if free >= _LEAST_FREE else bad(f"{folder}: only {room}", remedy)


def check_watching(case: Case) -> Found:
    """Check whether the system can watch every folder in scope."""
    from cqm.index.files.listing import folders

    if not case.settings.watch.enabled or not case.root.is_dir():
        return off("one file is not followed" if case.settings.watch.enabled else "watch.enabled is false")
    seen: set[Path] = set()

    def in_scope(top: Path) -> Iterable[Path]:
        for folder in folders(case.root, case.options.scan, top):
            seen.add(folder)
            yield folder

    source = open_changes(case.root, folders=in_scope, changed=lambda _path, _is_saved: None, lost=lambda _: None)
    try:
        source.start()
    except OSError as error:
        what = f"changes cannot be followed: {error.strerror or error}; files are compared every few seconds instead"
        return bad(what, how_to_get_watches(error) if error.errno in LIMIT_ERRORS else "")
    finally:
        source.stop()
    return good(f"{len(seen):,} folders" if seen else "the whole tree", _limit())


def _limit() -> str:
    if sys.platform != "linux" or not os.access(_WATCHES, os.R_OK):
        return ""
    return f"at most {int(_WATCHES.read_text()):,} watches of all programs"


ALWAYS: tuple[tuple[str, Callable[[Path], Found]], ...] = (
    ("git", check_git),
    ("parsers", check_parsers),
    ("extras", check_extras),
    ("MCP server", check_mcp),
)
"""Checks needing no settings."""

CONFIGURED: tuple[tuple[str, Callable[[Case], Found]], ...] = (
    ("index folder", check_folder),
    ("file watching", check_watching),
)
"""Checks of this machine depending on the settings."""
