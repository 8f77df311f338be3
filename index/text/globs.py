"""Path globs in .gitignore syntax, as in `--include` and `--exclude`."""

import re
from collections.abc import Iterable, Sequence

from pathspec import GitIgnoreSpec

from cqm.index.model.errors import QueryError

_FOLDER = re.compile(r"/?((?:[^*?\[\]!\\/]+/)+)\*\*")


def paths_matching(globs: Sequence[str], paths: Iterable[str]) -> set[str]:
    """Return the paths matching any of the globs.

    Raises:
        QueryError: a glob is malformed, or they are too many or too long together.
    """
    if not globs:
        return set()
    import re2  # start-up time

    try:
        return set(GitIgnoreSpec.from_lines(globs).match_files(paths))
    except ValueError as error:
        message = f"A glob of {', '.join(globs)} is malformed: {error}."
        raise QueryError(message, remedy="Write globs as in .gitignore, such as src/**/*.py.") from error
    except re2.error as error:
        size = sum(map(len, globs))
        message = f"{len(globs):,} globs of {size:,} characters together are too much to match: {error}."
        raise QueryError(message, remedy="Give fewer or shorter ones.") from error


def from_root(glob: str, root: str) -> str:
    """Write a glob as one relative to the root: of "./src/**" and "/home/me/project/src/**" that is "/src/**"."""
    for prefix in ("./", f"{root.rstrip('/')}/"):
        if glob.startswith(prefix):
            return f"/{glob.removeprefix(prefix)}"
    return glob


def prefix_folder(glob: str) -> str:
    """Return the folder "a/b" of a glob "a/b/**"; empty for any other glob."""
    match = _FOLDER.fullmatch(glob)
    return match[1].rstrip("/") if match else ""
