"""Cut Objective-C++: its types by the grammar of Objective-C, the code between them by the grammar of C++."""

import re
from collections.abc import Iterator
from itertools import pairwise

from cqm.chunkers.embedded.parts import Cutter, Part, joined, pieces_of_part, spread
from cqm.chunkers.model import ChunkOptions, Cut, Piece

OBJC, CPP = "objc", "cpp"

# "@protocol A, B;" names types of elsewhere.
_MARK = re.compile(
    r"^@(?:(?P<alone>(?:class|import|protocol)\b[\w\s,.<>*]*;)|(?P<begin>(?:interface|implementation|protocol)\b[^\n]*)"
    r"|end\b[^\n]*)",
    re.MULTILINE,
)
_CPP_SIGN = re.compile(
    r"^[ \t]*+(?:template[ \t]*<|(?:inline[ \t]+)?namespace\b[^;=(]*$|(?:class|struct)[ \t]+\w[^;(=]*[:{][^;]*$"
    r"|(?:public|private|protected)[ \t]*:[ \t]*$|using[ \t]+\w)"
    r"|^\w[\w:<>,*& \t]{0,200}?\b\w+::~?\w+[ \t]*\(|^\w[^;{}()\n]*\([^;{}()]*\w[ \t]*&[ \t]*\w+[ \t]*[,)]",
    re.MULTILINE,
)

# Each part looks at all lines before it.
_MOST_BLOCKS = 1_000


def is_mixed(text: str) -> bool:
    """Tell if a text has types of Objective-C, and C++ outside of them, unreadable to the grammar of Objective-C."""
    if "@end" not in text:
        return False
    blocks = [*_blocks(text)]
    return 0 < len(blocks) <= _MOST_BLOCKS and any(_CPP_SIGN.search(text, *gap) for gap in _gaps(text, blocks))


def pieces_of_mixed(text: str, options: ChunkOptions, cut: Cutter) -> Cut:
    """Cut a file in both languages at its types of Objective-C."""
    blocks = [*_blocks(text)]
    parts = [Part(*span, span, OBJC, "") for span in blocks]
    gaps = (span for span in _gaps(text, blocks) if text[slice(*span)].strip())
    parts += [Part(*span, span, CPP if _CPP_SIGN.search(text, *span) else OBJC, "") for span in gaps]
    pieces: list[Piece] = []
    warnings: list[str] = []
    for part in sorted(parts):
        own, told = pieces_of_part(text, part, options, cut)
        pieces += own
        warnings += told
    return joined(text, spread(text, pieces, (0, len(text)), options), options), list(dict.fromkeys(warnings))


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the parts of Objective-C alone: types from `@interface` to the line of `@end`, names of further types."""
    start = -1
    for mark in _MARK.finditer(text):
        if mark["begin"]:
            start = mark.start() if start < 0 else start
        elif start >= 0 and not mark["alone"]:
            yield start, mark.end()
            start = -1
        elif start < 0 and mark["alone"]:
            yield mark.span()
    if start >= 0:
        # Its end is not typed yet.
        yield start, len(text)


def _gaps(text: str, blocks: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    for before, after in pairwise([(0, 0), *blocks, (len(text), len(text))]):
        if before[1] < after[0]:
            yield before[1], after[0]
