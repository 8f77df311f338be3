"""Find the tags of template languages in a text, and mask them for the language around them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from cqm.chunkers.embedded.markup import CLOSES, OPENS, WHOLE, Tag
from cqm.chunkers.embedded.parts import Name
from cqm.chunkers.model import later

PERCENT, BRACES, GO, BLADE, RAZOR = "percent", "braces", "go", "blade", "razor"

# Opening signs of a tag, longer ones first, and closing ones.
_SIGNS = {
    PERCENT: {"<%--": "--%>", "<%": "%>"},
    BRACES: {"{{!--": "--}}", "{{{": "}}}", "{{": "}}", "{%": "%}", "{#": "#}"},
    GO: {"{{/*": "*/}}", "{{- /*": "*/ -}}", "{{": "}}"},
    BLADE: {"{{--": "--}}", "{!!": "!!}", "{{": "}}"},
    RAZOR: {"@*": "*@"},
}
_OPENINGS = {
    name: later("|".join(re.escape(sign) for sign in sorted(signs, key=len, reverse=True)))
    for name, signs in _SIGNS.items()
}
_OUTPUTS = ("<%=", "{{", "{!!")
_EDGE = "-~=_!#:*"

# Words of a tag; a quoted or bare name follows the defining ones.
_WORDS = later(r"""(?P<sign>[#/^]?\*?)\s*(?P<word>[A-Za-z_]\w*)(?:\s+["']?(?P<name>[\w./:-]{1,100}))?""")
_DEFINING = {
    "block": "block",
    "define": "template",
    "inline": "template",
    "macro": "macro",
    "partialblock": "block",
    "fill": "block",
}
_GO_BLOCKS = frozenset({"block", "define", "if", "range", "with"})

_RUBY = later(
    r"\bdef\s+(?P<def>[\w.?!]{1,100})|\bfunction\s+(?P<function>\w{1,100})|\bcontent_for[\s(]+:(?P<content>\w{1,100})"
)
_PERCENT_OPENS = later(r"^(?:if|unless|case|while|for|begin|def)\b|(?:\bdo(?:\s*\|[^|]*\|)?|->|\{)\s*$")
_PERCENT_CLOSES = later(r"^(?:end\b|\})(?!.*\{\s*$)")

_DIRECTIVE = later(
    r"""(?<![\w@])@(?P<word>[a-z][A-Za-z]*)(?:\s?\(\s*["'](?P<name>[\w.:-]{1,100})["']\s*(?P<more>,)?)?"""
)
_DIRECTIVES = frozenset(
    {
        *("auth", "can", "cannot", "component", "empty", "env", "error", "for", "foreach", "forelse", "guest", "if"),
        *("isset", "once", "php", "prepend", "push", "section", "slot", "switch", "unless", "while"),
    }
)


class TemplateTag(NamedTuple):
    """A tag of a template language.

    Attributes:
        start, end: characters.
        sign: which opens it.
        body: between its signs, without marks at the edges.
    """

    start: int
    end: int
    sign: str
    body: str


def template_tags_of(text: str, syntax: str) -> list[TemplateTag]:
    """Find the tags of a template language in order, in linear time; one without an end does not count."""
    signs, opening = _SIGNS[syntax], _OPENINGS[syntax]
    found: list[TemplateTag] = []
    absent: set[str] = set()
    position = 0
    while match := opening.search(text, position):
        sign, position = match[0], match.end()
        end = -1 if sign in absent else text.find(signs[sign], position)
        if end < 0:
            absent.add(sign)
            continue
        body = text[position:end]
        position = end + len(signs[sign])
        found.append(TemplateTag(match.start(), position, sign + body[:1].strip(), body))
        position = _end_of_raw(text, position, body, absent) if sign == "{%" else position
    return found


_RAW = later(r"[-~+]?\s*(?P<word>raw|verbatim|comment)\b")
_END_OF_RAW = {word: later(rf"\{{%[-~+]?\s*end{word}\b") for word in ("raw", "verbatim", "comment")}
"""Tags of Jinja, Liquid, Twig and Django between which tags are mere text."""


def _end_of_raw(text: str, position: int, body: str, absent: set[str]) -> int:
    """Return where tags go on after a tag with a body: behind mere text, if it begins such."""
    raw = _RAW.match(body)
    if raw is None or raw["word"] in absent:
        return position
    end = _END_OF_RAW[raw["word"]].search(text, position)
    if end is None:
        absent.add(raw["word"])
    return end.start() if end else position


def blocks_of(text: str, tags: Iterable[TemplateTag], syntax: str) -> tuple[list[Tag], list[Name]]:
    """Return the tags as openings and closings of blocks, and the symbols defined by them with their spans."""
    if syntax == BLADE:
        found = [*_directives(text)]
    else:
        found = [*(_percent_blocks(tags) if syntax == PERCENT else _braced_blocks(tags, syntax))]
    waiting: dict[str, list[int]] = {}
    names: list[Name] = []
    for tag, kind in found:
        if tag.form == OPENS:
            names.append(Name(tag.id, kind, tag.start, tag.end))
            waiting.setdefault(tag.name, []).append(len(names) - 1)
        elif tag.form == WHOLE:
            names.append(Name(tag.id, kind, tag.start, tag.end))
        elif opened := waiting.get(tag.name):
            number = opened.pop()
            names[number] = names[number]._replace(end=tag.end)
    return [tag for tag, _ in found], [name for name in names if name.name and name.kind]


def _percent_blocks(tags: Iterable[TemplateTag]) -> Iterator[tuple[Tag, str]]:
    for tag in tags:
        if tag.sign.startswith(("<%#", "<%--")):
            continue
        body = tag.body.strip(_EDGE + " \t\r\n")
        if match := _RUBY.search(body):
            kind = "block" if match["content"] else "function"
            form = OPENS if _PERCENT_OPENS.search(body) else WHOLE
            yield Tag(form, "<%", match[match.lastgroup or 0], tag.start, tag.end), kind
        elif _PERCENT_CLOSES.search(body):
            yield Tag(CLOSES, "<%", "", tag.start, tag.end), ""
        elif _PERCENT_OPENS.search(body):
            yield Tag(OPENS, "<%", "", tag.start, tag.end), ""


def _braced_blocks(tags: Iterable[TemplateTag], syntax: str) -> Iterator[tuple[Tag, str]]:
    for tag in tags:
        match = _WORDS.match(tag.body.strip("-~ \t\r\n"))
        if match is None or tag.sign.startswith(("{#", "{{!", "{{/*", "{{- /*")):
            continue
        word, kind = match["word"], _DEFINING.get(match["word"], "")
        name = match["name"] or "" if kind else ""
        if syntax == GO:
            if word == "end" or word in _GO_BLOCKS:
                yield Tag(CLOSES if word == "end" else OPENS, "{{", name, tag.start, tag.end), kind
        elif tag.sign.startswith("{%"):
            form = CLOSES if word.startswith("end") else OPENS
            yield Tag(form, f"%{word.removeprefix('end')}", name, tag.start, tag.end), kind
        elif match["sign"].startswith(("#", "/")):
            form = CLOSES if match["sign"] == "/" else OPENS
            yield Tag(form, f"#{word}", name, tag.start, tag.end), kind


def _directives(text: str) -> Iterator[tuple[Tag, str]]:
    for match in _DIRECTIVE.finditer(text):
        word = match["word"]
        if word in ("show", "stop", "overwrite"):
            yield Tag(CLOSES, "@section", "", *match.span()), ""
        elif word.startswith("end") and word[3:] in _DIRECTIVES:
            yield Tag(CLOSES, f"@{word[3:]}", "", *match.span()), ""
        elif word in _DIRECTIVES:
            is_named = word == "section" and bool(match["name"])
            form = WHOLE if match["more"] else OPENS
            yield Tag(form, f"@{word}", match["name"] if is_named else "", *match.span()), "block" if is_named else ""


class Masked(NamedTuple):
    """A text of the same length without its tags, and the words in place of value tags."""

    text: str
    values: dict[str, str]

    def restored(self, name: str) -> str:
        """Put the tags back into a name."""
        return _VALUE.sub(lambda match: self.values.get(match[0], match[0]), name)


# A word in place of a tag: letters at the start of no word, its number, and letters to fill it.
_HEADS = ("zq", "qz", "zx", "xq")
_VALUE = later(rf"(?:{'|'.join(_HEADS)})\d+z+")


def masked(text: str, tags: Sequence[TemplateTag]) -> Masked:
    """Mask the tags of a text: a value beside other text by a word, any other by spaces."""
    head = next((head for head in _HEADS if head not in text), _HEADS[-1])
    parts: list[str] = []
    values: dict[str, str] = {}
    for before, tag in pairwise([None, *tags]):
        if tag is None:
            break
        start = before.end if before else 0
        parts.append(text[start : tag.start])
        own = text[tag.start : tag.end]
        is_value = tag.sign.startswith(_OUTPUTS) and "\n" not in own and not _is_alone(text, tag)
        if is_value:
            word = f"{head}{len(values)}"
            # Long enough to tell it from others; else only a word.
            parts.append(word.ljust(len(own), "z") if len(word) < len(own) else "z" * len(own))
            if len(word) < len(own):
                values[parts[-1]] = own
        else:
            parts.append(blank(own))
    parts.append(text[tags[-1].end if tags else 0 :])
    return Masked("".join(parts), values)


def blank(text: str) -> str:
    """Return spaces for a text, keeping its line ends."""
    return _INK.sub(" ", text)


_INK = later(r"[^\r\n]")


def _is_alone(text: str, tag: TemplateTag) -> bool:
    first = text.rfind("\n", max(tag.start - _MOST_INDENT, 0), tag.start) + 1
    before = text[first : tag.start] if first or tag.start < _MOST_INDENT else "x"
    return not before.strip() and not text[tag.end : tag.end + _MOST_INDENT].partition("\n")[0].strip()


_MOST_INDENT = 200
