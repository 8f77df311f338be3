"""Answer a query: candidates, features, ranking, exact matches, page."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from cqm.index.embedding.routes import Routes
from cqm.index.generations.generation import Generation
from cqm.index.model.errors import EmbeddingError, RerankError
from cqm.index.model.options import RerankOptions
from cqm.index.model.query import Confidence, Query, SearchMode, check, page_start
from cqm.index.ranking.confidence import KNOWN_SPACE, Judgement, chance_of
from cqm.index.ranking.exact import exact_first, pinned_first
from cqm.index.ranking.question import Question, read_question
from cqm.index.ranking.rank import ALIKE, Ranked, by_meaning, falling, rank, weights_for
from cqm.index.rerank import Reranker
from cqm.index.rerank.order import reordered
from cqm.index.rerank.reader import READ, read_together
from cqm.index.rerank.words import DEPTH, LEAST_SENTENCE, read_again
from cqm.index.search.candidates import Found, Wanted, for_example, for_question, point_filter
from cqm.index.search.fairness import Turns
from cqm.index.search.filters import Filtered, check_nothing, with_filters
from cqm.index.search.in_english import TELLING, Result, confidence_of, is_answered, is_better
from cqm.index.search.judging import Seen, is_of_others, judged
from cqm.index.search.matched import definitions_first, without_other_kinds
from cqm.index.search.named.defining import NameLookup
from cqm.index.search.named.in_sentence import about_subject
from cqm.index.search.named.named_places import NOTHING, Names, Pinned, pinned_by, read_names
from cqm.index.search.named.project_files import about_project, project_files
from cqm.index.search.page import Page, hits_of
from cqm.index.search.similar import Example, find_example
from cqm.index.search.whole_symbols import parents_of
from cqm.index.text.foreign.english import in_english
from cqm.index.tracing import note, traced

if TYPE_CHECKING:
    from cqm.index.search.candidates import Vectors

_ATTEMPTS = 3
"""Attempts of a search if updates end in the middle of it."""
_DEPTHS = (1, 4, 20)
"""Depths of a search one after the other, as multiples of the usual one."""
SHOWN = ("text", "content", "context", "metadata", "definitions")
"""Payload fields of a hit."""
_READ = ("path", "text", "content")
_JUDGED = 10
"""Results for judging an answer, on any page of it."""


@dataclass(frozen=True, slots=True)
class Searching:
    """Everything a search needs beside the query.

    Attributes:
        routes: the models that embed the question; None without any.
        reranker: None for the first stage's order.
        turns: held while a search keeps the processor busy, given back while it waits for a model. None for none.
        root: of the index, absolute; paths of a trace may begin with it.
    """

    generation: Generation
    routes: Routes | None = None
    reranker: Reranker | None = None
    rerank: RerankOptions = field(default_factory=RerankOptions)
    turns: Turns | None = None
    root: str = ""


@traced("cqm.search")
def find(searching: Searching, query: Query) -> Page:
    """Search one generation.

    A question of another language is asked in English too, unless its answer is sure: named, quoted, or a text in that
    language. If such a text is among the first results, the likelier answer counts; else the English, if it is one.

    Raises:
        QueryError: a parameter of the query is not valid, or the index has no language, kind or path asked for.
    """
    asked = _read(searching, query)
    text = asked.query.text
    own = _answered(searching, asked)
    if not (english := in_english(text)) or is_answered(first := own.first(), own.judgement, text):
        return own.page
    again = _answered(searching, _read(searching, replace(asked.query, text=english.text)))
    if not is_better(again.judgement, own.judgement, first, text):
        return own.page
    told = _joined("; ", asked.filtered.told, again.page.degraded)
    confidence = confidence_of(again.judgement, english)
    return replace(again.page, degraded=told, in_english=english.text, confidence=confidence)


def _answered(searching: Searching, asked: "_Asked") -> "_Answered":
    """Answer a query as it was read, and judge the answer.

    Large and later pages may need more results than the first look finds; so may copies of one text, which count once.
    Deeper looks follow; their new results are appended, so that pages fit together.
    """
    generation, query = searching.generation, asked.query
    first = page_start(query.cursor)
    end = first + query.limit
    with searching.turns or nullcontext():
        look = _look(searching, asked, first, end)
        nothing = "" if look.results else check_nothing(generation, asked.filtered)
        judgement, failed = _judgement(generation, asked, look)
        chances = [None if asked.example else round(chance_of(judgement, first + n), 3) for n in range(len(look.shown))]
        kinds = look.wanted.keep.kinds if look.wanted.keep else ()
        hits = hits_of(generation, look.wanted.question, look.shown, look.payloads, chances, look.pinned.lines, kinds)
        parts = [it.candidate for it in look.shown if not look.payloads[it.candidate.id].get("content")]
        cursor = str(end) if end < len(look.results) else ""
        told = _joined("; ", asked.degraded, asked.filtered.told, nothing, asked.names.note)
        told = _joined(" ", told, look.unread, failed)
        label = asked.example.label if asked.example else ""
        note(hits=len(hits))
        parents, confidence = parents_of(generation, parts), judgement.confidence
        page = Page(hits, cursor, look.wanted.mode, told, label, parents, confidence, asked_names=asked.keys)
        return _Answered(page, judgement, look)


def _joined(between: str, *texts: str) -> str:
    return between.join(filter(None, texts))


@dataclass(frozen=True, slots=True)
class _Asked:
    """A query as it was read.

    Attributes:
        filtered: the query, and what of it are filters.
        example: the chunks that it means; None for a question.
        names: the question, with the names that it consists of.
        lookup: remembers the chunks that define these.
        keys: of the names that the question may be as it is written.
        root: of the index.
        degraded: the reason if some are missing.
    """

    filtered: Filtered
    example: Example | None
    names: Names
    lookup: NameLookup
    keys: tuple[str, ...]
    vectors: "Vectors"
    degraded: str
    root: str = ""

    @property
    def query(self) -> Query:
        """The query without its filters."""
        return self.filtered.query

    @property
    def is_pinning(self) -> bool:
        """Whether chunks may come first because it names them."""
        return not self.example and self.query.mode is not SearchMode.SEMANTIC


def _read(searching: Searching, query: Query) -> _Asked:
    """Read a query; see `find` for the errors."""
    generation = searching.generation
    filtered = with_filters(generation, query, searching.root)
    query = filtered.query
    check(query)
    question = read_question(query.like or query.text)
    example = find_example(generation, query, question, searching.root)
    vectors, degraded = (
        _vectors_of(example, query) if example else embedded(searching, replace(query, text=question.said))
    )
    lookup = NameLookup(generation)
    keys = tuple(sorted(question.keys)) if query.text else ()
    asked = _Asked(filtered, example, Names(question), lookup, keys, vectors, degraded, searching.root)
    if not asked.is_pinning:
        return asked
    names = read_names(lookup, question, searching.root)
    question = about_project(lookup, about_subject(generation, names.question))
    return replace(asked, names=names._replace(question=question))


@dataclass(frozen=True, slots=True)
class _Look:
    """The results of a query.

    Attributes:
        wanted, pinned: the search.
        results: best first.
        payloads: fields of these and of the first results, by id.
        unread: the reasons if a model did not read the results.
    """

    wanted: Wanted
    pinned: Pinned
    results: Sequence[Ranked]
    found: Found
    shown: Sequence[Ranked]
    payloads: Mapping[str, Mapping[str, Any]]
    unread: str


class _Answered(NamedTuple):
    """A page, the judgement of its answer, and the look behind it."""

    page: Page
    judgement: Judgement
    look: _Look

    def first(self) -> list[Result]:
        """Return the first results of the answer, on any page."""
        entries = (entry.candidate for entry in self.look.results[:TELLING])
        found = [(it.path, self.look.payloads[it.id]) for it in entries if it.id in self.look.payloads]
        metadata = [(path, it, it.get("metadata", {})) for path, it in found]
        return [Result(path, str(it.get("text", "")), told.get("source_type", "")) for path, it, told in metadata]


def _look(searching: Searching, asked: _Asked, first: int, end: int) -> _Look:
    """Look for results, again where an update ended meanwhile and replaced some of them."""
    generation, names = searching.generation, asked.names
    mode = asked.query.mode if asked.vectors else SearchMode.LEXICAL
    wanted, pinned = Wanted(names.question, mode, asked.vectors, point_filter(generation, asked.query)), NOTHING
    if asked.is_pinning:
        pinned = pinned_by(asked.lookup, names, wanted.keep, searching.root)
        pinned = pinned if pinned.ids else project_files(asked.lookup, names.question, wanted.keep)
    for _ in range(_ATTEMPTS):
        commits = generation.manifest.commits
        results, found, unread = _looked(searching, asked, wanted, pinned, end)
        page = falling(results[:end])[first:]
        read = {entry.candidate.id: None for entry in chain(page, results[:_JUDGED])}
        payloads = generation.store.payloads([*read], SHOWN)
        shown = [entry for entry in page if entry.candidate.id in payloads]
        # A chunk without a row or a text was replaced during the search, if an update ended meanwhile.
        if (found.is_whole and len(shown) == len(page)) or generation.manifest.commits == commits:
            break
    return _Look(wanted, pinned, results, found, shown, payloads, unread)


def _judgement(generation: Generation, asked: _Asked, look: _Look) -> tuple[Judgement, str]:
    """Judge how far to rely on an answer; the second value is the reason if the judgement is less sure."""
    if asked.example:
        return Judgement(Confidence.HIGH), ""
    names, evidence = asked.names, look.found.evidence
    cosines = dict(zip(asked.vectors, evidence.dense, strict=False))
    of_kinds = bool(asked.query.kinds)
    seen = Seen(look.results[:_JUDGED], look.payloads, cosines, evidence.terms, of_kinds, evidence.likely)
    chunks = generation.manifest.chunk_count()
    topic, keep = names.question.topic, look.wanted.keep
    is_sought = asked.is_pinning and not (keep and (keep.sources or keep.issues or keep.kinds))
    is_lacking = topic is not None and not topic.is_of_code and is_sought and not look.pinned.ids
    return judged(
        names.question,
        seen,
        chunks,
        names.note,
        is_file_missing=names.is_file_missing or is_lacking,
        is_route_missing=names.is_route_missing,
        is_of_others=is_sought and not look.pinned.ids and is_of_others(generation, names.question, seen, asked.root),
    )


def _looked(
    searching: Searching, asked: _Asked, wanted: Wanted, pinned: Pinned, end: int
) -> tuple[list[Ranked], Found, str]:
    """Look as deep as `end` results need.

    Words and a reranker order the first look alone; results of deeper ones follow it.

    Returns:
        The results, the last look, and the reasons if a model did not read the results.
    """
    generation, question, example = searching.generation, wanted.question, asked.example
    weights = by_meaning(question) if wanted.mode is SearchMode.SEMANTIC else weights_for(question)
    results: list[Ranked] = []
    late = ""
    for times in _DEPTHS:
        ranked: Sequence[Ranked]
        if example:
            found = for_example(generation, wanted, example, times)
            ranked = rank(question, found.evidence, ALIKE, pinned.ids)
        else:
            found = for_question(generation, wanted, times, pinned.ids)
            ranked = rank(question, found.evidence, weights, pinned.ids)
            if times == 1:
                ranked, late = _reordered_by_models(searching, asked, wanted, pinned, ranked)
            if asked.query.mode is not SearchMode.SEMANTIC:
                ranked = _named_first(generation, question, asked.query, found, ranked, pinned)
        results = [*results, *_new(ranked, results)] if results else [*ranked]
        if len(results) > end or not found.is_cut:
            break
    return results, found, late


def _reordered_by_models(
    searching: Searching, asked: _Asked, wanted: Wanted, pinned: Pinned, ranked: Sequence[Ranked]
) -> tuple[Sequence[Ranked], str]:
    """Order the results by the reader, then by the reranker; the second value is the reasons if one failed."""
    failed = ""
    is_readable = wanted.mode is SearchMode.HYBRID and all(it.startswith(KNOWN_SPACE) for it in wanted.vectors)
    # Lines asked for come first, in the order found; the results behind them are not reordered.
    if is_readable and not (pinned.ids and asked.names.routed):
        ranked, failed = _read_again(searching, wanted.question, ranked)
    ranked, later = _reranked(searching, wanted.question.said, ranked)
    return ranked, _joined(" ", failed, later)


def _named_first(
    generation: Generation, question: Question, query: Query, found: Found, ranked: Sequence[Ranked], pinned: Pinned
) -> Sequence[Ranked]:
    """Put definitions of the name asked for first, and before them the places."""
    exact = exact_first(question, ranked, found.evidence.mentioning)
    exact = without_other_kinds(generation, question, ranked, exact, query.kinds)
    exact = definitions_first(generation, question, exact) if question.symbol else exact
    return pinned_first(exact, pinned.ids)


def _vectors_of(example: Example, query: Query) -> tuple["Vectors", str]:
    """Return the vectors of a place, and the reason if there are none although they were asked for."""
    if query.mode is SearchMode.LEXICAL:
        return {}, ""
    is_lacking = query.mode is SearchMode.SEMANTIC and not example.vectors
    return example.vectors, f"{example.label} has no vector" if is_lacking else ""


@traced("cqm.embed_question")
def embedded(searching: Searching, query: Query) -> tuple["Vectors", str]:
    """Embed the question for each space; the second value is the reason if a vector is missing."""
    if query.mode is SearchMode.LEXICAL:
        return {}, ""
    if searching.routes is None:
        return {}, "no embedding provider is configured" if query.mode is SearchMode.SEMANTIC else ""
    spaces = searching.generation.manifest.spaces()
    if not spaces:
        # An empty index is told as such.
        return {}, "no chunk has a vector yet" if searching.generation.manifest.chunk_count() else ""
    question = searching.routes.embed_question(query.text, spaces)
    reasons = [f"the vectors of {spaces[name]} were not searched: {why}" for name, why in question.missing.items()]
    return question.vectors, "; ".join(reasons)


@traced("cqm.read_again")
def _read_again(searching: Searching, question: Question, ranked: Sequence[Ranked]) -> tuple[Sequence[Ranked], str]:
    """Reorder the first results of a sentence, by their words, then by the reader.

    Names and topics keep their order: see `LEAST_SENTENCE`. The second value is the reason if the reader failed.
    """
    options, generation = searching.rerank, searching.generation
    if question.symbol or question.sentence < LEAST_SENTENCE or not ranked:
        return ranked, ""

    def texts(some: Sequence[Ranked]) -> Sequence[str]:
        payloads = partial(generation.store.payloads, fields=_READ)
        return generation.candidates.texts([entry.candidate for entry in some], payloads)

    if options.words:
        ranked = read_again(question, ranked, texts(ranked[:DEPTH]))
    if not options.reader:
        return ranked, ""
    try:
        return read_together(question, ranked, texts(ranked[:READ])), ""
    except EmbeddingError as error:
        return ranked, f"The reader did not read: {error}"


@traced("cqm.rerank")
def _reranked(searching: Searching, question: str, ranked: Sequence[Ranked]) -> tuple[Sequence[Ranked], str]:
    """Rerank the first results; the second value is the reason if a configured reranker failed."""
    reranker, options = searching.reranker, searching.rerank
    head = [entry.candidate.id for entry in ranked[: options.depth]]
    if reranker is None or not head:
        return ranked, ""
    payloads = searching.generation.store.payloads(head, _READ)
    texts = [_read_text(payloads.get(name, {})) for name in head]
    try:
        with searching.turns.away() if searching.turns else nullcontext():
            scores = reranker.scores(question, texts, options.deadline_seconds)
    except RerankError as error:
        return ranked, f"The results are not reranked: {error}"
    return reordered(ranked, scores, options.weight), ""


def _read_text(payload: Mapping[str, Any]) -> str:
    """Return the text of a chunk for a reranker: its path, then the text shown to people."""
    return f"{payload.get('path', '')}\n{payload.get('content') or payload.get('text', '')}"


def _new(ranked: Iterable[Ranked], before: Iterable[Ranked]) -> list[Ranked]:
    """Return the results of a deeper look without those found before, or of the same text."""
    known = {text for entry in before for text in _identity(entry)}
    return [entry for entry in ranked if known.isdisjoint(_identity(entry))]


def _identity(entry: Ranked) -> tuple[str, str]:
    return entry.candidate.id, entry.candidate.digest or entry.candidate.id
