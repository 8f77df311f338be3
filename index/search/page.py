"""A page of results, and the answer made of it."""

from dataclasses import dataclass

from cqm.index.manifest.facts import COMPLETE_FACT, UPDATED_FACT
from cqm.index.manifest.manifest import Manifest
from cqm.index.model.query import Answer, Confidence, FileState, Hit, Matched, Parent, SearchMode


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
    """Return a page as an answer, with the state of the index that it is from."""
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
