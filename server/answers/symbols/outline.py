"""Outlines as text, within a token budget: all symbols of a file, or the most used ones of a folder."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from math import ceil, inf

from cqm.index.model.symbols import Outline, OutlineEntry, OutlineFile, OutlineSymbol
from cqm.server.answers.budget import clipped, most_that_fit, most_tokens
from cqm.server.answers.names import path_name, symbol_name
from cqm.server.boundary import explain_mark, new_mark
from cqm.server.console import number, one_line, visible

_LONGEST = 160
"""Characters of a signature in one line."""
_MOST_LANGUAGES = 4
_ENTRIES_SHARE = 0.25
"""Share of the budget for the names of folders and files."""
_MOST_ENTRIES = 1_000
_MOST_BUDGET = 24_000
_HEAD = 2
"""Lines before those with names from files."""
_PARTS = frozenset({"property", "variable", "variant", "constant"})
"""Kinds left out first where they are members."""


def outline_text(outline: Outline, token_budget: int | None = None, *, root: str = "", mark: str = "") -> str:
    """Write an outline: a line a symbol with its lines and signature; the last line tells how to go on.

    Parameters:
        outline: of a file or folder.
        token_budget: tokens of the whole text; None for any number.
        root: of the index, which paths are relative to; named for a folder.
        mark: prefix of CQM's lines below the first; a new one when empty.
    """
    mark = mark or new_mark(symbol.signature + symbol.symbol for file in outline.files for symbol in file.symbols)
    budget = inf if token_budget is None else token_budget
    write = _file_text if outline.is_file else _folder_text
    return clipped(write(outline, budget, root, mark), budget)


def _file_text(outline: Outline, budget: float, root: str, mark: str) -> str:
    """Write the symbols of a file: with less of each, or only the outer ones, where the budget holds no more."""
    del root
    (file,) = outline.files
    head = [f"{path_name(file.path)}: {number(file.total, 'symbol')}{_named(file.language)}.", explain_mark(mark)]
    if not file.symbols:
        return f"{head[0]}\n"
    listed = [*zip(file.symbols, file.ranks, strict=True)]
    whole = [it for it in listed if it[0].kind not in _PARTS or not it[0].depth]
    outer = [it for it in whole if not it[0].depth and it[0].kind not in _PARTS] or listed
    cursor = outline.next_cursor
    following = [f'{mark} There are more symbols: ask again with cursor "{cursor}".'] if cursor else []
    shared = _shared(file.symbols)
    full = _joined([*head, *(_line(it, is_signed=it not in shared) for it, _ in listed), *following])
    if most_tokens(full) <= budget:
        return full
    tokens = ceil(most_tokens(full))
    for_all = f"ask with token_budget {tokens}" if tokens <= _MOST_BUDGET else "read their lines"
    for some, is_signed in ((whole, True), (whole, False), (outer, False)):
        left = len(listed) - len(some)
        if is_signed and not left:
            continue
        lines = [_line(it, is_signed=is_signed and it not in shared) for it, _ in some]
        note = f"{mark} {_left_out(left, is_signed=is_signed)}: {for_all}."
        text = _joined([*head, *lines, note, *following])
        if some and most_tokens(text) <= budget:
            return text

    def page(count: int) -> str:
        rank = outer[count][1] if count < len(outer) else outline.next_cursor
        more = f'{number(len(outer) - count, "more outer symbol")}: ask again with cursor "{rank}"'
        return _joined([*head, *lines[:count], f"{mark} Lesser symbols and signatures left out: {for_all}. {more}."])

    return page(max(1, most_that_fit(len(outer), budget, page)))


def _left_out(symbols: int, *, is_signed: bool) -> str:
    """Name the parts left out: "3 lesser symbols left out, signatures left out"."""
    parts = [f"{number(symbols, 'lesser symbol')} left out"] if symbols else []
    text = ", ".join(parts if is_signed else [*parts, "signatures left out"])
    return f"{text[0].upper()}{text[1:]}"


def _folder_text(outline: Outline, budget: float, root: str, mark: str) -> str:
    place = f"{path_name(outline.path)}/" if outline.path else one_line(root) or "This folder"
    languages = [f"{one_line(name)} {count:,}" for name, count in islice(outline.languages.items(), _MOST_LANGUAGES)]
    more = [f"{len(outline.languages) - _MOST_LANGUAGES} more"] if len(outline.languages) > _MOST_LANGUAGES else []
    counts = f"{number(outline.total_files, 'file')} ({', '.join(languages + more)})" if languages else "no files"
    head = [f"{place}: {counts}, {number(outline.total_symbols, 'symbol')}.", explain_mark(mark)]
    ranked = sorted(
        (rank, file, symbol) for file, of_file in enumerate(outline.files) for symbol, rank in enumerate(of_file.ranks)
    )
    is_first = not ranked or not ranked[0][0]
    # Further pages are of symbols alone: their reader has seen the folders.
    head += _entry_lines(outline, budget, mark) if is_first else []

    def page(count: int) -> str:
        shown = {(file, symbol) for _, file, symbol in ranked[:count]}
        groups = list(_groups(outline.files, shown, mark))
        sampled = ", counted in a sample" if outline.is_sampled else ""
        title = f"{mark} Symbols that most other files use{sampled}:" if groups else ""
        following = str(ranked[count][0]) if count < len(ranked) else outline.next_cursor
        advice = f'ask again with cursor "{following}".' + (" Or outline a folder or file." if is_first else "")
        tail = f"{mark} Less used ones: {advice}"
        if len(head) == _HEAD and not groups:
            return _joined(head[:1])
        return _joined([*head, *filter(None, [title]), *groups, *([tail] if following else [])])

    return page(most_that_fit(len(ranked), budget, page))


def _entry_lines(outline: Outline, budget: float, mark: str) -> Iterator[str]:
    names = [_entry(it, outline.path) for it in outline.entries[:_MOST_ENTRIES]]
    if not names:
        return

    def line(count: int) -> str:
        left = len(outline.entries) - count
        more = [f"and {left:,} more"] if left else []
        return f"  {', '.join(names[:count] + more)}"

    yield f"{mark} Folders and files (files, symbols):"
    yield line(most_that_fit(len(names), budget * _ENTRIES_SHARE, line))


def _entry(it: OutlineEntry, folder: str) -> str:
    name = it.path.removeprefix(f"{folder}/" if folder else "")
    count = f"{it.files:,}, {it.symbols:,}" if name.endswith("/") else f"{it.symbols:,}"
    return f"{path_name(name)} ({count})"


def _groups(files: Sequence[OutlineFile], shown: set[tuple[int, int]], mark: str) -> Iterator[str]:
    for at, file in enumerate(files):
        own = [symbol for place, symbol in enumerate(file.symbols) if (at, place) in shown]
        if own:
            yield f"{mark} {path_name(file.path)}  {len(own)} of {number(file.total, 'symbol')}"
            shared = _shared(own)
            yield from (_line(it, is_signed=it not in shared) for it in own)


def _shared(symbols: Sequence[OutlineSymbol]) -> set[OutlineSymbol]:
    """Return symbols declared together in one line, such as `int x, y;`: only their names tell them apart."""
    places = Counter((it.line, it.signature) for it in symbols)
    return {it for it in symbols if places[it.line, it.signature] > 1}


def _line(it: OutlineSymbol, *, is_signed: bool = True) -> str:
    """Write a symbol in one line; its text is escaped and can't end it."""
    lines = f"{it.start_line}-{it.end_line}" if it.end_line > it.start_line else f"{it.line}"
    signature = " ".join(visible(it.signature).split()) if is_signed else ""
    if len(signature) > _LONGEST:
        signature = f"{signature[: _LONGEST - 1]}…"
    # Those around it are named above.
    between = " > " if " > " in it.symbol else "."
    name = symbol_name(it.symbol.rpartition(between)[2] if it.depth else it.symbol)
    return f"  {lines}  {'  ' * it.depth}{one_line(signature) or f'{name} ({one_line(it.kind)})'}"


def _joined(lines: Sequence[str]) -> str:
    return "\n".join(lines) + "\n"


def _named(language: str) -> str:
    return f", {one_line(language)}" if language else ""
