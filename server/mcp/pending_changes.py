"""Ask an index again if a recent change may have brought the missing name: no answer denies a fresh edit."""

from collections.abc import Callable
from typing import TypeVar

from cqm.chunkers.errors import CqmError
from cqm.index.model.errors import FilterError, NotIndexedError, UnknownNameError
from cqm.index.model.freshness import NOT_KNOWN, judged
from cqm.server.answers.status_text import stale_lines
from cqm.server.workspace.workspace import OpenIndex

PATIENCE_SECONDS = 2.0
"""Longest wait for changes if an index lacks what was asked for, in a call without a wait of its own."""
LACKS = (FilterError, NotIndexedError, UnknownNameError)
"""Errors about a name, file or place missing in an index."""
_Found = TypeVar("_Found")


def pending_notes(opened: OpenIndex) -> str:
    """Write the known changes missing from an index as notes of a reply, a line each."""
    backlog = opened.backlog()
    return "".join(f"Note: {line}\n" for line in stale_lines(judged(NOT_KNOWN, backlog.count, backlog.since)))


def ask_again(
    opened: OpenIndex,
    ask: Callable[[], _Found],
    *,
    notes: str = "",
    patience: float = PATIENCE_SECONDS,
    is_there: Callable[[_Found], bool] = lambda _: True,
) -> tuple[_Found, str]:
    """Ask an index; if it lacks what was asked for, wait for the changes made so far, and ask again.

    Parameters:
        notes: of the reply, if the index is asked once.
        patience: longest wait in seconds.
        is_there: whether an answer has the thing asked for.

    Returns:
        The answer and its notes.

    Raises:
        CqmError: see `ask`; an error about a missing name mentions missing changes too.
    """
    try:
        found = ask()
        if is_there(found):
            return found, notes
    except LACKS as error:
        if not _has_waited(opened, patience):
            raise _behind(error, opened, notes) from error
    else:
        if not _has_waited(opened, patience):
            return found, notes
    try:
        return ask(), pending_notes(opened)
    except LACKS as error:
        raise _behind(error, opened, "") from error


def _has_waited(opened: OpenIndex, patience: float) -> bool:
    """Wait for changes, if there are any or nobody knows."""
    return bool(patience) and opened.backlog().count != 0 and opened.wait(patience)


def _behind(error: CqmError, opened: OpenIndex, notes: str) -> CqmError:
    """Add a note to an error if the index is behind its files, or if that is unknown."""
    told = notes or pending_notes(opened)
    sentences = [line.removeprefix("Note: ") for line in told.splitlines()] or [opened.backlog().problem]
    if not any(sentences):
        return error
    message = " ".join([error.message, *sentences])
    return type(error)(message, remedy=f"It may be found soon. {error.remedy}".strip(), retryable=True)
