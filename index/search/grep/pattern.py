"""Compile a text or a regular expression for an engine with time linear in the text."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from cqm.index.model.errors import QueryError
from cqm.index.model.query import SearchMode
from cqm.index.search.grep.boundaries import Boundaries
from cqm.index.search.grep.syntax import Clauses, read_pattern

if TYPE_CHECKING:
    import re2

_LONGEST = 4_000
"""Characters of a pattern or text."""
_MOST_BYTES = 8 << 20
"""Memory of a compiled pattern and its states; RE2's default. A pattern needing more is refused."""
LARGE = 3_000
"""Instructions of a compiled pattern taking seconds for a megabyte, measured with nested repetitions."""
_SYNTAX = "Write it in RE2's syntax (no lookaround, no backreferences), or ask with mode exact for the text as it is."


@dataclass(frozen=True, slots=True)
class Pattern:
    """Everything needed to look for a pattern.

    Attributes:
        clauses, ignores_case: of the pattern, as in `Read`.
        has_newline: whether a match may have several lines.
        has_return: whether carriage returns before line ends count; otherwise they are part of the line end.
        text: to look for; empty for a regular expression.
        regex: compiled; None for a text.
        for_ascii: the same for texts of ASCII alone, as word classes are many times smaller there.
        boundaries: tells boundaries of words of other texts, where the pattern asks for any.
    """

    clauses: Clauses
    ignores_case: bool
    has_newline: bool
    has_return: bool
    text: bytes = b""
    regex: "re2._Regexp | None" = None
    for_ascii: "re2._Regexp | None" = None
    boundaries: Boundaries | None = None

    def fitting(self, text: bytes) -> "Pattern":
        """Return the pattern to look for in a text."""
        if self.for_ascii is None or not text.isascii():
            return self
        return replace(self, regex=self.for_ascii, boundaries=None)

    @property
    def is_large(self) -> bool:
        """Whether it may take seconds for a long line."""
        sizes = [it.programsize for it in (self.regex, self.boundaries) if it is not None]
        return max(sizes, default=0) > LARGE

    def spans(self, text: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield first byte and the one after the last of each match in a part of a text, without overlap."""
        if self.regex is not None:
            if self.boundaries is None:
                spans: Iterator[tuple[int, int]] = (found.span() for found in self.regex.finditer(text, start, end))
            else:
                spans = self.boundaries.spans(text, start, end)
            # An empty match behind a gap is given twice.
            yield from (span for span, _ in groupby(spans))
            return
        while (at := text.find(self.text, start, end)) >= 0:
            start = at + len(self.text)
            yield at, start


def compiled(query: str, mode: SearchMode) -> Pattern:
    """Make a text (mode exact) or regular expression (mode regex) ready.

    Line ends around a text, which pasting leaves behind, don't count.

    Raises:
        QueryError: it is empty, too long, or no valid pattern.
    """
    if len(query) > _LONGEST:
        raise QueryError(f"The pattern has {len(query):,} characters: expected at most {_LONGEST:,}.")
    if mode is SearchMode.REGEX:
        return _regex(query)
    text = query.replace("\r\n", "\n").strip("\r\n")
    if not text:
        raise QueryError("The query is empty.", remedy="Give the text to find.")
    return Pattern(
        (frozenset({text}),), ignores_case=False, has_newline="\n" in text, has_return="\r" in text, text=text.encode()
    )


def _regex(query: str) -> Pattern:
    import re2

    options = re2.Options()
    options.log_errors, options.never_capture, options.max_mem = False, True, _MOST_BYTES
    try:
        read = read_pattern(query)
        # Within one line: no class and no "." matches its end.
        options.never_nl = not read.has_newline
        re2.compile(read.translated.encode(), options)
        regex, for_ascii = (re2.compile(f"(?m:{it})".encode(), options) for it in (read.translated, read.for_ascii))
        # A match of several lines has RE2's boundaries.
        boundaries = Boundaries(read, for_ascii, options) if read.for_marked and not read.has_newline else None
    except re2.error as error:
        raise QueryError(f"`{query}` is no regular expression: {_reason(query, error)}.", remedy=_SYNTAX) from error
    except RecursionError as error:
        raise QueryError(f"`{query}` is no regular expression: nested too deep.", remedy=_SYNTAX) from error
    return Pattern(
        read.clauses,
        read.ignores_case,
        read.has_newline,
        read.has_return,
        regex=regex,
        for_ascii=for_ascii,
        boundaries=boundaries,
    )


def _reason(query: str, error: Exception) -> str:
    """Return RE2's complaint about a pattern, in words of the pattern as it was asked."""
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(query.encode(), options)
    except re2.error as own:
        return str(own.args[0].decode("utf-8", "replace"))
    return str(error.args[0].decode("utf-8", "replace")).partition(":")[0]
