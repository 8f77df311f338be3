"""Find an XML text's elements with positions and names; mend broken tags, expand and fetch nothing."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from cqm.chunkers.documents.markup import CLOSE, COMMENT, EMPTY, OPEN, Token, attributes_of, tokens_of_xml

_LONGEST_NAME = 200

# Attributes which distinguish an element from its siblings, best first; without prefix. "Include" and "Update" are
# MSBuild's.
_NAMING_ATTRIBUTES = ("id", "name", "key", "Include", "Update", "Name", "match", "code", "ref", "test", "class", "type")
_ID_ATTRIBUTES = frozenset(("id",))
_FIRST_CHILDREN = 20
_NAMING_CHILDREN = ("id", "name", "key", "title", "display-name", "servlet-name", "filter-name", "url-pattern")


@dataclass(slots=True, eq=False)
class Element:
    """An element and its contents.

    Attributes:
        tag: its opening tag.
        end: its last character + 1.
        depth: 0 for a root.
        children: elements in it, in order.
        comments: comments and instructions directly in it, as (start, end).
        closing: the first character of its closing tag; its end without one.
    """

    tag: Token
    end: int
    depth: int
    children: list["Element"] = field(default_factory=list)
    comments: list[tuple[int, int]] = field(default_factory=list)
    closing: int = 0

    @property
    def start(self) -> int:
        """The element's first character."""
        return self.tag.start

    @property
    def name(self) -> str:
        """The element's name without prefix."""
        return self.tag.name.rpartition(":")[2]


class Forest(NamedTuple):
    """The roots of a text, one if it is well-formed, and the number of tags without a partner."""

    roots: list[Element]
    comments: list[tuple[int, int]]
    unmatched: int


def elements_of(text: str) -> Forest:
    """Match the tags of a text; time and memory are linear in its length."""
    top = Element(Token(OPEN, "", 0, 0), len(text), -1)
    opened = [top]
    counts: dict[str, int] = {}
    unmatched = 0
    for token in tokens_of_xml(text):
        if token.kind == CLOSE:
            if not counts.get(token.name):
                unmatched += 1
                continue
            unmatched += _close(opened, token, counts)
        elif token.kind in (OPEN, EMPTY):
            element = Element(token, token.end, len(opened) - 1, closing=token.end)
            opened[-1].children.append(element)
            if token.kind == OPEN:
                opened.append(element)
                counts[token.name] = counts.get(token.name, 0) + 1
        elif token.kind == COMMENT or text.startswith("<?", token.start):
            opened[-1].comments.append((token.start, token.end))
    for element in opened[1:]:
        element.end = element.closing = len(text)
    return Forest(top.children, top.comments, unmatched + len(opened) - 1)


def _close(opened: list[Element], token: Token, counts: dict[str, int]) -> int:
    """Close the innermost element of this name and those open in it; return the number of missing closing tags."""
    missing = -1
    name = ""
    while name != token.name:
        element = opened.pop()
        name = element.tag.name
        counts[name] -= 1
        element.closing, element.end = token.start, token.end if name == token.name else token.start
        missing += 1
    return missing


def text_in(text: str, element: Element) -> str:
    """Return the text of an element without children."""
    return " ".join(text[element.tag.end : element.closing].split())[:_LONGEST_NAME] if not element.children else ""


def label_of(text: str, element: Element) -> str:
    """Return an element's label: its name, and its distinction from siblings, if any.

    "bean#dataSource" for an id, "target compile" for a name, "dependency org.slf4j:slf4j-api" for Maven's coordinates,
    "key CFBundleName" for the entries of a property list. A root's label is just its name.
    """
    name = element.tag.name
    if not element.depth:
        return name
    if element.name == "key" and not element.children:
        return f"{name} {text_in(text, element)}".rstrip()
    attributes = attributes_of(text, element.tag)
    local = {key.rpartition(":")[2]: value for key, value in reversed(attributes.items())}
    for key in _NAMING_ATTRIBUTES if local else ():
        if key in local and (value := " ".join(local[key].split())[:_LONGEST_NAME]):
            return f"{name}#{value}" if key in _ID_ATTRIBUTES else f"{name} {value}"
    return f"{name} {_named_by_child(text, element)}".rstrip()


def _named_by_child(text: str, element: Element) -> str:
    own = {child.name: child for child in reversed(element.children[:_FIRST_CHILDREN]) if not child.children}
    if "artifactId" in own:
        return ":".join(text_in(text, own[name]) for name in ("groupId", "artifactId") if name in own)
    return next((words for name in _NAMING_CHILDREN if name in own and (words := text_in(text, own[name]))), "")


def coordinates_of(text: str, element: Element) -> str:
    """Return Maven's groupId:artifactId:version of an element, as far as present; empty without an artifactId."""
    own = {child.name: child for child in element.children if child.name in ("groupId", "artifactId", "version")}
    if "artifactId" not in own:
        return ""
    return ":".join(text_in(text, own[name]) for name in ("groupId", "artifactId", "version") if name in own)


def walk(elements: Sequence[Element]) -> Iterator[Element]:
    """Yield elements and all their descendants, in the order of the text."""
    waiting = list(reversed(elements))
    while waiting:
        element = waiting.pop()
        yield element
        waiting.extend(reversed(element.children))
