"""Find the paths of a tree in scope by walking it with descriptors.

Folders are opened below the root without following links, so nothing outside of the tree is listed, even while folders
are replaced by links.
"""

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from cqm.index.disk.beneath import opened_folder, opened_root
from cqm.index.files.git_folder import git_folder_at
from cqm.index.files.git_index import Tracked, tracked_by
from cqm.index.files.ignore import Rules, Standing, TreeRules, WorkTree, rules_in, rules_of, standing_of, suspects_in
from cqm.index.files.skip import NEVER_LISTED, reason_of_folder
from cqm.index.model.options import ScanOptions


def folders(root: Path, options: ScanOptions, top: Path) -> Iterator[Path]:
    """Yield the folders in scope at and below `top`, each before its content; none if `top` is not in scope.

    Parameters:
        root: the indexed folder, a real path.
        top: the root or a folder below it.

    Raises:
        ScanError: a pattern of the options is malformed.
    """
    rules, known = rules_of(root, options), Folders(root)
    below = top.relative_to(root).as_posix() if top != root else ""
    listing = list_below(rules, known, [below]) if below else list_tree(rules, known)
    if not below:
        yield root
    in_scope = {""}
    for path in sorted(path for path, status in listing.items() if stat.S_ISDIR(status.st_mode)):
        parent = parent_of(path)
        name = path.rpartition("/")[2]
        if parent not in in_scope or name in NEVER_LISTED:
            continue
        if reason_of_folder(name, known.names_of(path), known.names_of(parent), options) is None:
            in_scope.add(path)
            if path == below or not below or path.startswith(f"{below}/"):
                yield root / path


_JUNCTION = 0xA0000003
"""IO_REPARSE_TAG_MOUNT_POINT, which the module `stat` has on Windows only."""
_HAS_JUNCTIONS = hasattr(os.stat_result, "st_reparse_tag")

Listing = dict[str, os.stat_result]
"""The `lstat` of paths relative to the root, with "/" between parts."""

NamesOf = Callable[[str], frozenset[str]]
"""Returns the names in a folder of the tree; none if it cannot be read."""


@dataclass(frozen=True, slots=True)
class Folders:
    """Known folders of a tree; each is read once.

    Attributes:
        root: a real path.
        names: names in each folder read.
        tracked: paths tracked by git, by the top of the work tree.
        unreadable: folders in scope which could not be read.
    """

    root: Path
    names: dict[str, frozenset[str]] = field(default_factory=dict)
    tracked: dict[Path, Tracked] = field(default_factory=dict)
    unreadable: set[str] = field(default_factory=set)

    def names_of(self, folder: str) -> frozenset[str]:
        """Return the names in a folder; none if it cannot be read."""
        if folder not in self.names:
            try:
                with opened_root(self.root) as root, opened_folder(root, folder) as opened:
                    self.names[folder] = _names_in(opened)
            except OSError:
                self.names[folder] = frozenset()
        return self.names[folder]


def parent_of(path: str) -> str:
    """Return the parent folder of a path; "" for the root."""
    return path.rpartition("/")[0]


def list_tree(rules: TreeRules, folders: Folders) -> Listing:
    """List everything in scope: files, links, folders and other entries.

    Raises:
        OSError: the root can no longer be read.
    """
    listing: Listing = {}
    with opened_root(rules.root) as root:
        _walk(rules, folders, root, ("", rules.above), listing)
    return listing


def list_below(rules: TreeRules, folders: Folders, below: Iterable[str]) -> Listing:
    """List some paths and the folders above them, at a cost independent of the tree's size; see `list_tree`.

    Parameters:
        below: files and folders relative to the root, with "/" between parts; they may have vanished.

    Raises:
        OSError: the root can no longer be read.
    """
    listing: Listing = {}
    inside: dict[str, Rules] = {}
    with opened_root(rules.root) as root:
        for path in below:
            reached = _reach(rules, folders, root, path, inside, listing)
            if reached:
                _walk(rules, folders, root, (path, reached), listing)
    return listing


def _walk(rules: TreeRules, folders: Folders, root: int | Path, top: tuple[str, Rules], listing: Listing) -> None:
    """Add everything in scope below a folder, given with its parent folder's rules."""
    waiting = [top]
    while waiting:
        folder, of_folder = waiting.pop()
        try:
            with opened_folder(root, folder) as opened, os.scandir(opened) as found:
                entries = list(found)
                names = folders.names[folder] = frozenset([entry.name for entry in entries])
                here = rules_in(of_folder, rules, folder, opened, names)
                suspects = suspects_in(here, rules, folder, names)
                for entry in entries:
                    name = entry.name
                    path = f"{folder}/{name}" if folder else name
                    is_folder = entry.is_dir(follow_symlinks=False) and not _is_junction(entry)
                    inner: Rules | None = here
                    if name in suspects or name in NEVER_LISTED:
                        inner = _rules_of_entry(here, rules, folders, path, name, is_folder=is_folder)
                    if inner and _add(listing, path, entry) and is_folder and name not in rules.pruned:
                        waiting.append((path, inner))
        except OSError:
            if not folder:
                # Out of descriptors, for example: an unreadable tree is not an empty one.
                raise
            # Its entry was listed before: it has just vanished, or is listed as unreadable.
            folders.names.setdefault(folder, frozenset())
            folders.unreadable.add(folder)


def _reach(
    rules: TreeRules, folders: Folders, root: int | Path, path: str, inside: dict[str, Rules], listing: Listing
) -> Rules | None:
    """Add the folders above a path, from the top, and the path, as far as they are in scope and no link.

    Parameters:
        path: relative to the root.
        inside: known rules for the entries of folders.

    Returns:
        The rules for the path if it is a folder to be walked.
    """
    folder, of_folder = "", rules.above
    for part in path.split("/"):
        try:
            with opened_folder(root, folder) as opened:
                if folder not in inside:
                    names = folders.names[folder] = _names_in(opened)
                    inside[folder] = rules_in(of_folder, rules, folder, opened, names)
                status = _status_in(opened, part)
        except OSError:
            return None
        here = f"{folder}/{part}" if folder else part
        is_folder = stat.S_ISDIR(status.st_mode)
        inner = _rules_of_entry(inside[folder], rules, folders, here, part, is_folder=is_folder)
        # A file in place of a folder was not wanted. A link is listed, to explain why nothing below is in scope.
        if inner is None or (stat.S_ISREG(status.st_mode) and here != path):
            return None
        listing[here] = status
        if not is_folder or part in rules.pruned:
            return None
        folder, of_folder = here, inner
    return of_folder


def _rules_of_entry(
    here: Rules, rules: TreeRules, folders: Folders, path: str, name: str, *, is_folder: bool
) -> Rules | None:
    """Return the rules for an entry of a folder; None if it is not in scope."""
    if name in NEVER_LISTED:
        return None
    standing = standing_of(here, rules, path, name, is_folder=is_folder)
    if standing is Standing.IN:
        return here
    if standing is Standing.OUT or here.work_tree is None:
        return None
    tracked = _tracked(folders, here.work_tree)
    in_work_tree = here.work_tree.prefix + path[here.work_tree.cut :]
    is_tracked = tracked.has(in_work_tree) or (is_folder and tracked.has_below(in_work_tree))
    return replace(here, only_tracked=True) if is_tracked else None


def _tracked(folders: Folders, work_tree: WorkTree) -> Tracked:
    known = folders.tracked
    if work_tree.top not in known:
        place = git_folder_at(work_tree.top)
        known[work_tree.top] = (place and tracked_by(place.own)) or Tracked()
    return known[work_tree.top]


def _add(listing: Listing, path: str, entry: "os.DirEntry[str]") -> bool:
    try:
        listing[path] = _seen(entry.stat(follow_symlinks=False))
    except FileNotFoundError:
        return False
    return True


def _names_in(folder: int | Path) -> frozenset[str]:
    with os.scandir(folder) as found:
        return frozenset([entry.name for entry in found])


def _status_in(folder: int | Path, name: str) -> os.stat_result:
    if isinstance(folder, Path):
        return _seen((folder / name).lstat())
    return os.stat(name, dir_fd=folder, follow_symlinks=False)


def _is_junction(entry: "os.DirEntry[str]") -> bool:
    """Whether an entry is a junction or a mounted disk: to Windows a folder, which may lead out, or to itself."""
    return _HAS_JUNCTIONS and _tag(entry.stat(follow_symlinks=False)) == _JUNCTION


def _seen(status: os.stat_result) -> os.stat_result:
    """Return an entry's status; a junction's as a link's."""
    if _tag(status) != _JUNCTION:
        return status
    named = {name: getattr(status, name) for name in dir(status) if name.startswith("st_")}
    return os.stat_result((stat.S_IFLNK, *status[1:]), named)


def _tag(status: os.stat_result) -> int:
    return getattr(status, "st_reparse_tag", 0)
