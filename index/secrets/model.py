"""Secrets found in a text, and the redacted text."""

from dataclasses import dataclass

from cqm.index.model.secrets import SecretFinding


@dataclass(frozen=True, slots=True)
class Match:
    """A secret in a text: its kind, and its span in characters."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text with its secrets replaced, of the same length and with the same lines, and the list of replacements."""

    text: str
    findings: tuple[SecretFinding, ...] = ()
