"""Rows of the manifest: a file, and a chunk without its text."""

import json
from dataclasses import dataclass

from cqm.index.model.query import FileState
from cqm.index.model.secrets import SecretFinding


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file as the index last saw it.

    Attributes:
        path: relative to the root.
        state, reason: what the index holds, and why nothing when it failed or was skipped.
        size, mtime_ns: of the file when it was read, bytes and nanoseconds.
        read_at_ns: the clock when it was read; an mtime as young as this may hide a later write.
        hash: of its bytes; empty when it was not read.
        language: as detected; empty when it was not chunked.
        ctime_ns: as `FoundFile` has it, when it was read; 0 where that was not noted.
        secrets: what was redacted in its text.
    """

    path: str
    state: FileState
    reason: str = ""
    size: int = 0
    mtime_ns: int = 0
    read_at_ns: int = 0
    hash: str = ""
    language: str = ""
    ctime_ns: int = 0
    secrets: tuple[SecretFinding, ...] = ()


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """A chunk without its text.

    Attributes:
        id, path, position: identity, file and place among the file's chunks.
        language, kind, symbol, defines, start_line, end_line, tokens: see `cqm.chunkers.model.Chunk`.
        digest: hash of the text alone; equal texts in different files share it.
        fingerprint: hash of all that is stored of the chunk beside its lines; equal means nothing to write.
        route: which model should embed it: "code" or "prose".
        space: of its vector, by `Space.vector_name`; empty without a vector.
        embedded: what the vector shows: "whole", "pooled", "cut"; empty without one.
        refused: the space whose model refused the text, which it will do again; empty for none.
        note: the context that a model wrote for it.
        lacks_note: whether it should have a note and has none yet.
    """

    id: str
    path: str
    position: int
    language: str
    kind: str
    symbol: str
    start_line: int
    end_line: int
    tokens: int
    digest: str
    fingerprint: str
    defines: tuple[str, ...]
    route: str = "code"
    space: str = ""
    embedded: str = ""
    refused: str = ""
    note: str = ""
    lacks_note: bool = False


def file_values(row: FileRow) -> tuple[object, ...]:
    """The values of a row, in the order of the columns."""
    seen = (row.size, row.mtime_ns, row.read_at_ns, row.hash, row.language, row.ctime_ns)
    secrets = [(found.line, found.kind, found.count) for found in row.secrets]
    return (row.path, row.state, row.reason, *seen, json.dumps(secrets) if secrets else "")


def findings_of(text: str) -> tuple[SecretFinding, ...]:
    """Return what the column "secrets" of a file says."""
    return tuple(SecretFinding(*found) for found in json.loads(text)) if text else ()


def chunk_values(row: ChunkRow) -> tuple[object, ...]:
    """Likewise."""
    head = (row.id, row.path, row.position, row.language, row.kind, row.symbol, row.start_line, row.end_line)
    vector = (row.route, row.space, row.embedded, row.refused, row.note, row.lacks_note)
    return (*head, row.tokens, row.digest, row.fingerprint, json.dumps(row.defines), *vector)
