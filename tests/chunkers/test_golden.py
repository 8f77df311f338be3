"""One real document of each type and its chunks as a text to review: a change of chunking shows as a diff of these.

`CQM_WRITE_GOLDEN=1 tests/run tests/chunkers/test_golden.py` writes the texts anew.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import Chunk, ChunkOptions, Document
from cqm.chunkers.text_of_file import read_text

GOLDEN = Path(__file__).parent / "golden"
DOCUMENTS = sorted(path for path in (GOLDEN / "documents").iterdir() if path.is_file())


def rendered(document: Document) -> str:
    """The chunks of a document, each with what is known of it and its first and last lines."""
    report = chunk(document, ChunkOptions(details=True))
    warnings = [f"warning: {warning}" for warning in report.warnings]
    return (
        "\n\n".join(["\n".join(warnings or ["no warnings"]), *("\n".join(_lines(part)) for part in report.chunks)])
        + "\n"
    )


def _lines(part: Chunk) -> Iterator[str]:
    place = f"lines {part.start_line}-{part.end_line}, characters {part.start}-{part.end}"
    yield f"=== {part.index + 1}/{part.total} {place}, {part.tokens} tokens, {part.strategy}"
    yield f"{part.kind} {part.symbol}".rstrip()
    for name in ("defines", "overlap_before", "overlap_after", "level"):
        if value := getattr(part, name):
            yield f"{name}: {value}"
    metadata = part.metadata
    for name in metadata.__dataclass_fields__:
        if value := getattr(metadata, name):
            yield f"{name}: {dict(sorted(value.items())) if name == 'facts' else value}"
    yield from (f"symbol: {symbol}" for symbol in part.symbols)
    yield from (f"context: {line}" for line in part.context.splitlines())
    yield from _excerpt("content", part.content)
    yield from _excerpt("text", part.text)


def _excerpt(name: str, text: str) -> Iterator[str]:
    lines = text.rstrip("\n").split("\n") if text else []
    shown = lines if len(lines) <= 7 else [*lines[:4], f"... {len(lines) - 6} lines ...", *lines[-2:]]
    yield from (f"{name}| {line[:160]}".rstrip() for line in shown)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_the_chunks_of_a_real_document_are_those_that_were_reviewed(path: Path) -> None:
    found = rendered(Document(path.name, read_text(path.name, path.read_bytes()).text))
    reviewed = GOLDEN / "chunks" / f"{path.name}.txt"
    if os.environ.get("CQM_WRITE_GOLDEN"):
        reviewed.write_text(found, encoding="utf-8")
    assert found == reviewed.read_text(encoding="utf-8")
