"""Preview a document's chunks without an index. Workers read and cut it."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path

from cqm.chunkers.model import Chunk, ChunkReport, Document
from cqm.chunkers.strategies.table import BY_NAME, Options
from cqm.chunkers.tokens import count_exact
from cqm.index.files.listed import listed_file
from cqm.index.files.scan import read_bytes
from cqm.index.workers import Workers
from cqm.server.config.settings import Settings
from cqm.server.errors import PathRefusedError
from cqm.server.preview.choice import Choice, options_in_force, source_of
from cqm.server.preview.work import MOST_CHARACTERS, cut_in_worker, read_in_worker

_MOST_LINES = 10_000


@dataclass(frozen=True, slots=True)
class Preview:
    """A document with its chunks.

    Attributes:
        choice: the strategy, and options given for it.
        options: all options in force, as plain values.
        model: counts the tokens in `exact_tokens`; empty for none.
        exact_tokens: of each chunk.
    """

    document: Document
    choice: Choice
    options: Mapping[str, object]
    report: ChunkReport
    model: str = ""
    exact_tokens: tuple[int, ...] = ()

    def limit(self, part: Chunk) -> int:
        """Most tokens wanted for a chunk; the size of the largest one where the strategy has no limit."""
        value = self.options.get(BY_NAME[self.choice.strategy].target(part))
        return value if isinstance(value, int) else self.report.statistics.max_tokens or 1

    @property
    def repeated_share(self) -> float:
        """Share of text repeated from the chunk before, over chunks holding no other, 0 to 1."""
        leaves = [it for it in self.report.chunks if not it.children]
        total = sum(len(it.text) for it in leaves)
        return sum(it.overlap_before for it in leaves) / total if total else 0.0


def read_document(name: str, data: bytes, workers: Workers) -> tuple[Document, tuple[str, ...]]:
    """Read a file as a document, with warnings of the reading.

    Parameters:
        name: the file's name or path; decides the language.

    Raises:
        UndecodableError: it is binary, in no known encoding, or a PDF without extractable text.
        WorkerError: its worker didn't survive it.
    """
    text, warnings = read_in_worker(name, data, workers)
    return Document(name, text), warnings


def listed_document(root: Path, path: str, settings: Settings, workers: Workers) -> tuple[Document, tuple[str, ...]]:
    """Read a file as a document, if indexing would read it: a file skipped as a secret must not be shown either.

    Parameters:
        root: the real path of an indexed folder or file.
        path: relative to it; the file's name if the root is a file.

    Raises:
        NotIndexedError: it does not exist, is a folder, or is left out.
        PathRefusedError: its content is a reason to leave it out.
        UndecodableError, WorkerError: see `read_document`.
    """
    options = settings.scan_options()
    listed_file(root, path, options)
    read = read_bytes(root, path, options)
    if read.skip:
        raise PathRefusedError(f"{path} is not indexed: {read.skip.value}.")
    return read_document(path, read.data, workers)


def is_large(text: str) -> bool:
    """Whether a file takes seconds to cut, so a page for people shows it in parts."""
    return len(text) > MOST_CHARACTERS or text.count("\n") > _MOST_LINES


def preview(
    document: Document,
    choice: Choice,
    settings: Settings,
    workers: Workers,
    *,
    model: str = "",
    lines: tuple[int, int] | None = None,
) -> Preview:
    """Cut a document into chunks.

    Parameters:
        settings: sizes of chunks and the models for embedding.
        model: an OpenAI model or encoding, to count its tokens; empty for none.
        lines: numbers of the first and the last line to cut, as if the document were these alone; None for all.

    Raises:
        ChunkOptionError: there is no such strategy, option or model, or a value is out of range.
        SettingsError: the strategy needs a model, and none is configured.
        EmbeddingError: the model failed.
        WorkerError: its worker didn't survive it.
    """
    with options_in_force(choice, settings) as in_force:
        document, report = cut_in_worker(document, in_force, workers, settings.scan_options().secrets, lines)
    exact = tuple(count_exact(it.text, model) for it in report.chunks) if model else ()
    plain = _plain(in_force.options) | source_of(choice, settings) | _tokenizer(choice)
    return Preview(document, choice, plain, report, model, exact)


def warned(made: Preview, warnings: tuple[str, ...]) -> Preview:
    """Put further warnings before a preview's own."""
    return replace(made, report=replace(made.report, warnings=(*warnings, *made.report.warnings)))


def _plain(options: Options) -> dict[str, object]:
    values = {it.name: getattr(options, it.name) for it in fields(options)}
    return {name: value for name, value in values.items() if isinstance(value, str | int | float | bool | tuple)}


def _tokenizer(choice: Choice) -> dict[str, object]:
    name = choice.values.get("tokenizer")
    return {"tokenizer": name} if isinstance(name, str) else {}
