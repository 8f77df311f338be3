"""Read parts of a program by themselves, between the heads of the symbols around them, and find their errors."""

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple, Protocol

from cqm.chunkers.recovery.branches import without
from cqm.chunkers.recovery.errors import errors_of
from cqm.chunkers.recovery.segments import Segment
from cqm.chunkers.recovery.shown import Shown, State, shown, state_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tree_sitter import Node, Tree

    from cqm.chunkers.languages.model import Language

    class Parse(Protocol):
        """Parses a text with a language's grammar, with the help of one nearly the same."""

        def __call__(self, part: bytes, before: "Read | None" = None, /) -> Tree | None:
            """Return None if it takes too long."""


_SMALL_ERROR = 80
"""Most bytes of a small error: one word or call in a row unknown to the grammar, such as a macro."""
_ROUNDS = 3
_TYPE = re.compile(rb"\b(?:typedef|struct|union|enum|class)\b")

Span = tuple[int, int]
"""Bytes, half-open."""


class Read(NamedTuple):
    """A text and its tree."""

    data: bytes
    tree: "Tree"


class Part(NamedTuple):
    """A segment to try.

    Attributes:
        segment: the declaration or statement.
        before, after: heads of the symbols around it, and their ends.
        is_local: whether it is in a function.
        is_doubtful: whether it is in a function with errors harmless by themselves.
        shown: its node in the tree of the program, if it has one.
        again: its node in the tree of the program without small errors, if it has one.
    """

    segment: Segment
    before: bytes = b""
    after: bytes = b""
    is_local: bool = False
    is_doubtful: bool = False
    shown: Shown | None = None
    again: Shown | None = None


class Reads(NamedTuple):
    """Reads texts by a language; of equal texts between equal heads, such as "break;", only the first is parsed.

    Attributes:
        large: errors of the whole program's tree larger than small ones, in order.
        known: earlier readings, with blanks at bytes of the text.
        beside: nodes beside errors of the whole program's tree, by their bytes.
    """

    language: "Language"
    parse: "Parse"
    large: list[Span]
    known: "dict[tuple[bytes, bytes, bytes], Reading | None]"
    beside: dict[Span, Shown]

    def has_large(self, segment: Segment) -> bool:
        """Tell if the tree of the program has a large error in the block of a segment with further ones."""
        if not segment.inner or segment.closes < 0:
            return False
        place = bisect_right(self.large, (segment.opens, len(self.large)))
        return place < len(self.large) and self.large[place][1] <= segment.closes

    def torn(self, segment: Segment) -> Shown | None:
        """Return the node of a segment torn out of its surroundings in the tree; None with errors."""
        node = self.beside.get((segment.start, segment.end))
        return node if node is not None and not node.node.has_error else None


def parts_in(part: Part, reads: Reads) -> "Iterator[Part]":
    """Yield the parts in the block of a part, with their nodes."""
    inner = part.segment.inner
    nodes, again = (shown(it, inner, reads.language) if it else [None] * len(inner) for it in (part.shown, part.again))
    for segment, one, two in zip(inner, nodes, again, strict=True):
        yield part._replace(segment=segment, shown=one or reads.torn(segment), again=two)


def first_reading(source: bytes, part: Part, reads: Reads) -> "Reading | None":
    """Read a segment, by the program's tree if it tells enough."""
    segment, language = part.segment, reads.language
    if reads.has_large(segment):
        # It has this error alone, too. A function in an error of the program may have none.
        outer = None if part.shown else read_without_body(source, part, reads)
        if part.shown or (outer is not None and outer.has_members):
            return None
    state = state_of(part.shown, language) if part.shown else None
    # The tree may take one construct for another, a class for a property; of statements it tells enough.
    is_plain = language.unread is not None and language.unread.is_plain
    is_told = part.is_local or (is_plain and part.shown is not None and part.shown.is_direct)
    if state in (State.CLEAN, State.HARMLESS) and is_told:
        return Reading([], is_clean=state is State.CLEAN, has_members=False)
    if part.is_local and state is State.SPOILT and segment.inner and segment.closes >= 0:
        return None
    small = _small_errors(part.shown, reads) if state is State.SPOILT and part.shown and is_plain else []
    if small and part.again is not None and part.again.is_direct and not part.again.node.has_error:
        return Reading(small, is_clean=True, has_members=False)
    is_torn = part.shown is None and segment.inner and is_plain and not part.is_local
    # A type's members may be readable although its head isn't.
    if is_torn and segment.closes >= 0 and _TYPE.search(source, segment.start, segment.opens) is None:
        outer = read_without_body(source, part, reads)
        if outer is None:
            return None
    return _read(source[segment.start : segment.end], part, reads, small)


def _small_errors(it: Shown, reads: Reads) -> list[Span]:
    """Return the harmful errors of a node if all are small, which saves the parse finding them."""
    found = errors_of(it.node, reads.language, it.data, is_inside=it.is_inside)
    spans = [(error.start_byte, error.end_byte) for error in found]
    return spans if all(is_small(span, it.data) for span in spans) else []


def read_without_body(source: bytes, part: Part, reads: Reads) -> "Reading | None":
    """Read a segment as if the block at its end were empty; None without a block, or with harmful errors."""
    segment = part.segment
    if segment.closes < 0:
        return None
    hollow = source[segment.start : segment.opens + 1] + source[segment.closes : segment.end]
    return _read(hollow, part, reads)


class Reading(NamedTuple):
    """A text readable to the grammar.

    Attributes:
        blanks: small errors to blank for that.
        is_clean: whether no error is left, not even inside of a function.
        has_members: whether its last declaration is a container.
    """

    blanks: list[Span]
    is_clean: bool
    has_members: bool


def _read(text: bytes, part: Part, reads: Reads, small: "Sequence[Span]" = ()) -> Reading | None:
    """Read a text between the heads around it; None if more than small errors harm its outline.

    Parameters:
        text: the segment, or some of it.
        reads: earlier readings.
        small: errors of the text, as bytes of the source.
    """
    between = part.before, text, part.after
    start = part.segment.start
    if between not in reads.known:
        blanks = [(first - start, end - start) for first, end in small]
        reads.known[between] = _reading_of(part, text, blanks, reads)
    reading = reads.known[between]
    if reading is None or not reading.blanks:
        return reading
    return reading._replace(blanks=[(start + first, start + end) for first, end in reading.blanks])


def _reading_of(part: Part, text: bytes, blanks: list[Span], reads: Reads) -> Reading | None:
    shift = len(part.before) + 1
    # In Kotlin and Swift a line feed ends a declaration.
    data = part.before + b"\n" + without(text, blanks) + b"\n" + part.after
    for _ in range(_ROUNDS - bool(blanks)):
        tree = reads.parse(data)
        if tree is None:
            return None
        errors = [*errors_of(tree.root_node, reads.language, data)]
        if not errors:
            root = tree.root_node
            return Reading(blanks, not root.has_error, _has_members(root, reads.language, data))
        spans = [(it.start_byte, it.end_byte) for it in errors]
        if not all(is_small(span, data) and shift <= span[0] and span[1] <= shift + len(text) for span in spans):
            return None
        data = without(data, spans)
        blanks += [(start - shift, end - shift) for start, end in spans]
    return None


def is_small(span: Span, data: bytes) -> bool:
    """Tell if an error may be one word or call unknown to the grammar, and holds no brace or row end."""
    text = data[slice(*span)]
    return 0 < len(text) <= _SMALL_ERROR and text.strip() != b"" and not {*b"{}\n"} & {*text}


def _has_members(root: "Node", language: "Language", data: bytes) -> bool:
    """Tell if the last declaration of a text, the innermost one, is a container."""
    nodes: Iterable[Node] = root.named_children
    has_members = False
    while nodes:
        found = None
        for node in reversed([*nodes]):
            rule = language.rules.get(node.type)
            found = rule(node, data) if rule else None
            if found is not None and (found.bodies or found.name):
                break
        if found is None:
            break
        has_members = bool(found.bodies) and not found.local
        nodes = [child for body in found.bodies for child in body.named_children]
    return has_members
