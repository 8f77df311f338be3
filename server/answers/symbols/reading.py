"""Lines read from a file as text, within a token budget; or the possible definitions of an ambiguous symbol."""

from collections.abc import Iterator, Sequence
from math import inf

from cqm.index.model.symbols import FileLine, Reading, cursor_at
from cqm.index.model.uses import Definition
from cqm.server.answers.budget import clipped, most_that_fit, most_tokens
from cqm.server.answers.names import place, symbol_name
from cqm.server.boundary import explain_mark, new_mark
from cqm.server.console import number, one_line, visible

_ABOVE_SHARE = 0.25
"""Share of the budget for imports and for the declarations around the lines, each."""
_MOST_OTHERS = 5
_LONGEST_NAME = 100


def reading_text(reading: Reading, token_budget: int | None = None, *, mark: str = "") -> str:
    """Write lines read from a file: place and symbol, imports and enclosing declarations, then the lines.

    Parameters:
        reading: a page, or definitions to choose from.
        token_budget: tokens of the whole text; None for any number. Lines without room are left for the next page.
        mark: prefix of CQM's lines, where lines of files may stand above; a new one when empty.
    """
    mark = mark or new_mark(_texts(reading))
    budget = inf if token_budget is None else token_budget
    text = _page_text(reading, budget, mark) if reading.path else _choice_text(reading, budget, mark)
    return clipped(text, budget)


def _texts(reading: Reading) -> Iterator[str]:
    yield reading.text
    yield from (it.text for it in (*reading.heads, *reading.imports))
    yield from (it.signature for it in reading.definitions)


def _choice_text(reading: Reading, budget: float, mark: str) -> str:
    name = one_line(reading.what)[:_LONGEST_NAME]
    found = len(reading.definitions)
    head = [f"{name} may mean {found} definitions: read one by its whole name or its place.", explain_mark(mark)]
    blocks = ["\n".join(_choice_lines(it, mark)) for it in reading.definitions]

    def page(count: int) -> str:
        more = [f"{mark} and {found - count} more"] if count < found else []
        return "\n".join([*head, *blocks[:count], *more]) + "\n"

    return page(most_that_fit(found, budget, page))


def _choice_lines(it: Definition, mark: str) -> Iterator[str]:
    yield f"{mark} {place(it.path, it.start_line, it.end_line)}  {_symbol(it.symbol, it.kind)}"
    if it.signature:
        yield f"  {one_line(' '.join(visible(it.signature).split()))}"


def _page_text(reading: Reading, budget: float, mark: str) -> str:
    lines = visible(reading.text).split("\n")
    above = [
        *_within(_import_lines(reading.imports, mark), budget * _ABOVE_SHARE),
        *_within([f"{mark} [in {it.line}: {one_line(it.text)}]" for it in reading.heads], budget * _ABOVE_SHARE),
    ]

    def page(count: int) -> str:
        end = reading.start_line + count - 1
        following = reading.next_cursor if count == len(lines) else cursor_at(end + 1, 0, reading.hash)
        return _written(reading, lines[:count], end, following, above, mark)

    if count := most_that_fit(len(lines), budget, page):
        return page(count)
    above = []
    if most_tokens(page(1)) <= budget:
        return page(1)
    # A line longer than a page is read in parts, cut between characters of the file.
    line = reading.text.split("\n")[0]

    def part(size: int) -> str:
        following = cursor_at(reading.start_line, reading.column + size, reading.hash)
        return _written(reading, [visible(line[:size])], reading.start_line, following, [], mark)

    return part(max(1, most_that_fit(len(line), budget, part)))


def _written(reading: Reading, lines: Sequence[str], end: int, following: str, above: Sequence[str], mark: str) -> str:
    """Write a page ending at a line."""
    start, total = reading.start_line, reading.total_lines
    if not total:
        return f"{place(reading.path)[:-1]}: the file is empty.\n"
    symbol = f"  {_symbol(reading.symbol, reading.kind)}" if reading.symbol else ""
    head = [f"{place(reading.path, start, end)}{symbol}, of {number(total, 'line')}"]
    if reading.redacted:
        head.append(f"Note: {number(reading.redacted, 'secret')} shown as *.")
    head += [f"Note: {one_line(note)}" for note in reading.notes]
    begins = f", from character {reading.column + 1}" if reading.column else ""
    body = [f"{mark} [lines {start}-{end}{begins}]"] if above or begins else []
    tail = [f'{mark} It goes on to line {reading.last_line}: ask again with cursor "{following}".'] if following else []
    if others := reading.definitions:
        places = [place(it.path, it.line or it.start_line) for it in others[:_MOST_OTHERS]]
        more = [f"{len(others) - _MOST_OTHERS} more"] if len(others) > _MOST_OTHERS else []
        tail.append(f"{mark} Others of this name: {', '.join(places + more)}.")
    return "\n".join([*head, explain_mark(mark), *above, *body, *lines, *tail]) + "\n"


def _import_lines(imports: Sequence[FileLine], mark: str) -> list[str]:
    if not imports:
        return []
    title = f"{mark} [imports, lines {imports[0].line}-{imports[-1].line}]"
    return ["\n".join([title, *(visible(it.text) for it in imports)])]


def _within(blocks: Sequence[str], room: float) -> list[str]:
    """Return the last blocks with room: the nearest declarations tell most."""
    kept: list[str] = []
    for block in reversed(blocks):
        room -= most_tokens(f"{block}\n")
        if room < 0:
            break
        kept.insert(0, block)
    return kept


def _symbol(symbol: str, kind: str) -> str:
    return f"{symbol_name(symbol)} ({one_line(kind)})"
