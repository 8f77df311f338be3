"""Read and cut a document for a preview in a worker. It has no model: it asks its parent instead."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import Chunk, ChunkReport, ChunkStatistics, Document
from cqm.chunkers.strategies.options import options_of
from cqm.chunkers.strategies.pooling import Tokens
from cqm.chunkers.text_of_file import read_text
from cqm.index.embedding import sentence_vectors
from cqm.index.model.secrets import SecretOptions
from cqm.index.secrets.redaction import redact
from cqm.index.workers import Workers
from cqm.index.workers.worker import ask_parent

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cqm.server.preview.choice import InForce

MOST_CHARACTERS = 400_000
"""Longest part of a file; its lines may be of any length."""
_Report = tuple[tuple[Chunk, ...], ChunkStatistics, tuple[str, ...], str]


@dataclass(frozen=True, slots=True)
class _Encoder:
    """A `TokenEncoder` held by the parent."""

    name: str
    window: int

    def tokenize(self, text: str) -> Tokens:
        """See `TokenEncoder.tokenize`."""
        tokens: Tokens = ask_parent(("tokenize", text))
        return tokens

    def encode(self, ids: Sequence[int]) -> "NDArray[np.float32]":
        """See `TokenEncoder.encode`."""
        rows: NDArray[np.float32] = ask_parent(("encode", [int(number) for number in ids]))
        return rows

    def close(self) -> None:
        """Do nothing: the parent closes it."""


class _Cutting(NamedTuple):
    document: Document
    strategy: str
    values: Mapping[str, object]
    encoder: _Encoder | None
    secrets: SecretOptions
    lines: tuple[int, int] | None


def read_in_worker(name: str, data: bytes, workers: Workers) -> tuple[str, tuple[str, ...]]:
    """Read the text of a file, with warnings of the reading.

    Parameters:
        name: of the file; decides the language.

    Raises:
        UndecodableError: it is binary, in no known encoding, or a PDF without extractable text.
        WorkerError: its worker didn't survive it, or none can be started.
    """
    return workers.run_one(_read, (name, data), tuple[str, tuple[str, ...]], size=len(data))


def cut_in_worker(
    document: Document,
    in_force: "InForce",
    workers: Workers,
    secrets: SecretOptions,
    lines: tuple[int, int] | None = None,
) -> tuple[Document, ChunkReport]:
    """Cut a document; return it without its secrets, and its chunks without vectors.

    Parameters:
        in_force: strategy and options; its model stays in this process.
        secrets: which kinds to redact.
        lines: numbers of the first and the last line to cut and to return; None for all.

    Raises:
        ChunkOptionError: a value is out of range.
        WorkerError: its worker didn't survive it, or none can be started.
        EmbeddingError: the model failed.
    """
    model: Any = in_force.model
    encoder = _Encoder(model.name, model.window) if hasattr(model, "tokenize") else None
    task = _Cutting(document, in_force.strategy, in_force.values, encoder, secrets, lines)

    def answer(question: Any) -> object:  # noqa: ANN401 - plain data of a worker
        what, given = question
        if what == "tokenize":
            return model.tokenize(str(given))
        if what == "encode":
            return model.encode([int(number) for number in given])
        return model([str(text) for text in given])

    chunks, statistics, warnings, text = workers.run_one(_cut, task, _Report, size=len(document.text), answer=answer)
    return replace(document, text=text), ChunkReport(chunks, statistics, warnings)


def _read(task: tuple[str, bytes]) -> tuple[str, tuple[str, ...]]:
    read = read_text(*task)
    return read.text, tuple(read.warnings)


def _cut(task: _Cutting) -> _Report:
    models = {"encoder": task.encoder, "embed": lambda texts: ask_parent(("embed", list(texts)))}
    redacted = redact(task.document.text, task.document.path, task.secrets)
    text = redacted.text
    if task.lines:
        # Only now: the text around a secret identifies it.
        text = "\n".join(text.split("\n")[task.lines[0] - 1 : task.lines[1]])[:MOST_CHARACTERS]
    document = replace(task.document, text=text)
    report = chunk(document, options_of(task.strategy, task.values, **models), sentence_vectors)
    count = sum(found.count for found in redacted.findings)
    notes = (f"secrets redacted: {count}",) if count else ()
    return report.chunks, report.statistics, (*notes, *report.warnings), text
