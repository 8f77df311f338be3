"""Name results, passages and places in a line: nothing in a name can end its line or column."""

import re

from cqm.index.model.query import Hit
from cqm.server.answers.passages import Passage
from cqm.server.console import one_line

_MOST_NAMES = 4
"""Most names of a passage."""
_LONGEST_NAME = 160
"""Characters of a symbol; a heading may be as long as a page."""
_COLUMNS = re.compile("(?<= ) |^ | $")


def place_line(hit: Hit) -> str:
    """Name a hit in one line: `path:start-end  qualified name (kind)  chance`."""
    return f"{place(hit.path, hit.start_line, hit.end_line)}  {hit_name(hit)}  {worth(hit)}"


def worth(hit: Hit) -> str:
    """Write the chance of a hit to be the answer, or its score where no chance is known."""
    return f"{hit.score:.3f}" if hit.chance is None else f"{hit.chance:.2f}"


def place(path: str, *lines: int) -> str:
    """Name lines of a file: `path:start-end`, or `path:line`."""
    return f"{path_name(path)}:{'-'.join(map(str, lines))}"


def path_name(path: str) -> str:
    """Escape a path; quote it where it could be taken for more than a path."""
    shown = one_line(path)
    shown = _COLUMNS.sub(r"\\u0020", shown) if " " in shown else shown
    if shown == path and ":" not in path and '"' not in path:
        return path
    return '"' + shown.replace('"', '\\"') + '"'


def symbol_name(name: str) -> str:
    """Shorten a symbol's name and escape the ends of columns and lines."""
    name = name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
    name = one_line(name)
    return _COLUMNS.sub(r"\\u0020", name) if " " in name else name


def passage_head(passage: Passage) -> str:
    """Head a passage: `path:start-end  name (kind), name (kind)  chance`."""
    best = passage.hits[0]
    start, end = passage_place(passage)
    return f"{place(best.path, start, end)}  {passage_names(passage)}  {worth(best)}"


def passage_place(passage: Passage) -> tuple[int, int]:
    """First and last line of the file covered by a passage."""
    if passage.is_source:
        return passage.first, passage.last
    return passage.hits[0].start_line, max(hit.end_line for hit in passage.hits)


def passage_names(passage: Passage) -> str:
    """Name a passage: its parent, or its chunks in the order of the file, the first few of many."""
    if passage.parent:
        return f"{symbol_name(passage.parent)} (whole)"
    hits = sorted(passage.hits, key=lambda hit: hit.start_line)
    names = [*dict.fromkeys(map(hit_name, hits))]
    more = [f"{len(names) - _MOST_NAMES} more"] if len(names) > _MOST_NAMES else []
    return ", ".join(names[:_MOST_NAMES] + more)


def hit_name(hit: Hit) -> str:
    """Name a hit: `qualified name (kind)`, or the kind alone."""
    return f"{symbol_name(hit.symbol)} ({one_line(hit.kind)})" if hit.symbol else f"({one_line(hit.kind)})"
