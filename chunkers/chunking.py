"""Chunk a document: the one entry to all chunkers."""

from collections.abc import Iterator
from dataclasses import replace
from time import perf_counter

from cqm.chunkers.chunk_builder import Outline, completed
from cqm.chunkers.detect import language_of
from cqm.chunkers.languages.table import dialect_of
from cqm.chunkers.model import Chunk, ChunkOptions, ChunkReport, ChunkStatistics, Document
from cqm.chunkers.strategies.content import outline_by_content
from cqm.chunkers.strategies.options import options_for
from cqm.chunkers.strategies.rules import check
from cqm.chunkers.strategies.semantic import Embed
from cqm.chunkers.strategies.table import Options, Strategy, strategy_of
from cqm.chunkers.tokens import estimate

_OVERSIZE_PERCENT = 150


def chunk(
    document: Document,
    options: Options = ChunkOptions(),  # noqa: B008 - frozen
    embed: Embed | None = None,
) -> ChunkReport:
    r"""Cut a document into chunks, with statistics and warnings.

        report = chunk(Document("a.py", "def f():\n    return 1\n"))
        [(it.kind, it.symbol) for it in report.chunks]  # [("function", "f")]

    Every non-blank character is in exactly one chunk, except for declared overlap and for chunks inside others in a
    tree; "javadoc" alone leaves out everything but documentation. Text unreadable for its language's chunker is cut at
    lines, with a warning.

    Parameters:
        document: its language is detected if it names none.
        options: their type chooses the strategy; `ChunkOptions` cuts by content, or by the first rule for the document.
        embed: for a rule with the strategy "semantic".

    Raises:
        ChunkOptionError: an option is outside its range.
    """
    began = perf_counter()
    document, options = _settled(document, options, embed)
    strategy = strategy_of(options)
    outline = _outline(document, strategy, options)
    chunks = tuple(completed(document, outline))
    vectors = strategy.vectors(document.text, chunks, options) if strategy.vectors and chunks else None
    warnings = (*outline.warnings, *_size_warnings(chunks, strategy, options))
    return ChunkReport(chunks, _statistics(chunks, perf_counter() - began), warnings, vectors)


def chunks_of(document: Document, options: Options = ChunkOptions()) -> Iterator[Chunk]:  # noqa: B008 - frozen
    """Yield the chunks of `chunk` one at a time, for large documents: their texts are never all in memory at once.

    Raises:
        ChunkOptionError: an option is outside its range; raised before the first chunk is asked for.
    """
    document, options = _settled(document, options)
    return completed(document, _outline(document, strategy_of(options), options))


def _settled(document: Document, options: Options, embed: Embed | None = None) -> tuple[Document, Options]:
    """Return the document with its language, and the options of its rule."""
    text = document.text
    language = document.language or dialect_of(language_of(document.path, text), text)
    if isinstance(options, ChunkOptions) and options.rules:
        options = options_for(document.path, language, options, embed)
    return document if language == document.language else replace(document, language=language), options


def _outline(document: Document, strategy: Strategy, options: Options) -> Outline:
    check(options, strategy.rules)
    # A component is named after its file.
    if isinstance(options, ChunkOptions):
        return outline_by_content(document.text, document.language, options, document.path)
    return strategy.outline(document.text, document.language, options)


def _statistics(chunks: tuple[Chunk, ...], seconds: float) -> ChunkStatistics:
    sizes = [chunk.tokens for chunk in chunks] or [0]
    return ChunkStatistics(len(chunks), sum(sizes) / len(sizes), min(sizes), max(sizes), seconds)


def _size_warnings(chunks: tuple[Chunk, ...], strategy: Strategy, options: Options) -> Iterator[str]:
    over: dict[str, list[int]] = {}
    for chunk in chunks:
        target = strategy.target(chunk)
        # Only text for reading and embedding counts: a picture in a notebook's JSON is none.
        tokens = estimate(chunk.content) if chunk.content else chunk.tokens
        if target and tokens * 100 > getattr(options, target) * _OVERSIZE_PERCENT:
            over.setdefault(target, []).append(tokens)
    for target, sizes in over.items():
        limit = f"{target}={getattr(options, target)}"
        counts = f"{len(sizes)} of {len(chunks)} chunks are over {_OVERSIZE_PERCENT} % of {limit}"
        yield f"{counts}; the largest has {max(sizes)} tokens."
