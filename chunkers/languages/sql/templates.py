"""Rewrite parts that are no SQL for the grammar: templates, lines for SQL*Plus and psql, and rows of data.

Each keeps its rows and bytes: `{{ ref("x") }}` becomes a name, a macro of dbt a table, `{% ... %}` blank, and
a client's command a comment.
"""

import re

from cqm.chunkers.languages.model import blank
from cqm.chunkers.languages.sql.routines import table_over

MACRO = re.compile(rb"\{%-?\s*(?:macro|test|data_test|snapshot|materialization)\s+(?P<name>\w+)")
"""The head of a macro, or of another named block in a template."""
_MACRO_END = re.compile(rb"\{%-?\s*end(?:macro|test|data_test|snapshot|materialization)\s*-?%\}")
_TAG = re.compile(
    rb"\{\{(?P<value>(?:[^{}]|\{(?!\{)|\}(?!\}))*+)\}\}|\{%(?:[^%{]|%(?!\})|\{(?!%))*+%\}|\{\#(?:[^#{]|\#(?!\})|\{(?!\#))*+\#\}"
)
_SETTING = re.compile(rb"-?\s*(?:config|log|return|exceptions\.\w+)\s*\(")
_COMMAND = re.compile(
    rb"^(?:rem(?:ark)?(?=[\s*#=-])|prompt(?=[ \t\r\n])(?![^\n]*,[ \t\r]*$)|\\[a-z!?]|:(?=setvar\b|r\b|on\b)\w"
    rb"|@@?[\w./&](?=[\w./&]*+[ \t\r]*$))",
    re.IGNORECASE | re.MULTILINE,
)
_VARIABLE = re.compile(rb"(?<![\w&])&&?[A-Za-z]\w*+\.?")
_COPY = re.compile(rb"^copy\s[^;]{0,4000}?\bfrom\s+stdin\b[^;\n]*;[^\n]*\n", re.IGNORECASE | re.MULTILINE)
_DATA_END = re.compile(rb"^\\\.", re.MULTILINE)


def without_templates(source: bytes) -> bytes:
    """Write names in place of a template's values, and tables in place of its macros; its tags are blank."""
    if b"{{" not in source and b"{%" not in source and b"{#" not in source:
        return source
    parts: list[bytes] = []
    done = 0
    for head in MACRO.finditer(source):
        if head.start() < done:
            continue
        end = _MACRO_END.search(source, head.end())
        if end is None:
            break
        parts += [_TAG.sub(_value, source[done : head.start()]), _macro(source[head.start() : end.end()])]
        done = end.end()
    return b"".join([*parts, _TAG.sub(_value, source[done:])])


def _macro(text: bytes) -> bytes:
    table = table_over(text, closes=True)
    return table if table != text else blank(text)


def _value(tag: re.Match[bytes]) -> bytes:
    text = tag[0]
    if tag["value"] is None or _SETTING.match(tag["value"]):
        return blank(text)
    first = text.partition(b"\n")[0]
    return b"x" * len(first) + blank(text[len(first) :])


def without_commands(source: bytes) -> bytes:
    """Write comments in place of lines for SQL*Plus and psql; rows of data after COPY are blank."""
    if b"stdin" in source or b"STDIN" in source:
        source = _without_data(source)
    source = _COMMAND.sub(_comment, source)
    return _VARIABLE.sub(lambda it: b"x" * len(it[0]), source) if b"&" in source else source


def _comment(command: re.Match[bytes]) -> bytes:
    word = command[0]
    return b"--" + b" " * (len(word) - 2) if len(word) > 1 else b" "


def _without_data(source: bytes) -> bytes:
    parts: list[bytes] = []
    done = 0
    while (head := _COPY.search(source, done)) and (end := _DATA_END.search(source, head.end() - 1)):
        parts += [source[done : head.end()], blank(source[head.end() : end.end()])]
        done = end.end()
    return b"".join([*parts, source[done:]])
