"""Keep views over all paths for questions: an update changes only its own files in them."""

from bisect import bisect_left, insort
from collections.abc import Callable, Hashable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from threading import Lock
from typing import Any, NamedTuple, TypeVar

from cqm.index.manifest.manifest import Manifest
from cqm.index.text.globs import paths_matching

_MOST = 64
"""Views kept; those asked for longest ago go first."""
_MANY = 2_000
"""Changed files: of more, looking at all paths is as quick."""

_View = TypeVar("_View")
_Value = TypeVar("_Value")


class _Kept(NamedTuple):
    """A view, and the commits seen by it."""

    view: Any
    seen: int


class KnownPaths:
    """Views of the paths of an opened generation, which never change. Any thread may call the methods."""

    def __init__(self, manifest: Manifest) -> None:
        self._manifest = manifest
        self._lock = Lock()
        self._kept: dict[Hashable, _Kept] = {}

    def with_chunks(self) -> list[str]:
        """Return the sorted paths of all files with chunks; it is not to be changed."""
        return self.view("chunks", _as_they_are, _replaced, are_chunked=True)

    def view(
        self,
        key: Hashable,
        make: Callable[[list[str]], _View],
        change: Callable[[_View, AbstractSet[str], Sequence[str]], _View],
        *,
        are_chunked: bool = False,
    ) -> _View:
        """Return a function's view of all paths, brought up to date.

        Parameters:
            key: of the view, the same for the same functions.
            make: makes the view of all paths, sorted.
            change: returns the view after changes, given the added, changed and removed files, and those still there.
            are_chunked: whether only files with chunks count, not all known ones.

        Raises:
            ManifestError: the index cannot be read.
        """
        read = self._manifest.paths if are_chunked else self._manifest.file_paths
        with self._lock:
            # Taken before the paths: a commit in between is looked at again.
            commits = self._manifest.commits
            kept = self._kept.pop(key, None)
            changed = self._manifest.changed_after(kept.seen) if kept else None
            if kept is None or changed is None or len(changed) > _MANY:
                view = make(read())
            else:
                view = change(kept.view, changed, read(changed)) if changed else kept.view
            self._kept[key] = _Kept(view, commits)
            while len(self._kept) > _MOST:
                del self._kept[next(iter(self._kept))]
        return view

    def selected(
        self,
        key: Hashable,
        select: Callable[[Sequence[str]], Mapping[str, _Value]],
        *,
        are_chunked: bool = False,
    ) -> Mapping[str, _Value]:
        """Return the paths selected by a function, each with its value, in no order.

        Parameters:
            key: of the selection, the same for the same function.
            select: decides on each path by itself.
            are_chunked: as in `view`.

        Raises:
            ManifestError: the index cannot be read.
        """

        def change(
            view: Mapping[str, _Value], changed: AbstractSet[str], present: Sequence[str]
        ) -> Mapping[str, _Value]:
            selected = select(present)
            if not selected and changed.isdisjoint(view):
                return view
            kept = {**view}
            for path in changed:
                kept.pop(path, None)
            return kept | {**selected}

        return self.view(key, select, change, are_chunked=are_chunked)

    def matching(self, globs: Sequence[str], *, are_chunked: bool = True) -> AbstractSet[str]:
        """Return the paths matching any of some globs.

        Parameters:
            globs: in the syntax of `paths_matching`.
            are_chunked: as in `view`.

        Raises:
            QueryError: a glob is malformed, or they are too many or too long together.
            ManifestError: the index cannot be read.
        """
        globs = tuple(globs)

        def select(paths: Sequence[str]) -> dict[str, None]:
            return dict.fromkeys(paths_matching(globs, paths))

        return self.selected(("globs", globs, are_chunked), select, are_chunked=are_chunked).keys()


def _as_they_are(paths: list[str]) -> list[str]:
    return paths


def _replaced(view: list[str], changed: AbstractSet[str], present: Sequence[str]) -> list[str]:
    there = {*present}
    known = {path for path in changed if view[(at := bisect_left(view, path)) : at + 1] == [path]}
    if known == there:
        return view
    kept = [*view]
    for path in known - there:
        del kept[bisect_left(kept, path)]
    for path in there - known:
        insort(kept, path)
    return kept
