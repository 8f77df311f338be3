"""Pairs from a file of code: the words of comments and names, and the code they describe.

The kinds, which `pairs.py` describes, are rows of `_KINDS`. Functions, types and comments come from
`question_units.Source` or, where a grammar keeps doc comments apart from their functions, from `line_units`.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from line_units import LINE_LANGUAGES, line_units
from question_set import described
from question_units import Comment, Function, Source
from sentences import DIRECTIVE, LICENCE, Pair, name_words, sentences

MOST_CHARACTERS = 6_000
"""Longest text; embedded texts are cut long before."""
_LEAST_ROWS = {"doc": 3, "comment": 2, "file": 4}
_MOST_ROWS = 400
_DOC_MARK = re.compile(r"\s*(/\*[*!]|//[/!]|---|-- \||\{-\|)")
_DASHES = re.compile(r"^\s*(--+\s?(\[\[)?|\]\])\s?", re.MULTILINE)
_TEST = re.compile(r"^(tests?|should|it|spec)(?=[_A-Z])|(?<=[a-z])Test$|^Test(?=[A-Z_])")
_TEST_PATH = re.compile(
    r"(^|/)(tests?|specs?|__tests__)/|[._-](test|spec)\.\w+$|(^|/)test_|Tests?\.\w+$", re.IGNORECASE
)
_BEFORE_CODE = re.compile(r"\s*($|#|package|import|<\?php|use |using |namespace|['\"]use |module|\{-#|declare|require)")
"""Rows allowed above the comment of a whole file; below other rows a comment belongs to the next code."""
_NAMED_SHARE = 4
"""One in so many functions is asked for by its name."""
_PLACEHOLDER = "_"


@dataclass(frozen=True, slots=True)
class Units:
    """A file of code, taken apart.

    Attributes:
        functions, types: rows from 0; outer ones first.
        comments: all with rows of their own, documenting or not.
        docs: rows of doc comments, shown in no text.
    """

    lines: Sequence[str]
    functions: Sequence[Function]
    types: Sequence[Function]
    comments: Sequence[Comment]
    docs: frozenset[int]


def code_pairs(text: str, language: str, package: str, path: str) -> Iterator[Pair]:
    r"""The pairs of a file.

    Parameters:
        text: with "\n" as the only line end.
        path: relative to the package, with "/" between parts.
    """
    units = _units(text, language)
    made = Pair("", package, language, path, "", "", "")
    for kind in _KINDS:
        yield from kind(units, made)


def _units(text: str, language: str) -> Units:
    if language in LINE_LANGUAGES:
        lines, functions, comments = line_units(text, language)
        types: list[Function] = []
    else:
        source = Source(text, language)
        lines, comments = source.lines, source.comments
        functions, types = list(source.functions()), list(source.types())
    if language == "lua":
        comments = [replace(each, text=_DASHES.sub("", each.text)) for each in comments]
        text_of = {each.first: each for each in comments}
        functions = [replace(one, doc=one.doc and text_of.get(one.doc.first, one.doc)) for one in functions]
    docs = {row for one in (*functions, *types) if one.doc for row in range(one.doc.first, one.doc.last + 1)}
    marked = (each for each in comments if _DOC_MARK.match(lines[each.first]))
    docs |= {row for each in marked for row in range(each.first, each.last + 1)}
    return Units(lines, functions, types, comments, frozenset(docs))


def _documented(units: Units, made: Pair) -> Iterator[Pair]:
    """Doc comments: their first sentence and, where there are more, the first three."""
    for one in (*units.functions, *units.types):
        if one.doc is None or DIRECTIVE.match(one.doc.text):
            continue
        first, more = sentences(one.doc.text, one.name)
        body = _body(units, one.first, one.last)
        if first and body.count("\n") + 1 >= _LEAST_ROWS["doc"]:
            pair = replace(made, symbol=one.name, text=body)
            yield replace(pair, kind="doc", question=first)
            if more != first:
                yield replace(pair, kind="docfull", question=more)


def _commented(units: Units, made: Pair) -> Iterator[Pair]:
    """Comments inside functions, and the lines up to the next comment, blank line or smaller indentation."""
    lone = {row for each in units.comments for row in range(each.first, each.last + 1)}
    for comment, function in _inner(units):
        first, _ = sentences(comment.text, "") if not DIRECTIVE.match(comment.text) else ("", "")
        last = described(units.lines, comment.last, lone) if first else 0
        if last - comment.last >= _LEAST_ROWS["comment"]:
            text = _joined(units.lines[comment.last + 1 : last + 1])
            yield replace(made, kind="comment", question=first, symbol=function.name, text=text)


def _inner(units: Units) -> Iterator[tuple[Comment, Function]]:
    """Yield comments documenting nothing, each with the innermost function around it."""
    functions = sorted(units.functions, key=lambda one: (one.first, -one.last))
    around: list[Function] = []
    following = 0
    for comment in sorted(units.comments, key=lambda each: each.first):
        while following < len(functions) and functions[following].first < comment.first:
            around.append(functions[following])
            following += 1
        around = [one for one in around if one.last > comment.last]
        if around and comment.first not in units.docs and comment.last + 1 < len(units.lines):
            yield comment, around[-1]


def _named(units: Units, made: Pair) -> Iterator[Pair]:
    """Names of two words and more, of one function in four and of all tests; the text has another name."""
    in_tests = bool(_TEST_PATH.search(made.path))
    for one in units.functions:
        own = re.split(r"[.:]", one.name)[-1]
        is_test = in_tests and bool(_TEST.search(own))
        words = name_words(_TEST.sub("", own) if is_test else own)
        body = _body(units, one.first, one.last)
        if body.count("\n") + 1 < _LEAST_ROWS["doc"] or not (is_test or _is_drawn(made.path, one.name)):
            continue
        if len(words) >= (3 if is_test else 2):
            text = re.sub(rf"\b{re.escape(own)}\b", _PLACEHOLDER, body, count=1)
            symbol = f"{one.name.removesuffix(own)}{_PLACEHOLDER}"
            yield replace(made, kind="test" if is_test else "name", question=" ".join(words), symbol=symbol, text=text)


def _is_drawn(path: str, name: str) -> bool:
    return hashlib.sha256(f"{path} {name}".encode()).digest()[0] % _NAMED_SHARE == 0


def _outlined(units: Units, made: Pair) -> Iterator[Pair]:
    """Yield the comment at a file's beginning with the file's declarations."""
    declared = sorted({one.first: one for one in (*units.types, *units.functions) if not one.is_inner}.items())
    rows = [_declaration(units.lines, one) for _, one in declared]
    comment = _heading_comment(units, declared[0][0] if declared else 0)
    if comment and len(rows) >= _LEAST_ROWS["file"]:
        first, _ = sentences(comment, "")
        if first:
            yield replace(made, kind="file", question=first, text=_joined(rows))


def _declaration(lines: Sequence[str], one: Function) -> str:
    """Return the row with a declaration's name."""
    own = re.split(r"[.:]", one.name)[-1]
    rows = (lines[row] for row in range(one.first, min(one.first + 6, one.last + 1)) if own in lines[row])
    return next(rows, lines[one.first]).rstrip(" {")


def _heading_comment(units: Units, before: int) -> str:
    """Return the first comment or module docstring above all declarations, except for licences."""
    owned = {one.doc.first for one in (*units.functions, *units.types) if one.doc}
    for each in units.comments:
        if each.last < before and each.first not in owned and not LICENCE.search(each.text):
            above = {row for other in units.comments for row in range(other.first, other.last + 1)}
            if not all(row in above or _BEFORE_CODE.match(units.lines[row]) for row in range(each.first)):
                break
            return "" if DIRECTIVE.match(each.text) else each.text
    docstring = re.match(r'(?:\s*#[^\n]*\n)*\s*r?("""|\'\'\')(.*?)\1', "\n".join(units.lines[:before]), re.DOTALL)
    return docstring[2].strip() if docstring and not LICENCE.search(docstring[2]) else ""


def _body(units: Units, first: int, last: int) -> str:
    if last - first >= _MOST_ROWS:
        last = first + _MOST_ROWS - 1
    return _joined([units.lines[row] for row in range(first, last + 1) if row not in units.docs])


def _joined(lines: Iterable[str]) -> str:
    """Join lines without their common indentation, cut to the longest text."""
    kept = [line.rstrip() for line in lines]
    depth = min((len(line) - len(line.lstrip()) for line in kept if line), default=0)
    return "\n".join(line[depth:] for line in kept).strip("\n")[:MOST_CHARACTERS]


_KINDS: tuple[Callable[[Units, Pair], Iterator[Pair]], ...] = (_documented, _commented, _named, _outlined)
