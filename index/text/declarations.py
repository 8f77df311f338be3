"""Read a declaration from the lines of its definition: its signature, and whether it has a body."""

import re
from collections.abc import Sequence

from cqm.chunkers.facts.heads import before_body, open_brackets
from cqm.index.text.stored_definitions import StoredDefinition

_MOST_SIGNATURE = 300
_MOST_LINES = 12
_BRACED = frozenset(
    {
        "c",
        "cpp",
        "objc",
        "go",
        "rust",
        "java",
        "kotlin",
        "scala",
        "csharp",
        "swift",
        "php",
        "javascript",
        "typescript",
        "tsx",
    }
)
"""Languages whose functions have braces or "=" before their body."""
_ARGUMENTS = re.compile(r"\([^()]*\)")
_BEGINS = ("{", "=>", ":", "=", " do", " then")
"""Of a body, after a declaration."""


def is_bare(it: StoredDefinition, lines: Sequence[str], language: str) -> bool:
    """Whether a definition only declares: a prototype, a method of an interface, an external variable."""
    if it.kind not in {"function", "method"} and language not in {"c", "cpp", "objc"}:
        return False
    text = _ARGUMENTS.sub("", "\n".join(lines[it.first : it.last + 1]))
    return language in _BRACED and "{" not in text and "=" not in text


def signature_of(lines: Sequence[str], it: StoredDefinition) -> str:
    """Return a declaration up to its body: the lines until its brackets are closed."""
    shown, depth = list[str](), 0
    for number, line in enumerate(lines[: min(_MOST_LINES, it.last - it.first + 1)], it.first):
        shown.append(line)
        depth += open_brackets(line)
        if depth <= 0 and number >= it.line:
            break
    text = "\n".join(shown).strip()
    if it.last > it.line or "{" in shown[-1]:
        text = before_body(text)
        begin = next(filter(text.endswith, _BEGINS), "")
        text = text.removesuffix(begin)
    return text[:_MOST_SIGNATURE].rstrip()
