"""Find what handles a method of a service or a field of a schema, and where that is declared."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from cqm.index.generations.generation import Generation
from cqm.index.ranking.evidence import Candidate
from cqm.index.ranking.question import definitions_term
from cqm.index.search.contents.reading import first_lines
from cqm.index.store.base import TERMS, Nearest
from cqm.index.text.names.parts import dotted, last_part, name_key
from cqm.index.text.routes.services import AskedMethod, method_in
from cqm.index.text.stored_definitions import read_definitions

_MOST_CHUNKS, _MOST_LINES = 300, 10
_SCHEMAS = frozenset({"protobuf", "proto", "graphql"})
_STUB = re.compile(
    r"\.pb\.|_pb2|_pb\.|\.connect\.|_gen\.|generated|\.gw\.|(?:^|/)(?:gen|genproto|mocks?)/", re.IGNORECASE
)
_OF_SCHEMA = re.compile(r"query|queries|mutation|subscription|resolver|schema", re.IGNORECASE)
_ROOTS = {
    kind: re.compile(form, re.IGNORECASE)
    for kind, form in (("query", r"quer(?:y|ies)"), ("mutation", r"mutat(?:ion|e)"), ("subscription", r"subscri"))
}
"""Of the types that have the fields of an operation."""
_ROOT = re.compile("|".join(it.pattern for it in _ROOTS.values()), re.IGNORECASE)
_CALLER = re.compile(r"client|stub|mock|fake|unimplemented|unsafe|proxy", re.IGNORECASE)
_SERVER = re.compile(r"server|servicer|service|handler|api|impl|resolver|schema", re.IGNORECASE)
_WORD = re.compile(r"[A-Z][a-z0-9]+|[A-Z]+(?![a-z])|[a-z0-9]+")
_PLAIN = frozenset({"service", "api", "server", "v1", "v2"})


class _Rank(NamedTuple):
    """The order of a definition: false and few first."""

    is_aside: bool
    doubt: int
    is_caller: bool
    lacking: int
    is_plain: bool
    path: str
    line: int


class _Handler(NamedTuple):
    """A definition that may handle a call, to be sorted: the likeliest first."""

    rank: _Rank
    id: str


def handler_lines(generation: Generation, text: str) -> dict[str, int]:
    """Return the lines of what handles the call that a text names, then of its declaration, by id of their chunk.

        "/hipstershop.CartService/AddItem", "mutation AddItem { addItem(id: 1) { id } }"

    Empty if nothing of that name looks like it.

    Parameters:
        generation: to search.
        text: of the question.

    Raises:
        StoreError, ManifestError: the index cannot be read.
    """
    asked = method_in(text)
    if not asked:
        return {}
    return first_lines(((it.id, it.rank.line) for it in sorted(_handlers(generation, asked))), _MOST_LINES)


def _handlers(generation: Generation, asked: AskedMethod) -> Iterator[_Handler]:
    names = [asked.name] if asked.service else [asked.name, f"resolve_{asked.name}"]
    searches = [Nearest(TERMS, definitions_term(it), _MOST_CHUNKS) for it in names]
    ids = dict.fromkeys(id_ for found in generation.store.search(searches) for id_ in found)
    chunks = {it.id: it for it in generation.candidates.of([*ids])}
    keys = {name_key(it) for it in names}
    payloads = generation.store.payloads([*chunks], ["definitions"])
    for name, chunk in chunks.items():
        for it in read_definitions(payloads.get(name, {}).get("definitions", "")):
            if name_key(last_part(it.name)) in keys and (rank := _rank(asked, chunk, dotted(it.name), it.line)):
                yield _Handler(rank, name)


def _rank(asked: AskedMethod, chunk: Candidate, name: str, line: int) -> _Rank | None:
    """Order a definition: handlers, declarations, then stubs and what calls; None if it has nothing of the service."""
    outer, _, own = name.rpartition(".")
    where = f"{chunk.path} {outer}"
    lacking = _lacking_of_service(asked, chunk, outer) if asked.service else _lacking_of_schema(asked, where, own)
    if lacking is None:
        return None
    is_stub = _STUB.search(chunk.path) is not None or chunk.is_generated
    is_schema = chunk.language in _SCHEMAS
    is_plain = not (_SERVER.search(outer) if asked.service else own.lower().startswith("resolve") and outer)
    # What has but a word of the service comes after the declaration.
    is_doubtful = bool(asked.service and lacking and not _SERVER.search(where))
    return _Rank(
        chunk.role is not None or is_stub,
        2 * is_doubtful + is_schema,
        _CALLER.search(where) is not None,
        lacking,
        is_plain,
        chunk.path,
        chunk.start_line + line,
    )


def _lacking_of_schema(asked: AskedMethod, where: str, own: str) -> int | None:
    """Return 1 if a definition lacks the kind of the operation, else 0; None if it is nothing of a schema."""
    is_fitting = _OF_SCHEMA.search(where) is not None or own.lower().startswith("resolve")
    root = _ROOTS.get(asked.kind, _ROOT)
    return int(root.search(where) is None) if is_fitting else None


def _lacking_of_service(asked: AskedMethod, chunk: Candidate, outer: str) -> int | None:
    """Return how many words of its service a definition lacks; None if it is of another one."""
    if chunk.language in _SCHEMAS:
        return 0 if outer.endswith(asked.service) else None
    where = f"{chunk.path} {outer}"
    words = {word.lower() for word in _WORD.findall(asked.service)} - _PLAIN
    lacking = len([word for word in words if word not in where.lower()])
    return lacking if lacking < len(words) or _SERVER.search(where) else None
