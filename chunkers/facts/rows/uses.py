"""Walk a syntax tree once for each symbol's branches, calls, names and fields, without those of inner symbols."""

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tree_sitter import Node

    from cqm.chunkers.facts.rows.model import Symbol, Syntax

# A callee is read from its end; no real name is longer.
_MAX_CALLEE = 200
_CALLEE = re.compile(r"[\w$@#\\]+[?!]?(?:\s*(?:\?\.|!\.|\.|::|\?->|->|&\.)\s*[\w$@#~]+[?!]?)*\s*\Z")
_SPACE = re.compile(r"\s+")


@dataclass(slots=True)
class Uses:
    """The names used and declared in a symbol, as dictionary keys in the order of their first use.

    Attributes:
        branches: their number.
        has_body: whether it holds executed code.
        calls: callees.
        names: all names used, as in the source.
        fields: declared or assigned for the type around it.
        methods: declared for the type without being their symbols.
    """

    branches: int = 0
    has_body: bool = False
    calls: dict[str, None] = field(default_factory=dict)
    names: dict[bytes, None] = field(default_factory=dict)
    fields: dict[str, None] = field(default_factory=dict)
    methods: dict[str, None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Walked:
    """The result of a walk: one item a symbol, and the names imported by the document."""

    uses: list[Uses]
    imported: set[bytes]


def uses_of(root: "Node", symbols: "Sequence[Symbol]", syntax: "Syntax", source: bytes) -> Walked:
    """Walk over all named nodes of a document once."""
    # The last item collects uses outside all symbols.
    walked = Walked([Uses() for _ in range(len(symbols) + 1)], set())
    owners = _owners(symbols)
    watched = _watched(syntax)
    waiting = [(root, -1, False)]
    while waiting:
        node, owner, quiet = waiting.pop()
        kind = node.type
        owner = owners.get(node.id, owner)
        if kind in syntax.names:
            walked.uses[owner].names[source[node.start_byte : node.end_byte]] = None
            continue
        if kind in watched:
            quiet = quiet or kind in syntax.decorators
            if kind in syntax.imports and _bind(node, walked.imported, syntax, source):
                continue
            if not quiet:
                _look(node, kind, walked.uses[owner], syntax, source)
        if node.named_child_count:
            waiting.extend([(child, owner, quiet) for child in _children(node, kind, syntax)])
    return walked


def _watched(syntax: "Syntax") -> frozenset[str]:
    tables = (syntax.weighed, syntax.calls, syntax.fields, syntax.methods, syntax.imports)
    return syntax.branches.union(syntax.bodies, syntax.decorators, *tables)


def _bind(node: "Node", imported: set[bytes], syntax: "Syntax", source: bytes) -> bool:
    names = {name.encode("utf-8", "replace") for name in syntax.imports[node.type](node, source)}
    imported.update(names)
    return bool(names)


def _owners(symbols: "Sequence[Symbol]") -> dict[int, int]:
    # A decorator's names are uses of the decorated symbol.
    owners = {}
    for index, symbol in enumerate(symbols):
        owners[symbol.mark.node.id] = index
        owners.update((above.node.id, index) for above in symbol.above)
    return owners


def _look(node: "Node", kind: str, uses: Uses, syntax: "Syntax", source: bytes) -> None:
    if kind in syntax.branches:
        uses.branches += 1
    elif (weigh := syntax.weighed.get(kind)) is not None:
        uses.branches += weigh(node, source)
    if kind in syntax.bodies:
        uses.has_body = True
    if (callee := syntax.calls.get(kind)) is not None and (name := callee(node, source)):
        uses.calls[name] = None
    if (fields := syntax.fields.get(kind)) is not None:
        uses.fields.update(dict.fromkeys(fields(node, source)))
    if (methods := syntax.methods.get(kind)) is not None:
        uses.methods.update(dict.fromkeys(methods(node, source)))


def _children(node: "Node", kind: str, syntax: "Syntax") -> "Iterable[Node]":
    """Return the children which use names, last one first."""
    unused = syntax.unused.get(kind)
    left_out = unused(node) if unused else None
    if left_out is None:
        return reversed(node.named_children)
    return [child for child in reversed(node.named_children) if child.id != left_out.id]


def callee(start: int, end: int, source: bytes) -> str:
    """Return a callee's last name, with the plain names it is a member of.

    "a.b(1).c" gives "c": the result of "a.b" has no name. Time is bounded, so a chain of calls takes linear time.

    Parameters:
        start, end: of the callee, without type arguments, in bytes of the source.
        source: the parsed bytes.
    """
    text = source[max(start, end - _MAX_CALLEE) : end].decode("utf-8", "replace")
    found = _CALLEE.search(text)
    return _SPACE.sub("", found[0]) if found else ""
