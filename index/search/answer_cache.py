"""Cache answers and counts; they are valid until the index changes."""

import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from cqm.index.cache import Cache
from cqm.index.generations.generation import Generation
from cqm.index.model.freshness import NOT_KNOWN
from cqm.index.model.options import IndexOptions
from cqm.index.model.query import Answer, Confidence, Hit, Parent, Query, SearchMode
from cqm.index.status.status import Statistics, count

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Value = TypeVar("Value")

_ANSWERS, _STATISTICS = "answers", "statistics"
_VERSION = 11
"""Increase it with every change of ranking or of the fields of an answer."""


class AnswerCache:
    """Answers by question and counts, by the state of the index.

    Any changed document invalidates all of them, because it moves every score.

    Parameters:
        options: of the index; some of them shape an answer.
    """

    def __init__(self, cache: Cache, options: IndexOptions) -> None:
        self._cache = cache
        self._shape = repr((_VERSION, options.rerank))

    def key(self, generation: Generation, query: Query) -> str:
        """Make the key of an answer: everything it depends on."""
        return repr((generation.manifest.state(), self._shape, query))

    def get(self, key: str) -> Answer | None:
        """Return the cached answer, if there is one."""
        return _read(_answer, self._cache.get(_ANSWERS, [key]).get(key))

    def put(self, key: str, answer: Answer) -> None:
        """Cache an answer, unless it is degraded; then the next search may find a better one."""
        if self._cache.enabled and not answer.degraded:
            self._cache.put(_ANSWERS, {key: _adapter().dump_json(answer)})

    def statistics(self, generation: Generation) -> Statistics:
        """Count the contents of a generation, at most once for each of its states."""
        key = generation.manifest.state()
        known = _read(_statistics, self._cache.get(_STATISTICS, [key]).get(key))
        if known is not None:
            return known
        counted = count(generation.manifest)
        self._cache.put(_STATISTICS, {key: json.dumps(counted).encode()})
        return counted


@cache
def _adapter() -> "TypeAdapter[Answer]":
    """Make the writer of answers: it takes 24 us for one of 19 KB, `pydantic_core.to_json` 35."""
    from pydantic import TypeAdapter  # start-up time

    return TypeAdapter(Answer)


def _read(make: Callable[[Any], Value], found: bytes | None) -> Value | None:
    """Read a cached value; None if there is none, or it is not ours."""
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
    # Its freshness is no longer known.
    told = {"mode": SearchMode(values["mode"]), "confidence": Confidence(values["confidence"])}
    asked = tuple(values["asked_names"])
    read = {"hits": hits, "parents": parents, "freshness": NOT_KNOWN, "asked_names": asked}
    return Answer(**{**values, **told, **read})


def _hit(values: Mapping[str, Any]) -> Hit:
    metadata = {name: tuple(fact) if isinstance(fact, list) else fact for name, fact in values["metadata"].items()}
    extent = values["extent"] and tuple(values["extent"])
    return Hit(**{**values, "metadata": metadata, "matches": (), "extent": extent})
