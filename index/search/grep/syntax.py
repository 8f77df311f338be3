"""Read the syntax of a pattern: texts contained in every match, and the same pattern in RE2's syntax.

RE2 judges whether a pattern is valid. Syntax unknown to this reader is passed on unchanged, and requires no text.
"""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

Clauses = tuple[frozenset[str], ...]
"""Requirements of a match: of each clause it contains at least one text."""

_EMPTY = frozenset({""})
_MOST_TEXTS = 16
"""Texts of one clause; more alternatives require nothing."""
_LONGEST_TEXT = 200
_SHORTEST_TEXT = 3
_MOST_DEPTH = 100

# As ripgrep has them (UTS #18, Annex C); RE2's own know ASCII only.
_UNICODE = {
    "w": r"\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{200c}\x{200d}\x{24b6}-\x{24e9}",
    "d": r"\p{Nd}",
    "s": r"\p{Z}\t\n\v\f\r\x{85}",
    # For brackets, where nothing can be negated: all other categories.
    "W": r"\p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}\p{Po}\p{S}\p{Z}\p{No}\p{C}",
    "D": r"\p{L}\p{M}\p{Nl}\p{No}\p{P}\p{S}\p{Z}\p{C}",
    "S": r"\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co}\x00-\x08\x0e-\x1f\x7f-\x{84}\x{86}-\x{9f}",
}
ANY_WORD = _UNICODE["w"]
_ASCII = {"w": r"0-9A-Za-z_", "d": r"0-9", "s": r"\t\n\v\f\r "}
# A line may be searched with marks at its boundaries of words, as RE2's own "\b" knows ASCII only: `boundaries.py`.
BOUNDARY, NO_BOUNDARY, START, END = "\ufdd0", "\ufdd1", "\ufdd2", "\ufdd3"
_MARKS = r"\x{fdd0}-\x{fdd3}"
# Marks before the one of a line's start or end may be passed already, as by "\b^".
_AT_START, _AT_END = rf"(?:%s|[{_MARKS}]*\x{{fdd2}})", rf"(?:[{_MARKS}]*%s|[{_MARKS}]*\x{{fdd3}})"
_MARK_OF = {"b": r"(?:\x{fdd0})", "<": r"(?:\x{fdd0})", ">": r"(?:\x{fdd0})", "B": r"(?:\x{fdd1})"}
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}
_ESCAPE = re.compile(r"\\(?:[pP](?:\{[^}]*\}|.)|x(?:\{[^}]*\}|.{2})|u\{[^}]*\}|u.{4}|[0-7]{1,3}|.)", re.DOTALL)
_CODE = re.compile(r"\\u(?:\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{4}))")
_GROUP = re.compile(r"\?(?:P?<\w+>|([a-zA-Z]*(?:-[a-zA-Z]*)?)([:)]))")
# An empty quotation is nothing: RE2 repeats the atom before it.
_REPEAT = re.compile(r"(?:\\Q\\E)*([*+?]|\{(\d+)(,?)(\d*)\})\??")
_POSIX = re.compile(r"\[:\^?\w+:\]")


class Read(NamedTuple):
    """A pattern as read.

    Attributes:
        translated: for RE2.
        for_ascii: the same for texts of ASCII alone, where it is far smaller.
        clauses: of every match.
        ignores_case: whether any part ignores case; then texts of clauses may have either case.
        has_newline: whether it asks for a line end: a match may have several lines.
        has_return: whether it asks for a carriage return.
        for_marked: the same for lines with marks at their boundaries of words; empty if it asks for none.
    """

    translated: str
    for_ascii: str
    clauses: Clauses
    ignores_case: bool
    has_newline: bool
    has_return: bool
    for_marked: str

    @property
    def without_boundaries(self) -> str:
        """A pattern for unmarked lines, matching at least where this one does."""
        return self.for_marked.replace(_MARK_OF["b"], "(?:)").replace(_MARK_OF["B"], "(?:)")


class _Node(NamedTuple):
    """A part of a pattern.

    Attributes:
        texts: all its matches; None if these are too many to list.
        clauses: of its matches, where texts is None.
    """

    texts: frozenset[str] | None
    clauses: Clauses = ()


_ANYTHING = _Node(None)
_NOTHING = _Node(_EMPTY)


def read_pattern(pattern: str) -> Read:
    """Read a regular expression; an invalid one comes back in some form that RE2 refuses too.

    Raises:
        RecursionError: its groups are nested deeper than 100.
    """
    reader = _Reader(pattern)
    node = reader.alternatives(0)
    clauses = _clauses_of(node)
    if reader.place < len(reader.pattern):
        # A ")" too many.
        reader.pass_on(reader.pattern[reader.place :])
        clauses = ()
    return Read(
        translated="".join(reader.out),
        for_ascii="".join(reader.ascii),
        clauses=clauses,
        ignores_case=reader.ignores_case,
        has_newline=reader.has_newline,
        has_return=reader.has_return,
        for_marked="".join(reader.marked) if reader.has_boundary else "",
    )


class _Reader:
    """Reads a pattern from left to right and writes its translations."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.place = 0
        self.out: list[str] = []
        self.ascii: list[str] = []
        self.marked: list[str] = []
        self.ignores_case = self.has_newline = self.has_return = self.has_boundary = False

    def alternatives(self, depth: int) -> _Node:
        if depth > _MOST_DEPTH:
            raise RecursionError
        nodes = [self._sequence(depth)]
        while self.pattern.startswith("|", self.place):
            self.pass_on("|")
            nodes.append(self._sequence(depth))
        return nodes[0] if len(nodes) == 1 else _any_of(nodes)

    def _sequence(self, depth: int) -> _Node:
        """Join neighbours: texts to longer texts, as long as they are few."""
        clauses: list[frozenset[str]] = []
        run: frozenset[str] = _EMPTY
        is_exact = True
        while self.place < len(self.pattern) and self.pattern[self.place] not in "|)":
            node = self._repeated(self._atom(depth))
            joined = frozenset(a + b for a in run for b in node.texts) if node.texts is not None else frozenset()
            if joined and len(joined) <= _MOST_TEXTS and max(map(len, joined)) <= _LONGEST_TEXT:
                run = joined
                continue
            is_exact = False
            clauses += _clauses_of(_Node(run))
            run = _EMPTY
            if node.texts is None:
                clauses += node.clauses
            elif len(node.texts) <= _MOST_TEXTS:
                run = node.texts
        return _Node(run) if is_exact else _Node(None, (*clauses, *_clauses_of(_Node(run))))

    def _repeated(self, node: _Node) -> _Node:
        """Read the marks of repetition after an atom."""
        while found := _REPEAT.match(self.pattern, self.place):
            self.pass_on(found[0])
            if found[1] == "?" and node.texts is not None and len(node.texts) < _MOST_TEXTS:
                node = _Node(node.texts | _EMPTY)
            elif found[1] in "*?" or (found[2] and not int(found[2])):
                node = _ANYTHING
            elif found[2] != "1" or found[3]:
                node = _Node(None, _clauses_of(node))
        return node

    def _atom(self, depth: int) -> _Node:
        sign = self.pattern[self.place]
        if sign == "(":
            return self._group(depth)
        if sign == "[":
            return self._class()
        if sign == "\\":
            return self._escape()
        if sign in "^$":
            self.pass_on(sign, (_AT_END if sign == "$" else _AT_START) % sign)
            return _NOTHING
        if sign == ".":
            self.pass_on(sign, _unmarked(rf"[^\n{_MARKS}]"))
            return _ANYTHING
        self.pass_on(sign, _unmarked(sign))
        return self._literal(sign)

    def _group(self, depth: int) -> _Node:
        self.pass_on("(")
        found = _GROUP.match(self.pattern, self.place)
        if found:
            self.pass_on(found[0])
            self.ignores_case |= "i" in (found[1] or "")
            if found[2] == ")":
                return _NOTHING
        node = self.alternatives(depth + 1)
        if self.pattern.startswith(")", self.place):
            self.pass_on(")")
            return node
        return _ANYTHING

    def _class(self) -> _Node:
        start, before = self.place, (self.has_newline, self.has_return)
        self.pass_on("[", f"(?:[{_MARKS}]*[")
        if is_negated := self.pattern.startswith("^", self.place):
            self.pass_on("^", f"^{_MARKS}")
        if self.pattern.startswith(("]", "-"), self.place):
            # Plain where it stands first.
            sign = self.pattern[self.place]
            self.pass_on(sign, rf"\{sign}")
        while self.place < len(self.pattern):
            sign = self.pattern[self.place]
            if sign == "]":
                self.pass_on(sign, "])")
                break
            if sign == "\\":
                self._escape(in_class=True)
            elif found := _POSIX.match(self.pattern, self.place):
                self.pass_on(found[0])
            else:
                self.pass_on(sign)
                self._note(sign)
        if is_negated:
            # "[^\r\n]" asks for no line end, and "[\r\n]" does.
            self.has_newline, self.has_return = before
        inner = self.pattern[start + 1 : self.place - 1]
        # "[Cc]": the class of a few plain letters is as good as texts.
        return _Node(frozenset(inner)) if inner.isalnum() and len(inner) <= _MOST_TEXTS >> 2 else _ANYTHING

    def _escape(self, *, in_class: bool = False) -> _Node:
        if self.pattern.startswith(r"\Q", self.place) and not in_class:
            return self._quotation()
        found = _ESCAPE.match(self.pattern, self.place)
        if not found:
            # RE2 says what is wrong with a "\" at the end.
            self.pass_on("\\")
            return _ANYTHING
        escape, sign = found[0], found[0][1]
        self.place = found.end()
        known, for_ascii = (_translated(escape, words, in_class=in_class) for words in (_UNICODE, _ASCII))
        if sign in "bBAz<>" and not in_class:
            self.has_boundary |= sign in _MARK_OF
            self._write(known, for_ascii, _MARK_OF.get(sign) or (_AT_START if sign == "A" else _AT_END) % known)
            return _NOTHING
        self._write(known, for_ascii, known if in_class else _unmarked(known))
        if sign in _CONTROLS:
            return self._literal(_CONTROLS[sign])
        return self._literal(sign) if len(escape) == len(r"\.") and not sign.isalnum() else _ANYTHING

    def _quotation(self) -> _Node:
        text, end, rest = self.pattern[self.place + len(r"\Q") :].partition(r"\E")
        if len(text) > 1 and _REPEAT.match(rest):
            # Only its last character is repeated, which is read next, as a quotation of its own.
            self.pattern = self.pattern[: self.place] + rf"\Q{text[:-1]}\E\Q{text[-1]}\E{rest}"
            text = text[:-1]
        self.place += len(r"\Q") + len(text) + len(end)
        self._write(rf"\Q{text}\E", rf"\Q{text}\E", "".join(_unmarked(rf"\Q{sign}\E") for sign in text))
        return self._literal(text)

    def _literal(self, text: str) -> _Node:
        self._note(text)
        return _Node(frozenset({text}))

    def _note(self, text: str) -> None:
        self.has_newline |= "\n" in text
        self.has_return |= "\r" in text

    def pass_on(self, text: str, marked: str = "") -> None:
        """Take a text over as it is, for marked lines in another form if there is one."""
        self.place += len(text)
        self._write(text, text, marked or text)

    def _write(self, text: str, for_ascii: str, marked: str) -> None:
        self.out.append(text)
        self.ascii.append(for_ascii)
        self.marked.append(marked)


def _unmarked(atom: str) -> str:
    """Write a one-character atom as one with marks before it; the marks never match the atom."""
    if atom.startswith("[^"):
        atom = f"[^{_MARKS}{atom.removeprefix('[^')}"
    elif atom.startswith(r"\P"):
        atom = f"[^{_MARKS}\\p{atom.removeprefix(chr(92) + 'P')}]"
    return f"(?:[{_MARKS}]*{atom})"


def _translated(escape: str, classes: Mapping[str, str], *, in_class: bool) -> str:
    """Write an escape as RE2 takes it.

    Parameters:
        escape: as in the pattern.
        classes: the characters of "w", "d" and "s", and of their opposites where RE2's own are others.
        in_class: whether it stands in brackets.
    """
    sign = escape[1]
    if code := _CODE.fullmatch(escape):
        return rf"\x{{{code[1] or code[2]}}}"
    if sign in "<>" and not in_class:
        return r"\b"
    if in_class:
        return classes.get(sign, escape)
    if sign.lower() in classes:
        return f"[{'^' * sign.isupper()}{classes[sign.lower()]}]"
    # RE2's "\C" is one byte, which may be part of a character; ripgrep has none.
    return r"\c" if sign == "C" else escape


def _any_of(nodes: Iterable[_Node]) -> _Node:
    """Join alternatives: their texts, or else one clause with the best of each."""
    nodes = list(nodes)
    texts = frozenset[str]().union(*(node.texts or () for node in nodes))
    if len(texts) <= _MOST_TEXTS and all(node.texts is not None for node in nodes):
        return _Node(texts)
    best = [max(_clauses_of(node), key=_rarity, default=frozenset[str]()) for node in nodes]
    joined = frozenset[str]().union(*best)
    return _Node(None, (joined,) if all(best) and len(joined) <= _MOST_TEXTS else ())


def _clauses_of(node: _Node) -> Clauses:
    if node.texts is None:
        return node.clauses
    return (node.texts,) if _rarity(node.texts) >= _SHORTEST_TEXT else ()


def _rarity(clause: frozenset[str]) -> int:
    """The length of a clause's shortest text."""
    return min(map(len, clause), default=0)
