"""Read globs as people write them, with backslashes or the root's name; find folders near one without matches."""

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import PurePosixPath

from cqm.index.generations.generation import Generation
from cqm.index.text.globs import from_root

_WILD = re.compile(r"[*?\[]")
_MOST_NEAR = 5
_LEAST_LIKE = 0.6
_LONGEST = 100


def read_globs(generation: Generation, root: str, globs: Sequence[str]) -> tuple[str, ...]:
    r"""Return globs relative to the root in the syntax of .gitignore.

        read_globs(generation, "/home/me/web", ("./src", r"src\api\*.go", "web/src/**", "src/{a,b}.go"))
        # ("/src", "src/api/*.go", "src/**", "src/{a,b}.go")

    A backslash and the root's name mean themselves where some path has them.

    Parameters:
        root: of the index, absolute.
        globs: as given, none blank.

    Raises:
        QueryError: a glob is malformed, or they are too many or too long together.
    """
    return tuple(_read(generation, root, glob.strip()) for glob in globs)


def _read(generation: Generation, root: str, glob: str) -> str:
    readings = [*dict.fromkeys(_readings(glob, root))]
    if len(readings) == 1:
        return readings[0]
    return next((it for it in (glob, *readings) if fits(generation, it)), readings[0])


def _readings(glob: str, root: str) -> Iterator[str]:
    own = f"{PurePosixPath(root).name}/"
    for written in (glob, glob.replace("\\", "/")):
        anchored = from_root(written, root)
        # The root itself is everything.
        yield "/**" if anchored.rstrip("/") in {"", ".", root} else anchored
        if (inner := anchored.removeprefix("**").lstrip("/")).startswith(own):
            yield f"/{inner.removeprefix(own)}"


def fits(generation: Generation, *globs: str) -> bool:
    """Tell whether a path with chunks matches one of some globs.

    Raises:
        QueryError, ManifestError: as in `read_globs`.
    """
    return bool(generation.paths.matching(globs))


def near_paths(generation: Generation, glob: str) -> list[str]:
    """Return the folders and files with the names nearest to a glob's, else the outermost folders."""
    paths = generation.paths.with_chunks()
    folders = {f"{folder}/" for path in paths for folder in map(str, PurePosixPath(path).parents) if folder != "."}
    by_name: dict[str, list[str]] = {}
    for path in sorted(folders) + paths:
        by_name.setdefault(path.rstrip("/").rpartition("/")[2].lower(), []).append(path)
    parts = [part.lower() for part in re.split(r"[/\\]", glob) if part and part != "**"]
    for part in reversed(parts):
        word = _WILD.sub("", part).strip("!{}")[:_LONGEST]
        if found := [path for name in get_close_matches(word, by_name, 3, _LEAST_LIKE) for path in by_name[name]]:
            return found[:_MOST_NEAR]
    return sorted(it for it in folders if it.count("/") == 1)[:_MOST_NEAR] or paths[:_MOST_NEAR]
