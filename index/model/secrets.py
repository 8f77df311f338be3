"""Options and findings of redaction."""

from dataclasses import dataclass

from cqm.chunkers.model import option

REDACTION_VERSION = 5
"""Part of the name of each generation: raise it when another release redacts more or less of the same text."""


@dataclass(frozen=True, slots=True)
class SecretOptions:
    """Redaction of secrets before text is stored, sent or shown. Only your own cqm.yml may set these."""

    redact: bool = option(True, "Redact secrets found in files.")
    allow: tuple[str, ...] = option(
        (), "Regular expressions of values that stay as they are, such as ^AKIAIOSFODNN7EXAMPLE$.", kind="pattern"
    )
    allow_paths: tuple[str, ...] = option(
        (), "Files, in .gitignore syntax, that are indexed whatever their names, and in which nothing is redacted."
    )


@dataclass(frozen=True, slots=True)
class SecretFinding:
    """A redacted secret, without its value.

    Attributes:
        line: of its first character, from 1.
        kind: for example "private key".
        count: number of this kind beginning on the line.
    """

    line: int
    kind: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class RedactedFile:
    """A file with the secrets redacted in it, in order."""

    path: str
    findings: tuple[SecretFinding, ...]

    @property
    def count(self) -> int:
        """Number of redacted secrets."""
        return sum(found.count for found in self.findings)
