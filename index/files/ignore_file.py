"""Match paths against one ignore file: gitignore(5), with limited time and memory for any content."""

import os
import re
import sys
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from cqm.index.files.wildmatch import GlobError, name_regex, path_regex, plain_length

MOST_BYTES = 1 << 20
"""Largest ignore file; a longer one doesn't count."""
_MOST_GLOB_CHARACTERS = 64 << 10
"""Most characters in a file's globs with special characters, as each is tried on every path; others don't count."""
_CHARACTERS_OF_RUN = 64
"""Weight of a change between ignoring lines and lines bringing back."""
_MOST_CACHED_BYTES = 32 << 10
_MOST_CHOICES = 256
"""Most globs expanded from one with `{a,b}`."""

_FOLDS_CASE = sys.platform in {"win32", "darwin"}
_FLAGS = re.DOTALL | re.ASCII | (re.IGNORECASE if _FOLDS_CASE else 0)

Line = tuple[str, bool, bool]
"""A glob, whether it applies to folders only, and whether it ignores."""


@dataclass(frozen=True, slots=True)
class _Globs:
    """Globs; one of them must match a path."""

    names: frozenset[str] = frozenset()
    endings: tuple[str, ...] = ()
    name: re.Pattern[str] | None = None
    paths: frozenset[str] = frozenset()
    path: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class _Run:
    """Consecutive lines of an ignore file with the same effect: all ignore or all bring back."""

    ignores: bool
    of_files: _Globs
    of_folders: _Globs


@dataclass(frozen=True, slots=True)
class IgnoreFile:
    """A parsed ignore file.

    Attributes:
        runs: the last lines of the file first.
        every: the globs of all lines.
        weight: characters of the globs tried on every path: the cost of a verdict.
    """

    runs: tuple[_Run, ...] = ()
    every: _Globs = _Globs()
    weight: int = 0

    def verdict(self, path: str, name: str, *, is_folder: bool) -> bool | None:
        """Whether a path is ignored; None if no line matches.

        Parameters:
            path: relative to the folder of the file, one character per byte (`bytewise`).
            name: its last part, likewise.
            is_folder: whether it is a folder, and no link to one.
        """
        if _FOLDS_CASE:
            path, name = path.lower(), name.lower()
        for run in self.runs:
            globs = run.of_folders if is_folder else run.of_files
            if (
                name in globs.names
                or path in globs.paths
                or (globs.endings and name.endswith(globs.endings))
                or (globs.name and globs.name.fullmatch(name))
                or (globs.path and globs.path.fullmatch(path))
            ):
                return run.ignores
        return None

    def suspects(self, folder: str, names: Collection[str]) -> Iterable[str]:
        """Return the names in a folder some line may match; for the others `verdict` is None. Saves time.

        Parameters:
            folder: relative to the folder of the file, with "/" at its end; empty for the folder itself.
            names: of its entries, all ASCII.
        """
        if _FOLDS_CASE:
            return names
        every = self.every
        found = set(every.names.intersection(names))
        if every.endings:
            found.update([name for name in names if name.endswith(every.endings)])
        if every.name:
            found.update(filter(every.name.fullmatch, names))
        if every.paths:
            found.update([name for name in names if folder + name in every.paths])
        if every.path:
            matches = every.path.fullmatch
            found.update([name for name in names if matches(folder + name)])
        return found


NOTHING = IgnoreFile()
"""An ignore file without a line."""


@dataclass(slots=True)
class _Parts:
    """The parts for a `_Globs`."""

    names: set[str] = field(default_factory=set)
    endings: set[str] = field(default_factory=set)
    name: list[str] = field(default_factory=list)
    paths: set[str] = field(default_factory=set)
    path: list[str] = field(default_factory=list)

    def made(self) -> _Globs:
        return _Globs(
            frozenset(self.names), tuple(self.endings), _any_of(self.name), frozenset(self.paths), _any_of(self.path)
        )


def bytewise(name: str) -> str:
    """Return a name or path with one character for each of its bytes."""
    return name if name.isascii() else os.fsencode(name).decode("latin-1")


def parse_ignore_file(content: bytes) -> IgnoreFile:
    """Parse an ignore file. Malformed lines match nothing, as for git."""
    if len(content) > MOST_BYTES:
        return NOTHING
    return _parsed_small(content) if len(content) <= _MOST_CACHED_BYTES else _parsed(content)


@lru_cache(maxsize=16)
def parse_excludes(globs: tuple[str, ...]) -> IgnoreFile:
    """Parse separate globs in the same syntax, with `{a,b}` for choices.

    Raises:
        GlobError: one is malformed; its text is the first argument.
    """
    lines: list[Line] = []
    for glob in globs:
        try:
            _check_ranges(glob)
            for choice in _choices(glob):
                lines.append(_line(choice.encode("utf-8", "surrogateescape").decode("latin-1"), ignores=True))
                name_regex(lines[-1][0])
        except GlobError as error:
            raise GlobError(glob, str(error)) from error
    return _made(lines)


@lru_cache(maxsize=256)
def _parsed_small(content: bytes) -> IgnoreFile:
    return _parsed(content)


def _parsed(content: bytes) -> IgnoreFile:
    lines = []
    for raw in content.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        text = raw.removesuffix(b"\r").partition(b"\0")[0].decode("latin-1")
        text = _without_spaces_at_end(text)
        if text and not text.startswith("#"):
            is_negated = text.startswith("!")
            lines.append(_line(text[is_negated:], ignores=not is_negated))
    return _made(lines)


def _line(text: str, *, ignores: bool) -> Line:
    is_for_folders = text.endswith("/")
    return (text[:-1] if is_for_folders else text), is_for_folders, ignores


def _without_spaces_at_end(text: str) -> str:
    stripped = text.rstrip(" ")
    if stripped == text:
        return text
    # A backslash keeps the space behind it, unless it is itself escaped.
    backslashes = len(stripped) - len(stripped.rstrip("\\"))
    return f"{stripped} " if backslashes % 2 else stripped


def _made(lines: Sequence[Line]) -> IgnoreFile:
    runs: list[tuple[bool, _Parts, _Parts]] = []
    every = _Parts()
    weight = 0
    for glob, is_for_folders, ignores in lines:
        is_new_run = not runs or runs[-1][0] is not ignores
        costs = (len(glob) if plain_length(glob) < len(glob) else 0) + is_new_run * _CHARACTERS_OF_RUN
        if weight + costs > _MOST_GLOB_CHARACTERS:
            continue
        weight += costs
        if is_new_run:
            runs.append((ignores, _Parts(), _Parts()))
        _, of_files, of_folders = runs[-1]
        for parts in (every, of_folders) if is_for_folders else (every, of_files, of_folders):
            _add(parts, glob.lower() if _FOLDS_CASE else glob)
    made = tuple(_Run(ignores, of_files.made(), of_folders.made()) for ignores, of_files, of_folders in reversed(runs))
    return IgnoreFile(made, every.made(), weight)


def _add(parts: _Parts, glob: str) -> None:
    plain = plain_length(glob)
    try:
        if "/" in glob:
            glob = glob.removeprefix("/")
            if plain_length(glob) == len(glob):
                parts.paths.add(glob)
            else:
                parts.path.append(path_regex(glob))
        elif plain == len(glob):
            parts.names.add(glob)
        elif glob[0] == "*" and plain_length(glob[1:]) == len(glob) - 1:
            parts.endings.add(glob[1:])
        else:
            parts.name.append(name_regex(glob))
    except GlobError:
        # git never matches it either.
        return


def _any_of(regexes: Sequence[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(regexes), _FLAGS) if regexes else None


def _choices(glob: str) -> list[str]:
    """Return all globs expanded from one with `{a,b}`."""
    done, waiting = [], [glob]
    while waiting:
        text = waiting.pop()
        found = _innermost(text)
        if found is None:
            done.append(text)
            continue
        first, last = found
        waiting.extend(text[:first] + choice + text[last + 1 :] for choice in text[first + 1 : last].split(","))
        if len(done) + len(waiting) > _MOST_CHOICES:
            raise GlobError(f"it stands for more than {_MOST_CHOICES} patterns")
    return done


def _innermost(glob: str) -> tuple[int, int] | None:
    """Return the positions of a `{` and its `}` without another pair inside; None for no pair."""
    opened = -1
    at = 0
    while at < len(glob):
        if glob[at] == "\\":
            at += 1
        elif glob[at] == "{":
            opened = at
        elif glob[at] == "}":
            if opened < 0:
                raise GlobError("a } without a {")
            return opened, at
        at += 1
    if opened >= 0:
        raise GlobError("a { without a }")
    return None


def _check_ranges(glob: str) -> None:
    for first, last in re.findall(r"\[[^\]]*?([^\[\]!^\\])-([^\]\\])", glob):
        if first > last:
            raise GlobError(f"the range {first}-{last} is empty")
