"""What the surface can raise, beside the errors of the index and of chunking."""

from cqm.chunkers.errors import CqmError


class SettingsError(CqmError):
    """The configuration is refused: an unknown option, a bad value, a file that cannot be read, a project not trusted.

    The message has one line for each problem, beginning with the file and line, or the environment variable.
    """


class WhenError(CqmError):
    """A moment is neither a span such as 2d nor a date."""


class PathRefusedError(CqmError):
    """A client named a path that this server may not read, or that it cannot find."""


class ServeError(CqmError):
    """The server cannot start as asked: an address in use, or one that other machines reach without a token."""


class SharingError(CqmError):
    """The process that owns an index cannot be started or reached, does not answer, or died again and again."""
