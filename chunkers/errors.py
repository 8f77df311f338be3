"""The root of CQM's tree of errors and what chunking can raise."""


class CqmError(Exception):
    """An error that CQM explains to its user.

    Parameters:
        message: what went wrong, naming the file, option or service.
        remedy: what the user can do about it, as an imperative sentence; empty when there is nothing to do.
        retryable: whether the same call may succeed later without any change by the user.
    """

    def __init__(self, message: str, *, remedy: str = "", retryable: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.retryable = retryable

    def __str__(self) -> str:
        """The message, and the remedy after it when there is one, as sentences."""
        end = "" if not self.remedy or self.message.endswith((".", "!", "?", ":")) else "."
        return f"{self.message}{end} {self.remedy}".rstrip()


class ChunkOptionError(CqmError):
    """A chunking option is outside its documented range."""


class QualityError(CqmError):
    """A chunk lacks metadata that every chunk must have: its chunker is wrong."""


class UndecodableError(CqmError):
    """The bytes are no text in any encoding that the decoding policy admits."""


class EncryptedError(UndecodableError):
    """The document opens with a password only."""


class DamagedError(UndecodableError):
    """The document is not what its first bytes promise."""


class NoTextError(UndecodableError):
    """The document has no text, only images."""


class MissingPackageError(UndecodableError):
    """What reads the document is an extra that is not installed."""
