"""Read an HTML page as a flat sequence of headings and blocks, whatever their nesting."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from cqm.chunkers.documents.headed import Heading
from cqm.chunkers.documents.markup import CLOSE, EMPTY, OPEN, Token, attributes_of_html, names, tokens_of_html
from cqm.chunkers.pages.html_text import Reading, fragments_of, read
from cqm.chunkers.splitting import line_start

PROSE = "prose"
"""Kind of a block which may be divided at its sentences."""

NAVIGATION = "navigation"
"""Kind of blocks in menus, sidebars and footers."""

CODE, TABLE, LIST, SCRIPT, STYLE = "code", "table", "list", "script", "style"

_WHOLE = {
    **dict.fromkeys(("ul", "ol", "dl", "menu", "select"), LIST),
    **dict.fromkeys(("pre", "svg", "math", "textarea", "xmp"), CODE),
    "table": TABLE,
    "script": SCRIPT,
    "style": STYLE,
}
WHOLE_KINDS = (CODE, TABLE, LIST)
"""Kinds of blocks which are only cut far over the limit."""

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_DEEPEST = 9

_BLOCKS = names(
    "address article aside blockquote body caption center dd details dialog div dt fieldset figcaption figure footer"
    " form head header hgroup hr html legend li link main meta nav noscript p section summary tbody td template tfoot"
    " th thead title tr"
) | {*_WHOLE, *_HEADINGS}
_VOID = names("area base br col embed hr img input link meta param source track wbr")
_SHOWN = frozenset(("img", "input", "button", "video", "audio", "iframe", "object", "embed", "br"))
_NAVIGATION = frozenset(("nav", "footer", "aside"))
_NAVIGATION_KINDS = (PROSE, LIST)


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of a page between two allowed cuts.

    Attributes:
        start: its first character; it ends at the start of the next block.
        kind: PROSE, CODE, TABLE, LIST, SCRIPT, STYLE or NAVIGATION.
        heading: level and title, if it begins with a heading.
        anchor: the id of this heading or of the element around it.
        ends: sections of this level and deeper end here; 0 for none.
    """

    start: int
    kind: str = PROSE
    heading: Heading | None = None
    anchor: str = ""
    ends: int = 0


@dataclass(frozen=True, slots=True)
class Page:
    """The contents of an HTML page.

    Attributes:
        tokens: all tags, in order.
        blocks: in order; the first begins at 0.
        reading: the page's readable text.
        title: of its head; empty without.
        language: of its root; empty without.
    """

    tokens: Sequence[Token]
    blocks: Sequence[Block]
    reading: Reading
    title: str
    language: str


def page_of(text: str) -> Page:
    """Find the blocks of a page; time and memory are linear in its length."""
    tokens = list(tokens_of_html(text))
    wholes = _wholes(text, tokens)
    tables = frozenset(whole.start for whole in wholes if whole.kind == TABLE)
    reading = fragments_of(text, tokens, tables)
    blocks = _Cuts(text, tokens, reading, wholes).blocks()
    title = next((number for number, token in enumerate(tokens) if token.name == "title" and token.kind == OPEN), -1)
    root = next((token for token in tokens if token.name == "html"), None)
    return Page(
        tokens,
        blocks or [Block(0)],
        reading,
        _text_of_heading(text, tokens, reading, title) if title >= 0 else "",
        attributes_of_html(text, root).get("lang", "") if root else "",
    )


@dataclass(frozen=True, slots=True)
class _Whole:
    # An indivisible element: its tokens from first to last, and its characters.
    first: int
    last: int
    start: int
    end: int
    kind: str


def _level(text: str, token: Token, lists: int) -> int:
    """Return the level of a heading's opening tag; 0 for any other tag.

    Sphinx writes documented objects as a definition list with signatures as terms; these are the headings of their
    definitions.
    """
    if token.kind != OPEN:
        return 0
    if token.name != "dt":
        return _HEADINGS.get(token.name, 0)
    classes = attributes_of_html(text, token).get("class", "").split() if "sig" in text[token.start : token.end] else []
    return min(len(_HEADINGS) + max(lists, 1), _DEEPEST) if "sig" in classes else 0


def _wholes(text: str, tokens: Sequence[Token]) -> list[_Whole]:
    """Find the outermost indivisible elements: lists, tables and code without a heading in them."""
    found: list[_Whole] = []
    opened: list[tuple[int, str]] = []
    counts: Counter[str] = Counter()
    headed = 0  # number of opened elements with a heading
    for number, token in enumerate(tokens):
        if token.name in _WHOLE and token.kind == OPEN:
            opened.append((number, token.name))
            counts[token.name] += 1
        elif token.kind == CLOSE and counts[token.name]:
            name = ""
            while name != token.name:
                first, name = opened.pop()
                counts[name] -= 1
                if headed <= len(opened):
                    found.append(_Whole(first, number, tokens[first].start, token.end, _WHOLE[name]))
                headed = min(headed, len(opened))
        elif opened and not counts["pre"] and _level(text, token, counts["dl"]):
            headed = len(opened)
    return list(_outermost(found))


def _outermost(found: list[_Whole]) -> Iterator[_Whole]:
    end = 0
    for whole in sorted(found, key=lambda whole: (whole.start, -whole.end)):
        if whole.start >= end:
            yield whole
            end = whole.end


def _text_of_heading(text: str, tokens: Sequence[Token], reading: Reading, number: int) -> str:
    """Return the title from an opening tag to its closing tag, or to the next block if this is missing."""
    name = tokens[number].name
    following = tokens[number + 1 : number + 1 + _LONGEST_HEADING]
    ends = (token.start for token in following if token.name in _BLOCKS and (token.kind == OPEN or token.name == name))
    end = next(ends, following[-1].end if following else len(text))
    title = read(text, reading, tokens[number].end, end)
    return " ".join(title.split())[:_LONGEST_TITLE]


# In tags and in characters.
_LONGEST_HEADING = 200
_LONGEST_TITLE = 200
_TAGS_TO_ANCHOR = 8

_FRESH, _FILLED, _CLOSED = range(3)


@dataclass(slots=True)
class _Cuts:
    """Walk over the tags of a page and find the blocks they begin.

    A cut is between a closing tag or text, and an opening tag: opening tags and comments stay with the following text,
    closing tags with the preceding text.
    """

    text: str
    tokens: Sequence[Token]
    reading: Reading
    wholes: Sequence[_Whole]
    found: list[Block] = field(default_factory=list)
    state: int = _CLOSED
    waiting: int = 0  # first tag or comment waiting for the following text; -1 for none
    lists: int = 0
    navigation: Counter[str] = field(default_factory=Counter)
    ends: int = 0
    anchor: str = ""

    def blocks(self) -> list[Block]:
        position, skipped = 0, -1
        wholes = {whole.first: whole for whole in self.wholes}
        for number, token in enumerate(self.tokens):
            if number <= skipped:
                continue
            self._between(position, token.start)
            position = token.end
            if whole := wholes.get(number):
                self._whole(whole)
                skipped, position = whole.last, whole.end
            else:
                self._tag(number)
        self._between(position, len(self.text))
        return self.found

    def _between(self, start: int, end: int) -> None:
        if start < end and not self.text[start:end].isspace():
            self._shown(start)

    def _shown(self, position: int) -> None:
        if self.state == _CLOSED:
            self._begin(position, PROSE)
        self.state, self.waiting = _FILLED, -1

    def _whole(self, whole: _Whole) -> None:
        if _is_menu(self.text, self.tokens[whole.first : whole.last + 1], whole.kind):
            whole = replace(whole, kind=NAVIGATION)
        if self.state != _FRESH or whole.kind in (SCRIPT, STYLE):
            self._begin(whole.start, whole.kind)
        else:
            # The block begun by its wrappers is the wrapped one.
            self.found[-1] = replace(self.found[-1], kind=self._kind(whole.kind))
        self.state, self.waiting = _CLOSED, -1

    def _tag(self, number: int) -> None:
        token = self.tokens[number]
        is_block = token.name in _BLOCKS
        if token.kind == CLOSE:
            self._closed(token, is_block=is_block)
        elif is_block:
            self._opened(number)
        elif token.name in _SHOWN:
            self._shown(token.start)
        elif self.state == _CLOSED and self.waiting < 0:
            self.waiting = token.start

    def _closed(self, token: Token, *, is_block: bool) -> None:
        if token.name == "dl" and self.lists:
            self.ends = min(len(_HEADINGS) + self.lists, _DEEPEST)
            self.lists -= 1
        if self.navigation[token.name]:
            self.navigation[token.name] -= 1
        if is_block:
            self.state, self.waiting, self.anchor = _CLOSED, -1, ""

    def _opened(self, number: int) -> None:
        token = self.tokens[number]
        if token.name in _NAVIGATION and token.kind == OPEN:
            self.navigation[token.name] += 1
        self.lists += token.name == "dl" and token.kind == OPEN
        inherited = self.anchor if self.state == _FRESH else ""
        self.anchor = attributes_of_html(self.text, token).get("id", inherited)
        if self.state != _FRESH:
            self._begin(token.start, PROSE)
        if level := _level(self.text, token, self.lists):
            self._entitle(number, level)
        is_filled = token.kind == EMPTY or (token.name in _VOID and token.name != "hr")
        self.state, self.waiting = _CLOSED if is_filled else _FRESH, -1

    def _entitle(self, number: int, level: int) -> None:
        title = _text_of_heading(self.text, self.tokens, self.reading, number)
        anchor = self._own_anchor(number) or self.anchor
        if level > len(_HEADINGS) and anchor:
            title = anchor
        self.found[-1] = replace(self.found[-1], heading=(level, title), anchor=anchor)

    def _own_anchor(self, number: int) -> str:
        for token in self.tokens[number : number + _TAGS_TO_ANCHOR]:
            if token.kind == CLOSE and token.name == self.tokens[number].name:
                break
            attributes = attributes_of_html(self.text, token) if token.kind == OPEN else {}
            if anchor := attributes.get("id") or (attributes.get("name", "") if token.name == "a" else ""):
                return anchor
        return ""

    def _begin(self, start: int, kind: str) -> None:
        begin = self.waiting if self.waiting >= 0 else start
        self.found.append(Block(line_start(self.text, begin), self._kind(kind), None, "", self.ends))
        self.ends = 0

    def _kind(self, kind: str) -> str:
        return NAVIGATION if kind in _NAVIGATION_KINDS and any(self.navigation.values()) else kind


def _is_menu(text: str, tokens: Sequence[Token], kind: str) -> bool:
    """Tell if a list consists almost only of links."""
    items = sum(1 for token in tokens if token.name == "li" and token.kind == OPEN)
    if kind != LIST or items < _LEAST_ITEMS:
        return False
    linked = other = depth = 0
    for token, following in pairwise(tokens):
        depth += (token.name == "a") * {OPEN: 1, CLOSE: -1}.get(token.kind, 0)
        length = len(text[token.end : following.start].strip())
        linked, other = (linked + length, other) if depth > 0 else (linked, other + length)
    return linked > _MENU_SHARE * (linked + other)


# A list of links within a text explains them; a menu, a table of contents or an index does not.
_LEAST_ITEMS = 4
_MENU_SHARE = 0.9
