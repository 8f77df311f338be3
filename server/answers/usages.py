"""Definitions and calls of a symbol, in plain words."""

from collections.abc import Iterator

from cqm.index.model.query import CallSite, Definition, SymbolUses
from cqm.server.answers.render import place, symbol_name
from cqm.server.boundary import explain_mark, new_mark
from cqm.server.console import one_line, visible

_MOST_DEFINITIONS = 5
"""Definitions shown with signature and first paragraph of documentation; the others are only named."""


def usage_lines(uses: SymbolUses, mark: str = "") -> Iterator[str]:
    """List definitions with signature and documentation, then calls, then the symbols it calls.

    Parameters:
        uses: of the symbol.
        mark: prefix of CQM's lines, where lines of files may stand above; a new one when empty.
    """
    if not uses.definitions and not uses.calls:
        yield one_line(f"{uses.name} is neither defined nor called in the index. Search for it in other words.")
        return
    mark = mark or new_mark(_texts(uses))
    least = "" if uses.is_complete else "at least "
    calls = f"{least}{_count(uses.total_calls, 'call')}"
    yield one_line(f"{uses.name}: {_count(len(uses.definitions), 'definition')}, {calls}")
    yield explain_mark(mark)
    for definition in uses.definitions[:_MOST_DEFINITIONS]:
        yield from _definition_lines(definition, mark)
    yield from (f"\n{mark} {_place(definition)}" for definition in uses.definitions[_MOST_DEFINITIONS:])
    if uses.calls:
        rest = uses.total_calls - len(uses.calls)
        yield f"\n{mark} Called by{f' (ask with a higher limit for {rest:,} more)' if rest else ''}:"
        yield from map(_site_line, uses.calls)
    if uses.related:
        yield f"\n{mark} Calls:"
        yield from (f"  {_place(definition)}" for definition in uses.related)


def _texts(uses: SymbolUses) -> Iterator[str]:
    for definition in uses.definitions:
        yield from (definition.signature, definition.doc)
    yield from (site.text for site in uses.calls)


def _definition_lines(definition: Definition, mark: str) -> Iterator[str]:
    yield f"\n{mark} {_place(definition)}"
    yield from (f"  {line}" for line in visible(definition.signature).split("\n") if line)
    yield from (f"  | {line}" for line in visible(definition.doc).partition("\n\n")[0].split("\n") if line)


def _site_line(site: CallSite) -> str:
    """Write a call in one line: the file's text stands last and can't end it."""
    symbol = symbol_name(site.symbol) if site.symbol else "(top level)"
    return f"  {place(site.path, site.line)}  {symbol}  {one_line(site.text)}"


def _place(definition: Definition) -> str:
    where = place(definition.path, definition.start_line, definition.end_line)
    return f"{where}  {symbol_name(definition.symbol)} ({one_line(definition.kind)})"


def _count(number: int, name: str) -> str:
    return f"{number:,} {name}{'s' * (number != 1)}"
