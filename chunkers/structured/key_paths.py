"""Write paths of entries in structured data as text: "jobs.build.steps[Run tests].run"."""

import re
from collections.abc import Iterable, Iterator

from cqm.chunkers.structured.spans_of_json import DOTTED, STRING, Node, string_of

Path = tuple[str, ...]
"""Steps from the root: keys, and items as "[3]" or "[build]"."""

_LONGEST = 60
_NAMES = ("name", "id")
_SPECIAL = re.compile(r"[\s.\[\]\"]|^$")

# Levels below a piece; deeper names add nothing to those above.
_DEEPEST = 16


def step(text: str, node: Node, number: int) -> str:
    """Return an entry's step in a path: its key, quoted if ambiguous; an item by its name, id or number, from 0."""
    if node.kind == DOTTED:
        return _named_table(text, node)
    if not node.key:
        return f"[{_name_of(text, node) or number}]"
    if not _SPECIAL.search(node.key):
        return node.key
    return f'["{" ".join(node.key.split())[:_LONGEST]}"]'


def _named_table(text: str, node: Node) -> str:
    name = _name_of(text, node) if node.key.endswith("]") else ""
    return f"{node.key.rpartition('[')[0]}[{name}]" if name else node.key


def _name_of(text: str, node: Node) -> str:
    for child in node.children:
        if child.key in _NAMES and (name := scalar_of(text, child)) and len(name) <= _LONGEST and name.isprintable():
            return name
    return ""


def path_text(steps: Iterable[str]) -> str:
    """Return a path as text."""
    written = ""
    for part in steps:
        written = _extended(written, part)
    return written


def _extended(written: str, part: str) -> str:
    return written + part if part.startswith("[") or not written else f"{written}.{part}"


def names_of(text: str, parent: Path, number: int, node: Node) -> Iterator[str]:
    """Yield the paths of an entry and of all named entries in it, in order; items with only a number are left out.

    For the entry `build: {steps: [{name: test}]}` of `("jobs",)` these are "jobs.build", "jobs.build.steps" ...

    Parameters:
        parent: the path of the entry's container.
        number: the entry's number there.
    """
    waiting = [(path_text(parent), number, node, 0)]
    while waiting:
        above, index, entry, depth = waiting.pop()
        part = step(text, entry, index)
        if part == f"[{index}]" or depth > _DEEPEST:
            continue
        name = _extended(above, part)
        yield name
        inner = [(name, position, child, depth + 1) for position, child in enumerate(entry.children)]
        waiting.extend(reversed(inner))


def scalar_of(text: str, node: Node | None) -> str:
    """Return a scalar's text, without its quotes and comments; empty for None and containers."""
    if node is None or node.children:
        return ""
    if node.kind == STRING:
        return string_of(text, node)
    written = text[node.start : node.end].strip()
    if written[:1] in ("'", '"'):
        return written[1:].partition(written[0])[0]
    return written.partition(" #")[0].rstrip()
