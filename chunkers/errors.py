"""The root of CQM's errors, and the errors of chunking."""


class CqmError(Exception):
    """An error with an explanation for the user.

    Parameters:
        message: the problem, naming the file, option or service.
        remedy: advice as an imperative sentence; empty if the user can do nothing.
        retryable: whether the same call may succeed later without any change by the user.
    """

    def __init__(self, message: str, *, remedy: str = "", retryable: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.retryable = retryable

    def __str__(self) -> str:
        """Join message and remedy, if any, as sentences."""
        end = "" if not self.remedy or self.message.endswith((".", "!", "?", ":")) else "."
        return f"{self.message}{end} {self.remedy}".rstrip()


class ChunkOptionError(CqmError):
    """A chunking option is outside its documented range."""


class RuleError(CqmError):
    """A language's rule failed on a node: a bug in the rule, which costs the document its symbols."""


class QualityError(CqmError):
    """A chunk lacks required metadata: a bug in its chunker."""


class UndecodableError(CqmError):
    """The bytes are not text in any encoding allowed by the decoding policy."""


class EncryptedError(UndecodableError):
    """The document needs a password to open."""


class DamagedError(UndecodableError):
    """The document's contents contradict its first bytes."""


class NoTextError(UndecodableError):
    """The document has images but no text."""


class MissingPackageError(UndecodableError):
    """Reading the document needs an extra which is not installed."""
