"""Previews and chunks as JSON objects. Scripts depend on their names."""

from collections import defaultdict
from dataclasses import asdict
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from cqm.chunkers.model import Chunk, Definition
from cqm.server.console import plain

if TYPE_CHECKING:
    from cqm.server.preview.preview import Preview
from cqm.server.answers.as_json import JsonObject


def preview_object(made: "Preview") -> JsonObject:
    """Convert a preview: the chunks, warnings, and the strategy with its options."""
    chunks = made.report.chunks
    pairs = zip(chunks, made.exact_tokens or (0,) * len(chunks), strict=True)
    found: JsonObject = {
        "chunks": [chunk_object(chunk) | _present({"exact_tokens": n}) for chunk, n in pairs],
        "warnings": list(made.report.warnings),
        "strategy": made.choice.strategy,
        "options": dict(made.options),
        "statistics": plain(made.report.statistics),
    }
    further: JsonObject = _present({"recommended": made.choice.reason, "exact_tokens_of": made.model})
    return found | further


def chunk_object(chunk: Chunk) -> JsonObject:
    """Convert a chunk with all its facts; empty ones are left out, except the first six and `_PLACES`."""
    first: JsonObject = {
        "start_line": chunk.start_line,
        "end_line": chunk.end_line,
        "symbol": chunk.symbol,
        "kind": chunk.kind,
        "tokens": chunk.tokens,
        "text": chunk.text,
    }
    places = {name: getattr(chunk, name) for name in _PLACES}
    others: JsonObject = _present({name: getattr(chunk, name) for name in _OTHERS} | {"symbols": _symbols(chunk)})
    guessed: JsonObject = _present({"guessed": [it.name for it in chunk.definitions if it.is_guessed]})
    return first | places | others | guessed


def _symbols(chunk: Chunk) -> list[JsonObject]:
    """List the facts of symbols with the lines of their names, and definitions without facts, such as fields."""
    named = defaultdict[str, list[Definition]](list)
    for it in chunk.definitions:
        named[it.name].append(it)
    found = []
    for facts in chunk.symbols:
        of_name = named[facts.name]
        at = next((it for it in of_name if facts.start_line <= it.line <= facts.end_line), None)
        if at:
            of_name.remove(at)
        found.append({**asdict(facts), "line": at.line if at else 0})
    for it in chain.from_iterable(named.values()):
        place = {"start_line": it.first_line, "end_line": it.end_line, "line": it.line}
        found.append({"name": it.name, "kind": it.kind} | place)
    return sorted(found, key=itemgetter("start_line"))


_PLACES = ("id", "language", "strategy", "start", "end", "start_byte", "end_byte", "overlap_before", "overlap_after")


_OTHERS = ("context", "content", "parent", "children", "level", "defines", "metadata")


def _present(value: object) -> Any:  # noqa: ANN401 - of the value's own type
    """Convert a value to JSON types, without its empty parts: empty texts and lists, zero, false."""
    value = plain(value)
    if isinstance(value, dict):
        return {key: inner for key, inner in ((key, _present(it)) for key, it in value.items()) if inner}
    if isinstance(value, list):
        return [_present(it) for it in value]
    return value
