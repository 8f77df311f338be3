"""Sections of documents with headings: what one is, which are small enough to join, and what a section is called."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Generic, Protocol, TypeVar

from cqm.chunkers.tokens import quarters

Heading = tuple[int, str]
"""Level from 1 on, and title."""


class Placed(Protocol):
    """What begins at a character."""

    @property
    def start(self) -> int:
        """The character."""
        ...


Block = TypeVar("Block", bound=Placed)
"""What the sections of a format are made of."""


@dataclass(frozen=True, slots=True)
class Section(Generic[Block]):
    """From one heading to the next of any level, or neighbours joined, or a part of one that was divided.

    Attributes:
        start, end: characters, half-open.
        size: in quarters of a token.
        path: headings that it is in, outermost first; its own is the last.
        blocks: that it is made of, in order.
        defines: heading paths of all sections that begin in it.
        is_rest: whether its heading is in a part before it.
    """

    start: int
    end: int
    size: int
    path: tuple[Heading, ...]
    blocks: tuple[Block, ...]
    defines: tuple[str, ...]
    is_rest: bool = False


MayJoin = Callable[[Section[Block], Section[Block]], bool]


def joined(
    sections: Iterable[Section[Block]], limit: int, least: int, may_join: MayJoin[Block]
) -> list[Section[Block]]:
    """Pack sections under the least size with the neighbour before or after them, up to the limit.

    Parameters:
        sections: in order, without gaps.
        limit: in quarters of a token.
        least: likewise.
        may_join: whether two neighbours belong together.
    """
    result: list[Section[Block]] = []
    for section in sections:
        before = result[-1] if result else None
        if (
            before is not None
            and min(before.size, section.size) < least
            and before.size + section.size <= limit
            and may_join(before, section)
        ):
            result[-1] = merged(before, section)
        else:
            result.append(section)
    return result


def merged(before: Section[Block], section: Section[Block]) -> Section[Block]:
    """Two neighbours as one, called after the first that has a heading: front matter and a logo have none."""
    size, defines = before.size + section.size, before.defines + section.defines
    path, blocks = before.path or section.path, before.blocks + section.blocks
    return replace(before, end=section.end, size=size, path=path, blocks=blocks, defines=defines)


def parts_of(
    text: str, section: Section[Block], spans: Iterable[tuple[int, int]], reach: int = 0
) -> Iterator[Section[Block]]:
    """The parts of a section that is divided, each with its own blocks.

    Parameters:
        text: the whole text.
        section: what is divided.
        spans: of the parts, in order.
        reach: so many characters before a part, blocks are still given with it.
    """
    starts = [block.start for block in section.blocks]
    for start, end in spans:
        first = max(bisect_right(starts, start - reach) - 1, 0)
        blocks = section.blocks[first : max(bisect_left(starts, end), first + 1)]
        part = replace(section, start=start, end=end, size=quarters(text[start:end]), blocks=blocks)
        yield part if start == section.start else replace(part, defines=(), is_rest=True)


def is_related(before: Section[Block], section: Section[Block]) -> bool:
    """Whether a section is below the one before it, or beside it under the same parent."""
    is_below = section.path[: len(before.path)] == before.path
    return is_below or section.path[:-1] == before.path[:-1]


def path_below(path: tuple[Heading, ...], heading: Heading) -> tuple[Heading, ...]:
    """The path of a heading that comes after a section with the path."""
    return (*(above for above in path if above[0] < heading[0]), heading)


def symbol_of(path: tuple[Heading, ...]) -> str:
    """What a section is called: its titles, outermost first."""
    return " > ".join(title for _, title in path)


def titles_of(path: tuple[Heading, ...]) -> tuple[str, ...]:
    """The titles of a path."""
    return tuple(title for _, title in path)


def context_of(section: Section[Block]) -> str:
    """The headings above a section, a line each, as Markdown writes them."""
    above = section.path if section.is_rest else section.path[:-1]
    return "\n".join(f"{'#' * level} {title}" for level, title in above)
