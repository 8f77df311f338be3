"""Vocabulary of edits: a text in one of several formats, and an entry at a path of keys in it."""

from cqm.chunkers.errors import CqmError


class BrokenFileError(CqmError):
    """A client's file can't be read as its format, or has another shape than its documents tell.

    Parameters:
        why: the problem, without the file.
        line: of the problem, from 1.
    """

    def __init__(self, why: str, line: int) -> None:
        super().__init__(f"line {line}: {why}")
        self.why = why
        self.line = line


def newline_of(text: str) -> str:
    """Return the line end of a text's first line; a line feed for a text of one line."""
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


def line_of(text: str, position: int) -> int:
    """Return the line of a position, from 1."""
    return text.count("\n", 0, position) + 1
