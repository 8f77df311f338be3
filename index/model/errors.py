"""Errors of indexing and searching; those of chunking are in `chunkers.errors`."""

import errno
from typing import TYPE_CHECKING

from cqm.chunkers.errors import CqmError

if TYPE_CHECKING:
    from cqm.index.model.spaces import Embeddings


REBUILD = "Run `cqm index --force` to rebuild it."
"""The remedy for damage found while an index is in use."""


CHECK_DISK = "Check free space and permissions."
_MEMORY = "Memory is short: close other programs, or raise its limit (`ulimit -v`)."
MORE_THREADS = (
    "Threads, processes or memory are short: close other programs, or raise the limit (`ulimit -u`, `ulimit -v`)."
)
_REMEDIES = {
    errno.EMFILE: "Raise the limit of open files: `ulimit -n 1024`.",
    errno.ENOMEM: _MEMORY,
    errno.EFBIG: "Raise the limit of a file's size: `ulimit -f unlimited`.",
    errno.EAGAIN: MORE_THREADS,
}


def remedy_of_shortage(error: BaseException, number: int = 0) -> str:
    """Return the remedy if an error is a shortage of memory, descriptors, threads or a file's size; else nothing.

    Parameters:
        error: of the system or of Python.
        number: the system's `errno`, where a library in another language tells it in its message.
    """
    if isinstance(error, MemoryError):
        return _MEMORY
    return _REMEDIES.get(number or (isinstance(error, OSError) and error.errno) or 0, "")


class ScanError(CqmError):
    """The root cannot be walked: it is missing, not readable or neither file nor folder."""


class UnreadableFileError(CqmError):
    """A file in scope cannot be read: no permission, or an error of the disk."""


class VanishedFileError(UnreadableFileError):
    """A file vanished or was replaced between being found and being read."""


class NotIndexedError(CqmError):
    """A file is not part of the index: it does not exist, is ignored, or is skipped; the message has the reason."""


class WorkerError(CqmError):
    """A process for parsing files cannot be started, or died of its input."""


class IndexInUseError(CqmError):
    """Another process has this index open."""


class StoreError(CqmError):
    """The vector store refused an operation or cannot be opened."""


class ManifestError(CqmError):
    """The manifest cannot be read or written."""


class ForeignIndexError(StoreError):
    """An index folder inside a project was not made by this user's CQM: nothing in it is used."""


class ReadOnlyError(StoreError):
    """The folder of an index is on a file system for reading only."""


class UnavailableError(StoreError):
    """A generation is whole and cannot be used as things are: it stays as it is."""


class ElsewhereError(UnavailableError):
    """A generation is on a server missing in the settings."""


class BaseGoneError(UnavailableError):
    """The shared base under a generation is not on its server any more, or not whole."""


class NewerReleaseError(UnavailableError):
    """A generation was written by a newer release of CQM, in a form unknown to this one."""


class DamagedIndexError(CqmError):
    """A part of an index is missing, or was changed by something else than CQM."""


class SnapshotError(CqmError):
    """A snapshot of an index cannot be written, or is damaged, or was made for other options than these."""


class NewerSnapshotError(SnapshotError):
    """A snapshot was written by a newer release of CQM, in a form unknown to this one."""


class QueryError(CqmError):
    """A query's parameter is not valid: an unknown mode, a malformed cursor, an empty text."""


class FilterError(QueryError):
    """A filter keeps nothing of the index: it has no such language or kind, or no such path."""


class UnknownNameError(QueryError):
    """The index has no symbol, file or line of this name; changes not indexed yet may have it."""


class TopicError(CqmError):
    """A file of questions with known answers is not valid."""


class EmbeddingError(CqmError):
    """An embedding provider failed: unreachable, missing model, refused input, wrong answer."""

    partial: "Embeddings | None" = None
    """Vectors made before it failed: paid for, and worth keeping."""


class BudgetError(EmbeddingError):
    """The budget of a run is spent."""


class RerankError(CqmError):
    """A reranker gave no scores: unreachable, late, missing files, wrong answer. The first stage's order stands."""


class ContextError(CqmError):
    """The writer of contexts is unavailable, or its settings are not valid. Rules place the chunks then."""


class RefusedInputError(EmbeddingError):
    """A service refused the texts of a request, and will refuse them again.

    Parameters:
        message, remedy: as in `CqmError`.
        too_long: whether it called a text longer than the model's context.
        by_fault: whether it crashed over them instead of refusing them.
    """

    def __init__(self, message: str, *, remedy: str = "", too_long: bool = False, by_fault: bool = False) -> None:
        super().__init__(message, remedy=remedy)
        self.too_long = too_long
        self.by_fault = by_fault
