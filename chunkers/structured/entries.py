"""Cut structured data at its entries: from a tree of spans to drafts of whole entries."""

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from cqm.chunkers.model import ChunkOptions
from cqm.chunkers.splitting import Unit, even_spans, line_strength, line_units
from cqm.chunkers.structured.key_paths import Path, step
from cqm.chunkers.structured.spans_of_json import Node
from cqm.chunkers.tokens import QUARTERS, quarters

# Deeper containers are values of their parent: paths stay short, and the work linear.
_MAX_DEPTH = 24


class Entry(NamedTuple):
    """A member or item: the path of its container, its number there, and its position."""

    parent: Path
    number: int
    node: Node


class Draft(NamedTuple):
    """A draft of a piece: whole entries, or a part of an entry over the limit.

    Attributes:
        start, end: characters of the text.
        size: in quarters of a token.
        parent: the path of its entries' container.
        outer: the path of the container open at the start.
        entries: the entries beginning in it.
        inside: the path of the entry it is a later part of; empty for others.
        lead: the entry which makes it a piece of its own, however small.
    """

    start: int
    end: int
    size: int
    parent: Path
    outer: Path
    entries: tuple[Entry, ...]
    inside: Path = ()
    lead: Entry | None = None


class Shape(NamedTuple):
    """A format's rules for entries, by the path of their container.

    Attributes:
        opens: whether to cut a container into its entries even if it would fit.
        apart: whether an entry is a piece of its own, however small.
    """

    opens: Callable[[Path, Node], bool] = lambda _parent, _node: False
    apart: Callable[[Path, Node], bool] = lambda _parent, _node: False


class _Container(NamedTuple):
    node: Node
    start: int
    end: int
    path: Path
    outer: Path
    lead: Entry | None = None
    """For its first piece: it keeps the name of the container, however small it is."""


class _Rows(NamedTuple):
    # An entry, or several sharing rows, with the text belonging to them, up to the start of the next.
    start: int
    end: int
    size: int
    entries: tuple[Entry, ...]


class _Walk(NamedTuple):
    text: str
    shape: Shape
    limit: int
    least: int


def drafts_of(text: str, root: Node, shape: Shape, options: ChunkOptions) -> list[Draft]:
    """Cut a text at the entries of a tree; gapless and in order.

    Containers within the limit stay whole. A container over it is cut at its entries; an entry over it without entries
    of its own is cut at lines. Small neighbours in one container are packed, tiny ones with any neighbour. A draft
    beginning inside a line ends in it.
    """
    walk = _Walk(text, shape, options.max_tokens * QUARTERS, options.min_tokens * QUARTERS)
    drafts: list[Draft] = []
    waiting: list[_Container | Draft] = [_Container(root, 0, len(text), (), ())]
    while waiting:
        item = waiting.pop()
        if isinstance(item, Draft):
            drafts.append(item)
        else:
            waiting.extend(reversed(list(_cut(item, walk))))
    packed = _joined(_at_lines(text, drafts), walk, walk.least, lambda before, draft: before.outer == draft.outer)
    return _joined(packed, walk, walk.least // 2, lambda _before, _draft: True)


def _cut(container: _Container, walk: _Walk) -> Iterator[_Container | Draft]:
    run: list[_Rows] = []
    for rows in _rows_of(container, walk):
        node = rows.entries[0].node if len(rows.entries) == 1 else None
        opens = node is not None and bool(node.children) and walk.shape.opens(container.path, node)
        if rows.size <= walk.limit and not opens:
            run.append(rows)
            continue
        yield from _packed(run, container, walk)
        run = []
        yield from _divided(rows, node, container, walk)
    yield from _packed(run, container, walk)


def _rows_of(container: _Container, walk: _Walk) -> Iterator[_Rows]:
    text, node, start = walk.text, container.node, container.start
    one_line = text.find("\n", node.start, node.end) < 0
    entries = [Entry(container.path, number, child) for number, child in enumerate(node.children)]
    waiting: list[Entry] = entries[:1]
    for before, entry in pairwise(entries):
        end = _boundary(text, before.node, entry.node, one_line=one_line)
        if end > start:
            yield _Rows(start, end, quarters(text[start:end]), tuple(waiting))
            start, waiting = end, []
        waiting.append(entry)
    if start < container.end:
        yield _Rows(start, container.end, quarters(text[start : container.end]), tuple(waiting))


def _boundary(text: str, before: Node, node: Node, *, one_line: bool) -> int:
    """Return the position for a cut between two entries; -1 if they share one of several rows of their container."""
    if one_line or text[before.end - 1] == "\n":
        return node.entry
    line_end = text.find("\n", before.end, node.entry)
    # A shared row goes with the first.
    return (line_end if line_end >= 0 else text.find("\n", node.entry, node.end)) + 1 or -1


def _packed(run: list[_Rows], container: _Container, walk: _Walk) -> Iterator[Draft]:
    small: list[_Rows] = []
    for rows in run:
        lead = next((entry for entry in rows.entries if walk.shape.apart(container.path, entry.node)), None)
        if rows.size < walk.least and lead is None:
            small.append(rows)
            continue
        yield from _evenly(small, container, walk)
        small = []
        draft = _draft(rows, container)
        yield draft._replace(lead=lead or draft.lead)
    yield from _evenly(small, container, walk)


def _evenly(small: list[_Rows], container: _Container, walk: _Walk) -> Iterator[Draft]:
    if not small:
        return
    first = 0
    for start, end in even_spans(small[0].start, [Unit(rows.end, rows.size, 0) for rows in small], walk.limit):
        last = first
        while last < len(small) and small[last].end <= end:
            last += 1
        group = small[first:last]
        entries = tuple(entry for rows in group for entry in rows.entries)
        yield _draft(_Rows(start, end, sum(rows.size for rows in group), entries), container)
        first = last


def _draft(rows: _Rows, container: _Container) -> Draft:
    is_first = rows.start == container.start
    outer = container.outer if is_first else container.path
    lead = container.lead if is_first else None
    return Draft(rows.start, rows.end, rows.size, container.path, outer, rows.entries, lead=lead)


def _divided(rows: _Rows, node: Node | None, container: _Container, walk: _Walk) -> Iterator[_Container | Draft]:
    draft = _draft(rows, container)
    path = container.path
    if node is not None:
        path = (*path, step(walk.text, node, rows.entries[0].number))
        lead = rows.entries[0] if walk.shape.apart(container.path, node) else draft.lead
        if node.children and len(container.path) < _MAX_DEPTH:
            yield _Container(node, rows.start, rows.end, path, draft.outer, lead)
            return
    units = line_units(walk.text, (rows.start, rows.end), walk.limit, line_strength)
    for start, end in even_spans(rows.start, units, walk.limit):
        part = draft._replace(start=start, end=end, size=quarters(walk.text[start:end]))
        yield part if start == rows.start else part._replace(outer=path, entries=(), inside=path, lead=None)


def _at_lines(text: str, drafts: Iterable[Draft]) -> Iterator[Draft]:
    for draft in drafts:
        line_end = text.find("\n", draft.start, draft.end) + 1
        if not line_end or _begins_line(text, draft.start) or not text[line_end : draft.end].strip():
            yield draft
            continue
        yield draft._replace(end=line_end, size=quarters(text[draft.start : line_end]))
        rest = quarters(text[line_end : draft.end])
        yield draft._replace(start=line_end, size=rest, outer=draft.parent, entries=(), inside=draft.parent)


def _begins_line(text: str, position: int) -> bool:
    return position == 0 or text[position - 1] == "\n"


def _joined(drafts: Iterable[Draft], walk: _Walk, least: int, may_join: Callable[[Draft, Draft], bool]) -> list[Draft]:
    joined: list[Draft] = []
    for draft in drafts:
        before = joined[-1] if joined else None
        if (
            before is not None
            and min(before.size, draft.size) < least
            and before.size + draft.size <= walk.limit
            and _keeps_lines(walk.text, before, draft)
            and (before.parent == draft.parent if before.lead or draft.lead else may_join(before, draft))
            and not (before.lead and draft.lead)
        ):
            joined[-1] = _union(before, draft)
        else:
            joined.append(draft)
    return joined


def _keeps_lines(text: str, before: Draft, draft: Draft) -> bool:
    return _begins_line(text, before.start) or not _begins_line(text, draft.start)


def _union(before: Draft, draft: Draft) -> Draft:
    larger = max(before, draft, key=lambda one: (one.lead is not None, one.size))
    return Draft(
        before.start,
        draft.end,
        before.size + draft.size,
        before.parent if before.parent == draft.parent else larger.parent,
        before.outer,
        before.entries + draft.entries,
        larger.inside,
        larger.lead,
    )
