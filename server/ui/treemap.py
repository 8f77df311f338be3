"""A tree drawn by size: each folder or file is a rectangle, coloured by the language most of it is in."""

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from cqm.server.page import safe

_WIDTH, _HEIGHT = 1_000.0, 420.0
MOST_CELLS = 110
_TINTS = 6
_LEAST_WIDTH, _LEAST_HEIGHT = 56.0, 18.0
"""Smallest rectangle with its name in it."""
_CHARACTER, _PADDING = 7.4, 12.0
"""Width of a character of a name, about, and the room beside a name."""


class Sized(NamedTuple):
    """A file: its path, its bytes and its language."""

    path: str
    size: int
    language: str


@dataclass(slots=True)
class _Node:
    path: str
    size: int = 0
    languages: Counter[str] = field(default_factory=Counter)
    folders: list["_Node"] = field(default_factory=list)
    files: list[Sized] = field(default_factory=list)

    def inside(self) -> list["_Node"]:
        """Return the contents of a folder, largest first; nothing for a file."""
        files = (_Node(it.path, it.size, Counter({it.language: it.size})) for it in self.files)
        return sorted([*self.folders, *files], key=lambda it: -it.size)


class _Cell(NamedTuple):
    node: _Node
    x: float
    y: float
    width: float
    height: float


def treemap(files: Iterable[Sized]) -> str:
    """Draw the files of a tree, with a legend of languages; empty for none.

    The largest folders are opened first, until there are `MOST_CELLS` rectangles.
    """
    root = _tree_of(files)
    if not root.size:
        return ""
    names = [name for name, _ in root.languages.most_common(_TINTS)]
    cells = _layout(_opened(root), (0.0, 0.0, _WIDTH, _HEIGHT))
    drawn = "".join(_rectangle(cell, names) for cell in cells)
    legend = "".join(
        f"<li><svg width='12' height='12' aria-hidden='true'><rect class='t{at}' width='12' height='12' rx='3'/></svg> "
        f"{safe(name)} <span class='dim'>{root.languages[name] / root.size:.0%}</span></li>"
        for at, name in enumerate(names)
    )
    return (
        "<svg class='treemap' role='img' aria-label='The tree by size and language' "
        f"viewBox='0 0 {_WIDTH:.0f} {_HEIGHT:.0f}'>{drawn}</svg><ul class='legend'>{legend}</ul>"
    )


def _tree_of(files: Iterable[Sized]) -> _Node:
    """Return the root of the folders with their files; each folder counts everything below it."""
    folders = {"": _Node("")}
    for file in files:
        path = file.path.rpartition("/")[0]
        node = folders.get(path) or _folder(folders, path)
        node.files.append(file)
        node.languages[file.language] += file.size
    # Those made last first: a folder is made after the one it is in.
    for path, node in reversed(folders.items()):
        node.size = node.languages.total()
        if path:
            folders[path.rpartition("/")[0]].languages.update(node.languages)
    return folders[""]


def _folder(folders: dict[str, _Node], path: str) -> _Node:
    """Make the node of a folder, and of those it is in."""
    above = ""
    for name in path.split("/"):
        inside = f"{above}/{name}" if above else name
        if inside not in folders:
            folders[inside] = _Node(inside)
            folders[above].folders.append(folders[inside])
        above = inside
    return folders[path]


def _opened(root: _Node) -> list[_Node]:
    """Replace the largest folder by its content, again and again."""
    serial = 0
    heap: list[tuple[int, int, _Node]] = [(-root.size, serial, root)]
    closed: list[_Node] = []
    while heap and len(heap) + len(closed) < MOST_CELLS:
        _, _, node = heapq.heappop(heap)
        inside = node.inside()
        if not inside or len(heap) + len(closed) + min(len(inside), MOST_CELLS) > MOST_CELLS:
            closed.append(node)
            continue
        for child in inside[:MOST_CELLS]:
            serial += 1
            heapq.heappush(heap, (-child.size, serial, child))
    found = [*closed, *(node for _, _, node in heap)]
    return sorted((it for it in found if it.size), key=lambda it: -it.size)


def _layout(nodes: Sequence[_Node], room: tuple[float, float, float, float]) -> Iterator[_Cell]:
    """Fill a rectangle with nodes, largest first, as near to squares as rows of them allow (squarified treemap)."""
    x, y, width, height = room
    scale = width * height / (sum(it.size for it in nodes) or 1)
    at = 0
    while at < len(nodes):
        side = min(width, height)
        count, area = 1, nodes[at].size * scale
        while at + count < len(nodes):
            larger = area + nodes[at + count].size * scale
            if _worst(nodes[at : at + count + 1], scale, larger, side) > _worst(
                nodes[at : at + count], scale, area, side
            ):
                break
            count, area = count + 1, larger
        thickness = area / side if side else 0.0
        along = 0.0
        for node in nodes[at : at + count]:
            length = node.size * scale / thickness if thickness else 0.0
            if width >= height:
                yield _Cell(node, x, y + along, thickness, length)
            else:
                yield _Cell(node, x + along, y, length, thickness)
            along += length
        if width >= height:
            x, width = x + thickness, width - thickness
        else:
            y, height = y + thickness, height - thickness
        at += count


def _worst(row: Sequence[_Node], scale: float, area: float, side: float) -> float:
    """Largest ratio of the sides of a row's rectangles."""
    if not area or not side:
        return float("inf")
    large, small = row[0].size * scale, row[-1].size * scale
    return max(side * side * large / (area * area), area * area / (side * side * small) if small else float("inf"))


def _rectangle(cell: _Cell, names: Sequence[str]) -> str:
    node = cell.node
    language = node.languages.most_common(1)[0][0]
    shade = f"t{names.index(language)}" if language in names else "other"
    label = ""
    if cell.width >= _LEAST_WIDTH and cell.height >= _LEAST_HEIGHT:
        name = _short(node.path, int((cell.width - _PADDING) / _CHARACTER))
        label = f"<text x='{cell.x + 5:.1f}' y='{cell.y + 14:.1f}'>{safe(name)}</text>"
    return (
        f"<rect class='{shade}' x='{cell.x:.1f}' y='{cell.y:.1f}' width='{max(cell.width - 1.5, 0.5):.1f}' "
        f"height='{max(cell.height - 1.5, 0.5):.1f}' rx='3'>"
        f"<title>{safe(node.path or '/')}: {node.size:,} bytes, mostly {safe(language)}</title></rect>{label}"
    )


def _short(path: str, room: int) -> str:
    """Cut a path to as many characters: its last folders tell most."""
    if len(path) <= room:
        return path
    parts = path.split("/")
    kept = next((tail for at in range(1, len(parts)) if len(tail := "/".join(parts[at:])) < room), parts[-1])
    return f"…{kept}" if len(kept) < room else f"{kept[: room - 1]}…"
