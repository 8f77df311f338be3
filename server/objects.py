"""Results as JSON objects. Scripts depend on their names: a name here is a promise."""

from dataclasses import fields

from cqm.chunkers.model import ChunkReport
from cqm.index.model import Answer, FileProblem, Hit, IndexStatus, Query

JsonObject = dict[str, object]


def answer_object(query: Query, answer: Answer, *, explain: bool = False) -> JsonObject:
    """An answer: the query, its results, and the facts about the index that they depend on."""
    return {
        "query": query.text,
        "results": [hit_object(hit, explain=explain) for hit in answer.hits],
        "mode": answer.mode,
        "degraded": answer.degraded,
        "files": answer.files,
        "chunks": answer.chunks,
        "complete": answer.complete,
        "failed_files": answer.failed_files,
        "updated_at": answer.updated_at,
        "next_cursor": answer.next_cursor,
    }


def hit_object(hit: Hit, *, explain: bool = False) -> JsonObject:
    """One result, with its content where that is not its text; with `explain`, the named parts of its score as well."""
    found: JsonObject = {
        "path": hit.path,
        "start_line": hit.start_line,
        "end_line": hit.end_line,
        "score": hit.score,
        "symbol": hit.symbol,
        "kind": hit.kind,
        "language": hit.language,
        "text": hit.text,
    }
    if hit.content:
        found["content"] = hit.content
    return found | {"parts": dict(hit.parts)} if explain else found


def preview_object(report: ChunkReport) -> JsonObject:
    """The chunks of one file, and what there is to warn of."""
    chunks = [
        {
            "start_line": chunk.start_line,
            "end_line": chunk.end_line,
            "symbol": chunk.symbol,
            "kind": chunk.kind,
            "tokens": chunk.tokens,
            "text": chunk.text,
        }
        for chunk in report.chunks
    ]
    return {"chunks": chunks, "warnings": list(report.warnings)}


def status_object(status: IndexStatus, skipped: tuple[FileProblem, ...]) -> JsonObject:
    """A status with every skipped file."""
    return {field.name: getattr(status, field.name) for field in fields(status)} | {"skipped_files": skipped}
