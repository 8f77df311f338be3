"""The folders in scope, the empty ones too: what a watcher has to watch."""

import stat
from collections.abc import Iterator
from pathlib import Path

from cqm.index.files.ignore import rules_of
from cqm.index.files.listing import Folders, list_below, list_tree, parent_of
from cqm.index.files.skip import NEVER_LISTED, reason_of_folder
from cqm.index.model.options import ScanOptions


def folders(root: Path, options: ScanOptions, top: Path) -> Iterator[Path]:
    """The folders in scope at and below `top`, a folder before what is in it; none when `top` is not in scope.

    Parameters:
        root: the indexed folder, a real path.
        options: what is in scope.
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
