"""Answer many questions in one run: lines of JSON in, lines of JSON out, in the same order."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import BinaryIO

from cqm.index.model.errors import QueryError
from cqm.index.model.query import Answer, Query
from cqm.server.answers.as_json import hit_object, total_object
from cqm.server.console import emit, say


@dataclass(frozen=True, slots=True)
class Question:
    """A line of a batch: the caller's name of the question, and its text."""

    id: str | int
    text: str


_LONGEST = 1 << 20
"""Bytes of a line. A device such as /dev/zero has one without an end."""


def answer_batch(lines: BinaryIO, ask: Callable[[Query], Answer], like: Query, *, explain: bool) -> int:
    """Print the answer to each line; name bad lines on standard error, and return their number.

    Parameters:
        lines: objects with "id" and "query"; blank lines are skipped.
        like: limit, mode and filters of every question.
        explain: name the parts of each score.

    Raises:
        QueryError: a line is too long for a question.
    """
    bad = 0
    for number, line in _numbered(lines):
        try:
            question = parse_question(line)
            answer = ask(replace(like, text=question.text))
        except QueryError as error:
            bad += 1
            say(f"line {number}: {error}")
            continue
        results = [hit_object(hit, answer.in_english or question.text, explain=explain) for hit in answer.hits]
        total = {"total": total_object(answer.matched)} if answer.matched else {}
        english = {"in_english": answer.in_english} if answer.in_english else {}
        emit({"id": question.id, "results": results, "confidence": answer.confidence} | total | english)
    return bad


def parse_question(line: bytes) -> Question:
    """Parse a line of a batch.

    Raises:
        QueryError: it isn't a JSON object with "id" (text or whole number) and "query" (text).
    """
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise QueryError(f"expected JSON: {error}.") from error
    match value:
        case {"id": str() | int() as identity, "query": str() as text}:
            return Question(identity, text)
        case _:
            raise QueryError('expected an object with "id" and "query".')


def _numbered(lines: BinaryIO) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(iter(partial(lines.readline, _LONGEST), b""), start=1):
        if len(line) == _LONGEST:
            message = f"line {number}: expected an object of a question, at most {_LONGEST:,} bytes."
            raise QueryError(message, remedy="Write each question in a line of its own.")
        if line.strip():
            yield number, line
