"""A page of results, and the answer made of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cqm.index.generations.generation import Generation
from cqm.index.manifest.facts import COMPLETE_FACT, UPDATED_FACT
from cqm.index.manifest.manifest import Manifest
from cqm.index.model.query import Answer, Confidence, FileState, Hit, Matched, Parent, SearchMode
from cqm.index.ranking.question import Question
from cqm.index.ranking.rank import Ranked
from cqm.index.search.matched import Naming, namings


@dataclass(frozen=True, slots=True)
class Page:
    """The part of an answer a search gives; the index adds its own state.

    Attributes:
        hits, next_cursor, mode, degraded, like, parents, confidence, matched, asked_names, in_english: as in `Answer`.
    """

    hits: tuple[Hit, ...]
    next_cursor: str
    mode: SearchMode
    degraded: str
    like: str = ""
    parents: tuple[Parent, ...] = ()
    confidence: Confidence = Confidence.HIGH
    matched: Matched | None = None
    asked_names: tuple[str, ...] = ()
    in_english: str = ""


def answer_of(page: Page, manifest: Manifest) -> Answer:
    """Return a page as an answer, with the state of its index."""
    files = manifest.counts("state")
    return Answer(
        hits=page.hits,
        next_cursor=page.next_cursor,
        mode=page.mode,
        degraded=page.degraded,
        files=files.get(FileState.INDEXED, 0),
        chunks=manifest.chunk_count(),
        complete=bool(manifest.fact(COMPLETE_FACT)),
        failed_files=files.get(FileState.FAILED, 0),
        updated_at=float(manifest.fact(UPDATED_FACT) or 0),
        like=page.like,
        parents=page.parents,
        confidence=page.confidence,
        matched=page.matched,
        asked_names=page.asked_names,
        in_english=page.in_english,
    )


def hits_of(
    generation: Generation,
    question: Question,
    shown: Sequence[Ranked],
    payloads: Mapping[str, Mapping[str, Any]],
    chances: Sequence[float | None],
    lines: Mapping[str, int],
    kinds: Sequence[str],
) -> tuple[Hit, ...]:
    """Return the results of a page as hits, named after their matching definitions.

    Parameters:
        payloads: their stored fields, by id.
        chances: of each to be the answer; None where unknown.
        lines: asked for, by id of the chunk.
        kinds: of symbols asked for.
    """
    chunks = [entry.candidate for entry in shown]
    contents = [payloads[chunk.id] for chunk in chunks]
    asked = [lines.get(chunk.id) for chunk in chunks]
    named = namings(generation, question, chunks, contents, asked, kinds)
    return tuple(map(_hit, shown, contents, named, chances, asked))


def _hit(
    entry: Ranked, payload: Mapping[str, Any], named: Naming | None, chance: float | None, asked: int | None
) -> Hit:
    chunk = entry.candidate
    return Hit(
        path=chunk.path,
        start_line=chunk.start_line,
        end_line=chunk.end_line,
        score=entry.score,
        symbol=named.symbol if named else chunk.symbol,
        kind=named.kind if named else chunk.kind,
        language=chunk.language,
        text=str(payload.get("text", "")),
        content=str(payload.get("content", "")),
        context=str(payload.get("context", "")),
        position=chunk.position,
        metadata={name: tuple(it) if isinstance(it, list) else it for name, it in payload.get("metadata", {}).items()},
        parts=entry.parts,
        line=named.line if named else None,
        signature=named.signature if named else "",
        extent=named.extent if named else None,
        chance=chance,
        asked_line=asked or None,
    )
