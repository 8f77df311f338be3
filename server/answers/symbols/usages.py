"""Definitions and references of a symbol, in plain words, within a token budget."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from cqm.index.model.uses import Caller, Definition, Reference, ReferenceGroup, SymbolUses
from cqm.index.text.names.parts import is_operator
from cqm.server.answers.budget import tokens_of_lines
from cqm.server.answers.names import path_name, place, symbol_name
from cqm.server.boundary import explain_mark, new_mark
from cqm.server.console import number, one_line, visible

_MOST_DEFINITIONS = 5
"""Definitions shown with signature and first paragraph of documentation; the others are only named."""
_TAIL_TOKENS = 40
_UNBOUNDED = 1 << 30
_LONGEST_NAME = 100
_TITLES = {
    ReferenceGroup.CALLS: "Called by",
    ReferenceGroup.USES: "Other uses",
    ReferenceGroup.TESTS: "In tests",
    ReferenceGroup.DOCUMENTATION: "In documents and comments",
}
_COUNTED = {
    "calls": ("call", "calls"),
    "uses": ("other use", "other uses"),
    "tests": ("line in tests", "lines in tests"),
    "documentation": ("line in documents and comments", "lines in documents and comments"),
}


def usage_text(uses: SymbolUses, token_budget: int | None = None, *, start: int = 0, mark: str = "") -> str:
    """List definitions with signature and documentation, the references by group, then callers and callees.

    Parameters:
        token_budget: tokens of the whole text; None for any number. Definitions get half of it at most, and stand on
            the first page alone, as callees and callers do.
        start: place of the first reference among all, from 0.
        mark: prefix of CQM's lines, where lines of files may stand above; a new one when empty.
    """
    name = one_line(uses.name)[:_LONGEST_NAME]
    if not uses.definitions and not uses.namesakes and not sum(uses.totals.values()):
        near = ", ".join(map(symbol_name, uses.near))
        hint = f"Did you mean {near}?" if near else "Search for it in other words."
        return f"{name} is no word of any file in the index. {hint}\n"
    mark = mark or new_mark(_texts(uses))
    head = [*_header(uses, name), explain_mark(mark)]
    room = (token_budget or _UNBOUNDED) - tokens_of_lines(head) - _TAIL_TOKENS
    # Pages behind the first are of references alone: their reader has seen the rest.
    definitions = [] if start else _within(_definition_blocks(uses, mark), room // 2)
    room -= tokens_of_lines(definitions)
    after = [] if start else _within([*_callee_lines(uses, mark), *_caller_lines(uses, mark)], room // 4)
    room -= tokens_of_lines(after)
    lines, shown = _reference_lines(uses.references, mark, room)
    rest = len(uses.references) - shown
    following = str(start + shown) if rest else uses.next_cursor
    tail = [f'\n{mark} There are more references: ask again with cursor "{following}".'] if following else []
    return "\n".join([*head, *definitions, *lines, *after, *tail]) + "\n"


def _texts(uses: SymbolUses) -> Iterator[str]:
    for definition in uses.definitions:
        yield from (definition.signature, definition.doc)
    yield from (it.text for it in uses.references)


def _within(lines: Iterable[str], room: int) -> list[str]:
    """Return the first fitting lines."""
    kept = []
    for line in lines:
        room -= tokens_of_lines([line])
        if room < 0:
            break
        kept.append(line)
    return kept


def _header(uses: SymbolUses, name: str) -> Iterator[str]:
    counts = [number(len(uses.definitions), "definition")]
    counts += [number(uses.totals[group], *words) for group, words in _COUNTED.items() if uses.totals.get(group)]
    is_of_operator = any(is_operator(it.symbol) for it in uses.definitions)
    least = "" if uses.is_complete or is_of_operator else "; there may be more"
    yield f"{name}: {', '.join(counts)}{least}"
    if is_of_operator:
        yield "Note: uses of an operator are not found, since it is no word. Mode exact finds lines with its sign."
    if uses.by_word:
        count = number(uses.by_word, "line")
        yield f"Note: {count} told apart by words, since no grammar could read the file."


def _definition_blocks(uses: SymbolUses, mark: str) -> Iterator[str]:
    for definition in uses.definitions[:_MOST_DEFINITIONS]:
        yield "\n".join(_definition_lines(definition, mark))
    yield from (f"\n{mark} {_place(definition)}" for definition in uses.definitions[_MOST_DEFINITIONS:])
    overriding = [it for it in uses.namesakes if it.overrides]
    if overriding:
        yield f"\n{mark} Overridden by:"
        yield from (f"  {_place(definition)}" for definition in overriding)
    others = [it for it in uses.namesakes if not it.overrides]
    if others:
        yield f"\n{mark} {number(len(others), 'other definition')} of this last name:"
        yield from (f"  {_place(definition)}" for definition in others[:_MOST_DEFINITIONS])
        if len(others) > _MOST_DEFINITIONS:
            yield f"{mark} ... and {len(others) - _MOST_DEFINITIONS:,} more"


def _definition_lines(definition: Definition, mark: str) -> Iterator[str]:
    yield f"\n{mark} {_place(definition)}"
    yield from (f"  {line}" for line in visible(definition.signature).split("\n") if line)
    yield from (f"  | {line}" for line in visible(definition.doc).partition("\n\n")[0].split("\n") if line)


def _reference_lines(references: Sequence[Reference], mark: str, room: int) -> tuple[list[str], int]:
    """Return lines for references with a title for each group, and the number of fitting references.

    The path of several in one file stands above them.
    """
    lines: list[str] = []
    shown = 0
    for (group, doubt), of_group in groupby(references, key=lambda it: (it.group, _doubt(it))):
        title = [f"\n{mark} {_TITLES[group]}{doubt}:"]
        for path, of_file in groupby(of_group, key=lambda it: it.path):
            some = list(of_file)
            above = [f"  {path_name(path)}"] if len(some) > 1 else []
            for it in some:
                where = f"    {it.line}" if len(some) > 1 else f"  {place(path, it.line)}"
                added = [*title, *above, f"{where}  {_use(it)}"]
                room -= tokens_of_lines(added)
                if room < 0:
                    return lines, shown
                lines += added
                shown += 1
                title, above = [], []
    return lines, shown


def _use(it: Reference) -> str:
    """Write the symbol around a line, its kind unless the group tells it, and its text, made safe for one line."""
    symbol = it.symbol
    if it.group is ReferenceGroup.DOCUMENTATION:
        symbol = symbol.rpartition(" > ")[2]
    is_told = it.group is ReferenceGroup.CALLS or it.kind == "document"
    doubt = f"(of {symbol_name(it.of)})" if it.of and not it.is_sure else ""
    return "  ".join(
        filter(None, (symbol_name(symbol) if symbol else "", "" if is_told else it.kind, doubt, one_line(it.text)))
    )


def _doubt(it: Reference) -> str:
    if it.is_sure:
        return ""
    return ", of others with this name" if it.of else ", perhaps of another with this name"


def _callee_lines(uses: SymbolUses, mark: str) -> Iterator[str]:
    if uses.related:
        yield f"\n{mark} Calls:"
        yield from (f"  {_place(definition)}" for definition in uses.related)


def _caller_lines(uses: SymbolUses, mark: str) -> Iterator[str]:
    further = [caller for caller in uses.callers if caller.level > 1]
    if further:
        yield f"\n{mark} Callers of callers{' (not all are followed)' if uses.callers_cut else ''}:"
        yield from (f"  {caller.level}  {_caller(caller)}" for caller in further)


def _caller(caller: Caller) -> str:
    where = place(caller.path, caller.line) if caller.line else one_line(caller.path)
    return f"{where}  {symbol_name(caller.symbol)} calls {symbol_name(caller.calls)}"


def _place(definition: Definition) -> str:
    where = place(definition.path, definition.start_line, definition.end_line)
    return f"{where}  {symbol_name(definition.symbol)} ({one_line(definition.kind)})"
