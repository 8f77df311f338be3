"""Blank the text unreadable to a grammar, and no more: the rest of a program gets its true syntax tree."""

from time import monotonic, thread_time
from typing import TYPE_CHECKING, NamedTuple

from cqm.chunkers.recovery.branches import conditionals_of, one_branch, unshown, without
from cqm.chunkers.recovery.errors import errors_of, is_spoilt
from cqm.chunkers.recovery.reading import Part, Read, Reads, Span, first_reading, is_small, parts_in, read_without_body
from cqm.chunkers.recovery.segments import Segment, segments_of
from cqm.chunkers.recovery.shown import Shown, blocks_of, nodes_beside_errors

if TYPE_CHECKING:
    from tree_sitter import Tree

    from cqm.chunkers.languages.model import Language, Restated, Unread
    from cqm.chunkers.recovery.reading import Parse

_SECONDS = 1.0
_SECONDS_PER_MEGABYTE = 6.0
"""Work for one text, as the thread's own time: three times the limit of a parse."""

_LONGEST_HEADER = 4_000
"""Bytes of a class's head read again with each of its members."""


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
        lost: bytes of blank declarations, half-open and in order; their rows have no node.
        unread: bytes of blank bodies, half-open and in order.
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
    """Mend a program with errors harming its outline; return it unchanged if nothing is gained.

    One branch of each conditional is kept, then small errors are blanked, then the bodies of declarations with errors,
    and then the declarations.

    Parameters:
        source: the text, as given to the parser.
        language: with its signs (`Language.unread`).
    """
    if language.unread is None:
        return Mended(source, tree, [], [])
    deadline = _Deadline.after(_SECONDS + _SECONDS_PER_MEGABYTE * len(source) / 1_000_000)
    best = _simplified(Mended(source, tree, [], []), language.unread, parse)
    if language.unread.restated is not None:
        return _restated(best, language.unread.restated, parse, deadline)
    errors = _errors_in(best, language) if language.unread.mends else []
    if not errors:
        return best
    small = _without_small(best, errors, language.unread, parse)
    if small is not None and not small.tree.root_node.has_error:
        return best._replace(data=small.data, tree=small.tree)
    parts = _parts_to_blank(best, errors, small, language, parse, deadline)
    before = (small or Read(best.data, best.tree)) if language.unread.is_plain else None
    pieced = _with_fewest_errors(best, parts, before, language, parse)
    # Only parts of the former program with errors are lost.
    loss = _size([*_errors_in(pieced, language), *pieced.lost])
    return pieced if not pieced.lost or loss < _size(errors) else best


def _with_fewest_errors(
    program: Mended, parts: "_Blanks", before: Read | None, language: "Language", parse: "Parse"
) -> Mended:
    """Blank more and more of the parts, until no error spoils the outline; return the best of these programs."""
    further = sorted([*parts.bodies, *parts.doubtful])
    best, least, tried = program, -1, program.data
    for bodies in (parts.bodies, further, sorted([*further, *parts.entered])):
        data = without(program.data, [*parts.heads, *bodies])
        if data == tried:
            # Nothing more is blank.
            continue
        tried = data
        found = parse(data, before)
        if found is None:
            continue
        read = Mended(data, found, parts.lost, bodies, program.others, program.simplified)
        left = _size(_errors_in(read, language))
        # More blanks have to leave fewer errors.
        if least < 0 or left < least:
            best, least = read, left
        if not is_spoilt(found.root_node, language, data):
            break
    return best


def _errors_in(program: Mended, language: "Language") -> list[Span]:
    errors = errors_of(program.tree.root_node, language, program.data)
    return [(it.start_byte, it.end_byte) for it in errors]


def _without_small(program: Mended, errors: list[Span], unread: "Unread", parse: "Parse") -> Read | None:
    """Blank the small errors of a whole program; None if it has none, or if no tree can judge the result."""
    spans = [it for it in errors if is_small(it, program.data)] if unread.is_plain else []
    if not spans:
        return None
    data = without(program.data, spans)
    tree = parse(data, Read(program.data, program.tree))
    return Read(data, tree) if tree is not None else None


def _size(spans: list[Span]) -> int:
    return sum(end - start for start, end in spans)


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


_ROUNDS, _ALONE = 4, 2
"""Rounds of restating. A statement may err only beside others, so after some its own reading counts no more."""


def _restated(program: Mended, restated: "Restated", parse: "Parse", deadline: _Deadline) -> Mended:
    """Restate the statements with errors; return the reading with the least of them."""

    def is_read(text: bytes) -> bool:
        tree = parse(text) if not deadline.is_over() else None
        return tree is not None and not tree.root_node.has_error

    best, data, errors = program, program.data, _errors(program.tree)
    least = _size(errors)
    for number in range(_ROUNDS):
        before, data = data, restated(data, errors, is_read if number < _ALONE else lambda _: False)
        if data == before:
            continue
        tree = parse(data)
        if tree is None:
            break
        errors = _errors(tree)
        if not errors or _size(errors) < least:
            best, least = best._replace(data=data, tree=tree), _size(errors)
        if not errors:
            break
    return best


def _errors(tree: "Tree") -> list[Span]:
    """Return the bytes of the outermost errors of a tree, in order."""
    errors: list[Span] = []
    waiting = [tree.root_node]
    while waiting:
        node = waiting.pop()
        if node.is_error or node.is_missing:
            errors.append((node.start_byte, node.end_byte))
        elif node.has_error:
            waiting += node.children
    return sorted(errors)


class _Blanks(NamedTuple):
    """Bytes to blank, half-open.

    Attributes:
        heads: small errors, and unreadable declarations.
        bodies: unreadable bodies and statements, without the braces of the body.
        doubtful: the same, of functions with errors harmless by themselves; many of them together may do harm.
        lost: the whole declarations among the heads.
        entered: whole bodies of functions with only statements blank.
    """

    heads: list[Span]
    bodies: list[Span]
    doubtful: list[Span]
    lost: list[Span]
    entered: list[Span]


def _parts_to_blank(
    program: Mended, errors: list[Span], small: Read | None, language: "Language", parse: "Parse", deadline: _Deadline
) -> _Blanks:
    """Try each segment by itself, and the members of those with errors between the heads of the symbols around them."""
    source = program.data
    reads = _reads_of(program, errors, language, parse)
    blanks = _Blanks([], [], [], [], [])
    waiting = [*parts_in(_whole(program, small, reads), reads)][::-1]
    while waiting and not deadline.is_over():
        part = waiting.pop()
        segment = part.segment
        read = first_reading(source, part, reads)
        if read is not None and read.is_clean:
            blanks.heads.extend(read.blanks)
            continue
        bodies = blanks.bodies if read is None and not part.is_doubtful else blanks.doubtful
        outer = read_without_body(source, part, reads)
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
            waiting += [*parts_in(inside, reads)][::-1]
        else:
            bodies.append((segment.opens + 1, segment.closes))
    return blanks


def _reads_of(program: Mended, errors: list[Span], language: "Language", parse: "Parse") -> Reads:
    """Begin the readings of a program's parts, with the facts of its own tree."""
    if language.unread is None or not language.unread.is_plain:
        return Reads(language, parse, [], {}, {})
    large = sorted(it for it in errors if not is_small(it, program.data))
    beside = nodes_beside_errors(Shown(program.tree.root_node, program.data), language)
    return Reads(language, parse, large, {}, beside)


def _whole(program: Mended, small: Read | None, reads: Reads) -> Part:
    """Return the whole program as a part, with its nodes in both trees."""
    unread = reads.language.unread
    inner = segments_of(program.data, unread, blocks_of(reads.beside)) if unread else []
    again = Shown(small.tree.root_node, small.data) if small is not None else None
    segment = Segment(0, len(program.data), inner=inner)
    return Part(segment, shown=Shown(program.tree.root_node, program.data), again=again)
