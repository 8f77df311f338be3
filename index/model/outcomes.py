"""Outcomes of other work than an update: an estimate, an improvement, a snapshot, a base of a team."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from cqm.index.model.progress import Usage


@dataclass(frozen=True, slots=True)
class Cost:
    """Estimated use of a model.

    Attributes:
        name: "provider/model".
        texts, tokens, output_tokens: their numbers.
        usd: their price; None where unknown.
    """

    name: str
    texts: int
    tokens: int
    output_tokens: int = 0
    usd: float | None = None


@dataclass(frozen=True, slots=True)
class Estimate:
    """Forecast of an update.

    Attributes:
        chunks: of these, new or changed.
        embedding: the most use of each model; cached vectors cost nothing.
        contexts: likewise of the writer of contexts; None without one.
    """

    files: int
    chunks: int
    embedding: tuple[Cost, ...] = ()
    contexts: Cost | None = None


@dataclass(frozen=True, slots=True)
class Improved:
    """Outcome of embedding chunks left for later.

    Attributes:
        files: looked at.
        embedded: chunks with a new vector of their preferred model.
        lacking: chunks still waiting.
        usage: of each model by name.
        seconds: wall time.
    """

    files: int = 0
    embedded: int = 0
    lacking: int = 0
    usage: Mapping[str, Usage] = field(default_factory=dict)
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Published:
    """A published base of a team.

    Attributes:
        collection: with its points.
        commit, files, chunks: as in `Exported`.
        size_bytes: read by a machine to take it.
        deleted: older collections of the base, now deleted.
    """

    name: str
    collection: str
    commit: str
    files: int
    chunks: int
    size_bytes: int
    deleted: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Exported:
    """A written snapshot.

    Attributes:
        size_bytes, sha256: of the file.
        commit: checked out when the tree was compared; empty without git.
        files, chunks: in it.
    """

    file: str
    size_bytes: int
    sha256: str
    commit: str
    files: int
    chunks: int
