"""The questions to an open index; `AnsweringIndex` loads this module with the first one."""

from dataclasses import replace
from pathlib import Path

from cqm.index.generations.generation import Generation
from cqm.index.model.changes import Changes, ChangesQuery
from cqm.index.model.options import IndexOptions
from cqm.index.model.query import Answer, Query
from cqm.index.model.symbols import Outline, OutlineQuery, Reading, ReadQuery
from cqm.index.model.uses import ReferenceGroup, SymbolUses, UsesQuery
from cqm.index.search.answer_cache import AnswerCache
from cqm.index.search.fairness import Turns
from cqm.index.search.grep import Grepping, KnownFiles, find_lines
from cqm.index.search.page import Page, answer_of
from cqm.index.search.search import Searching, find
from cqm.index.search.symbols import FreshFiles, Histories, Reader, find_changes, outline
from cqm.index.search.usages import RecentNames, find_usages
from cqm.index.services import Services
from cqm.index.status.status import freshness
from cqm.index.workers import Workers


class Questions:
    """Answers questions from a generation kept open meanwhile. Its methods may be called from any thread.

    Parameters:
        turns: whose turn a search is.
    """

    def __init__(
        self,
        root: Path,
        options: IndexOptions,
        services: Services,
        workers: Workers,
        answers: AnswerCache,
        turns: Turns,
    ) -> None:
        self._root = root
        self._options = options
        self._services = services
        self._workers = workers
        self._answers = answers
        self._turns = turns
        self._recent = RecentNames()
        self.known = KnownFiles()
        self._fresh = FreshFiles(root, options.scan, options.chunk)

    def search(self, serving: Generation, query: Query) -> Answer:
        """See `AnsweringIndex.search`, also for the errors; likewise below."""
        # The files decide, and may differ from the index at any time: nothing of such an answer is kept.
        key = "" if query.mode.is_of_lines else self._answers.key(serving, query)
        answer = self._answers.get(key) if key else None
        if answer is None:
            page = self._lines(serving, query) if query.mode.is_of_lines else self._best(serving, query)
            answer = answer_of(page, serving.manifest)
            if key:
                self._answers.put(key, answer)
        return replace(answer, freshness=freshness(self._root, serving.manifest))

    def _best(self, serving: Generation, query: Query) -> Page:
        models, reranker = self._services.questions.of(serving), self._services.reranker
        # A server's searches cost this processor little, and may hang.
        turns = self._turns if serving.store.in_folder else None
        return find(Searching(serving, models, reranker, self._options.rerank, turns, str(self._root)), query)

    def _lines(self, serving: Generation, query: Query) -> Page:
        return find_lines(Grepping(serving, self._root, self._options.scan, self._workers, self.known), query)

    def usages(
        self,
        serving: Generation,
        name: str,
        limit: int,
        cursor: str,
        groups: tuple[ReferenceGroup, ...],
        depth: int,
    ) -> SymbolUses:
        """See `AnsweringIndex.usages`."""
        query = UsesQuery(name, limit, cursor, groups, depth)
        return find_usages(serving, self._workers, query, self._recent, str(self._root))

    def outline(self, serving: Generation, query: OutlineQuery) -> Outline:
        """See `AnsweringIndex.outline`."""
        return outline(serving, self._root, self._options.scan, query)

    def read(self, serving: Generation, query: ReadQuery) -> Reading:
        """See `AnsweringIndex.read`."""
        return Reader(serving, self._workers, self._fresh).read(query)

    def changes(self, serving: Generation, query: ChangesQuery) -> Changes:
        """See `AnsweringIndex.changes`."""
        return find_changes(Histories(serving, self._workers, self._fresh), query)
