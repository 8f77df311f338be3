"""Tell by the words of a line how a template uses a name: as a component, a helper, a filter or a tag of its own."""

import re

from cqm.chunkers.facts.names import CALL, COMMENT, VALUE

TEMPLATES = frozenset(
    {
        *("vue", "svelte", "astro", "template", "razor", "blade", "jinja", "liquid", "handlebars", "haml", "html"),
        "text",
    }
)
"""Languages of files with code in tags; plain text may be the template of a mail."""

_COMMENT_OPEN = re.compile(r"<!--(?!.*-->)|<%#(?!.*%>)|\{#(?![\w:])(?!.*#\})|\{\{-?\s*(?:/\*|!)(?!.*\}\})|@\*(?!.*\*@)")
_TAG = re.compile(r"(?<![\w)\]])<(?P<way>\.|x-|(?:[A-Za-z][\w-]*[.:])+)?\Z")
_INSIDE = r"(?P<inside>(?:(?!%>|\}\}|%\}|!!\}|<%|\{\{|\{%).)*)\Z"
_OPENED = re.compile(r"(?P<sign><%[=~-]{0,2}|\{\{\{?[-~]?|\{%[-+]?|\{!!)" + _INSIDE)
_OPENED_LINE = re.compile(
    r"^(?P<sign>\s*(?:[%.#][\w.#%-]*(?:\{[^{}]*\}|\([^()]*\))?)?[=-](?=\s))(?P<inside>.*)\Z", re.DOTALL
)
"""A line of Haml, Pug or Slim."""
_LINES = frozenset({"haml", "template"})
_FILTER = re.compile(r"(?<!\|)\|\s*\Z")
# The possible start of a call: at the head of a tag or in brackets, behind control words.
_HEAD = re.compile(
    r"(?:.*[(,]\s*|.*[^=!<>]=\s*|\s+)?(?:-\s+)?"
    r"(?:(?:else|if|elsif|unless|range|with|and|or|not|return|while|until|template|block|in)\s+|[#!]\s*|\$\w+\s*:?=\s*)*"
    r"(?:\w+\.)*\Z"
)
_ARGUMENT = re.compile(
    r"[ \t]+(?:do\b|(?!(?:if|unless|and|or|then|in|is|not|rescue|while|until|when|end|as|else|for|with)\b)"
    r"(?:[\w\"'@$\[]|:\w|\.\w|\.\s|\((?!\s)|[-*&](?=\w)))"
)
_BOUND = re.compile(r"\s(?:@|:|v-|#)[\w.:-]*=\"(?P<code>[^\"]*)\Z")


def kind_in_tag(before: str, name: str, after: str, language: str) -> str:
    """Return the kind of a name in a template's tag; empty where no tag tells.

    Parameters:
        before, after: the line around the name.
        name: as written.
    """
    if language not in TEMPLATES:
        return ""
    if _COMMENT_OPEN.search(before):
        return COMMENT
    if tag := _TAG.search(before):
        return CALL if tag["way"] or "-" in name or name[:1].isupper() else VALUE
    if before.endswith("</"):
        return VALUE
    found = _OPENED.search(before) or (_OPENED_LINE.match(before) if language in _LINES else None)
    return CALL if found and _is_call(found["sign"], found["inside"], after) else ""


def _is_call(sign: str, inside: str, after: str) -> bool:
    """Whether a name is a helper with arguments, a filter, or the tag itself."""
    if any(inside.count(quote) % 2 for quote in "\"'"):
        return False
    is_tag = sign.startswith("{%") and not inside.strip()
    is_applied = _HEAD.match(inside) is not None and _ARGUMENT.match(after) is not None
    return is_tag or is_applied or _FILTER.search(inside) is not None


def code_bound(before: str, language: str) -> str:
    """Return the code before a name in a line: the bound part of an attribute of Vue, else all of it."""
    found = _BOUND.search(before) if language in TEMPLATES else None
    return found["code"] if found else before


def is_in_tag(before: str) -> bool:
    """Whether a line of a page is within a tag of its template language at its end."""
    return _OPENED.search(before) is not None
