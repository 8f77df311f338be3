"""A preview as plain lines: the chunks, their numbers, and a table of strategies."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cqm.chunkers.model import Chunk
from cqm.server.answers.names import symbol_name
from cqm.server.boundary import explain_mark, new_mark
from cqm.server.console import one_line, visible

if TYPE_CHECKING:
    from cqm.server.preview.preview import Preview

_MILLI = 1000


def preview_lines(made: "Preview") -> Iterator[str]:
    """Write the chunks of a file, each below a line with its place, name, kind and size."""
    mark = new_mark([made.document.text])
    if made.report.chunks:
        yield explain_mark(mark)
    for chunk in made.report.chunks:
        yield f"{mark} {chunk_line(made, chunk)}"
        if not holds_text(chunk, made.report.chunks):
            yield chunk_text(chunk)


def chunk_line(made: "Preview", chunk: Chunk) -> str:
    """Describe a chunk: its lines, name, kind and size."""
    symbol = f"  {symbol_name(chunk.symbol)}" if chunk.symbol else ""
    return f"{chunk.start_line}-{chunk.end_line}{symbol}  ({one_line(chunk.kind)})  {size_of(made, chunk)}"


def chunk_text(chunk: Chunk) -> str:
    """Make the text of a chunk visible."""
    return visible(chunk.text.rstrip("\n"))


def size_of(made: "Preview", chunk: Chunk) -> str:
    """Describe a chunk's tokens, estimated and counted, and its repeated characters."""
    exact = f", {made.exact_tokens[chunk.index]} exactly" if made.exact_tokens else ""
    repeats = f", repeats {chunk.overlap_before} characters" if chunk.overlap_before else ""
    return f"{chunk.tokens} tokens{exact}{repeats}"


def holds_text(chunk: Chunk, chunks: Sequence[Chunk]) -> bool:
    """Whether the inner chunks, which come next, show its text."""
    return bool(chunk.children) and chunks[chunk.index + 1].start < chunk.end


def statistics_line(made: "Preview") -> str:
    """Summarize a preview in a line."""
    found = made.report.statistics
    sizes = f"{found.min_tokens} to {found.max_tokens} tokens, {found.mean_tokens:.0f} on average"
    counted = f"1 chunk of {found.max_tokens} tokens" if found.chunks == 1 else f"{found.chunks} chunks of {sizes}"
    exact = f"; {sum(made.exact_tokens):,} tokens of {made.model} in all" if made.exact_tokens else ""
    repeated = f"; {made.repeated_share:.0%} repeated" if made.repeated_share else ""
    seconds = f"; {found.seconds * _MILLI:.0f} ms"
    return f"{counted}{exact}{repeated}{seconds}"


def options_line(made: "Preview") -> str:
    """Name the strategy with all options in force."""
    return " ".join([made.choice.strategy, *(f"{name}={shown(value)}" for name, value in made.options.items())])


def shown(value: object) -> str:
    """Write an option's value as users write it."""
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def comparison_lines(previews: "Sequence[Preview]") -> Iterator[str]:
    """Write a table comparing previews of one document by different choices."""
    wide = max(len(made.choice.label) for made in previews)
    yield f"{'':{wide}}  chunks   mean  smallest  largest  repeated"
    for made in previews:
        found = made.report.statistics
        yield (
            f"{made.choice.label:{wide}}  {found.chunks:6}  {found.mean_tokens:5.0f}  {found.min_tokens:8}"
            f"  {found.max_tokens:7}  {made.repeated_share:8.0%}"
        )
