"""Outline a program by its lines alone: patterns tell the declarations, braces or indentation how far they reach."""

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cqm.chunkers.languages.line_patterns import compiled, compiled_parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cqm.chunkers.languages.line_patterns import CompiledLines, LinePatterns

HOLDERS = frozenset({"class", "interface", "struct", "trait", "enum", "namespace", "module", "feature"})
"""Kinds with declared members; declarations inside others are local."""

NOTE_ENDS = {"/*": "*/", "{-": "-}", "/+": "+/", "#[": "]#", "(*": "*)"}
"""Of comments of several rows, by their beginnings: Elm's, D's, Nim's, structured text's."""

_MOST_AROUND = 100
"""Declarations around a declaration; real code does not nest deeper."""
_LONGEST = 300
"""Characters of a line shown to patterns: declarations begin within it, and their time stays linear."""


@dataclass(slots=True, eq=False)
class Guess:
    """A declaration found by a pattern.

    Attributes:
        kind, name: as the pattern tells; the name is as written.
        first, last: rows, inclusive; rows count from 0.
        indentation: characters before it.
        members: declared in it, in order.
    """

    kind: str
    name: str
    first: int
    last: int
    indentation: int
    members: "list[Guess]" = field(default_factory=list)


@dataclass(slots=True, eq=False)
class _Section:
    """Rows below a head such as "const"; those indented as the first one declare something."""

    indentation: int
    kind: str
    row: "re.Pattern[str]"
    inner: int = -1


@dataclass(slots=True, eq=False)
class _Walk:
    """The declarations so far; those still open, each with the braces open around it; and the last row with text."""

    patterns: "CompiledLines"
    found: list[Guess] = field(default_factory=list)
    around: list[tuple[Guess, int]] = field(default_factory=list)
    section: _Section | None = None
    note_end: str = ""
    is_text: bool = False
    braces: int = 0
    used: int = 0

    def is_aside(self, whole: str, quotes: str, row: int) -> bool:
        """Tell if a row is a comment's or begins within a text of several rows, and keep whether these go on."""
        if not self.is_text and (self.note_end or self.patterns.comment.match(whole)):
            self.note_end = self.note_end or NOTE_ENDS.get(whole.lstrip()[:2], "")
            self.note_end = "" if self.note_end in whole else self.note_end
            if self.around and len(whole) - len(whole.lstrip()) > self.around[-1][0].indentation:
                self.used = row
            return True
        was_text = self.is_text
        self.used = row if was_text else self.used
        if quotes and whole.count(quotes) % 2:
            self.is_text = not was_text
        return was_text

    def declared(self, line: str, indentation: int) -> tuple[str, str] | None:
        """Return kind and name of the declaration a row begins; None for none."""
        section = self.section
        if section is not None and indentation > section.indentation:
            section.inner = section.inner if section.inner >= 0 else indentation
            if indentation == section.inner:
                found = section.row.match(line)
                return _declared(line, self.patterns) or ((section.kind, found["name"]) if found else None)
        else:
            heads = (it for it in self.patterns.sections if it[0].match(line))
            self.section = next((_Section(indentation, kind, row) for _, kind, row in heads), None)
        return _declared(line, self.patterns)

    def end_by_word(self, line: str, row: int) -> None:
        """Close the innermost declaration ended by the words of a row, and those left open in it."""
        if not (self.around and self.patterns.any_end.match(line)):
            return
        for kind, pattern in self.patterns.ends:
            place = next((at for at in range(len(self.around) - 1, -1, -1) if self.around[at][0].kind == kind), -1)
            if place >= 0 and pattern.match(line):
                for guess, _ in self.around[place:]:
                    guess.last = row
                del self.around[place:]
                return

    def end_before(self, indentation: int, *, is_closing: bool, is_declared: bool) -> None:
        """Close declarations ending before a row."""
        while self.around:
            guess, outside = self.around[-1]
            is_inside = indentation > guess.indentation or (is_closing and indentation == guess.indentation)
            if is_inside or (self.patterns.has_braces and self.braces > outside and not is_declared):
                break
            guess.last = max(guess.first, self.used)
            self.around.pop()

    def begin(self, kind: str, name: str, row: int, indentation: int) -> None:
        """Note a declaration, unless it is local."""
        around = self.around[-1][0] if self.around else None
        if around is None or (around.kind in HOLDERS and len(self.around) < _MOST_AROUND):
            guess = Guess(kind, name, row, row, indentation)
            (self.found if around is None else around.members).append(guess)
            self.around.append((guess, self.braces))

    def end_at(self, row: int, indentation: int) -> None:
        """Close declarations ended by a closing row."""
        guess, outside = self.around[-1]
        if indentation <= guess.indentation and not (self.patterns.has_braces and self.braces > outside):
            guess.last = row
            self.around.pop()


def outline_by_lines(lines: "Sequence[str]", first: int, end: int, patterns: "LinePatterns") -> list[Guess]:
    """Guess the declarations in some rows of a program, by patterns of lines; time is linear in their characters.

    A declaration reaches as far as rows are indented more than its first one, or as its braces are open, with the
    closing row. Declarations in a function are left out, and so are those in comments of whole lines.

    Parameters:
        lines: of the text, without their ends.
        first, end: the rows to look at, half-open, from 0.
        patterns: the language's patterns, a row's data.

    Returns:
        The outermost declarations in order, with the members of types, modules and namespaces.
    """
    regexes = compiled(patterns)
    walk = _Walk(regexes, used=first)
    for row in range(first, end):
        line = lines[row][:_LONGEST]
        bare = line.strip()
        indentation = len(line) - len(line.lstrip())
        if not bare:
            continue
        if walk.is_aside(lines[row], patterns.quotes, row):
            continue
        declared = walk.declared(line, indentation)
        is_closing = regexes.closing.match(line) is not None
        if not regexes.ends:
            walk.end_before(indentation, is_closing=is_closing, is_declared=declared is not None)
        if declared is not None:
            walk.begin(*declared, row, indentation)
        walk.braces = max(walk.braces + line.count("{") - line.count("}"), 0)
        walk.used = row
        if regexes.ends:
            walk.end_by_word(line, row)
        elif is_closing and walk.around and not bare.endswith("{"):
            walk.end_at(row, indentation)
    for guess, _ in walk.around:
        guess.last = max(guess.first, walk.used)
    return walk.found


def _declared(line: str, patterns: "CompiledLines") -> tuple[str, str] | None:
    """Return kind and name of a line's first matching pattern."""
    if not patterns.any_declaration.match(line):
        return None
    matches = ((kind, pattern.match(line)) for kind, pattern in patterns.declarations)
    return next(((kind, found["name"]) for kind, found in matches if found), None)


_ASIDE = re.compile(r"\"[^\"]*\"|'[^']*'|\([^()]*\)|\[[^][]*\]|\{[^{}]*\}|#.*|//.*")
"""Text among names: values, types and pragmas in brackets, comments."""
_MOST_BRACKETS = 5
"""In each other, as in `Hash(String, Array(Int32))`."""
_NAME = re.compile(r"\s*[@:`*&]*(?P<name>[^\W\d]\w*+[?!]?)")


def parts_by_lines(
    lines: "Sequence[str]", rows: "Iterable[int]", kind: str, patterns: "LinePatterns"
) -> "Iterator[tuple[int, str, str]]":
    """Yield the names without a piece declared by some rows of a symbol, such as fields: row, kind and name.

    Parameters:
        lines: of the text, without their ends.
        rows: of the symbol, from its first one, without those of its members.
        kind: of the symbol.
        patterns: the language's patterns, a row's data.
    """
    parts = [it for it in compiled_parts(patterns) if kind in it.holders]
    is_open = [it.begins is None for it in parts]
    comment = compiled(patterns).comment
    for number, row in enumerate(rows if parts else ()):
        line = lines[row][:_LONGEST]
        if comment.match(line):
            continue
        for place, it in enumerate(parts):
            if it.begins is not None and it.begins.match(line):
                is_open[place] = True
            elif it.ends is not None and it.ends.match(line):
                is_open[place] = False
            pattern = it.row if number else it.head
            found = pattern.match(line) if pattern is not None and is_open[place] else None
            if found is not None:
                yield from ((row, it.kind, name) for name in _names(found["names"]))
                break


def _names(text: str) -> "Iterator[str]":
    """Yield the names between commas; of "a: int = 1, b" those before a type or value."""
    for _ in range(_MOST_BRACKETS):
        text, count = _ASIDE.subn("", text)
        if not count:
            break
    for one in text.split(","):
        found = _NAME.match(one)
        if found is not None:
            yield found["name"]
