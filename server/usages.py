"""What the index tells of a symbol, in plain words."""

from collections.abc import Iterator

from cqm.index.model import Definition, SymbolUses

_MOST_DEFINITIONS = 5
"""Shown with signature and the first paragraph of their documentation; the others are named."""


def usage_lines(uses: SymbolUses) -> Iterator[str]:
    """Definitions with signature and documentation, then calls, then what the symbol calls."""
    if not uses.definitions and not uses.calls:
        yield f"{uses.name} is neither defined nor called in the index. Search for it in other words."
        return
    least = "" if uses.is_complete else "at least "
    yield f"{uses.name}: {_count(len(uses.definitions), 'definition')}, {least}{_count(uses.total_calls, 'call')}"
    for definition in uses.definitions[:_MOST_DEFINITIONS]:
        yield from _definition_lines(definition)
    yield from (f"\n{_place(definition)}" for definition in uses.definitions[_MOST_DEFINITIONS:])
    if uses.calls:
        rest = uses.total_calls - len(uses.calls)
        yield f"\nCalled by{f' (ask with a higher limit for {rest:,} more)' if rest else ''}:"
        yield from (f"  {site.path}:{site.line}  {site.symbol or '(top level)'}  {site.text}" for site in uses.calls)
    if uses.related:
        yield "\nCalls:"
        yield from (f"  {_place(definition)}" for definition in uses.related)


def _definition_lines(definition: Definition) -> Iterator[str]:
    yield f"\n{_place(definition)}"
    yield from (f"  {line}" for line in definition.signature.split("\n") if line)
    yield from (f"  | {line}" for line in definition.doc.partition("\n\n")[0].split("\n") if line)


def _place(definition: Definition) -> str:
    return f"{definition.path}:{definition.start_line}-{definition.end_line}  {definition.symbol} ({definition.kind})"


def _count(number: int, name: str) -> str:
    return f"{number:,} {name}{'s' * (number != 1)}"
