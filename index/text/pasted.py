"""Text as people paste it: without colours, marks of quoting, and the escapes of a structured log."""

import re

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\n]{0,300}\x07|\\u001b\[[0-9;]*m")
_QUOTED = re.compile(r"^(?:[ \t]?>)+[ \t]?", re.MULTILINE)
_ESCAPED_LINE = re.compile(r"\\n(?=\\t|\s|at |File |Traceback|#\d|\w[\w./$]*[.(])")


def plain_text(text: str) -> str:
    """Return a pasted text without colours, carriage returns and marks of quoting, its escaped lines as lines."""
    if "\x1b" in text or "\\u001b" in text:
        text = _ESCAPES.sub("", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\n>" in text or text.startswith(">"):
        text = _QUOTED.sub("", text)
    if "\\n" in text and len(_ESCAPED_LINE.findall(text)) > 1:
        text = _ESCAPED_LINE.sub("\n", text).replace("\\t", "\t").replace('\\"', '"').replace("\\/", "/")
    return text
