"""Path globs in .gitignore syntax, and with braces, as in `--include` and `--exclude`."""

import re
from collections.abc import Iterable, Sequence

from cqm.index.model.errors import QueryError

_FOLDER = re.compile(r"/?((?:[^*?\[\]{}!\\/]+/)+)\*\*")
_BRACES = re.compile(r"(?<!\\)(?P<before>(?:\\\\)*)\{(?P<parts>[^{}]{0,400},[^{}]{0,400})\}")
"""Not after a backslash, unless the backslash is escaped itself."""
_BRACKET = re.compile(r"(?<!\\)[\[\]]")
_MOST_ALTERNATIVES = 256


def paths_matching(globs: Sequence[str], paths: Iterable[str]) -> set[str]:
    """Return the paths matching any of the globs: "src/{a,b}.py" matches "src/a.py" and "src/b.py".

    Brackets are a class of characters and also themselves: "app/[id]/**" matches "app/[id]/page.tsx".

    Raises:
        QueryError: a glob is malformed, or they are too many or too long together.
    """
    if not globs:
        return set()
    globs = [read for glob in globs for each in _alternatives(glob) for read in _with_brackets_as_named(each)]
    import re2  # start-up time, here and below
    from pathspec import GitIgnoreSpec

    try:
        return set(GitIgnoreSpec.from_lines(globs).match_files(paths))
    except ValueError as error:
        message = f"A glob of {', '.join(globs)} is malformed: {error}."
        raise QueryError(message, remedy="Write globs as in .gitignore, such as src/**/*.py.") from error
    except re2.error as error:
        size = sum(map(len, globs))
        message = f"{len(globs):,} globs of {size:,} characters together are too much to match: {error}."
        raise QueryError(message, remedy="Give fewer or shorter ones.") from error


def _alternatives(glob: str) -> list[str]:
    """Expand a glob with braces; braces without a comma are characters of a name.

    Raises:
        QueryError: they are too many.
    """
    done, left = list[str](), [glob]
    while left:
        each = left.pop()
        # The innermost braces first.
        found = _BRACES.search(each)
        if not found:
            done.append(each)
            continue
        start, end = found.end("before"), found.end()
        left += [f"{each[:start]}{part}{each[end:]}" for part in found["parts"].split(",")]
        if len(left) + len(done) > _MOST_ALTERNATIVES:
            message = f"`{glob[:100]}` means more than {_MOST_ALTERNATIVES} globs."
            raise QueryError(message, remedy="Give fewer alternatives in braces.")
    return done


def _with_brackets_as_named(glob: str) -> tuple[str, ...]:
    """Return a glob, and the same with brackets as characters of a name: web frameworks call folders "[id]"."""
    named = _BRACKET.sub(r"\\\g<0>", glob)
    return (glob,) if named == glob else (glob, named)


def escaped(path: str) -> str:
    """Return the glob matching only a path: special characters of globs are escaped, also braces."""
    return "".join(f"\\{sign}" if sign in "*?[]{}!#\\ " else sign for sign in path)


def has_wildcard(path: str) -> bool:
    """Whether a path is a glob: it has a wildcard, or alternatives in braces."""
    return any(mark in path for mark in "*?[") or bool(_BRACES.search(path))


def from_root(glob: str, root: str) -> str:
    """Write a glob relative to the root: "./src/**" and "/home/me/project/src/**" become "/src/**"."""
    for prefix in ("./", f"{root.rstrip('/')}/"):
        if glob.startswith(prefix):
            return f"/{glob.removeprefix(prefix)}"
    return glob


def prefix_folder(glob: str) -> str:
    """Return the folder "a/b" of a glob "a/b/**"; empty for any other glob."""
    match = _FOLDER.fullmatch(glob)
    return match[1].rstrip("/") if match else ""
