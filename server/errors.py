"""Errors of the server, beside those of the index and of chunking."""

from cqm.chunkers.errors import CqmError


class SettingsError(CqmError):
    """The configuration is refused: an unknown option, a bad value, an unreadable file, an untrusted project.

    The message has one line for each problem, beginning with the file and line, or the environment variable.
    """


class WhenError(CqmError):
    """A moment is neither a span such as 2d nor a date."""


class PathRefusedError(CqmError):
    """A client named a path outside the allowed roots, or one the server can't find."""


class MissingPathError(PathRefusedError):
    """A client named a path in an allowed root where nothing is."""


class OpeningError(CqmError):
    """An index is still being opened; the same question is answered in a moment."""


class ServeError(CqmError):
    """The server can't start: the address is in use, or other machines could reach it without a token."""


class SharingError(CqmError):
    """The process owning an index can't be started or reached, doesn't answer, or died again and again."""


class BulkError(CqmError):
    """A list of repositories is not valid, or one of them cannot be had or exported."""


class BulkListError(BulkError):
    """Lines of a list of repositories are not valid. The message has one line for each problem."""
