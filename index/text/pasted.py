"""Text as people paste it: without colours, marks of quoting, and the escapes of a page or a structured log."""

import html
import re

_ESCAPES = re.compile(
    r"(?:\x1b|\\u001[bB]|\\x1[bB]|\\033|\\e|\^\[|\u241b)\[[0-9;?]{0,40}[A-Za-z]|\x1b\][^\x07\n]{0,300}\x07"
)
_COLOUR = re.compile(r"\[(?:\d{1,3}(?:;\d{1,3}){0,5})?m")
"""A colour without its first character."""
_QUOTED = re.compile(r"^(?:[ \t]?>)+[ \t]?", re.MULTILINE)
_LINE_FOLLOWS = r"(?=\\{0,8}t|\s|at |File |Traceback|#\d|\w[\w./$]{0,200}[.(])"
_ESCAPED_LINE = re.compile(rf"\\n{_LINE_FOLLOWS}")
_ESCAPED_TWICE = re.compile(rf"\\\\n{_LINE_FOLLOWS}")
_ESCAPED = re.compile(r'\\(["\\/])')
_COMMAND = re.compile(r"##\[(?:error|warning|debug|section|group|command|notice)\]")
"""Before a line of a log of GitHub or Azure."""
_MOST_TIMES = 3
_ENTITY = re.compile(r"&(?:quot|lt|gt|amp|apos|#39|#x27|#34|#x22|#47|#x2[fF]);")

_REFERENCES = re.compile(
    # Sphinx, rustdoc, Javadoc and TSDoc, C#.
    r":(?:[a-z]{1,4}:)?(?:meth|func|function|class|attr|exc|data|mod|obj|const|type|member|var|enum|macro|struct|property)"
    r":`(?:[^`<\n]{0,200}<)?[!~]?\.?(?P<sphinx>[\w.:]+)(?:\(\))?>?`"
    r"|\[`(?P<rust>[\w:]+)(?:\(\)|!)?`\](?:\([^()\s]{0,200}\))?"
    r"|\{@(?:link|linkplain|see) +(?P<java>[\w.#]+)(?:\([^()\n]{0,200}\))?[^{}\n]{0,200}\}"
    r"|<see(?:also)? +cref=\"(?:[A-Z]:)?(?P<sharp>[\w.]+)[^\"\n]{0,200}\" */?>"
)
"""A reference to a symbol as the languages' documents write it."""
_LONGEST_REFERENCE = 600


def referred(text: str) -> str:
    """Return the name in a reference such as :py:meth:`Client.get`, [`Client::get`] or {@link A#get}, else the text."""
    found = _REFERENCES.fullmatch(text.strip()) if "`" in text or "@" in text or "cref" in text else None
    return found[found.lastgroup or 0] if found and len(text) < _LONGEST_REFERENCE else text


def plain_text(text: str) -> str:
    """Return a pasted text without colours, carriage returns and marks of quoting, its escaped lines as lines."""
    text = without_colours(text)
    if "##[" in text:
        text = _COMMAND.sub("", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\n>" in text or text.startswith(">"):
        text = _QUOTED.sub("", text)
    if "&" in text and _ENTITY.search(text):
        text = html.unescape(text)
    if "\\n" not in text:
        return text
    # A log within a log.
    for _ in range(_MOST_TIMES):
        if len(_ESCAPED_TWICE.findall(text)) < 2:  # noqa: PLR2004 - one may be of a path: C:\\new
            break
        text = _ESCAPED.sub(r"\1", text)
    if len(_ESCAPED_LINE.findall(text)) > 1:
        text = _ESCAPED_LINE.sub("\n", text).replace("\\t", "\t").replace('\\"', '"').replace("\\/", "/")
    return text


def without_colours(text: str) -> str:
    """Return a text without the colours of a terminal, also where they are written out or cut."""
    if "[" not in text and "\x1b" not in text:
        return text
    text = _ESCAPES.sub("", text)
    return _COLOUR.sub("", text) if len(_COLOUR.findall(text)) > 1 else text
