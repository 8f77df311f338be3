"""Answer a tool's call from one folder, or from several below each other."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Generic, NoReturn, TypeVar

from cqm.chunkers.errors import CqmError
from cqm.index.model.errors import NotIndexedError, QueryError
from cqm.server.answers.merged import below_each_other, told_once
from cqm.server.boundary import new_mark
from cqm.server.console import one_line
from cqm.server.errors import PathRefusedError
from cqm.server.mcp.pending_changes import LACKS, ask_again
from cqm.server.mcp.scope import Asked

_HEAD_TOKENS = 16
"""Tokens of the line with a folder's name above the answer of its index."""
_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True)
class ToolCall(Generic[_Found]):
    """A call to several folders.

    Attributes:
        ask: asks an index, with the tokens of the reply.
        write: writes what it found, with the tokens and the mark of the reply; an empty mark stands for a new one.
        is_there: whether an index found anything.
        cursor: of the page before; it belongs to one folder.
        budget: tokens of the whole reply; None for the usual number.
        is_near: whether an index has something similar, for the case that none found anything.
    """

    ask: Callable[[Asked, int], _Found]
    write: Callable[[_Found, Asked, int, str], str]
    is_there: Callable[[_Found], bool]
    cursor: str = ""
    budget: int | None = None
    is_near: Callable[[_Found], bool] | None = None

    def answered(self, asked: Sequence[Asked]) -> str:
        """Ask the folders; write the answers of those with results; several stand below their names.

        Raises:
            CqmError: of the only index, or all refuse.
            PathRefusedError: a cursor of one of several folders.
        """
        if len(asked) == 1:
            return self._of_one(asked[0])
        if self.cursor:
            remedy = f"Give one of: {_names(asked)}."
            raise PathRefusedError("path: expected the folder that the cursor is of.", remedy=remedy)
        return self._of_several(asked)

    def _of_one(self, it: Asked) -> str:
        head = it.above + (below_each_other({it.name: ""}, "") if it.is_of_several else "")
        tokens = it.at.tokens_left(self.budget, it.notes + head)
        with _with_note(it.above):
            it, found = self._asked(it, tokens)
        return head + it.notes + self.write(found, it, tokens, "")

    def _of_several(self, asked: Sequence[Asked]) -> str:
        above = asked[0].above
        found, errors = list[tuple[Asked, _Found]](), dict[str, CqmError]()
        for it in asked:
            try:
                found.append(self._asked(it, it.at.tokens_left(self.budget, it.notes)))
            except (QueryError, NotIndexedError) as error:
                errors[it.name] = error
        if not found:
            with _with_note(above):
                _raise_all(errors, _names(asked))
        found = self._best(found)
        mark = new_mark(repr(it) for _, it in found)
        tokens = min(it.at.tokens_left(self.budget, it.notes + above) for it, _ in found) // len(found) - _HEAD_TOKENS
        texts = {it.name: it.notes + self.write(some, it, tokens, mark) for it, some in found}
        # A folder lacking a name is no news; one unable to answer is.
        texts |= {name: f"{one_line(str(error))}\n" for name, error in errors.items() if not isinstance(error, LACKS)}
        return above + below_each_other(texts, mark)

    def _asked(self, it: Asked, tokens: int) -> tuple[Asked, _Found]:
        """Ask the index of a folder; again after its changes if it lacks what is asked for."""
        found, notes = ask_again(
            it.at.opened, lambda: self.ask(it, tokens), notes=it.notes, patience=it.patience, is_there=self.is_there
        )
        return replace(it, notes=notes), found

    def _best(self, found: list[tuple[Asked, _Found]]) -> list[tuple[Asked, _Found]]:
        """Return the answers with results; else those with something similar; else all."""
        there = [it for it in found if self.is_there(it[1])]
        near = [it for it in found if self.is_near(it[1])] if self.is_near and not there else []
        return there or near or found


def _names(asked: Sequence[Asked]) -> str:
    return ", ".join(it.name for it in asked)


def _raise_all(errors: Mapping[str, CqmError], names: str) -> NoReturn:
    """Raise the errors of all folders as one of the first's kind."""
    messages = told_once({name: error.message for name, error in errors.items()})
    remedies = told_once({name: error.remedy for name, error in errors.items()})
    kind = type(next(iter(errors.values())))
    raise kind(" ".join([*messages, f"Looked for in {names}."]), remedy=" ".join(remedies))


@contextmanager
def _with_note(note: str) -> Iterator[None]:
    """Add a note to an error about a missing name: the name may be where the note says."""
    try:
        yield
    except LACKS as error:
        if not note:
            raise
        message = f"{error.message} {note.strip()}"
        raise type(error)(message, remedy=error.remedy, retryable=error.retryable) from error
