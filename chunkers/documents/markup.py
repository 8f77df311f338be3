"""HTML and XML as a sequence of tags, comments and the like: one pass that no input makes slow or deep.

A grammar would give a tree, but only of markup that is well-formed; what is cut and read here needs no more than tags
in their order, and they are found the same way however broken the rest is. Nothing is expanded and nothing is fetched:
entities and document types are passed over.
"""

import re
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple

OPEN = "open"
CLOSE = "close"
EMPTY = "empty"
"""The kind of a tag that closes itself."""

COMMENT = "comment"
CDATA = "cdata"
OTHER = "other"
"""The kind of document types, declarations and processing instructions."""


class Token(NamedTuple):
    """A tag, comment or the like; what lies between two is text.

    Attributes:
        kind: OPEN, CLOSE, EMPTY, COMMENT, CDATA or OTHER.
        name: of a tag, with its prefix.
        start, end: characters, half-open.
    """

    kind: str
    name: str
    start: int
    end: int


# A quote opens a value only after "=" (WHATWG HTML, 13.2.5). The end is optional, so that what was scanned in vain is
# never scanned again: time stays linear.
_MARK = re.compile(
    r"""<(?:(?P<special>!--|!\[CDATA\[|![A-Za-z\[]|\?)
      | (?P<close>/?)(?P<name>[^\W\d][\w:.-]*+)
        (?:[^<>=/]++|/(?!>)|=\s*+(?:"[^"]*+"|'[^']*+')|=)*+
        (?P<end>/?>)?)""",
    re.VERBOSE,
)

_CLOSING = {"!--": "-->", "![CDATA[": "]]>"}
_KINDS = {"!--": COMMENT, "![CDATA[": CDATA}

# A document type with what it declares in brackets; the quotes of what is declared may hold brackets.
_DOCTYPE = re.compile(
    r"""<!DOCTYPE\b(?:[^\[>"']++|"[^"]*+"|'[^']*+')*+
        (?:\[(?:[^\]"'<]++|"[^"]*+"|'[^']*+'|<!--(?:(?!-->).)*+(?:-->)?+|<)*+\]\s*+)?+>""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)

_ATTRIBUTE = re.compile(r"""([^\s"'<>/=]++)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'>]++)))?""")

# Between their tags these hold text alone (WHATWG HTML, 13.1.2).
_RAW_TEXT = frozenset({"script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"})


def tokens_of_html(text: str) -> Iterator[Token]:
    """The tags of HTML, their names in lower case."""
    scanned = _tokens(text, 0)
    absent: set[str] = set()
    while token := next(scanned, None):
        name = token.name.lower()
        yield token._replace(name=name)
        if token.kind == OPEN and name in _RAW_TEXT and name not in absent:
            closing = re.compile(rf"</{name}\b", re.IGNORECASE).search(text, token.end)
            if closing:
                scanned = _tokens(text, closing.start())
            else:
                absent.add(name)


def tokens_of_xml(text: str) -> Iterator[Token]:
    """The tags of XML, their names as written."""
    return _tokens(text, 0)


def _tokens(text: str, position: int) -> Iterator[Token]:
    absent: set[str] = set()
    while match := _MARK.search(text, position):
        start, position = match.span()
        if special := match["special"]:
            end = _end_of_special(text, match, absent)
            if end:
                position = end
                yield Token(_KINDS.get(special, OTHER), "", start, end)
        elif finish := match["end"]:
            kind = CLOSE if match["close"] else EMPTY if len(finish) > 1 else OPEN
            yield Token(kind, match["name"], start, position)


def _end_of_special(text: str, match: re.Match[str], absent: set[str]) -> int:
    """Where a comment or the like ends; 0 when nothing ends it, which is looked for once only."""
    special = match["special"]
    if special in ("!D", "!d") and _DOCTYPE.pattern not in absent:
        if doctype := _DOCTYPE.match(text, match.start()):
            return doctype.end()
        absent.add(_DOCTYPE.pattern)
    closings = (_CLOSING[special],) if special in _CLOSING else ("?>", ">") if special == "?" else (">",)
    for closing in closings:
        if closing not in absent:
            end = text.find(closing, match.end())
            if end >= 0:
                return end + len(closing)
            absent.add(closing)
    return 0


def attributes_of(text: str, token: Token) -> dict[str, str]:
    """The attributes of a tag, their values with entities replaced; of equal names the first counts.

    Names are as written, which XML tells apart.

    Parameters:
        text: that the token is of.
        token: an opening or empty tag.
    """
    attributes: dict[str, str] = {}
    for match in _ATTRIBUTE.finditer(text, token.start + 1 + len(token.name), token.end - 1):
        value = match[2] or match[3] or match[4] or ""
        attributes.setdefault(match[1], unescape(value))
    return attributes


def attributes_of_html(text: str, token: Token) -> dict[str, str]:
    """`attributes_of` a tag of HTML: the names of its attributes in lower case, as those of its tags are."""
    attributes: dict[str, str] = {}
    for name, value in attributes_of(text, token).items():
        attributes.setdefault(name.lower(), value)
    return attributes


def names(words: str) -> frozenset[str]:
    """A set of names that are written with spaces between them."""
    return frozenset(words.split())
