"""Read a name that a program puts together of several: a metric with its namespace, subsystem and suffix."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

_LONGEST = 400
_MOST_PARTS, _MOST_MATCHES = 12, 40
_NAME = r"(?:[a-z][a-z0-9]*(?:[_:.][a-z0-9]+)*_[a-z0-9]+(?:[_:.][a-z0-9]+)*|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)"
_ALONE = re.compile(rf"[`'\"]?(?P<name>{_NAME})[`'\"]?")
_VARIABLE = re.compile(
    r"(?:(?:export|set|ENV|ARG|-e|--env|-)[ \t]{1,4})?(?P<name>[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:(?:=|: ?)\S{0,200})?"
)
"""A variable of the environment as shells, images and files of Compose set it."""
_EXPOSED = re.compile(rf"(?P<name>{_NAME})\{{[^{{}}\n]{{0,300}}\}}(?: [-+\d.eE]+(?: \d+)?)?")
"""A sample as a program exposes it: `name{code="200"} 17`."""
_SELECTED = re.compile(rf"(?<![\w.:])(?P<name>{_NAME})(?=\s{{0,4}}(?:[{{\[)<>=!/*+-]|$))")
_FUNCTION = re.compile(
    r"\b(?:rate|irate|increase|sum|avg|min|max|count|delta|deriv|topk|bottomk|absent|changes|histogram_quantile|quantile"
    r"|(?:sum|avg|min|max|count|last)_over_time|predict_linear|resets)\s{0,2}(?:(?:by|without)\s{0,2}\([^()]{0,200}\)\s{0,2})?\("
)
_LABELS = re.compile(
    r"\{[^{}]{0,400}\}|\[[\w:]{1,20}\]|\b(?:by|without|on|ignoring|group_left|group_right)\s{0,2}\([^()]{0,200}\)"
)
_SNAKE = r"[`'\"]?(?P<%s>[a-z][a-z0-9]*(?:_[a-z0-9]+)+)[`'\"]?(?![\w/-])"
_KIND = r"(?:metric|counter|gauge|histogram|time series|alert)"
_TOLD = re.compile(
    rf"\b{_KIND}s? (?:named |called |on |for )?{_SNAKE % 'after'}|(?<![\w.:/-]){_SNAKE % 'before'} {_KIND}\b",
    re.IGNORECASE,
)
"""A name that a sentence calls a metric."""
_ADDED = re.compile(r"_(?:total|bucket|sum|count|created|max|info|seconds|bytes|ratio)$")
"""Suffixes that libraries of metrics add to a name."""
_MOST_ADDED = 2
_SIGNS = re.compile(r"[_:.]")
_BETWEEN = r"[_:.-]"
_VALUE = r"(?:%[sv]|[#$]?\{[^{}\n]{0,60}\}|\$\w{1,40})?"
_LEAST_ALONE = 4
"""Characters of a literal of one part."""


class JoinedName(NamedTuple):
    """A name of several parts.

    Attributes:
        name: as written.
        parts: in lower case.
        form: of a literal that is the end of the name, in quotes; its group `own` holds the parts.
    """

    name: str
    parts: tuple[str, ...]
    form: re.Pattern[str]


class Literal(NamedTuple):
    """A literal that is an end of a name.

    Attributes:
        at: where it stands in a text.
        first, last: of the parts that it has, the last excluded; what a library adds is behind them.
        is_written: whether it has the name's own signs between its parts.
    """

    at: int
    first: int
    last: int
    is_written: bool


def joined_in(text: str) -> JoinedName | None:
    """Return the name that a question consists of, or that a query of metrics has; None for other questions.

    "alertmanager_notifications_total", "rate(http_requests_total{job="x"}[5m])", "alert on node_load"
    """
    text = text.strip()
    if not text or len(text) > _LONGEST or "\n" in text or not _SIGNS.search(text):
        return None
    names = {*_names(text)}
    name = names.pop() if len(names) == 1 else ""
    parts = _SIGNS.split(name.lower())
    return JoinedName(name, tuple(parts), _form(parts)) if 1 < len(parts) <= _MOST_PARTS else None


def _names(text: str) -> Iterator[str]:
    whole = _ALONE.fullmatch(text) or _EXPOSED.fullmatch(text) or _VARIABLE.fullmatch(text)
    if whole:
        yield whole["name"]
    elif _FUNCTION.search(text):
        bare = _LABELS.sub(" ", text)
        yield from (it["name"] for it in _SELECTED.finditer(bare) if not bare.startswith("(", it.end()))
    else:
        yield from (it["after"] or it["before"] for it in _TOLD.finditer(text))


def _form(parts: Sequence[str]) -> re.Pattern[str]:
    ends = {tuple(parts[first:last]) for last in _lasts(parts) for first in range(last)}
    kept = [it for it in ends if len(it) > 1 or len(it[0]) >= _LEAST_ALONE]
    forms = sorted((_BETWEEN.join(map(re.escape, it)) for it in kept), key=len, reverse=True)
    return re.compile(rf"[\"'`]{_VALUE}[_:.]?(?P<own>{'|'.join(forms)})[\"'`]", re.IGNORECASE)


def _lasts(parts: Sequence[str]) -> Iterator[int]:
    """Yield the ends of a name without the suffixes that a library may have added."""
    name, last = "_".join(parts), len(parts)
    yield last
    for _ in range(_MOST_ADDED):
        if last < 3 or not _ADDED.search(name):  # noqa: PLR2004 - something has to stay
            return
        name, last = name.rpartition("_")[0], last - 1
        yield last


def literals_of(name: JoinedName, text: str) -> Iterator[Literal]:
    """Yield the literals of a text that are an end of a name, first to last."""
    for found in islice(name.form.finditer(text), _MOST_MATCHES):
        own = re.sub(r"[_:.-]", "", found["own"]).lower()
        for last in _lasts(name.parts):
            whole = "".join(name.parts[:last])
            if whole.endswith(own):
                first = next(n for n in range(last) if "".join(name.parts[n:last]) == own)
                yield Literal(found.start("own"), first, last, "." not in found["own"] and "-" not in found["own"])
                break
