"""Read files of questions with known answers: one JSON object a line.

    {"id": "flask-12", "query": "sends a file to the client", "tree": "flask", "language": "python",
     "category": "doc", "split": "train", "apart": false, "targets": [{"path": "helpers.py", "start": 396, "end": 520}]}

`id`, `query` and `targets` are needed. `tree` is the folder to search, below the root; paths are relative to it. A
target without `start` and `end` (1-based, inclusive) is a whole file. `repo` and `relevant` may stand for `tree` and
`targets`, as in semble's public benchmark; a line with `"usable": false` is left out.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from cqm.index.evaluation.evaluation import Target, Topic
from cqm.index.model.errors import TopicError

_FORMAT = 'Each line is an object with "id", "query" and "targets": [{"path", "start", "end"}, ...].'


def read_topics(lines: Iterable[bytes | str]) -> Iterator[Topic]:
    """Read the questions of a file; blank lines are skipped.

    Raises:
        TopicError: a line is not valid, or an id occurs twice.
    """
    seen: set[str] = set()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        fields = _fields(line, number)
        if fields.get("usable") is False:
            continue
        topic = _topic(fields, number)
        if topic.id in seen:
            raise TopicError(f'line {number}: "id" {topic.id!r}: expected each id once.', remedy="Rename one.")
        seen.add(topic.id)
        yield topic


def _fields(line: bytes | str, number: int) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise TopicError(f"line {number}: not JSON: {error}.", remedy=_FORMAT) from error
    if not isinstance(value, dict):
        raise TopicError(f"line {number}: expected an object.", remedy=_FORMAT)
    return value


def _topic(fields: Mapping[str, Any], number: int) -> Topic:
    targets = fields.get("targets", fields.get("relevant"))
    if not isinstance(targets, list) or not targets:
        raise TopicError(f'line {number}: "targets": expected a list of at least one.', remedy=_FORMAT)
    text = {name: fields.get(name, "") for name in ("query", "language", "category", "split")}
    text |= {"id": fields.get("id", ""), "tree": fields.get("tree", fields.get("repo", ""))}
    apart = fields.get("apart")
    for name, value in text.items():
        if not isinstance(value, str) or (name in ("id", "query") and not value.strip()):
            raise TopicError(f'line {number}: "{name}" {value!r}: expected text.', remedy=_FORMAT)
    if not (apart is None or isinstance(apart, bool)):
        raise TopicError(f'line {number}: "apart" {apart!r}: expected true or false.', remedy=_FORMAT)
    return Topic(
        text["id"],
        text["query"],
        text["tree"],
        text["language"],
        text["category"],
        tuple(_target(target, number) for target in targets),
        text["split"],
        apart,
    )


def _target(value: object, number: int) -> Target:
    match value:
        case {"path": str() as path, "start": int() as start, "end": int() as end} if (
            path and 1 <= start <= end and not isinstance(start, bool) and not isinstance(end, bool)
        ):
            return Target(path, start, end)
        case {"path": str() as path, **rest} if path and rest.get("start") is None and rest.get("end") is None:
            return Target(path)
        case _:
            raise TopicError(
                f'line {number}: "targets" {value!r}: expected a path, with start and end or without.', remedy=_FORMAT
            )
