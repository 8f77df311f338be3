"""How a file would be chunked: no index, no embedder."""

from cqm.chunkers.chunking import chunk
from cqm.chunkers.decode import HEAD_BYTES, decode, is_binary
from cqm.chunkers.errors import UndecodableError
from cqm.chunkers.model import ChunkOptions, ChunkReport, Document


def preview(name: str, data: bytes, options: ChunkOptions) -> ChunkReport:
    """The chunks of a file.

    Parameters:
        name: the file's name or path, which tells the language.
        data: its bytes.
        options: sizes of chunks.

    Raises:
        UndecodableError: it is binary, or in no known encoding.
    """
    if is_binary(data[:HEAD_BYTES]):
        raise UndecodableError(f"{name} is a binary file.", remedy="Only text can be chunked.")
    return chunk(Document(name, decode(data).text), options)
