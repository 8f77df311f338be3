"""Facts a snapshot states about itself, and whether an index with these options can take it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from cqm.index.generations.generation import generation_name
from cqm.index.generations.recipe import shape_text, what_differs
from cqm.index.model.errors import NewerSnapshotError, SnapshotError
from cqm.index.model.options import IndexOptions, StoreOptions
from cqm.index.model.spaces import parse_space
from cqm.index.snapshots.archive import Archive, Packed, damaged
from cqm.index.snapshots.records import RecordError, parse

FORMAT, BASE_FORMAT = 2, 1_002
"""Formats of archive, manifest and records: of a snapshot, and of a base with its points elsewhere.

A change of the form changes the number. In format 1, ids of chunks had 32 digits.
"""
_MOST_SPACES = 64
_MOST_DIMENSIONS = 65_536
"""Qdrant's limit."""
_LONGEST_REASON = 500


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The manifest of a snapshot.

    Attributes:
        format: see `FORMAT`.
        build: the version of CQM behind it.
        recipe: the name of a generation with these options, wherever its points are; see `generation_name`.
        shape: the same in words; see `shape_text`.
        commit: checked out when the tree was last compared; empty without git.
        made_at: seconds since the epoch.
        files, chunks: numbers of records.
        spaces: names of the spaces with vectors.
        preferred: the space of each route's preferred model.
        order: of the models by latency, one a line; empty if not measured.
        records: size and checksum of the rest.
    """

    format: int
    build: str
    recipe: str
    shape: str
    commit: str
    made_at: float
    files: int
    chunks: int
    spaces: tuple[str, ...]
    preferred: dict[str, str]
    order: str
    records: Packed


@dataclass(frozen=True, slots=True)
class _Format:
    """The one part of a manifest common to all formats."""

    format: int


def portable(options: IndexOptions) -> IndexOptions:
    """Return options without the place of points: a snapshot of an index on a server fits one in a folder."""
    return replace(options, store=StoreOptions())


def read_manifest(archive: Archive, options: IndexOptions, wanted: int = FORMAT) -> Snapshot:
    """Read the manifest of a snapshot, verify its records' checksum, and refuse one that does not fit.

    Raises:
        SnapshotError: it is damaged, of another format, or was made with other options.
    """
    try:
        written: _Format = parse(_Format, archive.manifest)
        if written.format != wanted:
            raise _of_another_format(archive, written.format, wanted)
        found: Snapshot = parse(Snapshot, archive.manifest)
    except RecordError as error:
        raise damaged(archive.file, f"its manifest is not valid: {error}") from error
    here = portable(options)
    if found.recipe != generation_name(here):
        why = _differences(found.shape, shape_text(here)) or "its options differ"
        raise SnapshotError(
            f"{archive.file} does not fit the options of this index: {why}.",
            remedy="Export it with the release of CQM and the cqm.yml of here, or run `cqm index` without it.",
        )
    archive.verify(found.records)
    return found


def dimensions_of(snapshot: Snapshot) -> Mapping[str, tuple[str, int]]:
    """Return name and dimensions of the spaces of a snapshot, by the names of their vectors in a store.

    Raises:
        RecordError: a name is invalid, or there are too many.
    """
    if len(snapshot.spaces) > _MOST_SPACES:
        raise RecordError("it has too many spaces")
    try:
        spaces = [parse_space(name) for name in snapshot.spaces]
    except ValueError as error:
        raise RecordError("a name of a space is malformed") from error
    if not all(0 < space.dimensions <= _MOST_DIMENSIONS for space in spaces):
        raise RecordError("a space has no such dimensions")
    return {space.vector_name: (space.name, space.dimensions) for space in spaces}


def _of_another_format(archive: Archive, found: int, wanted: int) -> SnapshotError:
    message = f"{archive.file} has format {found} of snapshots; this release of CQM reads {wanted}."
    if found > wanted:
        return NewerSnapshotError(message, remedy="Update CQM here.")
    return SnapshotError(message, remedy="Export it anew with this release of CQM.")


def _differences(theirs: str, ours: str) -> str:
    """Describe the difference of two shapes; the first may be any text. Empty if it can't be told."""
    try:
        return what_differs(theirs, ours)[:_LONGEST_REASON]
    except (ValueError, TypeError, AttributeError, RecursionError):
        return ""
