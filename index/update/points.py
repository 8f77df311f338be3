"""What the store holds of a chunk and of a file."""

from pathlib import PurePosixPath

from cqm.index.store.base import FILE_TERMS, PATH_TERMS, TERMS, Point, file_point_id
from cqm.index.text.terms import SparseTerms
from cqm.index.update.prepare import PreparedChunk, PreparedFile
from cqm.index.update.vectorizer import CUT, POOLED, TextVector

_NO_TERMS = SparseTerms((), ())


def chunk_point(part: PreparedChunk, vector: TextVector) -> Point:
    """The point of a chunk with the vector of its text, if there is one."""
    row = part.row
    payload: dict[str, object] = {
        "path": row.path,
        "dirs": folders_of(row.path),
        "language": row.language,
        "kind": row.kind,
        "text": part.text,
    }
    if part.content:
        payload["content"] = part.content
    if part.context:
        payload["context"] = part.context
    payload["source_type"] = part.metadata.get("source_type", "")
    # The store knows lists alone.
    known = {**part.metadata, **_told(part, vector)}
    payload["metadata"] = {name: list(value) if isinstance(value, tuple) else value for name, value in known.items()}
    return Point(row.id, payload, {TERMS: part.terms}, vector.row, vector.space_name)


def _told(part: PreparedChunk, vector: TextVector) -> dict[str, str]:
    """What was done to a chunk's text before it was embedded: nothing of it is silent."""
    shown = {"embedded": vector.embedded} if vector.embedded in {POOLED, CUT} else {}
    return shown | ({"note": part.row.note} if part.row.note else {})


def file_point(file: PreparedFile) -> Point:
    """The point of a file, which carries its evidence as a whole."""
    path = file.row.path
    payload = {"path": path, "dirs": folders_of(path), "language": file.row.language}
    sparse = {FILE_TERMS: file.file_terms or _NO_TERMS, PATH_TERMS: file.path_terms or _NO_TERMS}
    return Point(file_point_id(path), payload, sparse)


def folders_of(path: str) -> list[str]:
    """All folders above a path relative to the root, outermost last: "a/b/c.py" gives "a/b" and "a"."""
    return [str(folder) for folder in PurePosixPath(path).parents if folder.name]
