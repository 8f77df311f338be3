"""Turn HTML into text as people read it: words instead of tags, and Markdown where markup adds meaning."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import unescape

from cqm.chunkers.documents.markup import CDATA, CLOSE, OPEN, Token, attributes_of_html, names


@dataclass(frozen=True, slots=True)
class Reading:
    """Fragments which make up the text of a page, in order.

    Attributes:
        starts: the first character of each.
        ends: the end of each; its start for a replacement of a tag.
        notes: the kind of each: PLAIN or CODE for text of the page, BREAKS for line ends, else the words for a tag.
    """

    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, start: int, end: int, note: str) -> None:
        """Append a fragment."""
        self.starts.append(start)
        self.ends.append(end)
        self.notes.append(note)


PLAIN, CODE = "plain", "code"
BREAKS = ("", "\n", "\n\n")

_PARAGRAPHS = names("blockquote dl figure hr ol p pre table ul")
_LINES = names(
    "address article aside body br caption dd details dialog div dt fieldset figcaption footer form header legend li"
    " main nav option section summary td th title tr"
)
_CELLS = frozenset(("td", "th"))
_LISTS = frozenset(("ul", "ol", "menu"))
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_UNREAD = frozenset(("script", "style"))

# The sign beside a heading with a link to itself, as written by Sphinx, Docusaurus, MkDocs and GitHub.
_ANCHOR_LINK = re.compile(r"\b(?:headerlink|hash-link|permalink|anchor-link|anchorjs-link|header-anchor)\b")
_ANCHOR_SIGNS = frozenset(("#", "¶", "§", "\N{LINK SYMBOL}"))

# "language-x" is HTML's recommendation, "highlight-x" are Sphinx's wrappers, "brush: x" an older library's.
_CODE_LANGUAGE = re.compile(r"""\b(?:lang(?:uage)?-|highlight-(?:source-)?|brush:\s*)([\w+#.-]+)""")
_UNNAMED_LANGUAGES = frozenset(("default", "none", "text", "notranslate", "plaintext"))


def fragments_of(text: str, tokens: Sequence[Token], tables: frozenset[int]) -> Reading:
    """Read a page.

    Parameters:
        tokens: all its tags.
        tables: starts of tables, except mere layout; their rows are written as rows.
    """
    reader = _Reader(text, tables)
    position = 0
    for token in tokens:
        reader.gap(position, token.start)
        reader.tag(token)
        position = token.end
    reader.gap(position, len(text))
    return reader.reading


@dataclass(slots=True)
class _Reader:
    text: str
    tables: frozenset[int]
    reading: Reading = field(default_factory=Reading)
    unread: bool = False  # the text up to the next tag is not shown
    code: int = 0
    table: int = 0  # open tables, from the first one written as rows
    cells: int = 0  # of the row
    lists: int = 0
    language: str = ""

    def gap(self, start: int, end: int) -> None:
        if start < end and not self.unread:
            self.reading.add(start, end, CODE if self.code and not self.table else PLAIN)
        self.unread = False

    def tag(self, token: Token) -> None:
        name, closes = token.name, token.kind == CLOSE
        if token.kind == CDATA:
            self.reading.add(token.start + len("<![CDATA["), token.end - len("]]>"), PLAIN)
        elif not name:
            return
        elif name in _UNREAD:
            self.unread = not closes
        elif name == "pre":
            self._pre(token, closes=closes)
        elif name in _HEADINGS:
            self._heading(token, closes=closes)
        elif self.table or token.start in self.tables:
            self._in_table(token, closes=closes)
        elif name in _PARAGRAPHS or name in _LINES:
            self._block(token, closes=closes)
        elif not closes:
            self._inline(token)

    def _words(self, token: Token, words: str) -> None:
        self.reading.add(token.start, token.start, words)

    def _break(self, token: Token, lines: int) -> None:
        self._words(token, " " if self.table else BREAKS[lines])

    def _pre(self, token: Token, *, closes: bool) -> None:
        if closes and not self.code:
            return
        self.code = not closes
        self._break(token, 2 if not closes else 1)
        if self.table:
            return
        if not closes:
            self.language = self._code_language(token) or self.language
        self._words(token, "```" if closes else f"```{self.language}")
        self._break(token, 2 if closes else 1)
        if closes:
            self.language = ""

    def _heading(self, token: Token, *, closes: bool) -> None:
        self._break(token, 2)
        if not closes and not self.table:
            self._words(token, f"{'#' * _HEADINGS[token.name]} ")

    def _in_table(self, token: Token, *, closes: bool) -> None:
        name = token.name
        if name == "table":
            self.table = max(0, self.table + (-1 if closes else 1))
            self.reading.add(token.start, token.start, BREAKS[2] if self.table <= 1 else " ")
        elif name == "tr" and self.table == 1:
            if self.cells:
                self._words(token, " |")
            self.cells = 0
            self.reading.add(token.start, token.start, BREAKS[1])
        elif name in _CELLS and self.table == 1 and not closes:
            self._words(token, " | " if self.cells else "| ")
            self.cells += 1
        elif name == "caption":
            self.reading.add(token.start, token.start, BREAKS[1])
        elif name in _PARAGRAPHS or name in _LINES:
            self._words(token, " ")
        elif not closes:
            self._inline(token)

    def _block(self, token: Token, *, closes: bool) -> None:
        name = token.name
        if name in _LISTS:
            self._break(token, 2 if not self.lists or (closes and self.lists == 1) else 1)
            self.lists = max(0, self.lists + (-1 if closes else 1))
            return
        is_item_text = name == "p" and self.lists
        self._break(token, 2 if name in _PARAGRAPHS and not is_item_text else 1)
        if name == "li" and not closes:
            self._words(token, f"{'  ' * min(max(self.lists - 1, 0), _DEEPEST_INDENT)}- ")
        elif name == "div" and not closes:
            self.language = self._code_language(token) or self.language

    def _inline(self, token: Token) -> None:
        if token.name == "a":
            tag = self.text[token.start : token.end]
            shown = self.text[token.end : token.end + 2].partition("<")[0]
            is_sign = shown in _ANCHOR_SIGNS or _ANCHOR_LINK.search(tag) is not None
            self.unread = token.kind == OPEN and is_sign
        elif token.name == "button":
            self.unread = self.code > 0  # "copy"
        elif token.name == "img":
            self._words(token, attributes_of_html(self.text, token).get("alt", ""))
        elif token.name == "meta":
            self._described(token)
        elif token.name == "code" and self.code and not self.language:
            self._name_code(token)

    def _described(self, token: Token) -> None:
        attributes = attributes_of_html(self.text, token)
        if attributes.get("name", "").lower() in ("description", "keywords"):
            self._break(token, 1)
            self._words(token, attributes.get("content", ""))
            self._break(token, 1)

    def _name_code(self, token: Token) -> None:
        # <pre><code class="language-x">: the fence is open.
        language = self._code_language(token)
        notes = self.reading.notes
        fence = next(
            (place for place in range(len(notes) - 1, max(len(notes) - 5, -1), -1) if notes[place] == "```"), -1
        )
        if language and fence >= 0:
            notes[fence] = f"```{language}"

    def _code_language(self, token: Token) -> str:
        match = _CODE_LANGUAGE.search(attributes_of_html(self.text, token).get("class", ""))
        return match[1] if match and match[1] not in _UNNAMED_LANGUAGES else ""


_DEEPEST_INDENT = 8


def read(text: str, reading: Reading, start: int, end: int) -> str:
    """Return a part of the page as people read it.

    Parameters:
        reading: of the whole page.
        start, end: characters of the page.
    """
    first = bisect_left(reading.ends, start)
    last = bisect_left(reading.starts, end)
    return "".join(_joined(_words_of(text, reading, range(first, last), (start, end)))).strip()


def _words_of(text: str, reading: Reading, numbers: range, span: tuple[int, int]) -> Iterator[tuple[str, str]]:
    for number in numbers:
        start, end, note = reading.starts[number], reading.ends[number], reading.notes[number]
        if start == end:
            if start >= span[0]:
                yield ("", note)
            continue
        words = text[max(start, span[0]) : min(end, span[1])]
        yield note, unescape(words) if "&" in words else words


def _joined(words: Iterator[tuple[str, str]]) -> Iterator[str]:
    gap = previous = ""  # separator before the next text: nothing, a space or line ends
    opened = False  # the last text was the sign of a heading, an item or a row
    for note, own in words:
        if not note and (own in BREAKS or own == " "):
            gap = max(gap, own, key=lambda each: (each.count("\n"), len(each)))
            continue
        if note == PLAIN and own[:1].isspace():
            gap = gap or " "
        if shown := " ".join(own.split()) if note == PLAIN else own:
            lead = "" if opened and note else _lead(gap, previous, shown)
            previous = lead + (shown.lstrip("\n") if note == CODE and lead else shown)
            yield previous
            gap, opened = "", not note and own.endswith(" ")
        if shown and note == PLAIN and own[-1:].isspace():
            gap = " "


def _lead(gap: str, previous: str, shown: str) -> str:
    if not previous:
        return ""
    if gap == " ":
        return "" if previous[-1].isspace() or shown[0].isspace() else gap
    return gap[1:] if previous[-1] == "\n" else gap
