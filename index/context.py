"""What is searched and embedded of a chunk: its code with a header, made by rules, that says where it stands."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from cqm.chunkers.model import Chunk
from cqm.index.lexical import SparseTerms, count_terms, document_terms, weigh

# Changes with everything that changes a stored vector: the index is rebuilt then.
TERMS_VERSION = 1

_CHUNK_LENGTH = 250.0
_FILE_LENGTH = 2500.0
_PATH_LENGTH = 6.0


@dataclass(frozen=True, slots=True)
class FileTerms:
    """The sparse vectors of a file: one a chunk, in order, one of the whole file and one of its path."""

    chunks: tuple[SparseTerms, ...]
    file: SparseTerms
    path: SparseTerms


def file_terms(path: str, chunks: Sequence[Chunk]) -> FileTerms:
    """The sparse vectors of a file.

    Parameters:
        path: relative to the root, with "/" between parts.
        chunks: all chunks of the file, in order.
    """
    whole: Counter[int] = Counter()
    vectors = []
    for chunk in chunks:
        counts = count_terms(((chunk.text, 1.0), (header(chunk), 1.0)))
        whole.update(counts)
        vectors.append(weigh(counts, _CHUNK_LENGTH))
    return FileTerms(tuple(vectors), weigh(whole, _FILE_LENGTH), document_terms(((path, 1.0),), _PATH_LENGTH))


def header(chunk: Chunk) -> str:
    """The lines that say where a chunk stands: path, symbol and enclosing declarations."""
    return "\n".join(part for part in (chunk.path, chunk.symbol, chunk.context) if part)


def dense_text(chunk: Chunk) -> str:
    """The text that is embedded: header, then code."""
    return f"{header(chunk)}\n{chunk.text}"
