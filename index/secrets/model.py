"""Data of redaction: options, found secrets, redacted texts."""

from dataclasses import dataclass

from cqm.index.model.secrets import SecretFinding


@dataclass(frozen=True, slots=True)
class Match:
    """A secret in a text: its kind, and the span of its characters."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text with its secrets replaced, of the same length and with the same lines, and the replacements."""

    text: str
    findings: tuple[SecretFinding, ...] = ()
