"""Find values with the names of secrets: `password: ...`, `API_KEY=...`, `<token>...</token>`, `--secret ...`."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cqm.index.secrets.model import Match
from cqm.index.secrets.names import is_about, is_chosen
from cqm.index.secrets.notations import (
    CALL,
    DEFAULT,
    ENCODED,
    ENCODING,
    FALLBACK,
    MORE,
    NAME,
    NAMED,
    OPENING,
    OPTION,
    SENTENCE,
    SETTER,
    SIBLING,
    VALUE,
    VALUE_FIRST,
    is_prose,
    takes_bare,
)
from cqm.index.secrets.values import is_odd_in_prose, is_password, is_strong, is_token

_LONGEST_NAME = 200
_LONGEST_LINE = 400
_MOST_OVERLAPS = 4
_MOST_LITERALS = 8
_MOST_BEFORE = 400
_NEAR = 48
_DIRECTIVE = re.compile(r"[ \t]*[\w.-]*")
_PAIR = re.compile(r"[\w.-]{1,40}[:=](?!=*$)")
_BLOCK = re.compile(r"[|>]|<<|\"{3}|'{3}")
_TRIPLE = re.compile(r"\"{3}|'{3}")
_COMMENT = re.compile(r"\s*(?:#|//|/\*|\*\s|--\s|;)")
_QUOTES = "\"'`"

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _File:
    """A text, and the notation of values in files of its kind: also without quotes, and in sentences."""

    text: str
    takes_bare: bool
    is_prose: bool

    def before(self, place: int, most: int = _NEAR) -> str:
        """Return the last characters before a place."""
        return self.text[max(0, place - most) : place]

    def line_before(self, place: int) -> str:
        """Return the end of the line before a place."""
        start = max(0, place - _LONGEST_LINE)
        return self.text[max(start, self.text.rfind("\n", start, place) + 1) : place]


@dataclass(frozen=True, slots=True)
class _Found:
    """A value beside a name, in one part or more; a weak one counts only with the form of a secret."""

    spans: tuple[Span, ...]
    is_weak: bool = False


def assigned(text: str, named: Sequence[tuple[int, str]], path: str) -> Iterator[Match]:
    """Yield values assigned to names of secrets, in order.

    Parameters:
        named: places of anchors in the text, in order.
        path: of the file: in some kinds of files values have no quotes.
    """
    name = path.rpartition("/")[2]
    file = _File(text, takes_bare(name), is_prose(name))
    done, last_end, overlaps = 0, 0, 0
    for place, anchor in named:
        if place < done:
            continue
        # "token=token=token=...": each value would be the rest of the text.
        overlaps = overlaps + 1 if place < last_end else 0
        if overlaps > _MOST_OVERLAPS:
            continue
        end = place + len(anchor)
        if is_chosen(anchor) and file.is_prose:
            yield from _in_sentence(text, end)
        for found in _values(file, place, end):
            last_end = max(last_end, found.spans[-1][1])
            if _is_secret(text, found, anchor):
                kind = "password" if is_chosen(anchor) else "key or token"
                yield from (Match(kind, *span) for span in found.spans)
                done = max(done, found.spans[-1][1])


def _in_sentence(text: str, end: int) -> Iterator[Match]:
    """Yield the password after its name in a sentence."""
    found = SENTENCE.match(text, end)
    if found is None:
        return
    # A "!" may end the password or the sentence: it is redacted, and tells nothing.
    value = found["value"].rstrip(".,:;?)")
    if is_odd_in_prose(value.rstrip(".,:;!?)")):
        yield Match("password", found.start("value"), found.start("value") + len(value))


def _is_secret(text: str, found: _Found, anchor: str) -> bool:
    value = "".join(text[start:end] for start, end in found.spans)
    if found.is_weak:
        return is_strong(value) and (is_chosen(anchor) or is_token(value))
    return is_password(value) if is_chosen(anchor) else is_token(value)


def _values(file: _File, place: int, end: int) -> Iterator[_Found]:
    """Yield each possible value of the name at a place; it may stand before and after it."""
    before = file.before(place)
    found = VALUE.match(file.text, end)
    if found and not is_about(before, found["name"]) and (is_weak := _weakness(file, place, found)) is not None:
        yield _Found(tuple(_spans(file.text, found)), is_weak)
    if "${" in before and (fallback := FALLBACK.match(file.text, end)):
        yield _Found((fallback.span("value"),))
    default = DEFAULT.match(file.text, end) if "-" in before else None
    if default and _is_option(before) and not is_about(before, default["name"]):
        yield _Found(tuple(_spans(file.text, default)))
    if (encoded := _encoded(file.text, end)) and not is_about(before, encoded[0]):
        yield _Found((encoded[1],))
    if opening := OPENING.match(file.text, end):
        yield from _beside(file, place, end, is_nested=bool(opening["nested"]))


def _encoded(text: str, end: int) -> tuple[str, Span] | None:
    """Return the rest of a name in encoded JSON, and the span of its value."""
    rest = NAME.match(text, end)
    place = rest.end() if rest else end
    found = ENCODED.match(text, end) if text.startswith(ENCODING, place) else None
    return (text[end:place], found.span("quoted" if found["quoted"] else "bare")) if found else None


def _beside(file: _File, place: int, end: int, *, is_nested: bool) -> Iterator[_Found]:
    """Yield the values of pairs beside the one with the name."""
    before, far = file.before(place), file.before(place, _MOST_BEFORE)
    sibling = SIBLING.match(file.text, end)
    may_follow = "value" in far.lower()
    # Few names have any such pair; looking for "name:" before each takes longer than all else.
    is_named = bool((may_follow or (sibling and not is_nested)) and NAMED.search(before))
    if sibling and (is_named or is_nested) and not is_about(before, sibling["name"]):
        yield _Found(tuple(_spans(file.text, sibling)), is_weak=not sibling["quoted"])
    if is_named and may_follow and (first := VALUE_FIRST.search(far)):
        start = max(0, place - _MOST_BEFORE)
        yield _Found(((start + first.start("value"), start + first.end("value")),), is_weak=True)


def _spans(text: str, found: re.Match[str]) -> Iterator[Span]:
    """Yield the parts of a value: all of its literals, or its only one."""
    kind = next(it for it in ("quoted", "long", "bare") if found[it])
    start, end = found.span(kind)
    if kind == "bare":
        value = found["bare"].rstrip(".:!?)}")
        # A value in brackets or marks of its own ends before them.
        value = value.rstrip("]") if "CDATA[" in found["gap"] else value
        yield start, start + len(value) if "=" not in value[-2:] else start + len(value.rstrip("}"))
        return
    yield start, end
    place = found.end()
    for _ in range(_MOST_LITERALS if kind == "quoted" else 0):
        more = MORE.match(text, place)
        if not more:
            return
        yield more.span("quoted")
        place = more.end()


def _weakness(file: _File, place: int, found: re.Match[str]) -> bool | None:
    """Whether the value must be a secret by its form; None if it is none of this name."""
    gap = found["gap"]
    marks = gap.strip().strip(_QUOTES).strip()
    before = file.before(place)
    is_option = marks in {"", "=", ","} and _is_option(before)
    if "," in gap and not (("(" in before and CALL.search(before)) or (is_option and found["quoted"])):
        return None
    if "f" in (found["prefix"] or "").lower() and "{" in (found["quoted"] or ""):
        return None
    if marks.startswith("(") and "." in found["name"]:
        return None
    if found["long"]:
        return None if "[" not in gap else False
    if found["quoted"]:
        return bool(found["word"] or (not marks and not is_option))
    return _bare_weakness(file, place, found, marks, is_option=is_option)


def _is_option(before: str) -> bool:
    return "-" in before and bool(OPTION.search(before))


def _bare_weakness(file: _File, place: int, found: re.Match[str], marks: str, *, is_option: bool) -> bool | None:
    gap, wrapped = found["gap"], found["wrapped"] or ""
    if "(" in wrapped or "(" in marks[:2] or found["word"]:
        return True if found["word"] and "(" not in marks else None
    if not marks and not is_option:
        return _directive_weakness(file, place)
    if marks.endswith(">") and not marks.endswith(("=>", "->")):
        follows = file.text[found.end("bare") : found.end("bare") + _NEAR].lstrip()
        return False if follows.startswith(("</", ">")) else None
    if "\n" in gap and not _BLOCK.search(wrapped) and ("=" in marks or _PAIR.match(found["bare"])):
        return None
    if is_option or (gap == "=" and found["after"] == ";") or _TRIPLE.search(wrapped):
        return False
    return _plain_weakness(file, place, gap, marks)


def _plain_weakness(file: _File, place: int, gap: str, marks: str) -> bool | None:
    if file.takes_bare:
        # A sentence about a password is no password.
        return file.is_prose and "=" not in gap
    line = file.line_before(place)
    if marks == "=" and any(line.count(quote) % 2 for quote in _QUOTES):
        return True
    return True if marks in {":", "="} and _COMMENT.match(line) else None


def _directive_weakness(file: _File, place: int) -> bool | None:
    """Whether a line begins with the name, or with a word setting it: "requirepass x", "ENV PASSWORD x"."""
    line = file.line_before(place)
    if SETTER.search(line):
        return "login" in line
    is_first = file.takes_bare and not file.is_prose and bool(_DIRECTIVE.fullmatch(line[-_LONGEST_NAME:]))
    return False if is_first else None
