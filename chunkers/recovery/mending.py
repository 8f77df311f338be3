"""Blank the text that a grammar cannot read, and no more, so that the rest of a program has its true syntax tree."""

import re
from bisect import bisect_right
from time import monotonic, thread_time
from typing import TYPE_CHECKING, NamedTuple, Protocol

from cqm.chunkers.recovery.branches import conditionals_of, one_branch, unshown, without
from cqm.chunkers.recovery.errors import errors_of, is_spoilt
from cqm.chunkers.recovery.segments import Segment, segments_of
from cqm.chunkers.recovery.shown import Shown, State, blocks_of, nodes_beside_errors, shown, state_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tree_sitter import Node, Tree

    from cqm.chunkers.languages.model import Language, Unread

    class Parse(Protocol):
        """Parses a text with a language's grammar, with the help of one nearly the same."""

        def __call__(self, part: bytes, before: "Read | None" = None, /) -> Tree | None:
            """Return None if it takes too long."""


_SECONDS = 1.0
_SECONDS_PER_MEGABYTE = 6.0
"""Work for one text, as the thread's own time: three times what a parse may take."""

_SMALL_ERROR = 80
"""Bytes of an error in one row that may be one word or call unknown to the grammar, such as a macro."""
_ROUNDS = 3
_TYPE = re.compile(rb"\b(?:typedef|struct|union|enum|class)\b")
_LONGEST_HEADER = 4_000
"""Bytes of a class's head read again with each of its members."""


Span = tuple[int, int]
"""Bytes, half-open."""


class Read(NamedTuple):
    """A text and its tree."""

    data: bytes
    tree: "Tree"


class _Deadline(NamedTuple):
    """The end of the work for one text; elapsed time is read in a tenth of the time and never less than a thread's."""

    earliest: float
    work: float

    @classmethod
    def after(cls, seconds: float) -> "_Deadline":
        return cls(monotonic() + seconds, thread_time() + seconds)

    def is_over(self) -> bool:
        return monotonic() > self.earliest and thread_time() > self.work


class Mended(NamedTuple):
    """A program with blanks where its grammar can't read it.

    Attributes:
        data: as long as the source.
        tree: of the data.
        lost: bytes of declarations that are blank, half-open and in order; their rows have no node.
        unread: bytes of bodies that are blank, half-open and in order.
        others: the source with other branches of its conditionals, if it has such.
        simplified: the program and its tree before bodies and declarations with errors became blank.
    """

    data: bytes
    tree: "Tree"
    lost: list[Span]
    unread: list[Span]
    others: tuple[bytes, ...] = ()
    simplified: Read | None = None


def mended(source: bytes, tree: "Tree", language: "Language", parse: "Parse") -> Mended:
    """Mend a program with errors that harm its outline; return it as it is if nothing is gained.

    One branch of each conditional is kept, then small errors are blanked, then the bodies of declarations with errors,
    and then the declarations.

    Parameters:
        source: the text, as given to the parser.
        tree: its tree.
        language: with its signs (`Language.unread`).
        parse: parses with the language's grammar.
    """
    if language.unread is None:
        return Mended(source, tree, [], [])
    deadline = _Deadline.after(_SECONDS + _SECONDS_PER_MEGABYTE * len(source) / 1_000_000)
    best = _simplified(Mended(source, tree, [], []), language.unread, parse)
    errors = _errors_in(best, language) if language.unread.mends else []
    if not errors:
        return best
    small = _without_small(best, errors, language.unread, parse)
    if small is not None and not small.tree.root_node.has_error:
        return best._replace(data=small.data, tree=small.tree)
    parts = _parts_to_blank(best, errors, small, language, parse, deadline)
    pieced = best
    further = sorted([*parts.bodies, *parts.doubtful])
    tried = best.data
    for bodies in (parts.bodies, further, sorted([*further, *parts.entered])):
        data = without(best.data, [*parts.heads, *bodies])
        if data == tried:
            # Nothing more is blank.
            continue
        tried = data
        found = parse(data, (small or Read(best.data, best.tree)) if language.unread.is_plain else None)
        if found is not None:
            pieced = Mended(data, found, parts.lost, bodies, best.others, best.simplified)
        if not is_spoilt(pieced.tree.root_node, language, pieced.data):
            break
    # Of the program before, only what has errors is lost.
    loss = sum(end - start for start, end in errors)
    return pieced if not pieced.lost or _loss(pieced, language) < loss else best


def _errors_in(program: Mended, language: "Language") -> list[Span]:
    errors = errors_of(program.tree.root_node, language, program.data)
    return [(it.start_byte, it.end_byte) for it in errors]


def _without_small(program: Mended, errors: list[Span], unread: "Unread", parse: "Parse") -> Read | None:
    """Blank the small errors of a whole program; None if it has none, or if no tree can tell what that gives."""
    spans = [it for it in errors if _is_small(it, program.data)] if unread.is_plain else []
    if not spans:
        return None
    data = without(program.data, spans)
    tree = parse(data, Read(program.data, program.tree))
    return Read(data, tree) if tree is not None else None


def _loss(program: Mended, language: "Language") -> int:
    errors = errors_of(program.tree.root_node, language, program.data)
    return sum(it.end_byte - it.start_byte for it in errors) + sum(end - start for start, end in program.lost)


def _simplified(program: Mended, unread: "Unread", parse: "Parse") -> Mended:
    """Blank the language's masks, and all branches of conditionals but one."""
    data = program.data
    for mask in unread.masks:
        data = mask(data)
    others: list[bytes] = []
    them = conditionals_of(data, unread) if unread.has_conditionals else None
    if them is not None:
        data = one_branch(them)
        last = one_branch(them, last=True)
        others = [last] if last != data else []
        wanted = unshown(them, [data, *others])
        others += [one_branch(them, wanted=wanted)] if wanted else []
    tree = parse(data, Read(program.data, program.tree) if unread.is_plain else None) if data != program.data else None
    if tree is None:
        return program
    return Mended(data, tree, [], [], tuple(others), Read(data, tree))


class _Part(NamedTuple):
    """A segment to try.

    Attributes:
        segment: the declaration or statement.
        before, after: heads of the symbols around it, and their ends.
        is_local: whether it is in a function.
        is_doubtful: whether it is in a function whose errors do no harm by themselves.
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


class _Blanks(NamedTuple):
    """Bytes to blank, half-open.

    Attributes:
        heads: small errors, and declarations that can't be read.
        bodies: bodies and statements in bodies that can't be read, without the braces of the body.
        doubtful: the same, of functions whose errors do no harm by themselves; many of them together may.
        lost: those of the heads that are whole declarations.
        entered: whole bodies of functions of which only statements are blank.
    """

    heads: list[Span]
    bodies: list[Span]
    doubtful: list[Span]
    lost: list[Span]
    entered: list[Span]


class _Reads(NamedTuple):
    """Reads texts by a language; of equal texts between equal heads, such as "break;", only the first is parsed.

    Attributes:
        language: with its rules.
        parse: parses with the language's grammar.
        large: errors of the whole program's tree that are more than small, in order.
        known: what was read, with blanks at bytes of the text.
        beside: nodes beside errors of the whole program's tree, by their bytes.
    """

    language: "Language"
    parse: "Parse"
    large: list[Span]
    known: "dict[tuple[bytes, bytes, bytes], _Reading | None]"
    beside: dict[Span, Shown]

    def has_large(self, segment: Segment) -> bool:
        """Tell if the tree of the program has a large error in the block of a segment with further ones."""
        if not segment.inner or segment.closes < 0:
            return False
        place = bisect_right(self.large, (segment.opens, len(self.large)))
        return place < len(self.large) and self.large[place][1] <= segment.closes

    def torn(self, segment: Segment) -> Shown | None:
        """Return the node of a segment that the tree has elsewhere than in what is around it; None with errors."""
        node = self.beside.get((segment.start, segment.end))
        return node if node is not None and not node.node.has_error else None


def _parts_to_blank(
    program: Mended, errors: list[Span], small: Read | None, language: "Language", parse: "Parse", deadline: _Deadline
) -> _Blanks:
    """Try each segment by itself, and the members of those with errors between the heads of the symbols around them."""
    source, unread = program.data, language.unread
    large = sorted(it for it in errors if not _is_small(it, source)) if unread and unread.is_plain else []
    root = Shown(program.tree.root_node, source)
    beside = nodes_beside_errors(root, language) if unread and unread.is_plain else {}
    reads = _Reads(language, parse, large, {}, beside)
    blanks = _Blanks([], [], [], [], [])
    inner = segments_of(source, unread, blocks_of(beside)) if unread else []
    first = _Part(Segment(0, len(source), inner=inner), shown=root)
    if small is not None:
        first = first._replace(again=Shown(small.tree.root_node, small.data))
    waiting = [*_parts_in(first, reads)][::-1]
    while waiting and not deadline.is_over():
        part = waiting.pop()
        segment = part.segment
        read = _first_reading(source, part, reads)
        if read is not None and read.is_clean:
            blanks.heads.extend(read.blanks)
            continue
        bodies = blanks.bodies if read is None and not part.is_doubtful else blanks.doubtful
        outer = _read_without_body(source, part, reads)
        if outer is None:
            if part.is_local:
                bodies.append((segment.start, segment.end))
            elif read is None:
                blanks.heads.append((segment.start, segment.end))
                blanks.lost.append((segment.start, segment.end))
            continue
        words = [span for span in outer.blanks if span[1] <= segment.opens]
        blanks.heads.extend(words)
        head = part.before + b"\n" + without(source[segment.start : segment.opens + 1], words, segment.start)
        tail = source[segment.closes : segment.end] + b"\n" + part.after
        if segment.inner and outer.is_clean and len(head) < _LONGEST_HEADER:
            is_local = part.is_local or not outer.has_members
            if is_local and not part.is_local:
                blanks.entered.append((segment.opens + 1, segment.closes))
            is_doubtful = part.is_doubtful or (is_local and read is not None)
            inside = part._replace(before=head, after=tail, is_local=is_local, is_doubtful=is_doubtful)
            waiting += [*_parts_in(inside, reads)][::-1]
        else:
            bodies.append((segment.opens + 1, segment.closes))
    return blanks


def _parts_in(part: _Part, reads: _Reads) -> "Iterator[_Part]":
    """Yield the parts in the block of a part, with their nodes."""
    inner = part.segment.inner
    nodes, again = (shown(it, inner, reads.language) if it else [None] * len(inner) for it in (part.shown, part.again))
    for segment, one, two in zip(inner, nodes, again, strict=True):
        yield part._replace(segment=segment, shown=one or reads.torn(segment), again=two)


def _first_reading(source: bytes, part: _Part, reads: _Reads) -> "_Reading | None":
    """Read a segment, by the tree of the program if that tells enough."""
    segment, language = part.segment, reads.language
    if reads.has_large(segment):
        # It has this error alone, too. A function in an error of the program may have none.
        outer = None if part.shown else _read_without_body(source, part, reads)
        if part.shown or (outer is not None and outer.has_members):
            return None
    state = state_of(part.shown, language) if part.shown else None
    # The tree may take one construct for another, a class for a property; of statements it tells enough.
    is_plain = language.unread is not None and language.unread.is_plain
    is_told = part.is_local or (is_plain and part.shown is not None and part.shown.is_direct)
    if state in (State.CLEAN, State.HARMLESS) and is_told:
        return _Reading([], is_clean=state is State.CLEAN, has_members=False)
    if part.is_local and state is State.SPOILT and segment.inner and segment.closes >= 0:
        return None
    small = _small_errors(part.shown, reads) if state is State.SPOILT and part.shown and is_plain else []
    if small and part.again is not None and part.again.is_direct and not part.again.node.has_error:
        return _Reading(small, is_clean=True, has_members=False)
    is_torn = part.shown is None and segment.inner and is_plain and not part.is_local
    # Of a type, members may be read although its head can't.
    if is_torn and segment.closes >= 0 and _TYPE.search(source, segment.start, segment.opens) is None:
        outer = _read_without_body(source, part, reads)
        if outer is None:
            return None
    return _read(source[segment.start : segment.end], part, reads, small)


def _small_errors(it: Shown, reads: _Reads) -> list[Span]:
    """Return the errors of a node that harm the outline if all are small, which saves the parse that finds them."""
    found = errors_of(it.node, reads.language, it.data, is_inside=it.is_inside)
    spans = [(error.start_byte, error.end_byte) for error in found]
    return spans if all(_is_small(span, it.data) for span in spans) else []


def _read_without_body(source: bytes, part: _Part, reads: _Reads) -> "_Reading | None":
    segment = part.segment
    if segment.closes < 0:
        return None
    hollow = source[segment.start : segment.opens + 1] + source[segment.closes : segment.end]
    return _read(hollow, part, reads)


class _Reading(NamedTuple):
    """A text that the grammar reads.

    Attributes:
        blanks: small errors without which it does.
        is_clean: whether no error is left, not even inside of a function.
        has_members: whether its last declaration is a container.
    """

    blanks: list[Span]
    is_clean: bool
    has_members: bool


def _read(text: bytes, part: _Part, reads: _Reads, small: "Sequence[Span]" = ()) -> _Reading | None:
    """Read a text between the heads around it; None if more than small errors harm its outline.

    Parameters:
        text: the segment, or some of it.
        part: with the segment.
        reads: what was read before.
        small: errors that the text has, as bytes of the source.
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


def _reading_of(part: _Part, text: bytes, blanks: list[Span], reads: _Reads) -> _Reading | None:
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
            return _Reading(blanks, not root.has_error, _has_members(root, reads.language, data))
        spans = [(it.start_byte, it.end_byte) for it in errors]
        if not all(_is_small(span, data) and shift <= span[0] and span[1] <= shift + len(text) for span in spans):
            return None
        data = without(data, spans)
        blanks += [(start - shift, end - shift) for start, end in spans]
    return None


def _is_small(span: Span, data: bytes) -> bool:
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
