"""Outlines of files and folders, and lines read by symbol or place: questions and replies."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from cqm.index.model.uses import Definition


@dataclass(frozen=True, slots=True)
class OutlineQuery:
    """A request for the symbols of a file, or for the most used symbols of a folder.

    Attributes:
        path: relative to the root; empty for the root.
        limit: symbols a page, 1 to 2000.
        cursor: `Outline.next_cursor` of the page before; empty for the first page.
    """

    path: str = ""
    limit: int = 500
    cursor: str = ""


@dataclass(frozen=True, slots=True)
class OutlineSymbol:
    """A symbol of an outline.

    Attributes:
        symbol, kind: qualified name, or a document's heading path; as in `Definition.kind`.
        line: with the declared name; 1-based, as all three.
        start_line, end_line: of the definition.
        signature: its declaration; empty for a heading.
        depth: number of symbols of the file around it.
        files: number of other source files naming it, which orders a folder's symbols; 0 in the outline of a file.
    """

    symbol: str
    kind: str
    line: int
    start_line: int
    end_line: int
    signature: str = ""
    depth: int = 0
    files: int = 0


@dataclass(frozen=True, slots=True)
class OutlineFile:
    """A file with its listed symbols, in the order of their lines.

    Attributes:
        symbols: listed.
        total: number of symbols in it.
        ranks: of each listed symbol among all of the outline, from 0; a cursor is the rank of the next one.
    """

    path: str
    language: str
    symbols: tuple[OutlineSymbol, ...]
    total: int
    ranks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """An entry of an outlined folder: a file, or a folder with "/" at its end; counts include everything in it."""

    path: str
    files: int
    symbols: int


@dataclass(frozen=True, slots=True)
class Outline:
    """Symbols of a file, or the most used ones of a folder.

    Attributes:
        path: outlined; empty for the root.
        is_file: whether it is a file.
        entries: of a folder: folders first, source before tests, those with most symbols first.
        files: with symbols. In a folder, files with the most used symbols come first.
        languages: number of files by language.
        total_files, total_symbols: in all.
        is_sampled: whether uses were counted in a sample of the chunks: the folder has more than 10,000.
        next_cursor: pass it in `OutlineQuery.cursor` for further symbols; empty when there are none.
    """

    path: str
    is_file: bool
    entries: tuple[OutlineEntry, ...] = ()
    files: tuple[OutlineFile, ...] = ()
    languages: Mapping[str, int] = field(default_factory=dict)
    total_files: int = 0
    total_symbols: int = 0
    is_sampled: bool = False
    next_cursor: str = ""


@dataclass(frozen=True, slots=True)
class ReadQuery:
    """A request for lines of a file.

    Attributes:
        what: a symbol in any notation of a search, or `path:10-40`, `path:10` or `path`; the end of a path is enough.
        base: folder for relative paths, tried first, or the file to look for a symbol in; relative to the root.
        tokens: estimated tokens of the lines of a page.
        cursor: `Reading.next_cursor` of the page before; empty for the first page.
    """

    what: str
    base: str = ""
    tokens: int = 6000
    cursor: str = ""


@dataclass(frozen=True, slots=True)
class FileLine:
    """A line of a file, by its 1-based number."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Reading:
    """Lines of a file as it is now, with secrets redacted; or the possible definitions of an ambiguous symbol.

    Attributes:
        what: as asked for.
        path, language: of the file; empty if the symbol is ambiguous.
        symbol, kind: of the symbol read, or the innermost one around the lines. May be empty.
        line: with the name of the symbol; None without one.
        first_line, last_line: of the whole symbol or lines; a symbol begins with its comments and decorators.
        start_line, end_line: of the page.
        column: characters of the first line shown on the page before.
        total_lines: of the file.
        text: lines of the page.
        heads: first lines of the declarations around it, outermost first.
        imports: the file's import lines; of many, those with a name used in the page's lines. On the first page.
        redacted: number of secrets in the page, shown as "*".
        notes: sentences about changes, and about a file without a known syntax.
        next_cursor: pass it in `ReadQuery.cursor` for the next page; empty at the end.
        hash: of the file's bytes; cursors begin with a line, and end with the first 8 digits of the hash.
        definitions: those to choose from if the symbol is ambiguous; otherwise others of the name.
    """

    what: str
    path: str = ""
    language: str = ""
    symbol: str = ""
    kind: str = ""
    line: int | None = None
    first_line: int = 0
    last_line: int = 0
    start_line: int = 0
    end_line: int = 0
    column: int = 0
    total_lines: int = 0
    text: str = ""
    heads: tuple[FileLine, ...] = ()
    imports: tuple[FileLine, ...] = ()
    redacted: int = 0
    notes: tuple[str, ...] = ()
    next_cursor: str = ""
    definitions: tuple[Definition, ...] = ()
    hash: str = ""


def cursor_at(line: int, column: int, content_hash: str) -> str:
    """Return the cursor of the page beginning at a line of a file, after some of its characters."""
    return f"{line}{f'+{column}' if column else ''}@{content_hash[:8]}"
