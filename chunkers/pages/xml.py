"""Cut XML at its elements: one piece for each below the root, small ones together, large ones divided."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile
from typing import NamedTuple

from cqm.chunkers.documents.markup import attributes_of
from cqm.chunkers.model import ChunkOptions, Cut, Fact, Piece
from cqm.chunkers.pages.segments import segments_of_xml
from cqm.chunkers.pages.xml_elements import Element, coordinates_of, elements_of, label_of, text_in, walk
from cqm.chunkers.splitting import even_spans, line_start, line_strength, line_units
from cqm.chunkers.tokens import QUARTERS, quarters

# Elements deeper than this are not distinguished: paths stay short, and time linear, for any nesting.
_DEEPEST = 24

# In nameless elements, such as Maven's "dependencies", search this many levels for named ones.
_NAMED_LEVELS = 3

_FQCN = re.compile(r"[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+")

_BELOW = " > "

# Characters; a shorter one would have its opening tags told too often.
_LEAST_SEGMENT = 10_000

_MOST_NAMES = 100
_MOST_VALUES = 20
_LONGEST_TAG = 160


@dataclass(frozen=True, slots=True)
class _Part:
    """Neighbouring elements, or a part of one.

    Attributes:
        start, end: characters, half-open.
        size: in quarters of a token.
        main: the largest element in it, which gives it its name, and its size; None for the middle of an element.
        symbol: path of this element's labels, or of the elements around it.
        defines: paths of the named elements beginning in it.
        tags: the opening tags around all of it.
        opened: elements with their opening tag in it, but only a part of their content.
        whole: elements entirely in it.
    """

    start: int
    end: int
    size: int
    main: tuple[int, Element | None]
    symbol: str
    defines: tuple[str, ...]
    tags: tuple[str, ...]
    opened: tuple[Element, ...] = ()
    whole: tuple[Element, ...] = ()


@dataclass(frozen=True, slots=True)
class _Area:
    """An element to divide, with the comments before it: characters, and the labels and opening tags around it."""

    element: Element
    start: int
    end: int
    path: tuple[str, ...]
    tags: tuple[str, ...]


class _Limits(NamedTuple):
    # In quarters of a token.
    limit: int
    least: int


def pieces_of_xml(text: str, _language: str, options: ChunkOptions) -> Cut:
    """Cut XML at the elements below its root, and an element over the limit at its own elements.

    Comments stay with the element after them. Elements under the minimum are packed with their neighbours. A piece is
    named by the path of its element; its context is the opening tags around it. A document over `max_parse_bytes` is
    cut part by part.

    Parameters:
        text: the document, or a part of one; tags without a partner are mended, with a warning.
    """
    if len(text) <= options.max_parse_bytes:
        return _cut(text, options)
    pieces: list[Piece] = []
    for segment in segments_of_xml(text, max(options.max_parse_bytes, _LEAST_SEGMENT)):
        length = len(segment.prefix)
        own, _ = _cut(segment.prefix + text[segment.start : segment.end], options)
        told = _paths(segment.prefix)
        pieces.extend(
            piece._replace(
                start=segment.start + max(piece.start - length, 0),
                end=segment.start + piece.end - length,
                defines=tuple(name for name in piece.defines if name not in told),
            )
            for piece in own
            if piece.end > length
        )
    return pieces, [] if pieces else ["not parsed: no element found"]


def _paths(prefix: str) -> frozenset[str]:
    """Return the paths of the elements opened by a segment's prefix: they are defined before it."""
    labels = [label_of(prefix, element) for element in walk(elements_of(prefix).roots)]
    return frozenset(_BELOW.join(labels[: depth + 1]) for depth in range(len(labels)))


def _cut(text: str, options: ChunkOptions) -> Cut:
    forest = elements_of(text)
    if not forest.roots:
        return [], ["not parsed: no element found"]
    limits = _Limits(options.max_tokens * QUARTERS, options.min_tokens * QUARTERS)
    top = Element(forest.roots[0].tag, len(text), -1, forest.roots, forest.comments, len(text))
    parts = _packed(_parts(text, top, limits), limits._replace(least=limits.least // 2))
    root = dict(_root_facts(text, forest.roots[0]))
    pieces = [_piece(text, part, root) for part in parts]
    return pieces, [f"{forest.unmatched} tags have no partner"] if forest.unmatched else []


def _parts(text: str, top: Element, limits: _Limits) -> Iterator[_Part]:
    waiting: list[_Area | _Part] = [_Area(top, 0, len(text), (), ())]
    while waiting:
        item = waiting.pop()
        if isinstance(item, _Part):
            yield item
        else:
            waiting.extend(reversed(_divided(text, item, limits)))


def _divided(text: str, area: _Area, limits: _Limits) -> list[_Area | _Part]:
    result: list[_Area | _Part] = []
    run: list[_Part] = []
    element = area.element
    inner = area
    begins = [(area.start, area.element), *_begins(text, element)]
    if element.depth < 0:
        begins = [(area.start, begins[1][1]), *begins[2:]]
    else:
        run = [*_lines(text, replace(area, end=begins[1][0]), limits)]
        inner = replace(area, path=(*area.path, label_of(text, element)), tags=(*area.tags, _tag(text, element)))
        begins = begins[1:]
    for (start, child), (end, _) in pairwise([*begins, (area.end, element)]):
        own = replace(inner, element=child, start=start, end=end)
        if _is_divided(text, own, limits, is_root=element.depth < 0 and len(begins) == 1):
            result.extend(_packed(run, limits))
            run = []
            result.append(own)
        else:
            run.extend(_whole(text, own, limits))
    return [*result, *_packed(run, limits)]


def _is_divided(text: str, area: _Area, limits: _Limits, *, is_root: bool) -> bool:
    element = area.element
    if not element.children or element.depth >= _DEEPEST:
        return False
    return is_root or quarters(text[area.start : area.end]) > limits.limit


def _begins(text: str, element: Element) -> Iterator[tuple[int, Element]]:
    """Yield each child with its allowed cut, before the comments directly above it."""
    starts = [start for start, _ in element.comments]
    before = element.tag.end if element.depth >= 0 else 0
    is_value = False
    for child in element.children:
        if not is_value:
            yield line_start(text, _commented(text, child.start, before, element, starts)), child
        # In a property list the value follows its key.
        is_value = child.name == "key" and element.name == "dict" and not is_value
        before = child.end


def _commented(text: str, begin: int, before: int, element: Element, starts: list[int]) -> int:
    rest = text[before:begin].partition("\n")[0]
    shown = before + len(rest) - len(rest.lstrip())
    number = bisect_left(starts, begin) - 1
    while number >= 0 and starts[number] >= before and not text[element.comments[number][1] : begin].strip():
        if starts[number] == shown:
            break  # on the line of the previous element, and about it
        begin = starts[number]
        number -= 1
    return begin


def _whole(text: str, area: _Area, limits: _Limits) -> Iterator[_Part]:
    """Yield one part, or the lines of an area over the limit without elements to divide it at."""
    size = quarters(text[area.start : area.end])
    if size > limits.limit:
        yield from _lines(text, area, limits)
        return
    symbol = _symbol(area.path, label_of(text, area.element))
    defines = tuple(_names(text, area))
    yield _Part(area.start, area.end, size, (size, area.element), symbol, defines, area.tags, whole=(area.element,))


def _lines(text: str, area: _Area, limits: _Limits) -> Iterator[_Part]:
    """Yield the lines of an area beginning with an opening tag; one part if they are within the limit."""
    element = area.element
    symbol = _symbol(area.path, label_of(text, element))
    units = line_units(text, (area.start, area.end), limits.limit, line_strength)
    for start, end in even_spans(area.start, units, limits.limit):
        own = quarters(text[start:end])
        if start == area.start:
            yield _Part(start, end, own, (own, element), symbol, (symbol,), area.tags, opened=(element,))
        else:
            yield _Part(start, end, own, (own, None), symbol, (), (*area.tags, _tag(text, element)))


def _symbol(path: tuple[str, ...], label: str) -> str:
    return _BELOW.join((*path, label))


def _names(text: str, area: _Area) -> Iterator[str]:
    """Yield the paths of named elements, and of all elements below the root, but not from inside a named one."""
    waiting = [(area.element, area.path)]
    left = _MOST_NAMES
    while waiting and left:
        element, path = waiting.pop()
        label = label_of(text, element)
        is_named = label != element.tag.name
        if is_named or element.depth <= 1:
            left -= 1
            yield _symbol(path, label)
        if not is_named and element.depth < area.element.depth + _NAMED_LEVELS:
            waiting.extend((child, (*path, label)) for child in reversed(element.children))


def _packed(parts: Iterable[_Part], limits: _Limits) -> list[_Part]:
    """Join small parts with the next until they are big enough, and a small rest with the previous part."""
    forward: list[_Part] = []
    for part in parts:
        if forward and forward[-1].size < limits.least and forward[-1].size + part.size <= limits.limit:
            forward[-1] = _joined(forward[-1], part)
        else:
            forward.append(part)
    packed: list[_Part] = []
    for part in forward:
        if packed and part.size < limits.least and packed[-1].size + part.size <= limits.limit:
            packed[-1] = _joined(packed[-1], part)
        else:
            packed.append(part)
    return packed


def _joined(before: _Part, part: _Part) -> _Part:
    larger = max(before, part, key=lambda each: each.main[0])
    around = takewhile(lambda pair: pair[0] == pair[1], zip(before.tags, part.tags, strict=False))
    return _Part(
        before.start,
        part.end,
        before.size + part.size,
        larger.main,
        _shared_symbol(larger, part if larger is before else before),
        before.defines + part.defines,
        tuple(tag for tag, _ in around),
        before.opened + part.opened,
        before.whole + part.whole,
    )


def _shared_symbol(larger: _Part, smaller: _Part) -> str:
    """Name equal nameless elements after their parent."""
    around = larger.symbol.rpartition(_BELOW)[0]
    return around if around and smaller.symbol in (larger.symbol, around) and not smaller.opened else larger.symbol


def _tag(text: str, element: Element) -> str:
    tag = " ".join(text[element.tag.start : min(element.tag.end, element.tag.start + _LONGEST_TAG)].split())
    return tag if element.tag.end - element.tag.start <= _LONGEST_TAG else f"<{element.tag.name} ...>"


def _root_facts(text: str, root: Element) -> Iterator[tuple[str, Fact]]:
    yield "root", root.tag.name
    own = {
        name: value
        for name, value in attributes_of(text, root.tag).items()
        if not name.startswith("xmlns") and not name.endswith("schemaLocation")
    }
    if own:
        yield "root_attributes", tuple(f"{name}={value}" for name, value in own.items())[:_MOST_VALUES]


def _piece(text: str, part: _Part, root: dict[str, Fact]) -> Piece:
    context = f"<!-- Parent: {' '.join(part.tags)} -->" if part.tags else ""
    defines = tuple(dict.fromkeys(part.defines))[:_MOST_NAMES]
    facts = {**root, **dict(_facts(text, part))}
    return Piece(part.start, part.end, "element", part.symbol, defines, context, facts=facts)


def _facts(text: str, part: _Part) -> Iterator[tuple[str, Fact]]:
    main = part.main[1]
    if main:
        yield "element_type", main.tag.name
    elements = [*part.opened, *walk(part.whole)]
    classes = dict.fromkeys(
        name
        for element in elements
        if (name := attributes_of(text, element.tag).get("class")) and _FQCN.fullmatch(name)
    )
    if classes:
        own = attributes_of(text, main.tag).get("class", "") if main else ""
        yield "fqcn", own if own in classes else next(iter(classes))
    if len(classes) > 1:
        yield "classes", tuple(classes)[:_MOST_VALUES]
    if coordinates := tuple(found for element in elements if (found := coordinates_of(text, element))):
        yield "coordinates", coordinates[:_MOST_VALUES]
    modules = (text_in(text, element) for element in elements if element.tag.name == "module")
    if named := tuple(filter(None, modules)):
        yield "modules", named[:_MOST_VALUES]
