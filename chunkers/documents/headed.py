"""Join, divide and name the sections of documents with headings."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Generic, Protocol, TypeVar

from cqm.chunkers.tokens import quarters

Heading = tuple[int, str]
"""Level, from 1, and title."""


class Placed(Protocol):
    """Anything with a first character."""

    @property
    def start(self) -> int:
        """The first character."""
        ...


class Sized(Protocol):
    """Anything with a size."""

    @property
    def size(self) -> int:
        """In quarters of a token."""
        ...


Part = TypeVar("Part", bound=Sized)

Block = TypeVar("Block", bound=Placed)
"""A format's unit for building sections."""


@dataclass(frozen=True, slots=True)
class Section(Generic[Block]):
    """A stretch from one heading to the next of any level, joined neighbours, or a part of a divided section.

    Attributes:
        start, end: characters, half-open.
        size: in quarters of a token.
        path: headings around it, outermost first, its own last.
        blocks: its blocks, in order.
        defines: heading paths of all sections beginning in it.
        is_rest: whether its heading is in an earlier part.
    """

    start: int
    end: int
    size: int
    path: tuple[Heading, ...]
    blocks: tuple[Block, ...]
    defines: tuple[str, ...]
    is_rest: bool = False


def joined(
    parts: Iterable[Part],
    limit: int,
    least: int,
    may_join: Callable[[Part, Part], bool],
    merge: Callable[[Part, Part], Part],
) -> list[Part]:
    """Pack parts of a document under the least size with the previous or next neighbour, up to the limit.

    Parameters:
        parts: in order, without gaps.
        limit: in quarters of a token.
        least: in quarters of a token.
        may_join: tells if two neighbours belong together.
        merge: makes one of two neighbours.
    """
    result: list[Part] = []
    for part in parts:
        before = result[-1] if result else None
        if (
            before is not None
            and min(before.size, part.size) < least
            and before.size + part.size <= limit
            and may_join(before, part)
        ):
            result[-1] = merge(before, part)
        else:
            result.append(part)
    return result


def merged(before: Section[Block], section: Section[Block]) -> Section[Block]:
    """Merge two neighbours under the first one's name with a heading: front matter and a logo have none."""
    size, defines = before.size + section.size, before.defines + section.defines
    path, blocks = before.path or section.path, before.blocks + section.blocks
    return replace(before, end=section.end, size=size, path=path, blocks=blocks, defines=defines)


def parts_of(
    text: str, section: Section[Block], spans: Iterable[tuple[int, int]], reach: int = 0
) -> Iterator[Section[Block]]:
    """Yield the parts of a divided section, each with its own blocks.

    Parameters:
        spans: of the parts, in order.
        reach: also include blocks up to this many characters before a part.
    """
    starts = [block.start for block in section.blocks]
    for start, end in spans:
        first = max(bisect_right(starts, start - reach) - 1, 0)
        blocks = section.blocks[first : max(bisect_left(starts, end), first + 1)]
        part = replace(section, start=start, end=end, size=quarters(text[start:end]), blocks=blocks)
        yield part if start == section.start else replace(part, defines=(), is_rest=True)


def is_related(before: Section[Block], section: Section[Block]) -> bool:
    """Tell if a section is below the previous one, or beside it under the same parent."""
    is_below = section.path[: len(before.path)] == before.path
    return is_below or section.path[:-1] == before.path[:-1]


def path_below(path: tuple[Heading, ...], heading: Heading) -> tuple[Heading, ...]:
    """Return the path of a heading which follows a section with the given path."""
    return (*(above for above in path if above[0] < heading[0]), heading)


def symbol_of(path: tuple[Heading, ...]) -> str:
    """Return a section's name: its titles, outermost first."""
    return " > ".join(title for _, title in path)


def titles_of(path: tuple[Heading, ...]) -> tuple[str, ...]:
    """Return the titles of a path."""
    return tuple(title for _, title in path)


def context_of(section: Section[Block]) -> str:
    """Return the headings above a section, a line each, in Markdown."""
    above = section.path if section.is_rest else section.path[:-1]
    return "\n".join(f"{'#' * level} {title}" for level, title in above)
