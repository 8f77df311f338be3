"""Replace the parts unreadable to the grammars of SCSS and Less: values, arguments, conditions.

Names, selectors and blocks stay, each at its place: only the parsed text changes, never the text of a chunk.
"""

import re
from collections.abc import Callable

from cqm.chunkers.languages.model import blank
from cqm.chunkers.model import later

# Any text is a row of these. None looks beyond its own end, so time is linear.
_ATOM = later(
    rb"""(?P<note>/\*(?:[^*]|\*(?!/))*(?:\*/)?|//[^\n]*)
    | (?P<end>[;{}])
    | (?P<text>"(?:[^"\\\n]|\\.)*"? | '(?:[^'\\\n]|\\.)*'? | `[^`\n]*`?
      | url\([^()\n"';{}]*(?:;[^()\n"'{}]*)?\) | [#@]\{(?:[^{}]|\{[^{}]*\})*+\} | \\.)
    | (?P<word>[^;{}"'`/#@\\u]+ | [/#@\\u])
    """,
    re.DOTALL | re.VERBOSE,
)

_VALUE = later(rb"(?P<name>[$@]?(?:[\w*+-]|[#@]\{[^{}\n]*\})+\s*:)(?P<value>.+)", re.DOTALL)
_DIGITS = later(rb"^[$@]?\d")
_IMPORT = later(rb"@(?:use|forward|import|plugin)\b[^\"'(]*(?:\"[^\"\n]*\"|'[^'\n]*')")
_NESTED_PROPERTY = later(rb"[\w-]+(?P<colon>\s*:)\s*$")

_ARGUMENTS = later(rb"(?P<kept>\[[^\[\]]*\]|#\{[^{}]*\})|\([^()\n]*\)")
_COLONS = later(rb"(?P<kept>\[[^\[\]]*\]|#\{[^{}]*\})|:+")
_CONDITION = later(rb"@(?:if|each|for|while)\b")
_ELSE = later(rb"@else\b")
_INCLUDE = later(rb"@include\s+(?P<space>[\w-]+\.)?[\w-]+")
_DEFINES = later(rb"@(?:mixin|function)\s+[\w-]+\s*")

_MIXIN = later(rb"(?P<name>[.#](?:[\w-]|@\{[^{}\n]*\})+\s*)(?P<parameters>\(.*)", re.DOTALL)
_GUARD = later(rb"\bwhen\b.*", re.DOTALL)
_DETACHED = later(rb"@[\w-]+(?P<colon>\s*:)\s*$")
_ESCAPED_NAME = later(rb"@[\w-]+\s+(?=~)")
_QUERY = later(rb"@(?:media|supports|container|at-root|layer)\b")


def readable_scss(source: bytes) -> bytes:
    """Return readable SCSS of the same length."""
    if source.startswith(b"---"):
        source = source.replace(b"---", b"   ", 2)
    return _rewritten(source, _scss_head, _scss_statement)


def readable_less(source: bytes) -> bytes:
    """Return readable Less of the same length."""
    return _rewritten(source, _less_head, _less_statement)


def _rewritten(source: bytes, head: Callable[[bytes], bytes], statement: Callable[[bytes], bytes]) -> bytes:
    """Rewrite the text before each brace and semicolon, keeping its length.

    Parameters:
        head: rewrites the text before an opening brace.
        statement: rewrites the text before a semicolon or a closing brace.
    """
    result: list[bytes] = []
    open_atoms: list[bytes] = []
    brackets = 0
    for found in _ATOM.finditer(source):
        atom = found[0]
        if found.lastgroup == "word" and open_atoms:
            brackets += atom.count(b"(") - atom.count(b")")
        # In Less a semicolon may stand between parameters.
        if found.lastgroup == "end" and not (atom == b";" and brackets > 0):
            text = b"".join(open_atoms)
            # A semicolon behind a block ends nothing.
            atom = b" " if atom == b";" and not text else atom
            result += (head(text) if atom == b"{" else statement(text)) if text else b"", atom
            open_atoms = []
            brackets = 0
        elif open_atoms:
            open_atoms.append(atom)
        elif found.lastgroup == "note" or atom.isspace():
            result.append(atom)
        else:
            space = len(atom) - len(atom.lstrip())
            result.append(atom[:space])
            open_atoms = [atom[space:]]
            brackets = atom.count(b"(") - atom.count(b")")
    return b"".join([*result, *open_atoms])


def _as(beginning: bytes, text: bytes) -> bytes:
    """Return a beginning and blanks in place of a text; the text itself if it is too short or has line ends there."""
    if len(beginning) > len(text) or b"\n" in text[: len(beginning)]:
        return text
    return beginning + blank(text[len(beginning) :])


def _valued(text: bytes) -> bytes | None:
    found = _VALUE.match(text)
    if not found:
        return None
    value, name = found["value"], _DIGITS.sub(b"x", found["name"])
    first = len(value) - len(value.lstrip())
    if b"\n" in value[:first] and name[:1] not in b"$@":
        # A value on the next line is read as a selector; the name of a property doesn't matter.
        return name[:-2] + b":0" + blank(value)
    return found["name"] + value[:first] + (b"0" + blank(value[first + 1 :]) if first < len(value) else b"")


def _scss_statement(text: bytes) -> bytes:
    if not text.startswith(b"@"):
        return _valued(text) or text
    if found := _INCLUDE.match(text):
        return _included(found, text)
    if found := _IMPORT.match(text):
        return found[0] + blank(text[found.end() :])
    return text if text.startswith((b"@charset", b"@import", b"@namespace")) else _as(b"x:0", text)


def _included(found: re.Match[bytes], text: bytes) -> bytes:
    name = found[0].replace(b".", b"_") if found["space"] else found[0]
    return name + blank(text[found.end() :])


def _scss_head(text: bytes) -> bytes:  # noqa: PLR0911 - one for each kind of head
    if not text.startswith(b"@"):
        if found := _NESTED_PROPERTY.match(text):
            first, end = found.span("colon")
            return text[:first] + blank(text[first:end]) + text[end:]
        return _plain(_without_pseudo_classes(text).replace(b"*", b"a"))
    if found := _INCLUDE.match(text):
        return _included(found, text)
    if _QUERY.match(text) and b"#{" in text:
        return _as(b"@media a", text)
    if _CONDITION.match(text):
        return _as(b"@if 0", text)
    if _ELSE.match(text):
        return _as(b"@else", text)
    if found := _DEFINES.match(text):
        end = text.find(b"\n", found.end())
        space = text[found.end() : end if end >= 0 else len(text)]
        if len(space) > 3:  # noqa: PLR2004 - room for a parameter, which one on several rows needs
            last = text.rindex(b")") if b")" in text[found.end() + 3 :] else 0
            if last:
                return found[0] + b"($a" + blank(text[found.end() + 3 : last]) + text[last:]
        return found[0] + blank(text[found.end() :])
    return text


_COMPUTED = later(rb"#\{(?P<code>[^{}]*[^{}\w$.-][^{}]*)\}")
_RELATIVE = later(rb"(?P<before>^|,)(?P<space>\s*)[>+~]")


def _plain(selectors: bytes) -> bytes:
    """Blank signs of selectors relative to the rule around them, and computed parts of names."""
    selectors = _COMPUTED.sub(lambda it: b"#{a" + blank(it["code"][1:]) + b"}", selectors)
    return _RELATIVE.sub(rb"\g<before>\g<space> ", selectors)


def _without_pseudo_classes(selectors: bytes) -> bytes:
    """Turn pseudo-classes into classes: the grammar takes "a:hover {" in a rule for a property."""
    for _ in range(2):
        selectors = _ARGUMENTS.sub(lambda it: it[0] if it["kept"] else b"_" * len(it[0]), selectors)
    return _COLONS.sub(lambda it: it[0] if it["kept"] else b"." + b"_" * (len(it[0]) - 1), selectors)


def _less_statement(text: bytes) -> bytes:
    if text.startswith(b"@"):
        if found := _IMPORT.match(text):
            return found[0] + blank(text[found.end() :])
        if text.startswith((b"@charset", b"@import", b"@plugin", b"@namespace")):
            return text
    # "&:extend(.a)" and calls of mixins are no declarations.
    if text.startswith((b"&", b".", b"#")):
        return _as(b"x:0", text)
    return _valued(text) or _as(b"x:0", text)


def _less_head(text: bytes) -> bytes:
    if found := _DETACHED.match(text):
        first, end = found.span("colon")
        return text[:first] + blank(text[first:end]) + text[end:]
    if _QUERY.match(text):
        return text[:1] + text[1:].replace(b"@", b" ")
    if found := _ESCAPED_NAME.match(text):
        return found[0] + b"a" + blank(text[found.end() + 1 :])
    if found := _MIXIN.match(text):
        # Its definition reads as a rule then, nested or not.
        return found["name"] + blank(found["parameters"])
    if found := _GUARD.search(text):
        return text[: found.start()] + blank(found[0])
    # In a selector with arguments, such as ":not([type])", or with attributes first, the grammar reads the classes.
    return _plain(_without_pseudo_classes(text) if b"(" in text or text.startswith(b"[") else text)
