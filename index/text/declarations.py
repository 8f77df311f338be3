"""Read a declaration from the lines of its definition: its signature, and whether it has a body.

For a document's chunk the store keeps only the names of headings and keys: its lines tell where they stand.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

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
"""Languages with braces or "=" before a function's body."""
_ARGUMENTS = re.compile(r"\([^()]*\)")
_BEGINS = ("{", "=>", ":", "=", " do", " then")
"""Beginnings of a body, after a declaration."""
SECTION_KINDS = frozenset({"section", "key", "element", "cell"})
"""Kinds of chunks named after headings, keys or elements."""
_WITHIN = " > "
_TARGET = re.compile(r"\]\([^)\n]*\)|<[^>\n]*>|\{#[^}\n]*\}|\\n\b")
_NO_WORD = re.compile(r"[\W_]+")
_KEY = re.compile(r"""(?:^|[{,])[\s\-]*(?:"([^"\n]+)"|'([^'\n]+)'|([^\s"'#:={},][^"':={},\n]*?))\s*[:=]""")
_TABLE = re.compile(r"^\s*\[+\s*([^\]\n]+?)\s*\]+")
_ELEMENT = re.compile(r"""\s*<([\w:.-]+)[^>]*?\s(?:[\w:]*name|[\w:]*id|key)=["'](?:@\+?id/)?([^"'>]+)""")
_LAST_KEY = re.compile(r"""\["((?:[^"\\]|\\.)*)"\]|\[([^\]]*)\]|([^.\[\]]+)""")
_LONGEST_LINE = 1_000
"""Characters of a line; minified data has no lines to tell."""


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


def sections_of(kind: str, names: Sequence[str], text: str) -> list[StoredDefinition]:
    """Return the names defined by a chunk and declared in one of its lines, with their lines."""
    lines = [line[:_LONGEST_LINE] for line in text.split("\n")]
    declared = dict[str, list[int]]()
    for number, line in enumerate(lines):
        for name in _keys_in(line) if kind == "key" else _headings_in(line):
            declared.setdefault(name, []).append(number)
    found, before = list[tuple[str, int]](), -1
    for name in names:
        places = declared.get(plain(own_name(kind, name)), ())
        # Names stand in the order of their lines; several keys may share one.
        place = bisect_right(places, before - (kind == "key"))
        if place < len(places):
            before = places[place]
            found.append((name, before))
    return [
        StoredDefinition(name, kind, line, line, _last_line(name, found[number + 1 :], len(lines)))
        for number, (name, line) in enumerate(found)
    ]


def own_name(kind: str, name: str) -> str:
    """Return a heading without those around it, or the last key of a path."""
    if kind != "key":
        return name.rsplit(_WITHIN, 1)[-1]
    parts = _LAST_KEY.findall(name)
    return next(filter(None, parts[-1]), "") if parts else name


def plain(text: str) -> str:
    """Return the letters and digits of a heading or key, without case, marks and the targets of links."""
    return _NO_WORD.sub("", _TARGET.sub(" ", text)).lower()


def _headings_in(line: str) -> Iterator[str]:
    if found := plain(line):
        yield found
    # An element with an attribute: <string name="app_name">.
    if element := _ELEMENT.match(line):
        yield plain(element[1] + element[2])


def _keys_in(line: str) -> Iterator[str]:
    for found in _KEY.finditer(line):
        yield plain(found[1] or found[2] or found[3])
    if table := _TABLE.match(line):
        yield plain(own_name("key", table[1]))


def _last_line(name: str, after: Sequence[tuple[str, int]], lines: int) -> int:
    """Return the last line of a section: before the next one outside of it."""
    within = (f"{name}{_WITHIN}", f"{name}.", f"{name}[")
    return next((line - 1 for other, line in after if not other.startswith(within)), lines - 1)
