"""Outline a program by its lines alone: patterns tell the declarations, braces or indentation how far they reach."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cqm.chunkers.languages.model import compiled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cqm.chunkers.languages.model import CompiledLines, LinePatterns

HOLDERS = frozenset({"class", "interface", "struct", "trait", "enum", "namespace", "module", "feature"})
"""Kinds with declared members; declarations inside others are local."""

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
class _Walk:
    """The declarations so far; those still open, each with the braces open around it; and the last row with text."""

    patterns: "CompiledLines"
    found: list[Guess] = field(default_factory=list)
    around: list[tuple[Guess, int]] = field(default_factory=list)
    braces: int = 0
    used: int = 0

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
        if around is None or around.kind in HOLDERS:
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
    is_note = False
    for row in range(first, end):
        line = lines[row][:_LONGEST]
        bare = line.strip()
        indentation = len(line) - len(line.lstrip())
        if not bare:
            continue
        if is_note or regexes.comment.match(line):
            is_note = "*/" not in lines[row] and (is_note or bare.startswith("/*"))
            if walk.around and indentation > walk.around[-1][0].indentation:
                walk.used = row
            continue
        declared = _declared(line, regexes)
        is_closing = regexes.closing.match(line) is not None
        walk.end_before(indentation, is_closing=is_closing, is_declared=declared is not None)
        if declared is not None:
            walk.begin(*declared, row, indentation)
        walk.braces = max(walk.braces + line.count("{") - line.count("}"), 0)
        walk.used = row
        if is_closing and walk.around and not bare.endswith("{"):
            walk.end_at(row, indentation)
    for guess, _ in walk.around:
        guess.last = max(guess.first, walk.used)
    return walk.found


def _declared(line: str, patterns: "CompiledLines") -> tuple[str, str] | None:
    """Return kind and name of a line's first matching pattern."""
    matches = ((kind, pattern.match(line)) for kind, pattern in patterns.declarations)
    return next(((kind, found["name"]) for kind, found in matches if found), None)
