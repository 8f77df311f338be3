"""Rows of the manifest: a file, and a chunk without its text."""

from dataclasses import dataclass

from cqm.index.model.query import FileState, SkipReason
from cqm.index.model.secrets import SecretFinding


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file as the index last saw it.

    Attributes:
        path: relative to the root.
        state, reason: state in the index, and the reason if the file failed or was skipped; "generated" for an indexed
            file written by a tool.
        size, mtime_ns: at the time of reading, in bytes and nanoseconds.
        read_at_ns: the clock when it was read; an mtime this recent may hide a later write.
        hash: of its bytes; empty if it was not read.
        language: as detected; empty if it was not chunked.
        ctime_ns: as in `FoundFile`, when it was read; 0 if not recorded.
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

    @property
    def is_generated(self) -> bool:
        """Whether it is a generated file in the index."""
        return self.state is FileState.INDEXED and self.reason == SkipReason.GENERATED


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """A chunk without its text.

    Attributes:
        id, path, position: identity, file and place among the file's chunks.
        language, kind, symbol, defines, start_line, end_line, tokens: see `cqm.chunkers.model.Chunk`.
        digest: hash of the text alone; equal texts in different files share it.
        fingerprint: hash of everything stored of the chunk except its lines; equal means nothing to write.
        route: the preferred model: "code", "prose" or "late".
        space: of its vector, by `Space.vector_name`; empty without a vector.
        embedded: part covered by the vector: "whole", "pooled", "cut"; empty without one.
        refused: the space of a model that refused the text and would do so again; empty for none.
        note: the context written by a model.
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

    def with_vector(self, space: str, embedded: str, refused: str, fingerprint: str) -> "ChunkRow":
        """Return the row once it has a vector, or none. `dataclasses.replace` takes five times as long."""
        named = (self.id, self.path, self.position, self.language, self.kind, self.symbol)
        placed = (self.start_line, self.end_line, self.tokens)
        vector = (self.route, space, embedded, refused, self.note)
        return ChunkRow(*named, *placed, self.digest, fingerprint, self.defines, *vector, self.lacks_note)
