"""Find the files answering a question about the project itself: its licence, its CI, its dependencies."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import PurePosixPath

from cqm.index.generations.generation import Generation
from cqm.index.manifest.rows import ChunkRow
from cqm.index.ranking.file_roles import role_of
from cqm.index.ranking.project import Files, Topic
from cqm.index.ranking.question import Question
from cqm.index.search.named.defining import NameLookup
from cqm.index.search.named.named_places import NOTHING, Pinned, counts
from cqm.index.store.base import PointFilter
from cqm.index.text.terms import stems

_MOST_READ = 12
"""Files of a topic to search for its lines."""
_MOST_CHUNKS = 40
"""Chunks of each file to search."""
_MOST_FILES = 5
_ASIDE = frozenset({"test", "example", "legacy"})
_ASIDE_FOLDERS = re.compile(
    r"(?:^|/)(?:(?:sandbox|templates?|node_modules)/|(?:docs?|website)/.*(?<!\.md)(?<!\.mdx)(?<!\.rst)(?<!\.adoc)$)",
    re.IGNORECASE,
)
"""Roles and folders of files of other projects than the one asked about."""


def about_project(lookup: NameLookup, question: Question) -> Question:
    """Return the question without its topic if it is the name of a symbol of the project's sources."""
    if not (question.topic and question.symbol):
        return question
    is_defined = any(it.role is None for it in lookup.of(question.symbol))
    return replace(question, topic=None) if is_defined else question


def project_files(lookup: NameLookup, question: Question, keep: PointFilter | None) -> Pinned:
    """Return the chunks answering a question about the project itself, one a file; none for other questions."""
    topic = question.topic
    if topic is None or (keep and (keep.sources or keep.issues or keep.kinds)):
        return NOTHING
    ids: dict[str, None] = {}
    for it in _ordered(lookup.generation, topic, question)[:_MOST_READ]:
        rows = [row for row in lookup.generation.manifest.chunks_of(it.path) if counts(row, keep)]
        if found := _answering(lookup, rows[:_MOST_CHUNKS], it.files):
            ids[found] = None
        if len(ids) == _MOST_FILES:
            break
    return Pinned(tuple(ids), {}) if ids else NOTHING


@dataclass(frozen=True, slots=True)
class _TopicFile:
    """A file of a topic, and its order among others: the least comes first.

    Attributes:
        is_aside: whether it is of another project than the one asked about.
        rank: among the files of the topic.
        unlike: the negative number of words of the question in its name.
        files: the topic's row of files it belongs to.
    """

    is_aside: bool
    rank: int
    unlike: int
    depth: int
    path: str
    files: Files


def _ordered(generation: Generation, topic: Topic, question: Question) -> list[_TopicFile]:
    files = _topic_files(generation, topic, question)
    return sorted(files, key=lambda it: (it.is_aside, it.rank, it.unlike, it.depth, it.path))


def _topic_files(generation: Generation, topic: Topic, question: Question) -> Iterator[_TopicFile]:
    for rank, files in enumerate(topic.files):
        found = generation.paths.selected(("topic", files.paths), partial(_of_topic, files), are_chunked=True)
        for path, is_aside in found.items():
            unlike = -len(question.words.intersection(stems(PurePosixPath(path).stem)))
            yield _TopicFile(is_aside, rank, unlike, path.count("/"), path, files)


def _of_topic(files: Files, paths: Sequence[str]) -> dict[str, bool]:
    """Return the paths of some files, each with whether it is of another project than the one asked about."""
    pattern = files.of_paths
    return {path: _is_aside(path) for path in paths if pattern.search(path)}


def _is_aside(path: str) -> bool:
    role = role_of(path)
    return (role is not None and role.name in _ASIDE) or bool(_ASIDE_FOLDERS.search(path))


def _answering(lookup: NameLookup, rows: Sequence[ChunkRow], files: Files) -> str:
    """Return the id of the first chunk of a file with an answering line; empty if none has one."""
    if not rows or not files.says:
        return rows[0].id if rows else ""
    generation = lookup.generation
    pattern = files.of_lines
    payloads = generation.store.payloads([row.id for row in rows], ("text", "content"))
    for row in rows:
        payload = payloads.get(row.id, {})
        if pattern.search(str(payload.get("content") or payload.get("text", ""))):
            return row.id
    return ""
