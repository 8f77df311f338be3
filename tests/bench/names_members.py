"""Find members of types, and types by their whole names, by patterns and indentation alone; for names.py.

No parser of CQM takes part. A type ends at the next line that is indented no deeper, braces aside.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

_NAME = r"(?P<name>[A-Za-z_]\w{3,})"
_WORDS = (
    r"(?:(?:public|private|protected|internal|static|final|abstract|readonly|override|sealed|virtual|new|volatile|"
    r"transient|const|partial|default|declare|export|open|required|unsafe|async|implicit|case|data|inline|suspend) )*"
)
_TYPED = r"[\w<>\[\],.?]+(?:, [\w<>\[\],.?]+)*"
_KINDS = {
    "protocol": "interface",
    "trait": "interface",
    "record": "class",
    "object": "class",
    "impl": "class",
    "extension": "class",
    "module": "class",
    "defmodule": "class",
}
_CLASSES = re.compile(
    rf"{_WORDS}(?P<kind>class|interface|enum(?: class)?|struct|record|object|trait|protocol|extension|module|defmodule)"
    r" (?P<name>[A-Za-z_](?:\w|[.:](?=\w))*)(?P<rest>.*)"
)
TYPES = {
    "py": re.compile(r"(?P<kind>class) (?P<name>\w+)(?P<rest>.*)"),
    "go": re.compile(r"type (?P<name>\w+)(?:\[.*?\])? (?P<kind>struct|interface) \{"),
    "rs": re.compile(
        r"(?:pub(?:\([^)]*\))? )?(?:unsafe )?(?P<kind>struct|enum|trait|impl)(?:<.*?>)? "
        r"(?:[\w:<>', ]+ for )?(?P<name>\w+)(?P<rest>.*)"
    ),
    "ts": re.compile(rf"{_WORDS}(?:(?P<kind>class|interface|enum) (?P<name>\w+)|type (?P<alias>\w+)(?:<.*>)? = \{{$)"),
}
"""A line that begins a type, without its indentation; `_CLASSES` elsewhere."""
MEMBERS: dict[tuple[str, str], dict[str, str]] = {
    ("py", "class"): {"field": rf"{_NAME}(?::(?! ?\{{)| =)(?!=)"},
    ("py", "enum"): {"variant": rf"{_NAME} = "},
    ("py", ""): {"constant": r"(?P<name>_?[A-Z][A-Z0-9_]{3,})(?:: [^=]+)? = "},
    ("go", "struct"): {"field": rf"{_NAME}(?:, \w+)*\s+[\w*\[(].*"},
    ("go", "interface"): {"interface method": rf"{_NAME}\("},
    ("go", "const ("): {"constant": rf"{_NAME}(?:\s+\w+)?\s*(?:=|$)"},
    ("go", ""): {"constant": rf"const {_NAME}\b"},
    ("rs", "struct"): {"field": rf"(?:pub(?:\([^)]*\))? )?{_NAME}: "},
    ("rs", "enum"): {"variant": r"(?P<name>[A-Z]\w{3,})(?:[,(]| \{| =|$)"},
    ("rs", "interface"): {"interface method": rf"(?:async |unsafe )*fn {_NAME}\b"},
    ("rs", ""): {"constant": rf"(?:pub(?:\([^)]*\))? )?(?:const|static) {_NAME}:"},
    ("java", "class"): {
        "constant": rf"(?=.*\bstatic\b)(?=.*\bfinal\b){_WORDS}{_TYPED} {_NAME}(?: =|;)",
        "field": rf"(?!return|throw|package|import){_WORDS}{_TYPED} {_NAME}(?: =|;)",
    },
    ("java", "enum"): {"variant": r"(?P<name>[A-Z][A-Z0-9_]{3,})\s*(?:[,;({]|$)"},
    ("java", "interface"): {"interface method": rf"(?!return){_WORDS}(?:<[^>]*> )?{_TYPED} {_NAME}\([^;{{]*\);"},
    ("ts", "class"): {"field": rf"{_WORDS}{_NAME}[?!]?(?:: | =)"},
    ("ts", "interface"): {"interface method": rf"{_NAME}\??[(<]", "field": rf"(?:readonly )?{_NAME}\??: "},
    ("ts", "enum"): {"variant": rf"{_NAME}(?: =|,|$)"},
    ("ts", ""): {"constant": rf"(?:export )?const {_NAME}(?:: | =)"},
    ("cs", "class"): {
        "constant": rf"(?=.*\bconst\b){_WORDS}{_TYPED} {_NAME} =",
        "field": rf"(?!return|using|namespace|throw|.*\boperator\b){_WORDS}{_TYPED} {_NAME}(?: \{{| =>?|;|$)",
    },
    ("cs", "enum"): {"variant": rf"{_NAME}(?: =.*|,|$)"},
    ("kt", "class"): {"field": rf"{_WORDS}(?:lateinit )?(?:val|var) {_NAME}\b"},
    ("kt", "interface"): {"field": rf"{_WORDS}(?:val|var) {_NAME}\b"},
    ("swift", "class"): {"field": rf"(?:@\w+ )*{_WORDS}(?:let|var) {_NAME}\b"},
    ("swift", "interface"): {"field": rf"{_WORDS}var {_NAME}\b"},
    ("swift", "enum"): {"variant": rf"(?:indirect )?case {_NAME}\b"},
    ("scala", "class"): {"field": rf"{_WORDS}(?:lazy )?(?:val|var) {_NAME}\b"},
    ("scala", "interface"): {"field": rf"{_WORDS}(?:lazy )?(?:val|var) {_NAME}\b"},
    ("php", "class"): {"field": rf"{_WORDS}(?:[?\w|]+ )?\${_NAME}\b", "constant": rf"{_WORDS}const (?:\w+ )?{_NAME} ="},
    ("cs", "interface"): {"interface method": rf"{_WORDS}{_TYPED} {_NAME}(?:<.*?>)?\([^;]*\);"},
}
"""Lines that declare a member: by the ending of the file and the kind of the block, empty for none."""
FUNCTIONS = {
    "py": rf"(?:async )?def {_NAME}\(",
    "go": rf"func \(\w+ \*?(?P<type>\w+)[^)]*\) {_NAME}[(\[]",
    "rs": rf"(?:pub(?:\([^)]*\))? )?(?:async |unsafe |const )*fn {_NAME}\b",
    "ts": rf"{_WORDS}(?!if|for|while|switch|catch|function|return){_NAME}(?:<.*>)?\([^;=]*\{{$",
    "java": rf"(?!return|throw|new|else){_WORDS}(?:<[^>]*> )?{_TYPED} {_NAME}\([^;=]*\{{$",
    "kt": rf"{_WORDS}fun (?:<[^>]*> )?{_NAME}\(",
    "cs": rf"(?!return|throw|new|else){_WORDS}{_TYPED} {_NAME}(?:<.*?>)?\([^;=]*\)$",
    "swift": rf"(?:@\w+ )*(?:(?:public|internal|private|open|final|static|override|mutating) )*func {_NAME}[(<]",
    "rb": rf"def (?:self\.)?(?!self\b){_NAME}(?![?!=\w])",
    "php": rf"{_WORDS}function {_NAME}\(",
    "scala": rf"{_WORDS}def {_NAME}[(\[:]",
    "ex": rf"(?:def|defmacro) {_NAME}\(",
}
"""Lines that begin a function, without their indentation."""
NOTATIONS = {
    "py": ("{owner}.{name}", "{owner}.{name}()", "{module}.{owner}.{name}"),
    "go": ("{owner}.{name}", "(*{owner}).{name}", "{package}.{owner}.{name}"),
    "rs": ("{owner}::{name}", "{owner}::{name}()", "crate::{folder}::{owner}::{name}"),
    "ts": ("{owner}.{name}", "{owner}#{name}"),
    "java": ("{owner}.{name}", "{owner}#{name}", "{package}.{owner}.{name}", "{owner}::{name}"),
    "kt": ("{owner}.{name}", "{owner}::{name}", "{package}.{owner}.{name}"),
    "cs": ("{owner}.{name}", "{package}.{owner}.{name}"),
    "swift": ("{owner}.{name}", "{owner}.{name}(_:)"),
    "rb": ("{owner}#{name}", "{outer}#{name}", "{owner}.{name}"),
    "php": ("{owner}::{name}", "{owner}->{name}()", "\\{package}\\{owner}::{name}"),
    "scala": ("{owner}.{name}", "{owner}#{name}", "{package}.{owner}.{name}"),
    "ex": ("{outer}.{name}", "{owner}.{name}"),
}
"""A member with its type, as the language, its documents and its traces write it; asked for by turns."""
_PACKAGE = re.compile(r"^(?:package|namespace) ([\w.\\]+)", re.MULTILINE)
_COMMENT = re.compile(r"#(?!\[)|//|/?\*|--|@|\[\w+\]$")
_ATTRIBUTES = {
    "py": re.compile(rf"self\.{_NAME}(?:: [^=]+)? = "),
    "ts": re.compile(rf"{_WORDS}(?:get |set |inst\.)?{_NAME}[?!]?(?:: |\(|<|,$| =)"),
    "cs": re.compile(rf"{_WORDS}(?:{_TYPED} )?{_NAME}(?:<.*?>)?\("),
}
"""Lines that may declare a member elsewhere: its name is not asked for."""
_QUOTES = re.compile(r'"""|' + "'''")


@dataclass(slots=True)
class Block:
    """A block of lines: how deep its first is, its name, its kind, and how deep its members are.

    A function has no name.
    """

    depth: int
    name: str
    kind: str
    inner: int = -1


@dataclass(frozen=True, slots=True)
class Declared:
    """A member of a type, or a constant: its file, line, kind and name, the types around it, and its package."""

    path: str
    line: int
    name: str
    kind: str
    owners: tuple[str, ...] = ()
    package: str = ""

    def written(self, turn: int) -> str:
        """Return the name with its type, in one of the notations of the language."""
        forms = NOTATIONS[ending(self.path)]
        parts = self.path.removesuffix("/mod.rs").rpartition(".")[0].split("/")
        return forms[turn % len(forms)].format(
            name=self.name,
            owner=re.split(r"\.|::", self.owners[-1])[-1],
            outer=("." if self.path.endswith(".ex") else "::").join(self.owners),
            package=self.package or parts[0],
            module=".".join(parts),
            folder="::".join(parts[1:] if parts[0] == "src" else parts),
        )


def ending(path: str) -> str:
    """Return the ending of a file's name; that of TypeScript for its other ones."""
    found = path.rpartition(".")[2]
    return "ts" if found in {"tsx", "mts"} else found


def quoted_lines(path: str, text: str) -> set[int]:
    """Return the lines that begin inside of a text of several lines, such as the documentation of Python and Elixir."""
    if ending(path) not in {"py", "ex", "scala", "java", "swift"}:
        return set()
    marks = [it.start() for it in _QUOTES.finditer(text)]
    spans = zip(marks[::2], marks[1::2], strict=False)
    return {
        number for start, end in spans for number in range(text.count("\n", 0, start) + 2, text.count("\n", 0, end) + 2)
    }


def declared(path: str, text: str) -> Iterator[Declared]:
    """Yield the members and constants of a file."""
    language = ending(path)
    package = _PACKAGE.search(text)
    known = partial(Declared, package=package[1] if package else "")
    blocks: list[Block] = []
    quoted = quoted_lines(path, text)
    for number, line in enumerate(text.expandtabs(4).split("\n"), 1):
        code = line.strip()
        if number in quoted or not code or _COMMENT.match(code) or code[0] in "{)":
            continue
        depth = len(line) - len(line.lstrip())
        while blocks and blocks[-1].depth >= depth:
            blocks.pop()
        within = blocks[-1] if blocks else Block(-1, "", "", 0)
        within.inner = depth if within.inner < 0 else within.inner
        owners = tuple(it.name for it in blocks if it.name)
        if function := re.match(FUNCTIONS.get(language, "$."), code):
            groups = function.groupdict()
            around = (groups["type"],) if groups.get("type") else owners if within.name else ()
            if around or within.kind == "interface":
                is_told = within.kind == "interface" and (
                    "interface method" in MEMBERS.get((language, "interface"), {})
                )
                yield known(path, number, groups["name"], "interface method" if is_told else "method", around)
            blocks.append(Block(depth, "", "function"))
        elif begun := _begun(language, code, depth):
            blocks.append(begun)
        elif depth == within.inner and (not within.kind or within.name or within.kind == "const ("):
            yield from (
                known(path, number, found["name"], kind, owners)
                for kind, pattern in _members(language, within.kind)
                if (found := re.match(pattern, code))
            )
            blocks += [Block(depth, "", "other")] if code[-1] in "{([:" else []
        else:
            if attribute := _ATTRIBUTES[language].match(code) if language in _ATTRIBUTES else None:
                yield known(path, number, attribute["name"], "attribute", owners)
            blocks += [Block(depth, "", "other")] if code[-1] in "{([:" else []


def _members(language: str, kind: str) -> list[tuple[str, str]]:
    """Return the first patterns first: a line declares one member."""
    rows = MEMBERS.get((language, kind)) or (MEMBERS.get((language, "class")) if kind == "struct" else {}) or {}
    return list(rows.items())


def _begun(language: str, code: str, depth: int) -> Block | None:
    if language == "go" and code == "const (":
        return Block(depth, "", code)
    found = TYPES.get(language, _CLASSES).match(code)
    if not found:
        return None
    groups = found.groupdict()
    kind = _KINDS.get(groups["kind"] or "", (groups["kind"] or "interface").split()[0])
    if language == "py" and re.search(r"Enum|Flag", groups["rest"]):
        kind = "enum"
    return Block(depth, groups["name"] or groups["alias"], kind)


def members(tree: Path) -> Iterator[Declared]:
    """Yield the members and constants of a tree's files."""
    for file in sorted(tree.rglob("*")):
        path = file.relative_to(tree).as_posix()
        if ending(path) in FUNCTIONS and file.is_file() and not file.is_symlink():
            seen = set[tuple[int, str]]()
            for it in declared(path, file.read_text("utf-8", "replace")):
                if (it.line, it.name) not in seen:
                    seen.add((it.line, it.name))
                    yield it
