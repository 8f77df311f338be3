"""Find the commits a question means, and the present lines of the first one.

git tells which lines a commit wrote, and their place in the commit checked out. Their text comes from the files, read
and redacted as for any other question: older files are never shown.
"""

import math
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from cqm.chunkers.model import Definition
from cqm.index.files.checkout import commit_named, head
from cqm.index.files.git_folder import GitFolder, git_folder_of, names_each_other, shallow_commits
from cqm.index.files.history import Commit, Hunk, commit_of, commits_of, hunks_between, moved_lines, written_lines
from cqm.index.files.listed import listed_file
from cqm.index.generations.generation import Generation
from cqm.index.model.changes import ChangedBy, ChangedFile, ChangedLines, Changes, ChangesQuery
from cqm.index.model.errors import NotIndexedError, QueryError, UnreadableFileError, VanishedFileError
from cqm.index.model.query import FileState, page_start
from cqm.index.search.named.tree_paths import tree_of
from cqm.index.search.symbols.fresh import FreshFiles
from cqm.index.secrets.file_names import shown_path
from cqm.index.secrets.redaction import redact
from cqm.index.text.terms import content_words, terms_of
from cqm.index.workers import Workers

_MOST_COMMITS = 100
_MOST_FILES = 20
"""Files to read of a commit; those with the most changed lines."""
_MOST_NAMED = 200
"""Files of a commit to name with their numbers of lines."""
_MOST_PARTS = 100
"""Most parts of a file."""
_LEAST_COVERED = 0.5
"""Share of the question's words, by their rarity, in the message of the commit meant."""
_SUBJECT_WEIGHT = 0.1
"""A message with no other words comes before a longer one with as many of the question's."""
_GAP = 2
"""Most unchanged lines shown between changed ones."""
_FARTHEST = 200
"""Most lines by which uncommitted edits may have moved a line."""
_ID = re.compile("[0-9a-f]{7,64}")
_REVISION = re.compile(r"[\w./@+-]{1,200}")
_BEFORE = re.compile(r"(.+?)((?:[~^]\d{0,5}){1,9})")
"""A commit before another: `HEAD~2`, `main^`, `v1^2~3`."""
_PATH = re.compile(r"[/\\]|\.\w{1,10}$")
_LONGEST = 2_000


class Histories(NamedTuple):
    """Everything needed to follow commits to the present lines."""

    generation: Generation
    workers: Workers
    files: FreshFiles


def find_changes(histories: Histories, query: ChangesQuery) -> Changes:
    """Return the commits a question means, with the lines of the first one.

    Raises:
        QueryError: the folder is outside of git or has no commit, or a parameter is out of range.
    """
    _check(query)
    start = page_start(query.cursor)
    folder = _folder_of(histories)
    last, place = _head_of(histories.files.root, folder)
    base = "" if folder == place.top else folder.relative_to(place.top).as_posix()
    asked = query.path or ("" if histories.files.root.is_dir() else histories.files.root.name)
    within = "/".join(filter(None, (base, asked)))
    what = query.what.strip()
    if spanned := _span(folder, last, what):
        old, new = spanned
        return _changes(histories, query, (new,), base, old=old.id, within=within)
    if named := _named(folder, last, what):
        return _changes(histories, query, (named,), base, within=within)
    if path := _path_of(histories, query):
        what, within = "", "/".join(filter(None, (base, path)))
    known = commits_of(folder, last, within)
    if known is None:
        raise QueryError("git does not tell the commits of this folder.", remedy="`cqm doctor` tells of git.")
    if not what:
        page, more = known[start : start + query.limit], start + query.limit < len(known)
        told = _told(histories, page)
        following = str(start + query.limit) if more else ""
        return Changes("", told, next_cursor=following, is_shallow=bool(shallow_commits(place)))
    best, is_found = _ranked(what, known)
    return _changes(histories, query, best[: query.limit], base, within=within, is_found=is_found)


def _check(query: ChangesQuery) -> None:
    if not 1 <= query.limit <= _MOST_COMMITS:
        raise QueryError(f"`limit {query.limit}`: expected 1 to {_MOST_COMMITS}.")
    if len(query.what) > _LONGEST:
        raise QueryError(f"`what` has {len(query.what):,} characters: expected at most {_LONGEST:,}.")
    if "\0" in query.path:
        raise QueryError("`path` has a null character.", remedy="Leave it out.")


def _head_of(root: Path, folder: Path) -> tuple[str, GitFolder]:
    """Return the commit checked out in a folder, and where its repository is."""
    last, place = head(folder), git_folder_of(folder)
    if place is None or not last:
        raise QueryError(f"{root} is outside of git, or has no commit yet.", remedy="`search` takes `changed_since`.")
    if not names_each_other(place):
        raise QueryError(
            f"The git folder of {place.top} is elsewhere, or parts of it are, and it may be another project's.",
            remedy=f"If it is this project's, run `git config core.worktree {place.top}` there.",
        )
    return last, place


def _path_of(histories: Histories, query: ChangesQuery) -> str:
    """Return the file or folder of a question that is a path; empty for words."""
    what = query.what.strip()
    if query.path or " " in what or not _PATH.search(what):
        return ""
    return tree_of(histories.generation, str(histories.files.root)).meant(what)


def _folder_of(histories: Histories) -> Path:
    root = histories.files.root
    return root if root.is_dir() else root.parent


def _span(folder: Path, last: str, what: str) -> tuple[Commit, Commit] | None:
    """Return both commits of `A..B`; B is the one checked out where it is left out."""
    one, dots, other = what.partition("..")
    other = other.removeprefix(".")
    if not dots or not one or " " in what:
        return None
    old, new = _named(folder, last, one), _named(folder, last, other or last)
    if old is None or new is None:
        unknown = one if old is None else other
        remedy = _deepen(folder) or "Name commits, branches or tags."
        raise QueryError(f"`{what}`: git has no commit `{unknown}`.", remedy=remedy)
    return old, new


def _deepen(folder: Path) -> str:
    """Say how to get older commits into a shallow clone; empty for a whole one."""
    place = git_folder_of(folder)
    if place is None or not shallow_commits(place):
        return ""
    return "This clone is shallow, without older commits: `git fetch --unshallow` brings them."


def _named(folder: Path, last: str, what: str) -> Commit | None:
    """Return the commit named by an id, branch or tag, or one before it such as `HEAD~1`; None for no name.

    Raises:
        QueryError: there is no such commit before a known one.
    """
    if what in {"HEAD", "@"}:
        return commit_of(folder, last, last)
    if (before := _BEFORE.fullmatch(what)) and (known := _named(folder, last, before[1])):
        if found := commit_of(folder, last, f"{known.id}{before[2]}"):
            return found
        remedy = _deepen(folder) or "Name a later one."
        raise QueryError(f"`{what}`: `{before[1]}` has no such commit before it.", remedy=remedy)
    if _ID.fullmatch(what.lower()) and (found := commit_of(folder, last, what.lower())):
        return found
    commit = commit_named(folder, what) if _REVISION.fullmatch(what) else ""
    return commit_of(folder, last, commit) if commit else None


def _ranked(what: str, known: Sequence[Commit]) -> tuple[list[Commit], bool]:
    """Order the commits with words of a question, likeliest first; tell whether the first is meant."""
    asked = set(terms_of(" ".join(content_words(what))))
    terms = [set(terms_of(it.subject)) for it in known]
    counts = Counter(term for some in terms for term in some)
    worth = {term: math.log1p(len(known) / (1 + counts[term])) for term in counts.keys() | asked}
    most = sum(worth[term] for term in asked) or 1.0
    scored = []
    for number, some in enumerate(terms):
        if both := sum(worth[term] for term in asked & some):
            own = sum(worth[term] for term in some)
            scored.append((both / most, both / most + _SUBJECT_WEIGHT * both / own, known[number]))
    # Among equals the newer one comes first: sorting keeps their order.
    scored.sort(key=itemgetter(1), reverse=True)
    return [commit for _, _, commit in scored], bool(scored) and scored[0][0] >= _LEAST_COVERED


def _told(histories: Histories, commits: Sequence[Commit]) -> tuple[ChangedBy, ...]:
    secrets = histories.files.scan.secrets
    return tuple(ChangedBy(it.id, it.at, redact(it.subject, "message", secrets).text) for it in commits)


def _changes(
    histories: Histories,
    query: ChangesQuery,
    commits: Sequence[Commit],
    base: str,
    *,
    within: str,
    old: str = "",
    is_found: bool = True,
) -> Changes:
    """Follow the lines of the first commit to where they are now."""
    told = _told(histories, commits)
    place = git_folder_of(_folder_of(histories))
    cut = shallow_commits(place) if place else frozenset()
    if not is_found or (not old and commits[0].id in cut):
        # The changes of a shallow clone's last commit are unknown: all files would count as new.
        return Changes(query.what, told, is_found=is_found, is_shallow=bool(cut), is_edge=is_found)
    lines = _hunks(histories.files.root, old, commits[0].id, within, base)
    hunks = lines.of_commit
    known = histories.generation.manifest.files([*hunks])
    sizes, role_of = {it: _added(hunks[it]) for it in hunks}, histories.generation.role_of
    ordered = sorted(hunks, key=lambda it: (role_of(it) is not None, -sizes[it], it))
    indexed = [it for it in ordered if sizes[it] and it in known and known[it].state is FileState.INDEXED]
    followed = {it: [*moved_lines(written_lines(hunks[it]), lines.since.get(it, ()))] for it in indexed[:_MOST_FILES]}
    read = {it: _parts(histories, it, moved) for it, moved in followed.items()}
    known_now = {it: found for it, found in read.items() if found is not None}
    unknown = sum(it not in known for it in hunks)
    others = unknown + len(read) - len(known_now) + len(indexed[_MOST_FILES:])
    return Changes(
        query.what,
        told,
        is_found=True,
        parts=tuple(part for parts, _ in known_now.values() for part in parts),
        gone=sum(len(followed[path]) - left for path, (_, left) in known_now.items()),
        others=others,
        files=tuple(_changed_file(it, hunks[it]) for it in ordered[:_MOST_NAMED]),
        changed=len(hunks),
        is_shallow=bool(cut),
    )


def _added(hunks: Iterable[Hunk]) -> int:
    return sum(len(hunk.added) for hunk in hunks)


def _changed_file(path: str, hunks: Sequence[Hunk]) -> ChangedFile:
    return ChangedFile(shown_path(path), _added(hunks), sum(len(hunk.before) for hunk in hunks))


class _Hunks(NamedTuple):
    """Changed lines by path: those of a commit, and in these files those of all later commits."""

    of_commit: Mapping[str, Sequence[Hunk]]
    since: Mapping[str, Sequence[Hunk]]


def _hunks(root: Path, old: str, new: str, within: str, base: str) -> _Hunks:
    """Ask git for the lines changed by a commit, and those changed from there to the commit checked out.

    Paths are relative to `base`, the folder of the index in its work tree.

    Raises:
        QueryError: git does not tell them.
    """
    folder = root if root.is_dir() else root.parent
    last = head(folder) or ""
    hunks = hunks_between(folder, old, new, [within] if within else [])
    since = hunks_between(folder, new, last, [*hunks]) if hunks and new != last else {}
    if hunks is None or since is None:
        raise QueryError(f"git does not tell the lines that {new[:10]} changed.", remedy="Name a `path` within them.")
    start = f"{base}/" if base else ""
    return _Hunks(*({path.removeprefix(start): it for path, it in of.items()} for of in (hunks, since)))


def _parts(
    histories: Histories, path: str, moved: Sequence[tuple[int | None, str]]
) -> tuple[list[ChangedLines], int] | None:
    """Return the lines still in a file, and their number; blank lines are only counted.

    None if the file cannot be read now.
    """
    try:
        found = listed_file(histories.files.root, path, histories.files.scan)
        fresh = histories.files.read(histories.workers, found, parses=True)
    except VanishedFileError:
        return [], 0
    except (NotIndexedError, UnreadableFileError):
        return None
    lines = fresh.text.split("\n")
    places = _places_of(lines)
    now, left = set[int](), 0
    for number, text in moved:
        if number is None:
            continue
        at = number if not text.strip() else _nearest(number, text, lines, places)
        left += at is not None
        now |= {at} if at and text.strip() else set()
    role = histories.generation.role_of(path)
    parts = []
    for start, end in islice(_runs(sorted(now)), _MOST_PARTS):
        symbol = _around(fresh.definitions, start, end)
        name, kind = (symbol.name, symbol.kind) if symbol else ("", "")
        text = "\n".join(lines[start - 1 : end])
        parts.append(ChangedLines(path, name, kind, start, end, text, role.name if role else ""))
    return parts, left


def _places_of(lines: Sequence[str]) -> Mapping[str, Sequence[int]]:
    places: defaultdict[str, list[int]] = defaultdict(list)
    for number, line in enumerate(lines, 1):
        places[line.rstrip("\r")].append(number)
    return places


def _nearest(number: int, text: str, lines: Sequence[str], places: Mapping[str, Sequence[int]]) -> int | None:
    """Return the number of a line in a file with possible edits; a secret in it shows as "*"."""
    if found := places.get(text):
        at = bisect_left(found, number)
        nearest = min(found[max(0, at - 1) : at + 1], key=lambda it: abs(it - number))
        return nearest if abs(nearest - number) <= _FARTHEST else None
    is_redacted = number <= len(lines) and "*" in lines[number - 1] and len(lines[number - 1].rstrip("\r")) == len(text)
    return number if is_redacted else None


def _runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Join lines with few others between them."""
    start = end = 0
    for number in numbers:
        if start and number > end + 1 + _GAP:
            yield start, end
            start = 0
        start, end = start or number, number
    if start:
        yield start, end


def _around(definitions: Sequence[Definition], start: int, end: int) -> Definition | None:
    """Return the innermost definition around some lines, else the first beginning in them."""
    around = [it for it in definitions if it.first_line <= start and it.end_line >= end]
    inside = [it for it in definitions if start <= it.first_line <= end]
    return max(around, key=lambda it: it.first_line, default=min(inside, key=lambda it: it.first_line, default=None))
