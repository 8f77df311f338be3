"""Cut markup with expressions in it at its elements: templates of components and of servers."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cqm.chunkers.documents.markup import names
from cqm.chunkers.model import ChunkOptions, Fact, Piece
from cqm.chunkers.splitting import Span
from cqm.chunkers.structured.entries import Draft, Shape, drafts_of
from cqm.chunkers.structured.spans_of_json import ARRAY, LITERAL, Node

_MOST_CHARACTERS = 4_000
"""Longest attributes of a tag; longer ones would be read again and again where a tag has no end."""

_BRACES = r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*+\})*+\})*+\}"
_MARK = re.compile(
    rf"""(?P<comment><!--)
      | \{{\{{ (?:(?!\}}\}}).){{0,200}}+ \}}\}}
      | \{{ (?P<sign>[#/:@]) \s*+ (?P<block>\w*+)
      | <(?P<close>/?)(?P<name>[A-Za-z][\w.:-]*+)
        (?P<attributes>(?:[^<>="'{{}}/]|/(?!>)|=\s*+(?:"[^"]*+"|'[^']*+')|=|"|'|{_BRACES}){{0,{_MOST_CHARACTERS}}}+)
        (?P<end>/?>)""",
    re.VERBOSE | re.DOTALL,
)
_ID = re.compile(r"""(?<![\w:-])id\s*=\s*["']([\w.:-]{1,100})["']""")
_VOID = names("area base br col embed hr img input link meta param source track wbr")
_COMPONENT = re.compile(r"[A-Z]|[a-z][\w]*[-.]")

OPENS, CLOSES, WHOLE = range(3)
"""Forms of a tag."""

# Names of these elements say little, and are left out of contexts.
_MOST_NAMES = 40


class Tag(NamedTuple):
    """A tag, or the sign of a block such as `{#if}`.

    Attributes:
        form: whether it opens, closes or is whole.
        name: of the element, "#if" of a block.
        id: of the element; empty for none.
        start, end: characters.
    """

    form: int
    name: str
    id: str
    start: int
    end: int


def tags_of(text: str, span: Span) -> Iterator[Tag]:
    """Yield the tags of a part of a text in order, in linear time."""
    position, end = span
    while match := _MARK.search(text, position, end):
        position = match.end()
        if match["comment"]:
            closing = text.find("-->", position, end)
            # Without an end the rest is one comment.
            position = closing + 3 if closing >= 0 else end
        elif match["sign"]:
            if match["sign"] in "#/" and match["block"]:
                yield Tag(CLOSES if match["sign"] == "/" else OPENS, f"#{match['block']}", "", *match.span())
        elif name := match["name"]:
            found = _ID.search(match["attributes"])
            is_empty = match["end"] == "/>" or name.lower() in _VOID
            form = CLOSES if match["close"] else WHOLE if is_empty else OPENS
            yield Tag(form, name, found[1] if found else "", *match.span())


def tree_of(tags: Sequence[Tag], span: Span) -> Node:
    """Return the tree of the elements of a part of a text.

    A tag without an end is an element of its own: text after it belongs to the element around it.
    """
    opened: list[tuple[Tag, int]] = []
    counts: Counter[str] = Counter()
    # An opening tag stands for its element until its end is found: each node is moved once, into its own parent.
    nodes: list[Node] = []
    for tag in tags:
        if tag.form != CLOSES:
            if tag.form == OPENS:
                opened.append((tag, len(nodes)))
                counts[tag.name] += 1
            nodes.append(Node(LITERAL, tag.start, tag.end, _named(tag), tag.start))
        elif counts[tag.name]:
            name = ""
            while name != tag.name:
                begin, at = opened.pop()
                name = begin.name
                counts[name] -= 1
            nodes[at:] = [Node(ARRAY, begin.start, tag.end, _named(begin), begin.start, nodes[at + 1 :])]
    return Node(ARRAY, *span, children=nodes)


def _named(tag: Tag) -> str:
    return f"{tag.name}#{tag.id}" if tag.id else tag.name


def pieces_of_markup(text: str, span: Span, options: ChunkOptions, blocks: Sequence[Tag] = ()) -> list[Piece]:
    """Cut a part of a text at its elements: elements within the limit stay whole, small neighbours are packed.

    A piece tells the components it uses and the ids it sets; its context is the path of elements around it.

    Parameters:
        blocks: of a template language; their tags are blank in the text, and they count as elements.
    """
    start, end = span
    own = text[start:end]
    elements = list(tags_of(own, (0, len(own))))
    tags = sorted([*elements, *blocks], key=lambda tag: tag.start) if blocks else elements
    drafts = drafts_of(own, tree_of(tags, (0, len(own))), Shape(), options)
    pieces: list[Piece] = []
    at = 0
    for draft in drafts:
        first = at
        while at < len(tags) and tags[at].start < draft.end:
            at += 1
        facts = _facts([tag for tag in tags[first:at] if tag.name[0].isalpha()])
        pieces.append(Piece(draft.start + start, draft.end + start, "template", context=_context(draft), facts=facts))
    return pieces


def _context(draft: Draft) -> str:
    return " > ".join(_shown(name) for name in draft.outer if name not in _NAMELESS)


def _shown(name: str) -> str:
    if name[:1].isalpha():
        return f"<{name}>"
    return f"{{{name}}}" if name[:1] == "#" else name.replace("#", " ")


# Template blocks with a bare end: there is no name to show.
_NAMELESS = ("<%", "{{")


def _facts(tags: Sequence[Tag]) -> dict[str, Fact]:
    used = dict.fromkeys(tag.name for tag in tags if tag.form != CLOSES and _COMPONENT.match(tag.name))
    ids = dict.fromkeys(tag.id for tag in tags if tag.id)
    facts: dict[str, Fact] = {}
    if used:
        facts["components"] = tuple(used)[:_MOST_NAMES]
    if ids:
        facts["ids"] = tuple(ids)[:_MOST_NAMES]
    return facts
