"""A file as it is now: its lines with the chunks that the index cuts, its symbols, and who uses them."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from cqm.chunkers.errors import CqmError
from cqm.chunkers.model import Chunk
from cqm.index.model.errors import NotIndexedError
from cqm.index.model.query import Definition, Query, SymbolUses
from cqm.index.model.symbols import OutlineQuery, OutlineSymbol, Reading, ReadQuery
from cqm.server.page import safe
from cqm.server.preview.choice import Choice
from cqm.server.preview.preview import listed_document, preview
from cqm.server.ui.code import Row, code_table
from cqm.server.ui.library import Library
from cqm.server.ui.markup import frame, listed, notes, url
from cqm.server.workspace.workspace import OpenIndex

_LINES = 1_000
"""Lines of a page of a file."""
_TOKENS = 40_000
"""Most tokens of these; the rest is on the next page."""
_TINTS = 6
_DEEPEST = 4
_MOST_USES = 200
_MOST_ISSUES = 5
_LAST = 9_999_999
"""No file has more lines."""
_MAP_HEIGHT = 14


def file_page(library: Library, given: Mapping[str, str]) -> str:
    """Write the page of a file around a line.

    Parameters:
        library: has the file.
        given: `path` as shown; `line` to show, and `first`, the first of the page; `symbol` whose uses are listed.

    Raises:
        CqmError: the file is not in the index, or can't be read.
    """
    path, line = given.get("path", ""), number_of(given.get("line", ""), 1)
    opened, relative, prefix = library.locate(path)
    first = number_of(given.get("first", ""), 0) or (line - 1) // _LINES * _LINES + 1
    reading = opened.index.read(ReadQuery(f"{relative}:{first}-{first + _LINES - 1}", tokens=_TOKENS))
    if not reading.path:
        raise NotIndexedError(f"{path} is not in the index.", remedy="Search for it.")
    shown = f"{prefix}{reading.path}"
    chunks, problem = _chunks(library, opened, reading.path)
    symbol = given.get("symbol", "")
    uses = (
        f"<section data-load='{url('uses', name=symbol, path=shown, part=1)}' aria-busy='true'></section>"
        if symbol
        else ""
    )
    body = [
        f"<h1>{safe(shown)}</h1>",
        _about(library, shown, reading, line, chunks),
        notes([*reading.notes, *([problem] if problem else [])]),
        "<div class='file'><div class='lines'>",
        _chunk_map(chunks, reading.total_lines),
        _source(shown, reading, line, chunks),
        _pages(shown, reading),
        "</div><aside class='beside'>",
        uses,
        _symbols(opened, shown, reading),
        f"<section data-load='{url('mentions', path=shown)}'></section>",
        "</aside></div>",
    ]
    return frame(f"{shown} · CQM", "", body)


def uses_page(library: Library, given: Mapping[str, str]) -> str:
    """Write the definitions of a symbol and the lines that use it.

    Parameters:
        library: has the index.
        given: `name` of the symbol; `path` of a file in the index to ask; `part` for a part of another page.
    """
    name, path = given.get("name", ""), given.get("path", "")
    opened, _, prefix = library.locate(path)
    uses = opened.index.usages(name, _MOST_USES)
    text = "".join(_uses(uses, prefix, path, is_part=bool(given.get("part"))))
    return (
        text if given.get("part") else frame(f"{name} · CQM", "", [f"<h1>Uses of <code>{safe(name)}</code></h1>", text])
    )


def mentions(library: Library, given: Mapping[str, str]) -> str:
    """List the issues that name a file; empty for none."""
    path = given.get("path", "")
    opened, relative, prefix = library.locate(path)
    name = relative.rpartition("/")[2]
    found = opened.index.search(Query(text=name, limit=_MOST_ISSUES, sources=("issue",))).hits if name else ()
    items = "".join(
        f"<li><a href='{url('file', path=prefix + it.path, line=it.start_line)}'>{safe(it.symbol or it.path)}</a></li>"
        for it in found
        if name in it.text
    )
    return f"<h2>Issues that name it</h2><ul class='plain'>{items}</ul>" if items else ""


def number_of(text: str, otherwise: int) -> int:
    """Read a line number of an address."""
    return (
        max(1, min(int(text), _LAST))
        if text.isascii() and text.isdecimal() and len(text) <= len(str(_LAST))
        else otherwise
    )


def _chunks(library: Library, opened: OpenIndex, path: str) -> tuple[Sequence[Chunk], str]:
    """Cut the file as the index does, or say why it can't be cut."""
    try:
        document, _ = listed_document(opened.index.root, path, opened.settings, library.workers)
        return preview(document, Choice(), opened.settings, library.workers).report.chunks, ""
    except CqmError as error:
        return (), f"Its chunks cannot be shown: {error.message}"


def _about(library: Library, path: str, reading: Reading, line: int, chunks: Sequence[Chunk]) -> str:
    editor = library.editor_link(path, line)
    facts = [reading.language, f"{reading.total_lines:,} lines", f"{len(chunks):,} chunks" if chunks else ""]
    facts.append(f"{reading.redacted} secrets redacted" if reading.redacted else "")
    links = [
        f"<a href='{url('preview', path=path)}'>Cut it in other ways</a>",
        f"<a class='open' href='{safe(editor)}'>Open in the editor</a>" if editor else "",
    ]
    return f"<p class='about'>{safe(' · '.join(filter(None, facts)))} {' '.join(links)}</p>"


def _chunk_map(chunks: Sequence[Chunk], total: int) -> str:
    """Draw the chunks along the file, as wide as they have lines."""
    if not chunks or not total:
        return ""
    rows = "".join(
        f"<rect class='t{it.index % _TINTS}' x='{it.start_line - 1}' y='0' width='{it.end_line - it.start_line + 1}' "
        f"height='{_MAP_HEIGHT}'><title>{it.index + 1} {safe(it.symbol)}: {it.tokens} tokens</title></rect>"
        for it in chunks
        if not it.children
    )
    return (
        f"<svg class='map' role='img' aria-label='{len(chunks)} chunks along the file' "
        f"viewBox='0 0 {total} {_MAP_HEIGHT}' preserveAspectRatio='none'>{rows}</svg>"
    )


def _source(path: str, reading: Reading, line: int, chunks: Sequence[Chunk]) -> str:
    by_line = {start: list(of_line) for start, of_line in groupby(chunks, key=lambda it: it.start_line)}
    holders: dict[int, int] = {}
    for it in chunks:
        if not it.children:
            holders.update(dict.fromkeys(range(it.start_line, it.end_line + 1), it.index % _TINTS))

    def row(number: int) -> Row:
        edges = "".join(map(_edge, by_line.get(number, ())))
        shade = f"t{holders[number]}" if number in holders else ""
        asked = " asked" if number == line else ""
        return Row(edges, f"{shade}{asked}".strip(), url("file", path=path, line=number, at=f"L{number}"))

    return code_table(path, reading.text.split("\n"), reading.start_line, {}, row)


def _edge(chunk: Chunk) -> str:
    name = f"<b>{safe(chunk.symbol)}</b> " if chunk.symbol else ""
    return (
        f"<tr class='edge t{chunk.index % _TINTS}'><td class='n'></td><td>"
        f"<span>{chunk.index + 1}</span> {name}{safe(chunk.kind)} · {chunk.tokens} tokens</td></tr>"
    )


def _pages(path: str, reading: Reading) -> str:
    before = max(1, reading.start_line - _LINES)
    links = [
        f"<a href='{url('file', path=path, first=before)}'>Lines before</a>" if reading.start_line > 1 else "",
        f"<a href='{url('file', path=path, first=reading.end_line + 1)}'>Lines after</a>"
        if reading.end_line < reading.total_lines
        else "",
    ]
    return f"<p class='pages'>{' '.join(filter(None, links))}</p>" if any(links) else ""


def _symbols(opened: OpenIndex, path: str, reading: Reading) -> str:
    outline = opened.index.outline(OutlineQuery(reading.path))
    found = outline.files[0].symbols if outline.files else ()
    items = "".join(_symbol(path, it, reading) for it in found)
    rest = outline.total_symbols - len(found)
    more = f"<p class='dim'>{rest:,} more</p>" if rest > 0 else ""
    return (
        f"<nav aria-labelledby='outline'><h2 id='outline'>Outline</h2><ul class='outline'>{items}</ul>{more}</nav>"
        if items
        else ""
    )


def _symbol(path: str, it: OutlineSymbol, reading: Reading) -> str:
    is_here = reading.start_line <= it.line <= reading.end_line
    place = f"#L{it.line}" if is_here else url("file", path=path, line=it.line, at=f"L{it.line}")
    last = it.symbol.rpartition(".")[2] if it.depth else it.symbol
    uses = url("uses", name=it.symbol, path=path)
    return (
        f"<li class='d{min(it.depth, _DEEPEST)}'>"
        f"<a href='{place}' title='{safe(it.signature or it.symbol)}'>{safe(last)}</a> "
        f"<span class='dim'>{safe(it.kind)}</span> "
        f"<a class='uses' href='{uses}'>uses<span class='unseen'> of {safe(it.symbol)}</span></a></li>"
    )


def _uses(uses: SymbolUses, prefix: str, path: str, *, is_part: bool) -> Iterator[str]:
    if is_part:
        whole = url("uses", name=uses.name, path=path)
        yield f"<h2><a href='{whole}'>Uses of <code>{safe(uses.name)}</code></a></h2>"
    counts = [(name, f"{count:,}") for name, count in uses.totals.items() if count]
    yield listed([*counts, ("", "")]) if counts else "<p>No file names it.</p>"
    yield from _definitions("Defined", uses.definitions, prefix)
    callers = "".join(
        f"<li>{_place(prefix, it.path, it.line)} <code>{safe(it.symbol)}</code></li>" for it in uses.callers if it.line
    )
    if callers:
        yield f"<h3>Callers</h3><ul class='plain'>{callers}</ul>"
    for group, of_group in groupby(uses.references, key=lambda it: it.group):
        lines = "".join(
            f"<li>{_place(prefix, it.path, it.line)}{'' if it.is_sure else ' <span class=tag>perhaps</span>'}"
            f"<code class='quoted'>{safe(it.text)}</code></li>"
            for it in of_group
        )
        yield f"<h3>{safe(group.value.capitalize())}</h3><ul class='plain'>{lines}</ul>"
    if uses.next_cursor:
        yield f"<p class='dim'>These are the first {_MOST_USES}; <code>cqm usages</code> lists all.</p>"
    yield from _definitions("Others of this name", uses.namesakes, prefix)


def _definitions(title: str, found: Sequence[Definition], prefix: str) -> Iterator[str]:
    items = "".join(
        f"<li>{_place(prefix, it.path, it.line or it.start_line)} <code>{safe(it.symbol)}</code> "
        f"<span class='dim'>{safe(it.kind)}</span></li>"
        for it in found
    )
    if items:
        yield f"<h3>{title}</h3><ul class='plain'>{items}</ul>"


def _place(prefix: str, path: str, line: int) -> str:
    return f"<a href='{url('file', path=f'{prefix}{path}', line=line, at=f'L{line}')}'>{safe(prefix + path)}:{line}</a>"
