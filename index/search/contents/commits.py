"""Find the present lines of the commit that a question names."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from cqm.index.files.checkout import head
from cqm.index.files.git_folder import git_folder_of, names_each_other, shallow_commits
from cqm.index.files.history import Commit, Hunk, commit_of, hunks_between, moved_lines, written_lines
from cqm.index.generations.generation import Generation
from cqm.index.manifest.rows import ChunkRow
from cqm.index.ranking.question import Question
from cqm.index.text.reports.commits import commit_in, is_told

_MOST_FILES, _MOST_CHUNKS = 20, 50
_SHOWN = 10
"""Digits of an id in a note."""


class Committed(NamedTuple):
    """The remains of a commit.

    Attributes:
        lines: the first line of it in each chunk, by id; the files with most of its lines first.
        note: told if nothing of it is left, or if git has no such commit.
    """

    lines: Mapping[str, int]
    note: str = ""


def committed(generation: Generation, question: Question, root: str) -> Committed | None:
    """Return the present lines of the commit that a question names alone; None for other questions.

    Parameters:
        generation: searched.
        question: any; one with places, or about a symbol, is asked for by these.
        root: folder of the index.

    Raises:
        StoreError, ManifestError: the index cannot be read.
    """
    asked = "" if question.places or question.is_quoted else commit_in(question.text)
    if not asked or generation.manifest.defining(asked):
        return None
    folder = Path(root) if Path(root).is_dir() else Path(root).parent
    place, last = git_folder_of(folder), head(folder)
    if place is None or not last or not names_each_other(place):
        return Committed({})
    commit = commit_of(folder, last, asked)
    if commit is None:
        return Committed({}, f"git has no commit {asked[:_SHOWN]} here" if is_told(question.text) else "")
    # All files of the first commit of a shallow clone would count as new.
    hunks = {} if commit.id in shallow_commits(place) else hunks_between(folder, "", commit.id) or {}
    base = "" if folder == place.top else f"{folder.relative_to(place.top).as_posix()}/"
    lines = _present(generation, folder, commit, last, hunks, base)
    gone = f"nothing of commit {commit.id[:_SHOWN]} is in the index now: `changes` tells of it"
    return Committed(lines, "" if lines else gone)


def _present(
    generation: Generation, folder: Path, commit: Commit, last: str, hunks: Mapping[str, Sequence[Hunk]], base: str
) -> dict[str, int]:
    sizes = {path: sum(len(it.added) for it in hunks[path]) for path in hunks if path.startswith(base)}
    own = {path: path.removeprefix(base) for path, size in sizes.items() if size}
    known = generation.manifest.files([*own.values()])
    paths = [path for path, name in own.items() if name in known]
    paths.sort(key=lambda it: (generation.role_of(own[it]) is not None, -sizes[it], it))
    paths = paths[:_MOST_FILES]
    since = hunks_between(folder, commit.id, last, paths) if paths and commit.id != last else {}
    lines: dict[str, int] = {}
    for path in paths:
        moved = moved_lines(written_lines(hunks[path]), (since or {}).get(path, ()))
        rows = generation.manifest.chunks_of(own[path])
        for name, line in _found(generation, rows, [(number, said) for number, said in moved if number]).items():
            lines.setdefault(name, line)
        if len(lines) >= _MOST_CHUNKS:
            break
    return dict([*lines.items()][:_MOST_CHUNKS])


def _found(generation: Generation, rows: Sequence[ChunkRow], moved: Iterable[tuple[int, str]]) -> dict[str, int]:
    """Return the first line of a commit in each chunk of a file, the chunk with most of them first."""
    # Chunks of a tree contain each other: the smallest has the line.
    smallest = sorted(rows, key=lambda row: row.end_line - row.start_line)
    inside: dict[str, list[int]] = {}
    payloads = generation.store.payloads([row.id for row in rows], ["text"])
    texts = {name: str(it.get("text", "")).split("\n") for name, it in payloads.items()}
    for number, said in moved:
        row = next((it for it in smallest if it.start_line <= number <= it.end_line), None)
        if row is None or not said.strip():
            continue
        # An edit since may have moved the line, or changed it.
        at = [row.start_line + n for n, line in enumerate(texts.get(row.id, ())) if line.strip() == said.strip()]
        if at:
            inside.setdefault(row.id, []).append(min(at, key=lambda it: abs(it - number)))
    return {name: min(inside[name]) for name in sorted(inside, key=lambda it: -len(inside[it]))}
