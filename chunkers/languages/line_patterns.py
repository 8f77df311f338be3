"""Define patterns of lines that tell the declarations of a program without a syntax tree."""

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class LineParts:
    """Names declared by rows of a symbol without a piece of their own, such as fields.

    Attributes:
        holders: kinds of symbols with such rows.
        kind: of the names.
        row: a pattern of a row, with a group "names": one or more, with commas between them.
        head: the same for the first row of the symbol; empty for none.
        begins, ends: patterns of the rows around such rows; empty for all rows of the symbol.
    """

    holders: frozenset[str]
    kind: str
    row: str
    head: str = ""
    begins: str = ""
    ends: str = ""


@dataclass(frozen=True, slots=True)
class LinePatterns:
    """Patterns of declarations for a program without a syntax tree, tried on each line.

    They are texts: compiling those of all languages took a tenth of each start of a command. See `compiled`.

    Attributes:
        declarations: kinds with patterns; the first match at the beginning of a line counts, and has a group "name".
        comment: begins a line without code.
        closing: begins a line ending or continuing the block of the same indentation.
        above: a line belonging to the declaration below it, such as a decorator.
        has_braces: whether a declaration lasts as long as its braces are open; indentation alone tells otherwise.
        sections: patterns of heads such as "const" alone, with the kind and the pattern of the declarations below them.
        ends: kinds with patterns of rows that end the innermost declaration of the kind; then neither indentation nor
            braces do.
        parts: names without a piece of their own.
        quotes: around a text of several rows, which declares nothing; empty for none.
    """

    declarations: tuple[tuple[str, str], ...]
    comment: str = r"\s*(?://|/\*|\*(?!\w))"
    closing: str = r"\s*(?:[\])}>{]|(?:else|catch|finally|end)\b)"
    above: str = r"\s*(?:@|\[|#\[|template\b)"
    has_braces: bool = True
    sections: tuple[tuple[str, str, str], ...] = ()
    ends: tuple[tuple[str, str], ...] = ()
    parts: tuple[LineParts, ...] = ()
    quotes: str = ""


class CompiledLines(NamedTuple):
    """The same, compiled; `any_declaration` and `any_end` spare most rows a try of each pattern."""

    declarations: tuple[tuple[str, re.Pattern[str]], ...]
    comment: re.Pattern[str]
    closing: re.Pattern[str]
    above: re.Pattern[str]
    has_braces: bool
    sections: tuple[tuple[re.Pattern[str], str, re.Pattern[str]], ...]
    ends: tuple[tuple[str, re.Pattern[str]], ...]
    any_declaration: re.Pattern[str]
    any_end: re.Pattern[str]


class CompiledParts(NamedTuple):
    """The parts of a language, compiled."""

    holders: frozenset[str]
    kind: str
    row: re.Pattern[str]
    head: re.Pattern[str] | None
    begins: re.Pattern[str] | None
    ends: re.Pattern[str] | None


@functools.cache
def compiled_parts(patterns: LinePatterns) -> tuple[CompiledParts, ...]:
    """Compile the parts of a language when they are first needed."""
    return tuple(
        CompiledParts(
            it.holders,
            it.kind,
            re.compile(it.row),
            *(re.compile(text) if text else None for text in (it.head, it.begins, it.ends)),
        )
        for it in patterns.parts
    )


@functools.cache
def compiled(patterns: LinePatterns) -> CompiledLines:
    """Compile the patterns of a language when it is first needed."""
    declarations = tuple((kind, re.compile(pattern)) for kind, pattern in patterns.declarations)
    comment, closing, above = map(re.compile, (patterns.comment, patterns.closing, patterns.above))
    sections = tuple((re.compile(head), kind, re.compile(row)) for head, kind, row in patterns.sections)
    ends = tuple((kind, re.compile(pattern)) for kind, pattern in patterns.ends)
    nameless = (pattern.replace("(?P<name>", "(?:") for _, pattern in patterns.declarations)
    any_declaration, any_end = map(_any_of, (nameless, (pattern for _, pattern in patterns.ends)))
    return CompiledLines(
        declarations, comment, closing, above, patterns.has_braces, sections, ends, any_declaration, any_end
    )


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns) or r"(?!)")
