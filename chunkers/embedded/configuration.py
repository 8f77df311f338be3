"""Name the programs in YAML, such as jobs and steps of CI, services and tasks, and functions of shell scripts there."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cqm.chunkers.embedded.parts import Name, with_names
from cqm.chunkers.model import Piece
from cqm.chunkers.structured.key_paths import scalar_of
from cqm.chunkers.structured.spans_of_json import ARRAY, OBJECT, Node, member

_LOOKS_LIKE = re.compile(
    r"^(?:jobs|services|kind|stages|script|steps) *:|^[ \t]{1,40}script *:|^-[ \t]{1,20}(?:name|hosts) *:", re.MULTILINE
)
_HEAD = 20_000
_MOST_DEPTH = 6
_LONGEST = 100

_SCRIPTS = frozenset({"run", "script", "before_script", "after_script", "shell", "command"})
_FUNCTION = re.compile(
    r"^[ \t]*(?:function[ \t]+)?(?P<name>[A-Za-z_][\w-]{0,100})[ \t]*\(\)[ \t]*\n?[ \t]*\{", re.MULTILINE
)
_TASKS = frozenset({"tasks", "handlers", "pre_tasks", "post_tasks", "block", "rescue", "always", "roles"})

# Keys of a job, and keys other than jobs in a file of GitLab CI.
_OF_JOBS = frozenset({"runs-on", "steps", "uses", "docker", "job", "pool"})
_NO_JOBS = frozenset({"default", "image", "include", "services", "stages", "variables", "workflow", "cache"})


class _Found(NamedTuple):
    # A named entry, and the node with its name.
    name: str
    kind: str
    node: Node
    at: Node


def with_programs(text: str, pieces: Sequence[Piece], root: Node) -> list[Piece]:
    """Add the symbols of a YAML configuration to its pieces: `build` of `jobs`, a step's or task's name, a service."""
    if not _LOOKS_LIKE.search(text, 0, _HEAD):
        return [*pieces]
    names = [
        Name(it.name, it.kind, it.node.entry, it.node.end, text.find(it.name, it.at.entry, it.at.end))
        for it in _found(text, root)
        if it.name.strip() and len(it.name) <= _LONGEST and it.name.isprintable() and "{{" not in it.name
    ]
    named = with_names(text, pieces, names)
    # A piece keeps the path of keys as its name.
    return [piece._replace(symbol=old.symbol, kind=old.kind) for piece, old in zip(named, pieces, strict=True)]


def with_functions(text: str, pieces: Sequence[Piece]) -> list[Piece]:
    """Add the shell functions of a Dockerfile, in `RUN` and documents in place, to its pieces."""
    found = _FUNCTION.finditer(text)
    return with_names(text, pieces, [Name(it["name"], "function", it.start("name"), it.end()) for it in found])


def _found(text: str, root: Node) -> Iterator[_Found]:
    keys = {child.key: child for child in root.children}
    if "jobs" in keys and any(it.key in _OF_JOBS for job in keys["jobs"].children for it in job.children):
        yield from _jobs(text, keys["jobs"].children)
    elif "stages" in keys or any(_is_job(child) for child in root.children):
        yield from _jobs(text, [it for it in root.children if it.key not in _NO_JOBS and _is_job(it)])
    if (services := keys.get("services")) and "jobs" not in keys and services.kind == OBJECT:
        yield from (_Found(it.key, "service", it, it) for it in services.children if it.children)
    if "steps" in keys:
        yield from _steps(text, keys["steps"])
    for document in [root, *root.children]:
        kind, name = member(document, "kind"), member(document, "metadata", "name")
        if kind and name and member(document, "apiVersion"):
            yield _Found(scalar_of(text, name), scalar_of(text, kind).lower(), document, name)
    if root.kind == ARRAY:
        yield from _tasks(text, root, 0)


def _is_job(node: Node) -> bool:
    return any(child.key in ("script", "trigger") for child in node.children)


def _jobs(text: str, jobs: Sequence[Node]) -> Iterator[_Found]:
    for job in jobs:
        yield _Found(job.key, "job", job, job)
        for child in job.children:
            if child.key == "steps":
                yield from _steps(text, child)
            elif child.key in _SCRIPTS:
                yield from _functions(text, child)


def _steps(text: str, steps: Node) -> Iterator[_Found]:
    for step in steps.children:
        for child in step.children:
            if child.key in ("name", "displayName"):
                yield _Found(scalar_of(text, child), "step", step, child)
            elif child.key in _SCRIPTS:
                yield from _functions(text, child)


def _tasks(text: str, tasks: Node, depth: int) -> Iterator[_Found]:
    for task in tasks.children:
        for child in task.children:
            if child.key == "name" and any(it.key != "name" for it in task.children):
                yield _Found(scalar_of(text, child), "task", task, child)
            elif child.key in _TASKS and child.kind == ARRAY and depth < _MOST_DEPTH:
                yield from _tasks(text, child, depth + 1)
            elif child.key in _SCRIPTS:
                yield from _functions(text, child)


def _functions(text: str, script: Node) -> Iterator[_Found]:
    for match in _FUNCTION.finditer(text, script.start, script.end):
        start = match.start("name")
        node = Node(OBJECT, start, match.end(), entry=start)
        yield _Found(match["name"], "function", node, node)
