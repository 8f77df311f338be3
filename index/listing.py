"""Which paths of a tree are in scope: by git where nothing but git's rules hold, else by a walk, with the same result.

A tracked file is in scope even where a .gitignore names it. Two things only git knows: an ignore file that is named in
a repository's own settings (`core.excludesFile`), and, so also where git is not installed, which files are tracked.
What is neither a file nor a link nor a folder is listed by the walk only.
"""

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from functools import cache
from pathlib import Path

from cqm.index import git
from cqm.index.rules import IGNORE_FILE, IgnoreRules, walk
from cqm.index.skip import NEVER_LISTED

Listing = dict[str, os.stat_result]
"""Paths relative to the root, with "/" between parts, and what `lstat` says of them."""

NamesOf = Callable[[str], frozenset[str]]
"""The names in a folder of the tree; none when it cannot be read."""


def names_reader(root: Path) -> NamesOf:
    """A function that reads the names in a folder, each folder once."""

    @cache
    def names_of(folder: str) -> frozenset[str]:
        try:
            with os.scandir(root / folder) as entries:
                return frozenset(entry.name for entry in entries)
        except OSError:
            return frozenset()

    return names_of


def parent_of(path: str) -> str:
    """The folder that holds a path; "" for the root."""
    return path.rpartition("/")[0]


def list_tree(rules: IgnoreRules, names_of: NamesOf) -> Listing:
    """All files and links in scope; folders too where they were walked."""
    listing = _listed_by_git(rules, names_of)
    return _listed_by_walk(rules, names_of) if listing is None else listing


def list_below(rules: IgnoreRules, names_of: NamesOf, below: Iterable[str]) -> Listing:
    """Like `list_tree` for some paths and the folders above them, at a cost that does not grow with the tree.

    Parameters:
        rules: of the tree.
        names_of: of the same tree.
        below: files and folders relative to the root, with "/" between parts; they may have vanished.
    """
    if not rules.heeds_parents:
        # A walk that begins below the root would not know the rules of the folders above it.
        tops = tuple(below)
        whole = _listed_by_walk(rules, names_of)
        return {path: it for path, it in whole.items() if any(_is_related(path, it, top) for top in tops)}
    listing: Listing = {}
    children_of = _children_reader(rules, by_git=True)
    for path in below:
        reached = _reached(rules, path, children_of)
        listing |= reached
        if path not in reached:
            listing |= _tracked_below(rules, path, reached)
        elif stat.S_ISDIR(reached[path].st_mode):
            listing |= _walked_with_tracked(rules, names_of, path)
    return listing


def _is_related(path: str, status: os.stat_result, top: str) -> bool:
    # A file in the place of a folder is not what was asked for; see `_reached`.
    is_above = top.startswith(f"{path}/") and not stat.S_ISREG(status.st_mode)
    return path == top or path.startswith(f"{top}/") or is_above


def _listed_by_git(rules: IgnoreRules, names_of: NamesOf) -> Listing | None:
    if not _holds_git_alone(rules):
        return None
    listing: Listing = {}
    repositories = {""}
    waiting = [""]
    while waiting:
        repository = waiting.pop()
        paths = git.files_in_scope(rules.root / repository)
        if paths is None:
            return None
        for path, status in _looked_at(rules, (_joined(repository, path.rstrip("/")) for path in paths)):
            if not stat.S_ISDIR(status.st_mode):
                listing[path] = status
            elif ".git" in names_of(path):
                repositories.add(path)
                waiting.append(path)
    return None if _has_other_rules(listing, repositories, names_of) else listing


def _has_other_rules(listing: Listing, repositories: AbstractSet[str], names_of: NamesOf) -> bool:
    """Whether a folder has a `.cqmignore`, or a repository begins there that is none for git: it has no commit yet."""
    folders = {parent_of(path) for path in listing}
    folders |= {above for folder in folders for above in _folders_above(folder)}
    has_rules = any(IGNORE_FILE in names_of(folder) for folder in folders)
    return has_rules or any(".git" in names_of(folder) for folder in folders - repositories)


def _holds_git_alone(rules: IgnoreRules) -> bool:
    above = (rules.root, *rules.root.parents)
    has_own = rules.has_excludes or any((folder / IGNORE_FILE).exists() for folder in above)
    return rules.repository is not None and rules.uses_git and not has_own


def _listed_by_walk(rules: IgnoreRules, names_of: NamesOf) -> Listing:
    return _walked_with_tracked(rules, names_of, "")


def _walked_with_tracked(rules: IgnoreRules, names_of: NamesOf, top: str) -> Listing:
    listing = dict(_looked_at(rules, walk(rules, top)))
    if not rules.uses_git:
        return listing
    folders = (path for path, status in listing.items() if stat.S_ISDIR(status.st_mode))
    repositories = [folder for folder in folders if ".git" in names_of(folder)]
    if rules.repository is not None or top:
        repositories.append(top)
    children_of = _children_reader(rules, by_git=False)
    for repository in repositories:
        for path in git.tracked_but_ignored(rules.root / repository):
            listing |= _reached(rules, _joined(repository, path), children_of)
    return listing


def _tracked_below(rules: IgnoreRules, path: str, reached: Listing) -> Listing:
    """What is tracked of a path that the walk did not reach."""
    if not rules.uses_git or not os.path.lexists(rules.root / path):
        return {}
    owners = (folder for folder in _folders_above(path) if (rules.root / folder / ".git").exists())
    owner = next(owners, "" if rules.repository else None)
    if owner is None or (owner and owner not in reached):
        return {}
    children_of = _children_reader(rules, by_git=False)
    listing: Listing = {}
    for tracked in git.tracked(rules.root / owner, [path[len(owner) :].lstrip("/")]):
        listing |= _reached(rules, _joined(owner, tracked), children_of)
    return listing


def _children_reader(rules: IgnoreRules, *, by_git: bool) -> Callable[[str], frozenset[str]]:
    return cache(lambda folder: frozenset(walk(rules, folder, depth=1, by_git=by_git)))


def _reached(rules: IgnoreRules, path: str, children_of: Callable[[str], frozenset[str]]) -> Listing:
    """The folders above a path, from the top, and the path, as far as they are in scope and no link."""
    reached: Listing = {}
    parent = ""
    for part in path.split("/"):
        here = _joined(parent, part)
        if here not in children_of(parent):
            break
        status = dict(_looked_at(rules, [here])).get(here)
        # A file in the place of a folder is not what was asked for, but a link is why nothing below it is in scope.
        if status is None or (stat.S_ISREG(status.st_mode) and here != path):
            break
        reached[here] = status
        if not stat.S_ISDIR(status.st_mode):
            break
        parent = here
    return reached


def _looked_at(rules: IgnoreRules, paths: Iterable[str]) -> Iterator[tuple[str, os.stat_result]]:
    root = str(rules.root)
    for path in paths:
        if NEVER_LISTED.isdisjoint(path.split("/")):
            try:
                yield path, os.lstat(f"{root}/{path}")
            except OSError:
                # It has vanished, or its folder may not be entered, which is reported of the folder.
                continue


def _joined(folder: str, path: str) -> str:
    return f"{folder}/{path}" if folder else path


def _folders_above(path: str) -> Iterator[str]:
    """The folders that hold a path, the nearest first, and at last the root."""
    while path:
        path = parent_of(path)
        yield path
