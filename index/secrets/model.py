"""What is redacted, what may stay, and what was found."""

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
    """A text whose secrets are replaced, of the same length and with the same lines, and what was replaced."""

    text: str
    findings: tuple[SecretFinding, ...] = ()
