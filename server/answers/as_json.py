"""Results as JSON objects. Scripts depend on their names: a name here is a promise."""

from dataclasses import fields

from cqm.index.model.query import Answer, FileProblem, Hit, Matched, Query
from cqm.index.model.secrets import RedactedFile
from cqm.index.model.status import IndexStatus
from cqm.index.text.terms import WORD, query_terms, terms_of

JsonObject = dict[str, object]


def answer_object(query: Query, answer: Answer, *, explain: bool = False) -> JsonObject:
    """Convert an answer: the query, its results, and the facts about the index they depend on."""
    return (
        {
            "query": query.text or query.like,
            "results": [hit_object(hit, answer.in_english or query.text, explain=explain) for hit in answer.hits],
            "confidence": answer.confidence,
            "mode": answer.mode,
            "degraded": answer.degraded,
            "files": answer.files,
            "chunks": answer.chunks,
            "complete": answer.complete,
            "failed_files": answer.failed_files,
            "updated_at": answer.updated_at,
            "freshness": answer.freshness,
            "next_cursor": answer.next_cursor,
        }
        | ({"like": answer.like} if answer.like else {})
        | ({"in_english": answer.in_english} if answer.in_english else {})
        | ({"total": total_object(answer.matched)} if answer.matched else {})
    )


def total_object(matched: Matched) -> JsonObject:
    """Convert the counts of a search for a text or pattern."""
    names = ("matches", "lines", "files", "searched", "unread")
    return {name: getattr(matched, name) for name in names} | {"complete": matched.is_complete}


def answer_facts(answer: Answer) -> JsonObject:
    """Facts telling a program how far to rely on an answer; it shows the answer's text to a model."""
    return {
        "confidence": answer.confidence,
        "freshness": answer.freshness,
        "complete": answer.complete,
        "failed_files": answer.failed_files,
        "updated_at": answer.updated_at,
        "degraded": answer.degraded,
    }


def status_facts(status: IndexStatus) -> JsonObject:
    """Facts about an index for a program: its freshness, running work, and a generation being built."""
    return {name: getattr(status, name) for name in _FACTS}


_FACTS = (
    *("root", "state", "freshness", "complete", "pending", "commits_behind", "updated_at", "running", "stopped"),
    *("building", "damage", "unavailable"),
)


def hit_object(hit: Hit, question: str, *, explain: bool = False) -> JsonObject:
    """Convert one result, with its content where its text differs, and its enclosing declarations.

    Parameters:
        question: its words are highlighted, unless matches of a text or pattern are; empty for none.
        explain: add the named parts of its score.
    """
    found: JsonObject = {
        "path": hit.path,
        "start_line": hit.start_line,
        "end_line": hit.end_line,
        "score": hit.score,
        "symbol": hit.symbol,
        "kind": hit.kind,
        "language": hit.language,
        "text": hit.text,
        "line": hit.line,
        "signature": hit.signature,
        "highlights": hit.matches or (highlights(hit, question) if question else []),
        "chance": hit.chance,
    }
    if hit.content:
        found["content"] = hit.content
    if hit.context:
        found["context"] = hit.context
    if hit.metadata:
        found["metadata"] = dict(hit.metadata)
    return found | {"parts": dict(hit.parts)} if explain else found


def highlights(hit: Hit, question: str) -> list[tuple[int, int, int]]:
    """Find the words of a question in a result: line, first character and the one after the last, counted from 0.

    An identifier counts as a whole if one of its parts is in the question. A result with encoded content has none.
    """
    wanted = frozenset(query_terms(question).indices)
    if hit.content or not wanted:
        return []
    return [
        (number, *word.span())
        for number, line in enumerate(hit.text.split("\n"), hit.start_line)
        for word in WORD.finditer(line)
        if not wanted.isdisjoint(terms_of(word[0]))
    ]


def status_object(status: IndexStatus, **listed: tuple[FileProblem, ...] | tuple[RedactedFile, ...]) -> JsonObject:
    """Convert a status with lists of files: "skipped_files", or "secrets" with files having redacted ones."""
    return {field.name: getattr(status, field.name) for field in fields(status)} | listed
