"""."""

from dataclasses import dataclass

REDACTION_VERSION = 1
"""Part of the name of each generation: raise it when another release redacts more or less of the same text."""


@dataclass(frozen=True, slots=True)
class SecretOptions:
    """Which secrets are redacted.

    Attributes:
        redact: redact what is found in texts.
        allow: regular expressions of values that stay as they are; one that matches anywhere in a value counts.
        allow_paths: globs of files, relative to the root, of which nothing is redacted; also of files that are left
            out for a name known for secrets.
    """

    redact: bool = True
    allow: tuple[str, ...] = ()
    allow_paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SecretFinding:
    """A redacted secret, without its value.

    Attributes:
        line: where it begins, from 1.
        kind: what it is, such as "private key".
        count: how many of the kind begin on the line.
    """

    line: int
    kind: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class RedactedFile:
    """A file with what was redacted in it, in order."""

    path: str
    findings: tuple[SecretFinding, ...]

    @property
    def count(self) -> int:
        """How many secrets were redacted."""
        return sum(found.count for found in self.findings)
