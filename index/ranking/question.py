"""A question, read once: its words and terms, the symbol or place it names, and its form."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cqm.index.ranking.file_roles import GENERATED, ROLES
from cqm.index.ranking.project import Topic
from cqm.index.ranking.project_topics import topic_of
from cqm.index.ranking.question_form import sentence_likeness
from cqm.index.text.calls import calls_in
from cqm.index.text.exact_words import (
    MOST_NAMES,
    codes_in,
    copied_in,
    named_in,
    names_in,
    pasted_in,
    phrases_in,
    subject_of,
)
from cqm.index.text.issues import is_issue
from cqm.index.text.names.declared import declared
from cqm.index.text.names.notations import notations
from cqm.index.text.names.parameters import parameters_in
from cqm.index.text.names.parts import BETWEEN, NAME_PART, dotted, is_operator, name_key
from cqm.index.text.pasted import referred
from cqm.index.text.places import NamedPlace, places_in
from cqm.index.text.reports.messages import message_in
from cqm.index.text.reports.quoted import is_of_a_version, sides_of, without_marks
from cqm.index.text.reports.schedules import scheduled
from cqm.index.text.routes.asked import AskedRoute, route_in
from cqm.index.text.routes.requests import Request, request_in
from cqm.index.text.routes.services import method_in
from cqm.index.text.said import said
from cqm.index.text.terms import SparseTerms, content_words, label_term, name_term, query_terms, stems, with_labels
from cqm.index.tracing import traced

_NO_TERMS = SparseTerms((), ())
# "Client.get", "`Client::get`", "Client#get", "$client->get()", "App\Client", "\App\Client", "Client.get(url, 3)".
_SYMBOL = re.compile(rf"(?:{BETWEEN})?((?:{NAME_PART}(?:{BETWEEN}))*{NAME_PART})(?:\([^()]{{0,200}}\))?[;:]?")
# "(*Context).Bind", "(c *Context) Bind": a receiver in Go.
_RECEIVER = re.compile(rf"\(\s*(?:\w+\s+)?[*&]?({NAME_PART}(?:\[[\w, ]*\])?)\s*\)\s*\.?\s*(?={NAME_PART})")
# "func Bind", "struct Foo", "fn parse_args".
_KEYWORD = re.compile(
    r"(?:(?:pub|async|static|export) )*(?:def|fun|func|fn|struct|trait|impl|interface|namespace) +(?=\S)"
)
_ARGUMENTS = re.compile(r"(?:::)?<[^<>()]{0,100}>|(?<=\w)\[[\w, .]{0,100}\]")
"""Arguments of a generic type: "Vec::<T>::push", "Stack[T].Push"."""
_WORD = re.compile(r"`?(\w+)`?")
_PLACE = re.compile(r"\s*(?P<path>\S(?:.*\S)?):(?P<first>[0-9]{1,9})(?:-(?P<last>[0-9]{1,9}))?\s*")
_NOT_IN_KEY = re.compile(r"[\W_]+")


class Lines(NamedTuple):
    """Lines of a file, as a question names them: `src/app.py:40-61`; `first` and `last` are equal for one line."""

    path: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Question:
    """A question, a symbol's name, an error message, a path or a place in a file.

    Attributes:
        text: as the user wrote it.
        words: its stemmed words, without those like "how" and "the".
        terms: its terms for BM25.
        roles: names of the file roles it asks for: "test" for "tests of the parser".
        symbol: its name, if it is one, with "." between parts: "Client.get" for "`Client::get()`". Else empty.
        notations: further possible names, in a notation of a language or tool; the first defined one counts.
        declared: names it may declare, as a line of code.
        parameters: of the symbol: see `parameters_in`.
        definitions: the term of all chunks defining `symbol`; empty without one.
        mentions: the term of all chunks containing its one word; empty for more words.
        lines: the lines it names, if it names nothing else; else None.
        places: in files named anywhere in it, innermost call first: those of a trace or a message.
        said: the source of its words: of a trace the message, of an issue all but its template.
        calls: functions in a trace, innermost first.
        codes: the terms of the error codes in it: E0382, ERR_REQUIRE_ESM.
        phrases: quoted in it.
        copied: text possibly copied from a file, as a message without quotes; the longest first.
        pasted: parts of its text surely from a file or a program: code, a message with values.
        subject: the one name a plain sentence asks about: "where is get_url defined".
        named: names marked as such in it, as in `named_in`.
        topic: asked of the project itself; None for other questions.
        sentence: 0 for the name of a topic, 1 for a sentence, and degrees between.
        route: that it consists of; None for others.
        logged: its message, if it is a line of a structured log; then the other parts are of this.
        is_quoted: whether it is a diff or `git blame`: lines that some version of a file has.
    """

    text: str
    words: frozenset[str]
    terms: SparseTerms
    roles: frozenset[str]
    symbol: str
    definitions: SparseTerms
    mentions: SparseTerms
    lines: Lines | None
    places: tuple[NamedPlace, ...]
    sentence: float
    said: str = ""
    calls: tuple[str, ...] = ()
    codes: tuple[SparseTerms, ...] = ()
    phrases: tuple[str, ...] = ()
    copied: tuple[str, ...] = ()
    pasted: tuple[str, ...] = ()
    subject: str = ""
    named: tuple[str, ...] = ()
    notations: tuple[str, ...] = ()
    declared: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    topic: Topic | None = None
    route: AskedRoute | None = None
    is_quoted: bool = False
    logged: str = ""

    @property
    def keys(self) -> frozenset[str]:
        """The keys of all its possible names: see `name_key`."""
        return frozenset(filter(None, map(name_key, (self.symbol, *self.notations, *self.declared))))


@traced("cqm.read_question")
def read_question(text: str) -> Question:
    """Read a question; the only place where its text is taken apart."""
    text, request, places, calls, logged = _report_in(scheduled(referred(text)))
    is_trace = max(len(places), len(calls)) > 1 or "(most recent call" in text
    quoted = without_marks(text)
    counting = said(quoted, is_trace=is_trace)
    content = content_words(counting)
    lowered = [word.lower() for word in content]
    symbol = _symbol(text)
    names = tuple(dict.fromkeys(name for name in notations(text) if name != symbol))
    lines = tuple(dict.fromkeys(name for name in declared(text) if name not in {symbol, *names}))
    names_something = bool(symbol or places or calls)
    return Question(
        text,
        words=frozenset(stems(" ".join(content))),
        terms=query_terms(counting, content),
        roles=_roles_in(lowered),
        symbol=symbol,
        definitions=definitions_term(symbol) if symbol else _names_of_issue(text),
        mentions=_mentions(text),
        lines=_lines(text),
        places=places,
        sentence=sentence_likeness(counting),
        said=counting,
        calls=calls,
        codes=tuple(map(name_term, codes_in(counting))),
        phrases=tuple(phrases_in(counting)),
        # A chain of calls, "Ticket.objects.all()", may be code instead.
        copied=() if symbol and not ("(" in text and "." in symbol) else tuple(copied_in(counting)),
        subject="" if names_something else subject_of(text),
        named=() if names_something else tuple(named_in(text)),
        pasted=() if names_something else _pasted(text),
        notations=names,
        declared=lines,
        parameters=parameters_in(text) if symbol or names or lines else (),
        topic=topic_of(text, lowered),
        route=None if places and not request else route_in(text),
        is_quoted=is_of_a_version(text),
        logged=logged,
    )


class _Report(NamedTuple):
    """The parts of a question that a tool or a program may have printed; see `Question`."""

    text: str
    request: Request | None
    places: tuple[NamedPlace, ...]
    calls: tuple[str, ...]
    logged: str


def _report_in(text: str) -> _Report:
    """Read the request, the places and calls, or the message of a log in a text; a message is the question then."""
    # The marks of a transcript are none of a quote, and the message of a log of access is not what it is about.
    request = request_in(text)
    places = () if request else tuple(places_in(text))
    calls = tuple(map(dotted, calls_in(text)))
    is_plain = not calls and len(places) < 2 and not (request or method_in(text))  # noqa: PLR2004 - two places are a trace
    logged = message_in(text, has_place=bool(places)) if is_plain else ""
    return _Report(logged or text, request, places, calls, logged)


def _roles_in(words: Sequence[str]) -> frozenset[str]:
    """Return the names of the file roles asked for by words."""
    return frozenset(it.name for it in (*ROLES, GENERATED) if it.asked_by and any(map(it.asked_by.fullmatch, words)))


def _pasted(text: str) -> tuple[str, ...]:
    return tuple(it for side in sides_of(text) for it in pasted_in(side, is_prose=is_issue(text)))


def definitions_term(symbol: str) -> SparseTerms:
    """Return the term of all chunks defining a symbol; none for an operator, which has no word."""
    key = name_key(symbol)
    return label_term(key) if key and not is_operator(symbol) else _NO_TERMS


def roots_of(question: Question) -> list[str]:
    """Return strings; a lower-case name sharing a word with the question contains one of them.

    A stem is the beginning of its word, except for "queries" with the stem "query"; so a final "y" is cut.
    """
    return [word.removesuffix("y") for word in question.words]


def _symbol(text: str) -> str:
    text = _KEYWORD.sub("", text.strip().strip("`").strip(), count=1)
    # Twice, since arguments may have arguments.
    plain = _ARGUMENTS.sub("", _RECEIVER.sub(r"\1.", text, count=1))
    found = _SYMBOL.fullmatch(_ARGUMENTS.sub("", plain))
    has_letter = found is not None and _NOT_IN_KEY.sub("", found[1])
    return dotted(found[1]) if found and has_letter else ""


def _names_of_issue(text: str) -> SparseTerms:
    """Return the terms of chunks defining names in an issue's backticks; names in its title or called are too loose.

    An issue's blocks count here too, unlike in `named_in`: Markdown may stand in them.
    """
    if not is_issue(text):
        return _NO_TERMS
    return with_labels(_NO_TERMS, filter(None, map(name_key, names_in(text)[:MOST_NAMES])))


def _mentions(text: str) -> SparseTerms:
    found = _WORD.fullmatch(text.strip())
    return name_term(found[1]) if found and found[1].strip("_") else _NO_TERMS


def _lines(text: str) -> Lines | None:
    found = _PLACE.fullmatch(text)
    if not found:
        return None
    return Lines(found["path"].removeprefix("./"), int(found["first"]), int(found["last"] or found["first"]))
