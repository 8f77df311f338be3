"""Answer a query for a text or a pattern: find possible files, then their lines, then a page of them."""

import time
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from cqm.chunkers.source_types import source_type_of
from cqm.index.generations.generation import Generation
from cqm.index.model.errors import QueryError, ScanError
from cqm.index.model.options import ScanOptions
from cqm.index.model.query import Confidence, Hit, Matched, Query, check, page_start
from cqm.index.search.filters import check_nothing, with_leading_filters
from cqm.index.search.grep.lines import Match, Tally, as_lines, count_lines, matching_lines
from cqm.index.search.grep.pattern import Pattern, compiled
from cqm.index.search.grep.shown import shown_lines
from cqm.index.search.grep.texts import KnownFile, KnownFiles, Text, Tree, opened_tree
from cqm.index.search.page import Page
from cqm.index.search.usages.lines import Part, Symbol, innermost, innermost_of, whole_files
from cqm.index.text.declarations import signature_of
from cqm.index.text.globs import paths_matching
from cqm.index.text.stored_definitions import StoredDefinition
from cqm.index.workers import Workers

_MOST_SECONDS = 10.0
"""Seconds after which a search ends with the lines found so far."""
_AROUND = 2
_FEW = 3
"""Most matching lines shown with lines around them where the query does not say how many."""
_MOST_AROUND = 20


@dataclass(frozen=True, slots=True)
class Grepping:
    """Everything a search needs beside the query.

    Attributes:
        generation: its files are searched.
        root, scan: of the index.
        workers: read changed files.
        known: files and trigrams, kept from search to search.
    """

    generation: Generation
    root: Path
    scan: ScanOptions
    workers: Workers
    known: KnownFiles


class _Context(NamedTuple):
    """The surroundings of a line: the symbol, its kind or the chunk's, and its declaration."""

    symbol: str = ""
    kind: str = ""
    line: int | None = None
    signature: str = ""


@dataclass(frozen=True, slots=True)
class _Found:
    """A file with matching lines, and those shown on the page."""

    file: KnownFile
    text: bytes
    matches: list[Match]


class _Searched(NamedTuple):
    """The result of a search: files with lines of the page, the number of all matching lines, and of unread files."""

    page: Sequence[_Found]
    results: int
    unread: int


def find_lines(grepping: Grepping, query: Query) -> Page:
    """Find the lines with a text or pattern in the indexed files as they are on disk.

    Parameters:
        query: its mode is exact or regex. Filters may stand before the text: "lang:go ctx.Bind(".

    Raises:
        QueryError: a parameter of the query or the pattern is not valid, or nothing in the index has the language, kind
            or path asked for.
        StoreError, ManifestError: the index cannot be read.
        WorkerError: no worker can be started.
    """
    filtered = with_leading_filters(grepping.generation, query, str(grepping.root))
    query = filtered.query
    _check(query)
    pattern, files = compiled(query.text, query.mode), _chosen(grepping, query)
    tally = Tally(time.monotonic() + _MOST_SECONDS)
    found = _searched(grepping, query, pattern, files, tally)
    told = "" if found.results else check_nothing(grepping.generation, filtered)
    around = query.around if query.around is not None else _AROUND * (tally.lines <= _FEW)
    is_complete = tally.is_complete and not found.unread
    following = page_start(query.cursor) + query.limit
    return Page(
        hits=tuple(_hits(grepping.generation, found.page, around)),
        next_cursor=str(following) if found.results > following else "",
        mode=query.mode,
        degraded="; ".join(filter(None, (_lacking(tally, found.unread), told))),
        confidence=Confidence.HIGH if found.results else Confidence.NONE,
        matched=Matched(tally.matches, tally.lines, tally.files, len(files), found.unread, is_complete=is_complete),
    )


def _searched(
    grepping: Grepping, query: Query, pattern: Pattern, files: Sequence[KnownFile], tally: Tally
) -> _Searched:
    """Search the files until all are done or the time is over; count in the tally."""
    page, unread, results = list[_Found](), 0, 0
    first = page_start(query.cursor)
    following = first + query.limit
    try:
        with opened_tree(grepping.root, grepping.scan, grepping.workers, grepping.known.decoded) as tree:
            for text in tree.texts(_possible(grepping.known, tree, files, pattern)):
                if text.text is None:
                    unread += 1
                    continue
                _note(grepping.known, text)
                data = as_lines(text.text, pattern)
                if results >= following and not pattern.has_newline and not query.kinds:
                    # Behind the page only counts are of interest.
                    results += count_lines(data, pattern, tally)
                else:
                    matches = list(matching_lines(data, pattern, tally))
                    if query.kinds:
                        matches = _of_kinds(grepping.generation, text.file.path, matches, query.kinds, tally)
                    shown = matches[max(0, first - results) : max(0, following - results)]
                    page += [_Found(text.file, data, shown)] if shown else []
                    results += len(matches)
                if tally.is_over():
                    break
    except OSError as error:
        raise ScanError(f"{grepping.root} cannot be read: {error.strerror or error}.") from error
    return _Searched(page, results, unread)


def _check(query: Query) -> None:
    check(query)
    if query.like:
        raise QueryError(f"`like {query.like}` with mode {query.mode.value}: expected a text or pattern to find.")
    if query.issues:
        raise QueryError(f"`issue {query.issues[0]}` with mode {query.mode.value}: expected a mode that ranks chunks.")
    if query.around is not None and not 0 <= query.around <= _MOST_AROUND:
        raise QueryError(f"`context {query.around}`: expected 0 to {_MOST_AROUND} lines.")


def _chosen(grepping: Grepping, query: Query) -> Sequence[KnownFile]:
    """Return the files kept by the filters; filters by kind apply to lines, later."""
    files: Sequence[KnownFile] = grepping.known.of(grepping.generation)
    if query.languages:
        files = [file for file in files if file.language in query.languages]
    if query.sources:
        files = [file for file in files if source_type_of(file.language) in query.sources]
    if query.changed_since is not None:
        changed = set(grepping.generation.manifest.changed_since(query.changed_since))
        files = [file for file in files if file.path in changed]
    if query.include:
        kept = paths_matching(query.include, [file.path for file in files])
        files = [file for file in files if file.path in kept]
    if query.exclude:
        left_out = paths_matching(query.exclude, [file.path for file in files])
        files = [file for file in files if file.path not in left_out]
    return files


def _possible(known: KnownFiles, tree: Tree, files: Sequence[KnownFile], pattern: Pattern) -> Iterator[KnownFile]:
    """Yield the files to search: new, changed, or with the pattern's trigrams."""
    without = known.grams.without(pattern.clauses, ignores_case=pattern.ignores_case)
    return tree.changed(files, without)


def _note(known: KnownFiles, text: Text) -> None:
    """Note the trigrams of a file, unless they are known."""
    if text.stamp and not known.grams.has(text.file.path, text.stamp):
        known.grams.put(text.file.path, text.stamp, (text.text or b"").replace(b"\r\n", b"\n"))


def _of_kinds(
    generation: Generation, path: str, matches: Sequence[Match], kinds: Sequence[str], tally: Tally
) -> list[Match]:
    """Return the matches in symbols of some kinds, and take the others out of the counts."""
    (parts,) = whole_files(generation, [path])
    kept: list[Match] = []
    for match, kind in zip(matches, _kinds_of(parts, [match.first for match in matches]), strict=True):
        if kind in kinds:
            kept.append(match)
        else:
            tally.matches -= len(match.spans)
            tally.lines -= match.last - match.first + 1
    tally.files -= bool(matches) and not kept
    return kept


def _kinds_of(parts: Sequence[Part], lines: Sequence[int]) -> Iterator[str]:
    """Yield the kind of each of some ascending lines: as `_context` has it, at the cost of one look at the symbols."""
    starts = [part.start for part in parts]
    for line, symbol in zip(lines, innermost_of(parts, lines), strict=True):
        part = parts[before - 1] if (before := bisect_right(starts, line)) else None
        yield _kind(symbol, part)


def _kind(symbol: Symbol | None, part: Part | None) -> str:
    """Return the kind of a line in a symbol and a chunk."""
    if symbol is None or part is None:
        # The kind of a chunk with definitions is theirs.
        return part.kind if part and not part.symbols else ""
    return symbol.kind or part.kind


def _context(parts: Sequence[Part], line: int) -> _Context:
    part = next((part for part in reversed(parts) if part.start <= line), None)
    symbol = innermost(parts, line)
    kind = _kind(symbol, part)
    if symbol is None or part is None:
        return _Context(kind=kind)
    declared = next((part for part in parts if symbol in part.symbols), None)
    if declared is None:
        return _Context(symbol.name, kind)
    start = symbol.first - declared.start
    stored = StoredDefinition(
        symbol.name, symbol.kind, start, symbol.line - declared.start, symbol.last - declared.start
    )
    signature = signature_of(declared.text.split("\n")[start:], stored)
    return _Context(symbol.name, kind, symbol.line, signature)


def _hits(generation: Generation, page: Sequence[_Found], around: int) -> Iterator[Hit]:
    files = whole_files(generation, [found.file.path for found in page])
    for found, parts in zip(page, files, strict=True):
        contexts = [_context(parts, match.first) for match in found.matches]
        for match, context in zip(found.matches, contexts, strict=True):
            shown = shown_lines(found.text, match, around)
            yield Hit(
                path=found.file.path,
                start_line=shown.first,
                end_line=shown.last,
                score=1.0,
                symbol=context.symbol,
                kind=context.kind,
                language=found.file.language,
                text=shown.text,
                line=context.line,
                signature=context.signature,
                matches=shown.matches,
                metadata={"cut": tuple(f"{line}:{count}" for line, count in shown.cut.items())} if shown.cut else {},
            )


def _lacking(tally: Tally, unread: int) -> str:
    """Return why an answer may lack lines; empty if it lacks none."""
    ended = (
        "" if tally.is_complete else "counting ended before all files were searched; narrow it with a path or language"
    )
    return "; ".join(filter(None, (ended, f"{unread} files could not be read" if unread else "")))
