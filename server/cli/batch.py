"""Answer many questions in one run: lines of JSON in, lines of JSON out, in the same order."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from cqm.index.model.errors import QueryError
from cqm.index.model.query import Answer, Query
from cqm.server.answers.as_json import hit_object, total_object
from cqm.server.console import emit, say


@dataclass(frozen=True, slots=True)
class Question:
    """A line of a batch: the caller's name of the question, and its text."""

    id: str | int
    text: str


def answer_batch(lines: Iterable[bytes], ask: Callable[[Query], Answer], like: Query, *, explain: bool) -> int:
    """Print the answer to each line; name bad lines on standard error, and return their number.

    Parameters:
        lines: objects with "id" and "query"; blank lines are skipped.
        ask: the search.
        like: limit, mode and filters of every question.
        explain: name the parts of each score.
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


def _numbered(lines: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    return ((number, line) for number, line in enumerate(lines, start=1) if line.strip())
