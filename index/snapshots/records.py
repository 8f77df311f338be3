"""Files and chunks as lines of JSON, and lines of JSON as files and chunks safe for search.

A snapshot may be anybody's. So a line gives values of declared types and ranges, or an error. It gives no code, no path
of this machine, and nothing of another program's file format.
"""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from cqm.chunkers.model import Fact
from cqm.index.manifest.rows import ChunkRow, FileRow
from cqm.index.model.query import FileState, SkipReason
from cqm.index.model.secrets import SecretFinding
from cqm.index.store.base import FILE_TERMS, PATH_TERMS, TERMS, Point, file_point_id
from cqm.index.text.stored_definitions import StoredDefinition, kinds_in
from cqm.index.text.terms import SparseTerms
from cqm.index.update.write import folders_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ID = re.compile("[0-9a-f]{16}")
_LONGEST_PATH = 4_096
"""In characters: PATH_MAX of Linux, in bytes."""
_MOST_NUMBER = 1 << 53
"""Numbers below are the same in JSON, SQLite and here; no line, size or token count comes near."""
_HALF, _SINGLE, _TERM = "<f2", "<f4", "<u4"
_LONGEST_UNIT = 1.01
"""Longest unit vector in half precision."""


@dataclass(frozen=True, slots=True)
class Weights:
    """A sparse vector: hexadecimal bytes of 32-bit numbers, indices and values."""

    indices: str
    values: str


@dataclass(frozen=True, slots=True)
class SnapshotFile:
    """The facts of an indexed file that are the same on each machine; see `FileRow`.

    Attributes:
        chunks: number of its chunks, the next records.
        file_terms, path_terms: sparse vectors of its point.
    """

    path: str
    size: int
    hash: str
    language: str
    secrets: tuple[SecretFinding, ...]
    chunks: int
    file_terms: Weights
    path_terms: Weights
    is_generated: bool = False


@dataclass(frozen=True, slots=True)
class SnapshotChunk:
    """A chunk; see `ChunkRow` and `chunk_point`.

    Attributes:
        row: of the manifest.
        text, content, context, definitions, issues, source_type, metadata: of its payload; empty where it has none.
        terms: its sparse vector.
        vector: hexadecimal bytes of its dense one; empty without one.
        is_half: whether the vector has half precision, as stores in folders do.
    """

    row: ChunkRow
    text: str
    content: str
    context: str
    definitions: str
    issues: tuple[str, ...]
    source_type: str
    metadata: dict[str, Fact]
    terms: Weights
    vector: str
    is_half: bool


class RecordError(ValueError):
    """A line is no record, or an unusable one."""


def file_line(row: FileRow, chunks: int, point: Point | None) -> bytes:
    """Return the line of a file with its point; None for a point elsewhere."""
    text, path = (_weights(point.sparse.get(name) if point else None) for name in (FILE_TERMS, PATH_TERMS))
    known = (row.path, row.size, row.hash, row.language, row.secrets, chunks)
    return _line(SnapshotFile(*known, text, path, row.is_generated))


def chunk_line(row: ChunkRow, point: Point) -> bytes:
    """Return the line of a chunk with its point."""
    payload: Mapping[str, Any] = point.payload
    vector, is_half = b"", False
    if point.dense is not None:
        half = point.dense.astype(_HALF)
        is_half = bool((half == point.dense).all())
        vector = (half if is_half else point.dense.astype(_SINGLE)).tobytes()
    found = SnapshotChunk(
        row=row,
        text=payload["text"],
        content=payload.get("content", ""),
        context=payload.get("context", ""),
        definitions=payload.get("definitions", ""),
        issues=tuple(payload.get("issues", ())),
        source_type=payload["source_type"],
        metadata=payload["metadata"],
        terms=_weights(point.sparse.get(TERMS)),
        vector=vector.hex(),
        is_half=is_half,
    )
    return _line(found)


def read_file(line: bytes) -> tuple[FileRow, int, Point]:
    """Read a file: its row, without times, unknown here; the number of its chunks; its point.

    Raises:
        RecordError: the line is no such record.
    """
    read: SnapshotFile = parse(SnapshotFile, line)
    _require_path(read.path)
    _require_numbers(read.size, read.chunks, *(it for found in read.secrets for it in (found.line, found.count)))
    mark = SkipReason.GENERATED if read.is_generated else ""
    row = FileRow(
        read.path, FileState.INDEXED, mark, size=read.size, hash=read.hash, language=read.language, secrets=read.secrets
    )
    payload = {"path": read.path, "dirs": folders_of(read.path), "language": read.language}
    sparse = {FILE_TERMS: _terms(read.file_terms), PATH_TERMS: _terms(read.path_terms)}
    return row, read.chunks, Point(file_point_id(read.path), payload, sparse)


def read_chunk(line: bytes, path: str, least: int, dimensions: Mapping[str, int]) -> tuple[ChunkRow, Point]:
    """Read a chunk: its row and its point.

    Parameters:
        least: lowest position; chunks without meaning are left out, so positions may have gaps.
        dimensions: of the known spaces, by the names of their vectors.

    Raises:
        RecordError: the line is no such record, or of another file.
    """
    read: SnapshotChunk = parse(SnapshotChunk, line)
    row = _placed(read.row, path, least)
    if not 0 <= row.end_line - row.start_line <= read.text.count("\n"):
        raise RecordError(f"a chunk of {path} has not the lines of its text")
    _require_numbers(row.end_line, row.tokens, *(abs(it) for it in read.metadata.values() if isinstance(it, int)))
    defined = parse(list[StoredDefinition], read.definitions.encode()) if read.definitions else []
    for it in defined:
        _require_numbers(it.first, it.line, it.last)
    payload: dict[str, object] = {"path": path, "dirs": folders_of(path), "language": row.language}
    payload["kind"] = kinds_in(row.kind, defined)
    payload |= {"text": read.text, "source_type": read.source_type}
    payload |= {name: it for name in ("content", "context", "definitions") if (it := getattr(read, name))}
    payload |= {"issues": list(read.issues)} if read.issues else {}
    facts = read.metadata.items()
    payload["metadata"] = {name: list(it) if isinstance(it, tuple) else it for name, it in facts}
    vector = _vector(read, dimensions) if row.space else None
    return row, Point(row.id, payload, {TERMS: _terms(read.terms)}, vector, row.space)


def row_line(row: ChunkRow) -> bytes:
    """Return the line of a chunk with its point elsewhere."""
    return _line(row)


def read_row(line: bytes, path: str, least: int, spaces: Collection[str]) -> ChunkRow:
    """Read a chunk with its point elsewhere; for the rest see `read_chunk`.

    Raises:
        RecordError: the line is no such record, or of another file.
    """
    row = _placed(parse(ChunkRow, line), path, least)
    if row.end_line < row.start_line or row.space not in {"", *spaces}:
        raise RecordError(f"a chunk of {path} has not its lines or its space")
    _require_numbers(row.end_line, row.tokens)
    return row


def _placed(row: ChunkRow, path: str, least: int) -> ChunkRow:
    """Refuse a chunk of another file, or behind its place."""
    is_there = row.path == path and least <= row.position < _MOST_NUMBER and _ID.fullmatch(row.id)
    if not is_there or row.start_line < 1:
        raise RecordError(f"a chunk of {path} is out of its place")
    return row


def _line(value: SnapshotFile | SnapshotChunk | ChunkRow) -> bytes:
    return json.dumps(asdict(value), ensure_ascii=False, separators=(",", ":")).encode()


def parse(kind: Any, line: bytes) -> Any:  # noqa: ANN401 - a value of `kind`
    """Read a value of a type from JSON, without conversions.

    Raises:
        RecordError: it is none.
    """
    try:
        return _adapter(kind).validate_json(line, strict=True)
    except ValidationError as error:
        problem = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(map(str, problem["loc"]))[:200]
        raise RecordError(f"{place}: {problem['msg']}" if place else problem["msg"]) from error


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:  # noqa: ANN401 - any type
    return TypeAdapter(kind)


def _weights(terms: SparseTerms | None) -> Weights:
    if terms is None:
        return Weights("", "")
    return Weights(np.array(terms.indices, _TERM).tobytes().hex(), np.array(terms.values, _SINGLE).tobytes().hex())


def _terms(weights: Weights) -> SparseTerms:
    """Return a sparse vector; its indices must ascend, its values be finite and above 0."""
    indices, values = _numbers(weights.indices, _TERM), _numbers(weights.values, _SINGLE)
    if len(indices) != len(values) or not (np.isfinite(values) & (values > 0)).all():
        raise RecordError("a sparse vector is malformed")
    if not (indices[1:] > indices[:-1]).all():
        raise RecordError("a sparse vector is out of order")
    return SparseTerms(tuple(indices.tolist()), tuple(values.tolist()))


def _vector(read: SnapshotChunk, dimensions: Mapping[str, int]) -> "NDArray[np.float32]":
    row = _numbers(read.vector, _HALF if read.is_half else _SINGLE).astype(np.float32)
    if row.size != dimensions.get(read.row.space) or not float(row @ row) <= _LONGEST_UNIT:
        raise RecordError(f"a vector of {read.row.path} is none of its space")
    return row


def _numbers(text: str, kind: str) -> "NDArray[Any]":
    try:
        return np.frombuffer(bytes.fromhex(text), kind)
    except ValueError as error:
        raise RecordError("a vector is malformed") from error


def _require_path(path: str) -> None:
    """Refuse anything but a path below a root in the form of scans."""
    parts = path.split("/")
    if len(path) > _LONGEST_PATH or "\0" in path or not {"", ".", ".."}.isdisjoint(parts):
        raise RecordError("a path leads out of the root")


def _require_numbers(*numbers: int) -> None:
    if not all(0 <= number < _MOST_NUMBER for number in numbers):
        raise RecordError("a number is out of range")
