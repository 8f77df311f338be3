"""Commits of a repository and the lines they changed, asked of git about objects alone: see `git`."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from cqm.index.files.git import said_of
from cqm.index.files.git_folder import git_folder_of, shallow_commits

MOST_COMMITS = 10_000
"""Newest commits to look at."""
_MOST_LOG_BYTES = 8 << 20
_MOST_DIFF_BYTES = 16 << 20
_DIFF = (
    "diff-tree",
    "-r",
    "-p",
    "-U0",
    "--root",
    "--no-commit-id",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--src-prefix=a/",
    "--dst-prefix=b/",
)
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_OLD_FILE, _NEW_FILE, _NO_FILE = "--- a/", "+++ b/", "+++ /dev/null"


class Commit(NamedTuple):
    """A commit: its id, the time of it in seconds since 1970, and the first line of its message."""

    id: str
    at: float
    subject: str


class Hunk(NamedTuple):
    """Lines exchanged for others, by their numbers before and after; `added` are those after."""

    before: range
    after: range
    added: tuple[str, ...]


def commits_of(folder: Path, head: str, within: str = "") -> tuple[Commit, ...] | None:
    """Return the newest commits, newest first, without merges.

    Parameters:
        folder: in a work tree.
        head: whole id of the last commit.
        within: path below the top of the work tree, which they changed; empty for all.

    Returns:
        None if git is not there, or does not answer in time.
    """
    place = git_folder_of(folder)
    try:
        return _known_commits(folder, head, within, shallow_commits(place) if place else frozenset())
    except TimeoutError:
        return None


@lru_cache(maxsize=4)
def _known_commits(folder: Path, head: str, within: str, _shallow: frozenset[str]) -> tuple[Commit, ...]:
    """Return the same as `commits_of`; after an error it asks again, as git may answer the next time.

    Parameters:
        _shallow: where the history is cut; it is another one when git fetches more.

    Raises:
        TimeoutError: git is not there, or does not answer in time.
    """
    form = ["rev-list", f"--max-count={MOST_COMMITS}", "--no-merges", "--format=%ct %s", "--end-of-options", head, "--"]
    said = _asked(folder, head, [*form, *([f":(top,literal){within}"] if within else [])], _MOST_LOG_BYTES)
    if said is None:
        raise TimeoutError
    return tuple(_commits_in(said))


def _commits_in(said: str) -> Iterator[Commit]:
    commit = ""
    for line in said.split("\n"):
        if not commit and line.startswith("commit "):
            commit = line.removeprefix("commit ")
        elif commit:
            at, _, subject = line.partition(" ")
            yield Commit(commit, float(at) if at.isdecimal() else 0.0, subject)
            commit = ""


def commit_of(folder: Path, head: str, prefix: str) -> Commit | None:
    """Return the commit with the first digits of an id, or of a tag's id; None for none or several."""
    form = ["rev-list", "--max-count=1", "--format=%ct %s", "--end-of-options", prefix, "--"]
    said = _asked(folder, head, form, _MOST_LOG_BYTES)
    return next(_commits_in(said or ""), None)


def hunks_between(folder: Path, old: str, new: str, paths: Sequence[str] = ()) -> dict[str, list[Hunk]] | None:
    """Return the hunks between two commits by path from the top of the work tree, in order of lines; deleted files too.

    Parameters:
        folder: in a work tree.
        old, new: whole ids; without an old one, the commit's first parent, or nothing before the first commit.
        paths: from the top, to look at; all if empty.

    Returns:
        None if git does not answer in time, or there are more than 16 MB. Paths of odd characters are left out.
    """
    below = [f":(top,literal){path}" for path in paths]
    commits = [old, new] if old else [new]
    said = _asked(folder, new, [*_DIFF, "--end-of-options", *commits, "--", *below], _MOST_DIFF_BYTES)
    return None if said is None else _hunks_in(said)


def written_lines(hunks: Iterable[Hunk]) -> Iterator[tuple[int, str]]:
    """Yield the lines written by hunks, with their numbers."""
    for hunk in hunks:
        yield from zip(hunk.after, hunk.added, strict=False)


def moved_lines(written: Iterable[tuple[int, str]], hunks: Sequence[Hunk]) -> Iterator[tuple[int | None, str]]:
    """Yield each line's number after some changes, both in order of lines; None for a removed line."""
    behind, place = 0, 0
    for number, text in written:
        while place < len(hunks) and hunks[place].before.stop <= number:
            behind += len(hunks[place].after) - len(hunks[place].before)
            place += 1
        is_gone = place < len(hunks) and number in hunks[place].before
        yield (None if is_gone else number + behind), text


def _asked(folder: Path, commit: str, arguments: Sequence[str], most_bytes: int) -> str | None:
    place = git_folder_of(folder)
    if place is None:
        return None
    said = said_of(place, commit, ["-c", "core.quotePath=false", *arguments], most_bytes)
    return None if said is None else said.decode("utf-8", "replace")


def _hunks_in(said: str) -> dict[str, list[Hunk]]:
    found: dict[str, list[Hunk]] = {}
    path, old, lines, place = "", "", said.split("\n"), 0
    while place < len(lines):
        line = lines[place]
        place += 1
        if line.startswith("diff --git "):
            path = old = ""
        elif line.startswith(_OLD_FILE):
            old = line.removeprefix(_OLD_FILE).rstrip("\t")
        elif line == _NO_FILE:
            path = old
        elif line.startswith(_NEW_FILE):
            path = line.removeprefix(_NEW_FILE).rstrip("\t")
        elif path and (begun := _HUNK.match(line)):
            before, after = _range(begun[1], begun[2]), _range(begun[3], begun[4])
            # Lines of files may look like any of ours: they are counted.
            end = place + len(before) + len(after)
            while end < len(lines) and lines[end].startswith("\\"):
                end += 1
            added = [it[1:].rstrip("\r") for it in lines[place:end] if it.startswith("+")]
            found.setdefault(path, []).append(Hunk(before, after, tuple(added)))
            place += len(before) + len(after)
    return found


def _range(start: str, count: str | None) -> range:
    """Return a hunk's lines; for an empty hunk, the place behind its line."""
    first, size = int(start), int(count or 1)
    return range(first, first + size) if size else range(first + 1, first + 1)
