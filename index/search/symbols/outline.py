"""Outline a file by its symbols, from the definitions in the index."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cqm.chunkers.source_types import CODE, source_type_of
from cqm.index.files.listed import is_folder, listed_file, reason_for_nothing
from cqm.index.generations.generation import Generation
from cqm.index.manifest.rows import ChunkRow
from cqm.index.model.errors import NotIndexedError, QueryError
from cqm.index.model.options import ScanOptions
from cqm.index.model.query import FileState, page_start
from cqm.index.model.symbols import Outline, OutlineFile, OutlineQuery, OutlineSymbol
from cqm.index.search.named.tree_paths import tree_of
from cqm.index.search.symbols.repository_map import map_of
from cqm.index.text.declarations import signature_of
from cqm.index.text.names.parts import last_part
from cqm.index.text.stored_definitions import read_definitions

_MOST_SYMBOLS = 2_000
_HEADING = " > "


def outline(generation: Generation, root: Path, options: ScanOptions, query: OutlineQuery) -> Outline:
    """List the symbols of a file, or the most used ones of a folder.

    Parameters:
        options: of its scan, which say why a file is left out.
        query: the path and the page.

    Raises:
        QueryError: the limit or the cursor is out of range.
        NotIndexedError: the path is left out of the index; the message has the reason.
        StoreError, ManifestError: the index cannot be read.
    """
    if not 1 <= query.limit <= _MOST_SYMBOLS:
        raise QueryError(f"`limit {query.limit}`: expected 1 to {_MOST_SYMBOLS}.")
    start = page_start(query.cursor)
    path = root.name if root.is_file() else query.path
    if path and generation.manifest.files([path]).get(path) is None and not os.path.lexists(root / path):
        path = tree_of(generation, str(root)).meant(path) or path
    if not path or is_folder(root, path):
        found = map_of(generation, path, start, query.limit)
        if path and not found.total_files:
            raise NotIndexedError(f"No file in {path} is indexed: {reason_for_nothing(root, path, options)}.")
        return found
    row = generation.manifest.files([path]).get(path)
    if row is None or row.state is FileState.SKIPPED:
        listed_file(root, path, options)
    if row is None or row.state is not FileState.INDEXED:
        raise NotIndexedError(f"{path} is not indexed: {row.reason if row else 'it is new'}.", retryable=row is None)
    symbols = _symbols_of(generation, path)
    page = tuple(symbols[start : start + query.limit])
    following = str(start + query.limit) if start + query.limit < len(symbols) else ""
    return Outline(
        path,
        is_file=True,
        files=(OutlineFile(path, row.language, page, len(symbols), tuple(range(start, start + len(page)))),),
        languages={row.language: 1} if row.language else {},
        total_files=1,
        total_symbols=len(symbols),
        next_cursor=following,
    )


def _symbols_of(generation: Generation, path: str) -> list[OutlineSymbol]:
    """Return the symbols of a file in the order of their lines, the outer one first."""
    rows = generation.manifest.chunks_of(path)
    payloads = generation.store.payloads([row.id for row in rows], ["text", "definitions"])
    found: dict[tuple[str, int], OutlineSymbol] = {}
    for row in rows:
        payload = payloads.get(row.id, {})
        of_chunk = _definitions(row, payload) if source_type_of(row.language) == CODE else _headings(row, payload)
        for it in of_chunk:
            found.setdefault((it.symbol, it.line), it)
    return list(_nested(sorted(found.values(), key=lambda it: (it.start_line, -it.end_line, it.line))))


def _definitions(row: ChunkRow, payload: Mapping[str, Any]) -> Iterator[OutlineSymbol]:
    lines, start = str(payload.get("text", "")).split("\n"), row.start_line
    for it in read_definitions(payload.get("definitions", "")):
        at = (start + it.line, start + it.first, start + it.last)
        yield OutlineSymbol(it.name, it.kind, *at, signature_of(lines[it.first :], it))


def _headings(row: ChunkRow, payload: Mapping[str, Any]) -> Iterator[OutlineSymbol]:
    """Yield the headings of a document, keys of settings and the like, each at the line with its name."""
    lines = str(payload.get("text", "")).split("\n")
    names = [name for name in row.defines if not name.startswith(".")]
    at = 0
    for number, name in enumerate(names):
        title = name.rpartition(_HEADING)[2] if _HEADING in name else last_part(name)
        at = next((n for n in range(at, len(lines)) if title in lines[n]), at)
        is_last = number == len(names) - 1
        yield OutlineSymbol(name, row.kind, row.start_line + at, row.start_line + at, row.end_line if is_last else 0)
        at = min(at + 1, len(lines) - 1)


def _nested(symbols: Sequence[OutlineSymbol]) -> Iterator[OutlineSymbol]:
    """Yield symbols with their depth; a heading ends before the next one.

    On one line only names tell the nesting: `enum E { A, B };` has E, E.A and E.B there. The line declares the outer
    one; the others have no signature.
    """
    around: list[OutlineSymbol] = []
    for number, it in enumerate(symbols):
        end = it.end_line or max(it.start_line, symbols[min(number + 1, len(symbols) - 1)].start_line - 1)
        placed = replace(it, end_line=end)
        while around and not _is_around(around[-1], placed):
            around.pop()
        depth = it.symbol.count(_HEADING) if _HEADING in it.symbol else len(around)
        is_declared = any(outer.line == it.line and _is_member(it, outer) for outer in around)
        yield replace(placed, signature="" if is_declared else it.signature, depth=depth)
        around.append(placed)


def _is_around(outer: OutlineSymbol, it: OutlineSymbol) -> bool:
    if outer.end_line < max(it.start_line, it.end_line):
        return False
    return outer.end_line > outer.start_line or _is_member(it, outer)


def _is_member(it: OutlineSymbol, outer: OutlineSymbol) -> bool:
    behind = it.symbol.removeprefix(outer.symbol)
    return behind != it.symbol and not behind[:1].isalnum() and bool(behind)
