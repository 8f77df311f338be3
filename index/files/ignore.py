"""The ignore rules of a tree's folders.

First come git's rules (.gitignore at every level, .git/info/exclude, the user's global ignore file). `.cqmignore` files
in the same syntax win over git's and may bring ignored files back ("!pattern"). The globs of `ScanOptions.exclude` win
over all. The `.ignore` and `.rgignore` files of other tools don't count.

- `.cqmignore` files above the root count: one in the home folder applies to all projects.
- In a repository git's files above the root count as they do for git, unless they ignore the root itself: a user naming
  an ignored folder wants it. Outside of any repository .gitignore files count too, but none above the root.
- Another checkout of the same repository, as `git worktree add` makes it, is left out: it would repeat the project.
- Repositories inside the tree, and submodules, have their own rules. A tracked file is in scope even if git's rules
  ignore it.
- An ignore file counts only if it is a regular file of at most 1 MB; in the tree it may not be a link, as for git.
  Above the root, where the user's own files are, it may be a link to one. Limits far above real trees keep globs from
  taking for ever: see `IgnoreFile.weight`.
"""

import os
from collections.abc import Collection, Container
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path

from cqm.index.disk.beneath import read_small, read_small_beneath
from cqm.index.files import git
from cqm.index.files.git_folder import git_folder_at, is_other_checkout
from cqm.index.files.ignore_file import MOST_BYTES, NOTHING, IgnoreFile, bytewise, parse_excludes, parse_ignore_file
from cqm.index.files.skip import pruned_names
from cqm.index.files.wildmatch import GlobError
from cqm.index.model.errors import ScanError
from cqm.index.model.options import ScanOptions

GIT_FILE = ".gitignore"
IGNORE_FILE = ".cqmignore"
_BOTH = frozenset({GIT_FILE, IGNORE_FILE})
_MOST_WEIGHT = 512 << 10
"""Largest weight of the ignore files applying to one folder; above it, those of deeper folders don't count."""
_MOST_WEIGHT_OF_TREE = 4 << 20
"""Limit for all ignore files in a tree, since each takes time to read; further ones don't count."""


class Standing(Enum):
    """Whether a path is in scope."""

    IN = "in scope"
    IF_TRACKED = "in scope if git tracks it"
    OUT = "left out"


@dataclass(frozen=True, slots=True)
class Placed:
    """An ignore file at its place.

    Attributes:
        prefix: path from its folder to the root, with "/" at its end, one character per byte; empty in the tree.
        cut: length of the path from the root to its folder, with "/" at its end; 0 at the root and above it.
    """

    file: IgnoreFile
    prefix: str = ""
    cut: int = 0


@dataclass(frozen=True, slots=True)
class WorkTree:
    """A git work tree containing the root, or beginning in the tree.

    Attributes:
        prefix: path from it to the root, with "/" at its end; empty if it begins in the tree.
        cut: length of the path from the root to it, with "/" at its end; 0 at the root and above it.
    """

    top: Path
    prefix: str = ""
    cut: int = 0


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules for the entries of a folder.

    Attributes:
        git: files of git's rules; the first one matching a path decides.
        own: `.cqmignore` files, likewise.
        work_tree: containing the folder; None for none.
        only_tracked: whether git ignores the folder, so only tracked paths are in scope.
    """

    git: tuple[Placed, ...] = ()
    own: tuple[Placed, ...] = ()
    work_tree: WorkTree | None = None
    only_tracked: bool = False


@dataclass(slots=True)
class Budget:
    """Weight left for the ignore files of a tree not yet read."""

    left: int = _MOST_WEIGHT_OF_TREE


@dataclass(frozen=True, slots=True)
class TreeRules:
    """The rules of a tree.

    Attributes:
        root: a real path of a folder.
        above: rules for the root, without those of its own ignore files.
        uses_git: whether git's rules count at all.
        excludes: `ScanOptions.exclude`.
        pruned: names of folders with nothing in scope.
        budget: for the ignore files of the tree.
    """

    root: Path
    above: Rules
    uses_git: bool
    excludes: IgnoreFile = NOTHING
    pruned: frozenset[str] = frozenset()
    budget: Budget = field(default_factory=Budget)


def rules_of(root: Path, options: ScanOptions) -> TreeRules:
    """Return the rules for the tree below a folder.

    Parameters:
        root: a real path of a folder.
        options: uses `use_gitignore`, `exclude`, and the options deciding which folders are not walked.

    Raises:
        ScanError: a pattern of `exclude` is malformed.
    """
    excludes = _excludes(options)
    above = None
    if options.use_gitignore:
        top = next((folder for folder in (root, *root.parents) if os.path.lexists(folder / ".git")), None)
        above = _above(root, top) if top else None
    if above is None:
        above = Rules(_users((), root) if options.use_gitignore else (), _own_above(root))
    return TreeRules(root, above, options.use_gitignore, excludes, pruned_names(options))


def rules_in(rules: Rules, tree: TreeRules, folder: str, opened: int | Path, names: Container[str]) -> Rules:
    """Return the rules for a folder's entries, from those of its parent folder.

    Parameters:
        rules: of the parent folder; `TreeRules.above` for the root.
        folder: relative to the root, with "/" between parts.
        opened: its descriptor; its path on systems without descriptors.
    """
    cut = len(folder) + 1 if folder else 0
    if tree.uses_git and folder and ".git" in names:
        top = tree.root / folder
        if rules.work_tree and is_other_checkout(top, (rules.work_tree.top,)):
            return Rules(own=rules.own, only_tracked=True)
        rules = Rules(_of_work_tree(tree.root, top, cut), rules.own, WorkTree(top, cut=cut))
    if tree.uses_git and GIT_FILE in names and not rules.only_tracked:
        rules = replace(rules, git=_with(rules.git, _read(tree, opened, GIT_FILE), cut=cut))
    if IGNORE_FILE in names:
        rules = replace(rules, own=_with(rules.own, _read(tree, opened, IGNORE_FILE), cut=cut))
    return rules


def standing_of(rules: Rules, tree: TreeRules, path: str, name: str, *, is_folder: bool) -> Standing:
    """Decide whether a path is in scope, by the rules for its folder's entries.

    Parameters:
        path: relative to the root, with "/" between parts.
        name: its last part.
        is_folder: whether it is a folder, and no link to one.
    """
    if not path.isascii():
        name = bytewise(name)
    if tree.excludes.runs and tree.excludes.verdict(bytewise(path), name, is_folder=is_folder):
        return Standing.OUT
    own = _verdict(rules.own, path, name, is_folder=is_folder) if rules.own else None
    if own:
        return Standing.OUT
    if rules.only_tracked:
        return Standing.IF_TRACKED
    if own is None and rules.git and _verdict(rules.git, path, name, is_folder=is_folder):
        return Standing.IF_TRACKED if rules.work_tree else Standing.OUT
    return Standing.IN


def suspects_in(rules: Rules, tree: TreeRules, folder: str, names: Collection[str]) -> Container[str]:
    """Return the names in a folder some rule may match; the others are in scope."""
    inner = f"{folder}/" if folder else ""
    if rules.only_tracked or not inner.isascii() or not "".join(names).isascii():
        return names
    found = set(tree.excludes.suspects(inner, names)) if tree.excludes.runs else set()
    for placed in (*rules.own, *rules.git):
        found.update(placed.file.suspects(placed.prefix + inner[placed.cut :], names))
    return found


def _verdict(files: tuple[Placed, ...], path: str, name: str, *, is_folder: bool) -> bool | None:
    """Whether the first matching ignore file ignores a path; None if none matches."""
    for placed in files:
        from_file = placed.prefix + bytewise(path[placed.cut :] if placed.cut else path)
        said = placed.file.verdict(from_file, name, is_folder=is_folder)
        if said is not None:
            return said
    return None


def _above(root: Path, top: Path) -> Rules | None:
    """Return a repository's rules for the root's entries; None if they ignore the root itself."""
    tree = TreeRules(top, Rules(), uses_git=True)
    rules = Rules(_of_work_tree(root, top, 0), _own_above(top), WorkTree(top))
    parts = root.relative_to(top).parts
    for depth, name in enumerate(parts):
        folder = "/".join(parts[:depth])
        rules = rules_in(rules, tree, folder, top / folder, _BOTH)
        if standing_of(rules, tree, "/".join(parts[: depth + 1]), name, is_folder=True) is not Standing.IN:
            return None
    path = "".join(f"{part}/" for part in parts)
    own, from_git = (
        tuple(Placed(it.file, it.prefix + bytewise(path[it.cut :])) for it in files) for files in (rules.own, rules.git)
    )
    return Rules(from_git, own, WorkTree(top, path))


def _own_above(root: Path) -> tuple[Placed, ...]:
    """Return the `.cqmignore` files above a folder, the nearest first."""
    files: tuple[Placed, ...] = ()
    for folder in reversed(root.parents):
        if (file := _read_user(folder / IGNORE_FILE)) is not NOTHING:
            files = _with(files, file, bytewise(f"{root.relative_to(folder).as_posix()}/"))
    return files


def _of_work_tree(project: Path, top: Path, cut: int) -> tuple[Placed, ...]:
    """Return the rules for a whole work tree: its `info/exclude`, then the user's own file."""
    place = git_folder_at(top)
    users = _users((), project, cut)
    if place is None:
        return users
    return _with(users, _read_user(place.common / "info" / "exclude"), cut=cut)


def _users(files: tuple[Placed, ...], project: Path, cut: int = 0) -> tuple[Placed, ...]:
    path = git.user_ignore_file(project)
    return _with(files, _read_user(path), cut=cut) if path else files


def _with(files: tuple[Placed, ...], file: IgnoreFile, prefix: str = "", cut: int = 0) -> tuple[Placed, ...]:
    """Put an ignore file in front of the others."""
    if not file.runs or file.weight + sum(placed.file.weight for placed in files) > _MOST_WEIGHT:
        return files
    return (Placed(file, prefix, cut), *files)


def _read(tree: TreeRules, opened: int | Path, name: str) -> IgnoreFile:
    """Read an ignore file of the tree; no rules if it cannot be read, or is a link or no file."""
    if tree.budget.left <= 0:
        return NOTHING
    try:
        file = parse_ignore_file(read_small_beneath(opened, name, MOST_BYTES))
    except OSError:
        return NOTHING
    tree.budget.left -= file.weight
    return file


def _read_user(path: Path) -> IgnoreFile:
    """Read an ignore file which may be a link, as the user's own settings often are; no rules if it cannot be read."""
    try:
        return parse_ignore_file(read_small(path.resolve(), MOST_BYTES))
    except (OSError, RuntimeError, ValueError):
        return NOTHING


def _excludes(options: ScanOptions) -> IgnoreFile:
    for glob in options.exclude:
        if glob.startswith("!"):
            remedy = f"Write {glob} in a {IGNORE_FILE} file instead: exclude can only leave out."
            raise ScanError(f"The exclude pattern {glob!r} would bring files back.", remedy=remedy)
    try:
        return parse_excludes(options.exclude)
    except GlobError as error:
        glob, why = error.args
        remedy = "Write it as a line of a .gitignore file."
        raise ScanError(f"The exclude pattern {glob!r} is malformed: {why}.", remedy=remedy) from error
