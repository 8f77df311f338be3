"""Match paths as a text names them, of another machine or an installed package, with the files of an index."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from copy import copy
from difflib import get_close_matches
from functools import cached_property, partial
from itertools import chain, takewhile
from pathlib import PurePath, PurePosixPath
from typing import NamedTuple

from cqm.index.generations.generation import Generation
from cqm.index.model.errors import QueryError
from cqm.index.text.addresses import plain_path

_STANDARD = re.compile(
    r"/usr/(?:local/)?(?:lib/)?go(?:-[\d.]+)?/src/|(?:^|/)(?:rustc/\w+|library/(?:core|std|alloc)/src|sysdeps|libsanitizer|rustlib/src|go/src/runtime)/"
    r"|/python\d(?:\.\d+)?/(?!(?:site|dist)-packages/)|/ruby/\d[\d.]*/(?!gems/|bundler/)|/build/glibc-|^node:|/jdk/src/"
    r"|(?:^|/)usr/include/[^/]+$"
)
"""Files of languages themselves."""
_PACKAGES = re.compile(
    r"/(?:site-packages|dist-packages|node_modules(?:/\.pnpm/[^/]+/node_modules)?|gems|pkg/mod|vendor"
    r"|registry/src/[^/]+|usr/include(?:/[\w.]+-linux-\w+)?(?=/[^/]+/)"
    # Cargo's and Bundler's copies of repositories, with the hash of a commit.
    r"|(?:git/checkouts|bundler/gems)/(?P<repository>[^/]+?)-[0-9a-f]{6,40}(?:/[0-9a-f]{6,40})?)/"
)
"""Folders with a folder for each installed package."""
_FEW_PARTS = 2
"""Every project may have a path of so few parts, such as src/lib.rs."""
_VERSION = re.compile(r"(?:@v?|-)\d+(?:\.\d+)+[\w.+-]*$")
_MOST_COMPARED = 20_000
"""Names to look for a similar one in; each takes a microsecond."""
_LONGEST_COMPARED = 100
_MOST_NEAR, _MOST_OF_NAME = 3, 2
_LEAST_LIKE = 0.7
_MOST_LISTED = 20
_EXACT, _WHOLE, PARTLY = 3, 2, 1
_SHORT_PACKAGES = (".kt", ".kts", ".scala")
"""Endings of languages whose folders may leave out the project's common package."""
_SOURCES = frozenset({"src", "kotlin", "scala", "java"})
"""Folders with packages below them."""


class Match(NamedTuple):
    """A file possibly meant by a path.

    Attributes:
        path: in the index.
        grade: 3 for its whole path, 2 for all of one path at the end of the other, 1 for less.
        before: the root's folder on the other machine, if the path tells it.
    """

    path: str
    grade: int
    before: str = ""


class TreePaths:
    """The files of an index, to find by the ends of their paths.

    Parameters:
        paths: of all files, relative to the root.
        root: absolute; the names of its folders count as parts of a path.

    Attributes:
        by_name: sorted paths by the name of the file in lower case.
    """

    def __init__(self, paths: Iterable[str], root: str = "") -> None:
        self._root = [part for part in PurePath(root).parts if part != PurePath(root).anchor]
        by_name: defaultdict[str, list[str]] = defaultdict(list)
        for path in paths:
            by_name[_name_of(path)].append(path)
        self.by_name: Mapping[str, Sequence[str]] = dict(by_name)

    def changed(self, changed: AbstractSet[str], present: Iterable[str]) -> "TreePaths":
        """Return the files after an update of some; `present` are those still there."""
        there = {*present}
        by_name: dict[str, Sequence[str]] = {}
        for name in {*map(_name_of, changed)}:
            known = self.by_name.get(name, ())
            by_name[name] = sorted({*known} - changed | {path for path in there if _name_of(path) == name})
        if all(paths == self.by_name.get(name, []) for name, paths in by_name.items()):
            return self
        tree = copy(self)
        tree.by_name = {name: paths for name, paths in ({**self.by_name} | by_name).items() if paths}
        for text in ("_text", "_lowered", "_folders"):
            tree.__dict__.pop(text, None)
        return tree

    def has_part(self, part: str) -> bool:
        """Whether a file has a text in its path, in any case."""
        return part.lower() in self._lowered

    @cached_property
    def _lowered(self) -> str:
        return self._text.lower()

    @cached_property
    def _text(self) -> str:
        """All paths, each between zeros, to find parts of paths at once."""
        return "\0".join(["", *chain.from_iterable(self.by_name.values()), ""])

    def has_folder(self, folder: str, *, is_anywhere: bool = False) -> bool:
        """Whether a file is below a folder, given by its path from the root, or by the end of its path."""
        return f"\0{folder}/" in self._text or (is_anywhere and f"/{folder}/" in self._text)

    def of(self, path: str) -> list[Match]:
        """Return the files a path may mean: the best fit, or several equally good ones.

        Agents mention a file as "@src/app.py"; Lua cuts a path to "...ject/app.py".
        """
        if path.startswith("..."):
            return self._of_cut(path[3:])
        matches = self._of(path)
        if path.startswith("@") and not any(it.grade >= _WHOLE for it in matches):
            return self._of(path[1:]) or matches
        return matches

    def alone(self, path: str) -> list[Match]:
        """Return the one file named as an absolute path is: a container has each service in a folder of its own."""
        known = self.by_name.get(path.rpartition("/")[2].lower(), ())
        is_of_others = not path.startswith("/") or _STANDARD.search(path) or _in_package(path)
        return [Match(known[0], PARTLY)] if len(known) == 1 and not is_of_others else []

    def one(self, path: str) -> str:
        """Return the file surely meant by a path, as written or by its end; empty for none.

        Raises:
            QueryError: it may be any of several.
        """
        paths = self._sure(path)
        if len(paths) > 1:
            listed = ", ".join(sorted(paths)[:_MOST_LISTED])
            raise QueryError(f"{path} may be any of {len(paths)} files: {listed}.", remedy="Give more of the path.")
        return paths[0] if paths else ""

    def meant(self, path: str) -> str:
        """Return the file or folder surely meant by a path, written in any way or by its end; empty for none.

        Raises:
            QueryError: it may be any of several files.
        """
        asked = plain_path(path).rstrip("/")
        if found := self.one(asked):
            return found
        folders = self._folders_meant(asked)
        return folders[0] if len(folders) == 1 else ""

    def every_meant(self, path: str) -> list[str]:
        """Return the files meant by a path as in `meant`, else folders; several if it is ambiguous."""
        asked = plain_path(path).rstrip("/")
        return self._sure(asked) or self._folders_meant(asked)

    def _sure(self, path: str) -> list[str]:
        matches = self.of(path)
        return [it.path for it in matches if it.grade == _EXACT] or [it.path for it in matches if it.grade > PARTLY]

    def _folders_meant(self, asked: str) -> list[str]:
        parts = [part for part in asked.split("/") if part not in {"", ".", ".."}]
        known = self._folders.get(parts[-1].lower(), ()) if parts else ()
        return [it for it in known if _common(parts, self._whole(it).split("/")) == len(parts)]

    def near(self, path: str) -> list[str]:
        """Return files with almost the name of a path's, else folders; best first, none for a long name."""
        name = plain_path(path).rstrip("/").rpartition("/")[2].lower()
        if len(name) > _LONGEST_COMPARED:
            return []
        return _alike(name, self.by_name) or [f"{it}/" for it in _alike(name, self._folders)]

    @cached_property
    def _folders(self) -> Mapping[str, Sequence[str]]:
        """Folders with files by their names in lower case."""
        by_name: defaultdict[str, list[str]] = defaultdict(list)
        above = {folder for paths in self.by_name.values() for path in paths for folder in PurePosixPath(path).parents}
        for folder in sorted(map(str, above)):
            by_name[_name_of(folder)].append(folder)
        return by_name

    def _of(self, path: str) -> list[Match]:
        asked = [part for part in path.split("/") if part not in {"", ".", ".."}]
        known = self.by_name.get(asked[-1].lower(), ()) if asked else ()
        if path in known:
            # A trace may name only the file; its function tells namesakes apart.
            others = [each for each in known if each != path] if "/" not in path else []
            return [Match(path, _EXACT), *(Match(each, _WHOLE) for each in others)]
        found = [match for each in known if (match := self._match(path, asked, each)) and match[1].grade]
        if not found and path.endswith(".swift") and len(asked) == 2:  # noqa: PLR2004 - Swift's #fileID: module/file
            module = asked[0].lower()
            return [Match(each, _WHOLE) for each in known if module in self._whole(each).lower().split("/")]
        best = max((common for common, _ in found), default=(0, 0))
        return [match for common, match in found if common == best]

    def _of_cut(self, path: str) -> list[Match]:
        """Return the files with this end of a path; it may begin in the middle of a name."""
        name = path.rpartition("/")[2].lower()
        names = [name] if "/" in path else [each for each in self.by_name if each.endswith(name)]
        known = [each for name in names for each in self.by_name.get(name, ())]
        return [Match(each, _WHOLE) for each in known if self._whole(each).lower().endswith(path.lower())]

    def _whole(self, known: str) -> str:
        return "/".join((*self._root, known))

    def _match(self, path: str, asked: Sequence[str], known: str) -> tuple[tuple[int, int], Match] | None:
        whole = [*self._root, *known.split("/")]
        own = known.count("/") + 1
        common = _common(asked, whole)
        before = "/".join(asked[:-own]) if common >= own else ""
        # A package kept beside the project's own files is one of them.
        is_own = common >= own and own > 1 and bool(_PACKAGES.search(f"/{known}"))
        package = _in_package(f"/{path}")
        if package and not is_own:
            return _of_package(*package, whole, own, known)
        if _STANDARD.search(path):
            return None
        if common == len(asked) or (common >= own and (own > 1 or common > own)):
            return (_WHOLE, common), Match(known, _WHOLE, before)
        if lacks_root_package(path, known):
            return (_WHOLE, common), Match(known, _WHOLE)
        # In a container a file of the root has another folder before it.
        is_partly = common > 1 or own == 1
        return ((PARTLY, common), Match(known, PARTLY, before)) if is_partly else None


def tree_of(generation: Generation, root: str = "") -> TreePaths:
    """Return the known files of a generation; for the root see `TreePaths`."""
    return generation.paths.view(("tree", root), partial(TreePaths, root=root), TreePaths.changed)


def _alike(name: str, known: Mapping[str, Sequence[str]]) -> list[str]:
    alike = sorted(it for it in known if abs(len(it) - len(name)) <= len(name) // 3)
    names = get_close_matches(name, alike[:_MOST_COMPARED], _MOST_NEAR, _LEAST_LIKE)
    return [each for it in names for each in sorted(known[it])[:_MOST_OF_NAME]]


def _name_of(path: str) -> str:
    return path.rpartition("/")[2].lower()


def _in_package(path: str) -> tuple[list[str], int] | None:
    """Return the parts of a path in an installed package, and how many of them are the package's name."""
    last = None
    for found in _PACKAGES.finditer(path):
        last = found
    if last is None:
        return None
    parts = path[last.end() :].split("/")
    folder = last[0].strip("/")
    if last["repository"]:
        # Its paths begin at its root, as those of the project.
        return [last["repository"], *parts], 2 if len(parts) > _FEW_PARTS else 1
    if folder == "pkg/mod":
        names = next((number for number, part in enumerate(parts, 1) if "@" in part), 3)
    else:
        names = 2 if folder == "vendor" or parts[0].startswith("@") else 1
    return [_VERSION.sub("", part) if number < names else part for number, part in enumerate(parts)], names


def _of_package(
    parts: Sequence[str], names: int, whole: Sequence[str], own: int, known: str
) -> tuple[tuple[int, int], Match] | None:
    """Match a file of an installed package, if the package is the project or one of its folders."""
    common = _common(parts, whole)
    if common == len(parts) and (common > 1 or own == 1):
        return (_WHOLE, common), Match(known, _WHOLE, "package")
    is_named = len(parts) > names and common > len(parts) - names
    return ((_WHOLE, common), Match(known, _WHOLE, "package")) if is_named else None


def lacks_root_package(path: str, known: str) -> bool:
    """Whether a path of package and file name fits a file whose folders leave out the root package.

        lacks_root_package("kotlinx/datetime/internal/Zone.kt", "core/common/src/internal/Zone.kt")  # True

    Parameters:
        path: of the text, with "/".
        known: path of the index.
    """
    asked, own = path.split("/"), known.split("/")
    roots = [number for number, part in enumerate(own) if part in _SOURCES]
    if not (path.endswith(_SHORT_PACKAGES) and len(asked) > 1 and roots) or path.startswith(("/", ".")):
        return False
    below = len(own) - 1 - roots[-1]
    return below < len(asked) and _common(asked, own) == below


def _common(asked: Sequence[str], known: Sequence[str]) -> int:
    """Return the number of equal parts at the end of two paths."""
    pairs = zip(reversed(asked), reversed(known), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0].lower() == pair[1].lower(), pairs))


def of_project(found: Iterable[Sequence[Match]]) -> list[Sequence[Match]]:
    """Return matches of a text's places without those merely looking like files of the project.

    The places of a trace locate the project together: "/app/src/run.py" shows that "/app/main.py" is "main.py".

    Parameters:
        found: of each place, in order.
    """
    matches = [*found]
    folders = {match.before for each in matches for match in each if match.grade >= _WHOLE and "/" in match.path}
    if not folders:
        return matches
    return [
        [it._replace(grade=max(it.grade, _WHOLE)) for it in each if it.grade >= _WHOLE or it.before in folders]
        for each in matches
    ]
