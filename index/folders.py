"""The folders in scope: those that an ignore rule does not close. A watcher needs them, the empty ones too."""

from collections.abc import Iterator
from pathlib import Path

from ignore import WalkBuilder

from cqm.index.model import ScanOptions

_NEVER = frozenset({".git", ".cqm", ".hg", ".svn"})
_VENDORED = frozenset({"node_modules", "bower_components", ".venv", "venv", "__pycache__"})


def folders(root: Path, options: ScanOptions, top: Path) -> Iterator[Path]:
    """The folders in scope at and below `top`, a folder before what is in it; none when `top` itself is closed.

    Parameters:
        root: the indexed folder, a real path.
        options: which ignore rules hold.
        top: the root or a folder below it, whose parent is in scope.
    """
    if top != root and top not in _walk(top.parent, options, depth=1):
        return
    yield from _walk(top, options)


def _walk(top: Path, options: ScanOptions, depth: int | None = None) -> Iterator[Path]:
    closed: set[Path] = set()
    builder = WalkBuilder(top).hidden(False).require_git(False).max_depth(depth)
    builder.git_ignore(options.use_gitignore).git_global(options.use_gitignore).git_exclude(options.use_gitignore)
    builder.add_custom_ignore_filename(".cqmignore").ignore(False)
    for entry in builder.build():
        path = entry.path()
        if not path.is_dir() or path.is_symlink():
            continue
        vendored = path.name in _VENDORED and not options.include_vendored
        if path != top and (path.parent in closed or path.name in _NEVER or vendored):
            closed.add(path)
        else:
            yield path
