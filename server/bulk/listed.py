"""The list of repositories of `cqm bulk`, and clones of the remote ones."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from cqm.index.files import git
from cqm.server.errors import BulkError, BulkListError

_NAME = re.compile(r"\w[\w.-]{0,99}")
_ADDRESS = re.compile(r"\w+://|[\w.-]+@[\w.-]+:")
GIT_SECONDS = 7200.0
"""Longest clone or fetch: a stalled one would hold its job for ever."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A line of the list.

    Attributes:
        source: a folder, or an address for `git clone`.
        name: of its snapshot, without the suffix.
    """

    source: str
    name: str

    @property
    def is_elsewhere(self) -> bool:
        """Whether it has to be cloned."""
        return bool(_ADDRESS.match(self.source))


MOST_BYTES = 16 << 20
"""Bytes of a list, those of a hundred thousand repositories. A device such as /dev/zero has no end."""


def read_list(data: bytes, base: Path) -> list[Repository]:
    """Read a list: a folder or an address a line, and a name unless it is its last part; `#` begins a comment.

    Parameters:
        data: in UTF-8, with or without a byte order mark.
        base: the folder for relative ones.

    Raises:
        BulkListError: impossible names, or names of two repositories; all of them.
        BulkError: the list is empty, too long, or no text.
    """
    found: dict[str, Repository] = {}
    problems: list[str] = []
    for number, line in enumerate(_text_of(data).splitlines(), start=1):
        try:
            repository = _repository_of(line, base)
        except ValueError as problem:
            problems.append(f"line {number}: {problem}")
            continue
        if repository and repository.name in found:
            problems.append(f"line {number}: {repository.name} is the name of another line; write one after it.")
        elif repository:
            found[repository.name] = repository
    if problems:
        raise BulkListError("\n".join(problems), remedy="Correct the list.")
    if not found:
        raise BulkError("The list names no repository.", remedy="Write a folder or an address a line.")
    return list(found.values())


def _text_of(data: bytes) -> str:
    if len(data) > MOST_BYTES:
        raise BulkError(f"The list has over {MOST_BYTES:,} bytes.", remedy="Split it, or name the file that you mean.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        at = data.count(b"\n", 0, error.start) + 1
        raise BulkError(f"line {at} of the list is not UTF-8.", remedy="Save the list as UTF-8.") from None


def _repository_of(line: str, base: Path) -> Repository | None:
    """Read a line of a list; None for a blank one and a comment.

    Raises:
        ValueError: it names none; the message says why.
    """
    words = shlex.shlex(line, posix=True)
    words.whitespace_split, words.escape = True, ""  # a path of Windows has backslashes
    try:
        source, *names = [*words] or [""]
    except ValueError:
        raise ValueError("a quote has no end. Write one at both ends of a folder's name.") from None
    if not source:
        return None
    if len(names) > 1:
        raise ValueError(
            f"expected a folder or an address, and at most a name, but there are {len(names) + 1} words. "
            "Put quotes around a folder with blanks."
        )
    name = names[0] if names else re.split(r"[/:\\]", source.rstrip("/\\"))[-1].removesuffix(".git")
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"the name {name!r} is none: expected at most 100 letters, digits, dots and hyphens. "
            "Write one after the folder or address."
        )
    return Repository(source if _ADDRESS.match(source) else str(base / Path(source).expanduser()), name)


def checked_out(repository: Repository, work: Path) -> Path:
    """Return the folder of a repository, cloned or brought to its newest commit if it is elsewhere.

    Parameters:
        work: clones are kept in it.

    Raises:
        BulkError: it is not there, or git fails.
    """
    if not repository.is_elsewhere:
        folder = Path(repository.source)
        if not folder.is_dir():
            raise BulkError(f"{folder} is not a folder.", remedy="Correct the list.")
        return folder.resolve()
    clone = work / "clones" / repository.name
    try:
        failure = git.clone_newest(repository.source, clone, GIT_SECONDS)
    except TimeoutError as error:
        raise BulkError(
            f"git is not done after {GIT_SECONDS:g} s.", remedy="Look at the network, and run it again.", retryable=True
        ) from error
    if failure:
        # Git's message repeats the address, which may have a password.
        told = re.sub(r"(?<=://)[^\s/]*@", "", failure)[-500:]
        raise BulkError(f"git fails: {told}", remedy="Check the address and its key.", retryable=True)
    return clone.resolve()
