"""Answers and counts of a while ago: they hold as long as the index has not changed since."""

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, TypeVar

from cqm.index.cache import Cache
from cqm.index.generations.generation import Generation
from cqm.index.model.freshness import NOT_KNOWN
from cqm.index.model.options import IndexOptions
from cqm.index.model.query import Answer, Hit, Parent, Query, SearchMode
from cqm.index.status.status import Statistics, count

Value = TypeVar("Value")

_ANSWERS, _STATISTICS = "answers", "statistics"
_VERSION = 4
"""Grows with every change of ranking or of what an answer holds."""


class AnswerCache:
    """Answers by question, and counts, by the state of the index.

    A change of any document makes all of them old: it moves every score.

    Parameters:
        cache: where they are kept.
        options: of the index, of which some shape an answer.
    """

    def __init__(self, cache: Cache, options: IndexOptions) -> None:
        self._cache = cache
        self._shape = repr((_VERSION, options.rerank))

    def key(self, generation: Generation, query: Query) -> str:
        """What an answer depends on."""
        return repr((generation.manifest.state(), self._shape, query))

    def get(self, key: str) -> Answer | None:
        """The answer to a question, if it was given before."""
        return _read(_answer, self._cache.get(_ANSWERS, [key]).get(key))

    def put(self, key: str, answer: Answer) -> None:
        """Keep an answer, unless it could be better: then it is to be found anew."""
        if not answer.degraded:
            self._cache.put(_ANSWERS, {key: json.dumps(answer, default=_fields).encode()})

    def statistics(self, generation: Generation) -> Statistics:
        """What a generation holds, counted at most once a state of it."""
        key = generation.manifest.state()
        known = _read(_statistics, self._cache.get(_STATISTICS, [key]).get(key))
        if known is not None:
            return known
        counted = count(generation.manifest)
        self._cache.put(_STATISTICS, {key: json.dumps(counted).encode()})
        return counted


def _fields(value: Answer | Hit | Parent) -> dict[str, object]:
    """A dataclass for JSON: unlike `asdict`, without copying what is in it."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


def _read(make: Callable[[Any], Value], found: bytes | None) -> Value | None:
    """A value that was kept; None for nothing, and for what others may have put there."""
    try:
        return make(json.loads(found)) if found else None
    except (ValueError, TypeError, LookupError, AttributeError):
        return None


def _statistics(values: Mapping[str, Mapping[str, Any]]) -> Statistics:
    counted = {name: {key: int(number) for key, number in counts.items()} for name, counts in values.items()}
    return {name: counted[name] for name in ("files", "languages", "skipped", "coverage", "redacted")}


def _answer(values: Mapping[str, Any]) -> Answer:
    hits = tuple(map(_hit, values["hits"]))
    parents = tuple(Parent(**{**it, "others": tuple(map(_hit, it["others"]))}) for it in values["parents"])
    # How fresh it was is no longer so.
    kept = {**values, "hits": hits, "parents": parents, "mode": SearchMode(values["mode"])}
    return Answer(**{**kept, "freshness": NOT_KNOWN})


def _hit(values: Mapping[str, Any]) -> Hit:
    metadata = {name: tuple(fact) if isinstance(fact, list) else fact for name, fact in values["metadata"].items()}
    return Hit(**{**values, "metadata": metadata})
