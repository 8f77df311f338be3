"""How a document would be chunked: no index. Workers read and cut it."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from cqm.chunkers.model import Chunk, ChunkReport, Document
from cqm.chunkers.strategies.table import BY_NAME, Options
from cqm.chunkers.tokens import count_exact
from cqm.index.workers import Workers
from cqm.server.config.settings import Settings
from cqm.server.preview.choice import Choice, options_in_force, source_of
from cqm.server.preview.work import cut_in_worker, read_in_worker


@dataclass(frozen=True, slots=True)
class Preview:
    """A document with its chunks.

    Attributes:
        document: what was cut.
        choice: the strategy and what was asked of it.
        options: all options in force, as plain values.
        report: the chunks.
        model: whose tokens are counted in `exact_tokens`; empty for none.
        exact_tokens: of each chunk.
    """

    document: Document
    choice: Choice
    options: Mapping[str, object]
    report: ChunkReport
    model: str = ""
    exact_tokens: tuple[int, ...] = ()

    def limit(self, part: Chunk) -> int:
        """How many tokens a chunk is to have at most; the size of the largest one where the strategy has no limit."""
        value = self.options.get(BY_NAME[self.choice.strategy].target(part))
        return value if isinstance(value, int) else self.report.statistics.max_tokens or 1

    @property
    def repeated_share(self) -> float:
        """How much of the chunks that hold no other is repeated from the chunk before, 0 to 1."""
        leaves = [it for it in self.report.chunks if not it.children]
        total = sum(len(it.text) for it in leaves)
        return sum(it.overlap_before for it in leaves) / total if total else 0.0


def read_document(name: str, data: bytes, workers: Workers) -> tuple[Document, tuple[str, ...]]:
    """Return a file as a document, and warnings of its reading.

    Parameters:
        name: the file's name or path, which tells the language.
        data: its bytes.
        workers: one of them reads it.

    Raises:
        UndecodableError: it is binary, or in no known encoding, or a PDF without a text that can be had.
        WorkerError: its worker did not survive it.
    """
    text, warnings = read_in_worker(name, data, workers)
    return Document(name, text), warnings


def preview(document: Document, choice: Choice, settings: Settings, workers: Workers, *, model: str = "") -> Preview:
    """Return the chunks of a document.

    Parameters:
        document: what to cut.
        choice: how.
        settings: sizes of chunks and the models to embed with.
        workers: one of them cuts it.
        model: an OpenAI model or encoding whose tokens are to be counted; empty for none.

    Raises:
        ChunkOptionError: there is no such strategy, option or model, or a value is not what it must be.
        SettingsError: the strategy needs a model that is not configured.
        EmbeddingError: that model failed.
        WorkerError: its worker did not survive it.
    """
    with options_in_force(choice, settings) as in_force:
        document, report = cut_in_worker(document, in_force, workers, settings.scan_options().secrets)
    exact = tuple(count_exact(it.text, model) for it in report.chunks) if model else ()
    plain = _plain(in_force.options) | source_of(choice, settings) | _tokenizer(choice)
    return Preview(document, choice, plain, report, model, exact)


def preview_file(name: str, data: bytes, choice: Choice, settings: Settings, workers: Workers) -> Preview:
    """Return the chunks of a file; see `read_document` and `preview`, also for what they raise."""
    document, warnings = read_document(name, data, workers)
    return warned(preview(document, choice, settings, workers), warnings)


def warned(made: Preview, warnings: tuple[str, ...]) -> Preview:
    """The same with further warnings before its own."""
    return replace(made, report=replace(made.report, warnings=(*warnings, *made.report.warnings)))


def _plain(options: Options) -> dict[str, object]:
    values = {it.name: getattr(options, it.name) for it in fields(options)}
    return {name: value for name, value in values.items() if isinstance(value, str | int | float | bool | tuple)}


def _tokenizer(choice: Choice) -> dict[str, object]:
    name = choice.values.get("tokenizer")
    return {"tokenizer": name} if isinstance(name, str) else {}
