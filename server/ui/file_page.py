"""A file's present text: its lines with their chunks, its symbols, and their uses."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from cqm.chunkers.model import Chunk
from cqm.index.model.query import Query
from cqm.index.model.symbols import OutlineQuery, OutlineSymbol
from cqm.index.model.uses import Definition, SymbolUses
from cqm.server.console import number
from cqm.server.page import safe
from cqm.server.preview.choice import Choice
from cqm.server.preview.preview import Preview, is_large, listed_document, preview, warned
from cqm.server.ui.code import Row, code_table
from cqm.server.ui.library import Library
from cqm.server.ui.markup import frame, listed, notes, url
from cqm.server.ui.shown_lines import ShownLines, number_of
from cqm.server.workspace.workspace import OpenIndex

_LINES = 1_000
"""Lines of a page of a file."""
_LARGE = "This file is large: only the lines of this page are cut. In the index, chunks may begin and end elsewhere."
_TINTS = 6
_DEEPEST = 4
_MOST_USES = 200
_MOST_ISSUES = 5
_MAP_HEIGHT = 14


@dataclass(frozen=True, slots=True)
class _Part:
    """Lines of a file on a page.

    Attributes:
        path: as pages show it.
        made: the file cut as the index cuts it, without its secrets.
        total: number of lines of the file.
        first, last: numbers of those on the page.
        cut_from: number of the first line cut: 1, unless the file is large.
        asked: number of the line asked for.
    """

    path: str
    made: Preview
    total: int
    first: int
    last: int
    cut_from: int
    asked: int

    @property
    def chunks(self) -> Sequence[Chunk]:
        """All chunks of the file."""
        return self.made.report.chunks


def file_page(library: Library, given: Mapping[str, str]) -> str:
    """Write the page of a file around a line.

    Parameters:
        given: `path` as shown; `line` to show, and `first`, the first of the page; `symbol` to list uses of.

    Raises:
        CqmError: the file is not in the index, or can't be read.
    """
    path, line = given.get("path", ""), number_of(given.get("line", ""), 1)
    opened, relative = library.locate_file(path)
    document, warnings = listed_document(opened.index.root, relative, opened.settings, library.workers)
    shown = ShownLines.of(
        document.text, number_of(given.get("first", ""), 0) or (line - 1) // _LINES * _LINES + 1, _LINES
    )
    first, last = shown.first, shown.last
    lines = (first, last) if is_large(document.text) else None
    made = preview(document, Choice(), opened.settings, library.workers, lines=lines)
    if lines:
        made, warnings = _below(made, first - 1), (*warnings, _LARGE)
    part = _Part(path, warned(made, warnings), shown.total, first, last, first if lines else 1, line)
    symbol, links = given.get("symbol", ""), shown.links("file", {"path": path})
    pages = f"<p class='pages'>{links}</p>" if links else ""
    body = [
        f"<h1>{safe(path)}</h1>",
        _about(library, part),
        notes(part.made.report.warnings),
        f"<div class='file'><div class='lines'>{_chunk_map(part)}{_source(part)}{pages}</div>",
        "<aside class='beside'>",
        _uses_section(symbol, path),
        _symbols(opened, relative, part),
        f"<section data-load='{url('mentions', path=path)}'></section>",
        "</aside></div>",
    ]
    return frame(f"{path} · CQM", "", body)


def _uses_section(symbol: str, path: str) -> str:
    """Write the place of the uses of a symbol: they come later, or by a link where scripts are off."""
    if not symbol:
        return ""
    part, whole = url("uses", name=symbol, path=path, part=1), url("uses", name=symbol, path=path)
    link = f"<a href='{whole}'>Uses of {safe(symbol)}</a>"
    return f"<section data-load='{part}' aria-busy='true'>{link}</section>"


def _below(made: Preview, above: int) -> Preview:
    """Number the lines of the chunks of a part of a file as in the whole."""
    chunks = tuple(
        replace(it, start_line=it.start_line + above, end_line=it.end_line + above) for it in made.report.chunks
    )
    return replace(made, report=replace(made.report, chunks=chunks))


def uses_page(library: Library, given: Mapping[str, str]) -> str:
    """Write the definitions of a symbol and the lines using it.

    Parameters:
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
    """List the issues naming a file; empty for none."""
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


def _about(library: Library, part: _Part) -> str:
    editor = library.editor_links()(part.path, part.asked)
    language = part.chunks[0].language if part.chunks else ""
    facts = [language, f"{number(part.total, 'line')}", f"{number(len(part.chunks), 'chunk')}"]
    links = [
        f"<a href='{url('preview', path=part.path)}'>Cut it in other ways</a>",
        f"<a class='open' href='{safe(editor)}'>Open in the editor</a>" if editor else "",
    ]
    return f"<p class='about'>{safe(' · '.join(filter(None, facts)))} {' '.join(links)}</p>"


def _chunk_map(part: _Part) -> str:
    """Draw the chunks along the file, as wide as they have lines."""
    rows = "".join(
        f"<rect class='t{it.index % _TINTS}' x='{it.start_line - 1}' y='0' width='{it.end_line - it.start_line + 1}' "
        f"height='{_MAP_HEIGHT}'><title>{it.index + 1} {safe(it.symbol)}: {number(it.tokens, 'token')}</title></rect>"
        for it in part.chunks
        if not it.children
    )
    return (
        f"<svg class='map' role='img' aria-label='{number(len(part.chunks), 'chunk')} along the file' "
        f"viewBox='0 0 {part.total} {_MAP_HEIGHT}' preserveAspectRatio='none'>{rows}</svg>"
    )


def _source(part: _Part) -> str:
    by_line = {start: list(of_line) for start, of_line in groupby(part.chunks, key=lambda it: it.start_line)}
    holders: dict[int, int] = {}
    for it in part.chunks:
        if not it.children:
            shown = range(max(it.start_line, part.first), min(it.end_line, part.last) + 1)
            holders.update(dict.fromkeys(shown, it.index % _TINTS))

    def row(number: int) -> Row:
        edges = "".join(map(_edge, by_line.get(number, ())))
        shade = f"t{holders[number]}" if number in holders else ""
        asked = " asked" if number == part.asked else ""
        return Row(edges, f"{shade}{asked}".strip(), url("file", path=part.path, line=number, at=f"L{number}"))

    below = part.made.document.text.removesuffix("\n").split("\n")[part.first - part.cut_from :]
    lines = below[: part.last - part.first + 1]
    return code_table(part.path, lines, part.first, {}, row)


def _edge(chunk: Chunk) -> str:
    name = f"<b>{safe(chunk.symbol)}</b> " if chunk.symbol else ""
    return (
        f"<tr class='edge t{chunk.index % _TINTS}'><td class='n'></td><td>"
        f"<span>{chunk.index + 1}</span> {name}{safe(chunk.kind)} · {number(chunk.tokens, 'token')}</td></tr>"
    )


def _symbols(opened: OpenIndex, relative: str, part: _Part) -> str:
    outline = opened.index.outline(OutlineQuery(relative))
    items = "".join(_symbol(part, it) for file in outline.files for it in file.symbols)
    if not items:
        return ""
    rest = outline.total_symbols - sum(len(file.symbols) for file in outline.files)
    more = f"<p class='dim'>{rest:,} more</p>" if rest > 0 else ""
    return f"<nav aria-labelledby='outline'><h2 id='outline'>Outline</h2><ul class='outline'>{items}</ul>{more}</nav>"


def _symbol(part: _Part, it: OutlineSymbol) -> str:
    is_here = part.first <= it.line <= part.last
    place = f"#L{it.line}" if is_here else url("file", path=part.path, line=it.line, at=f"L{it.line}")
    last = it.symbol.rpartition(".")[2] if it.depth else it.symbol
    link = f"<a href='{place}' title='{safe(it.signature or it.symbol)}'>{safe(last)}</a>"
    uses = url("uses", name=it.symbol, path=part.path)
    return (
        f"<li class='d{min(it.depth, _DEEPEST)}'>{link} <span class='dim'>{safe(it.kind)}</span> "
        f"<a class='uses' href='{uses}'>uses<span class='unseen'> of {safe(it.symbol)}</span></a></li>"
    )


def _uses(uses: SymbolUses, prefix: str, path: str, *, is_part: bool) -> Iterator[str]:
    if is_part:
        whole = url("uses", name=uses.name, path=path)
        yield f"<h2><a href='{whole}'>Uses of <code>{safe(uses.name)}</code></a></h2>"
    else:
        yield "<h2 class='unseen'>Places</h2>"
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
