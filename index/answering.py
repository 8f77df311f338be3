"""Everything an open index can be asked: searches, usages, outlines, readings, changes, and its status."""

import math
import time
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from cqm.index.disk.locations import note_use
from cqm.index.generations.current import Lineage
from cqm.index.generations.generation import Generation
from cqm.index.model.options import IndexOptions
from cqm.index.model.query import Answer, FileProblem, FileState, Query
from cqm.index.model.secrets import RedactedFile
from cqm.index.model.status import IndexStatus
from cqm.index.search.answer_cache import AnswerCache
from cqm.index.search.fairness import Turns
from cqm.index.services import Services
from cqm.index.status.running import Runs
from cqm.index.status.status import building_beside, describe, going_on
from cqm.index.update.plan import count_differing
from cqm.index.update.vectorizer import with_models
from cqm.index.workers import Workers

if TYPE_CHECKING:
    from cqm.index.model.changes import Changes, ChangesQuery
    from cqm.index.model.symbols import Outline, OutlineQuery, Reading, ReadQuery
    from cqm.index.model.uses import ReferenceGroup, SymbolUses
    from cqm.index.questions import Questions

_USE_NOTED_EVERY_SECONDS = 60.0


class AnsweringIndex:
    """The question-answering side of an open index. Its methods may be called from any thread.

    Parameters:
        lineage: its generations; the serving one answers.
    """

    def __init__(
        self, root: Path, options: IndexOptions, folder: Path, lineage: Lineage, services: Services, workers: Workers
    ) -> None:
        self.root = root
        self.options = options
        self.folder = folder
        self._lineage = lineage
        self._services = services
        self._workers = workers
        self._runs = Runs(folder)
        self._answers = AnswerCache(services.cache, options)
        self._turns = Turns()
        self._questions_lock = Lock()
        self._questions: Questions | None = None
        self._used_at = -math.inf

    def search(self, query: Query) -> Answer:
        """Answer a query from the index as it is now.

        Raises:
            QueryError: a parameter of the query is not valid.
            StoreError, ManifestError: the index cannot be read.
        """
        self._note_use()
        with self._lineage.reading() as serving:
            return self._asked().search(serving, query)

    def _asked(self) -> "Questions":
        """Return the answerer of questions, loaded on first use: .2 s that an index only updated is spared."""
        with self._questions_lock:
            if self._questions is None:
                from cqm.index.questions import Questions  # start-up time

                parts = (self._services, self._workers, self._answers, self._turns)
                self._questions = Questions(self.root, self.options, *parts)
            return self._questions

    def usages(
        self, name: str, limit: int = 50, cursor: str = "", groups: "tuple[ReferenceGroup, ...]" = (), depth: int = 1
    ) -> "SymbolUses":
        """Return the definitions of a symbol and every line with its name; for the parameters see `UsesQuery`.

        Raises:
            QueryError: the name is no symbol's, its place has none, or another parameter is out of range.
            StoreError, ManifestError: the index cannot be read.
        """
        self._note_use()
        with self._lineage.reading() as serving:
            return self._asked().usages(serving, name, limit, cursor, groups, depth)

    def outline(self, query: "OutlineQuery") -> "Outline":
        """List the symbols of a file, or the most used symbols of a folder.

        Raises:
            QueryError: the limit or the cursor is out of range.
            NotIndexedError: the path is left out of the index; the message has the reason.
            StoreError, ManifestError: the index cannot be read.
        """
        self._note_use()
        with self._lineage.reading() as serving:
            return self._asked().outline(serving, query)

    def paths(self, part: str, limit: int = 100) -> tuple[str, ...]:
        """List indexed files with a text in their path, in any case of ASCII; those beginning with it come first.

        Raises:
            ManifestError: the index cannot be read.
        """
        self._note_use()
        with self._lineage.reading() as serving:
            return tuple(serving.manifest.paths_with(part, limit))

    def read(self, query: "ReadQuery") -> "Reading":
        """Read a symbol, lines or a file as it is now; see `Reader.read` for the errors."""
        self._note_use()
        with self._lineage.reading() as serving:
            return self._asked().read(serving, query)

    def changes(self, query: "ChangesQuery") -> "Changes":
        """Find the commits a question means, and the present lines of the first; see `find_changes`."""
        self._note_use()
        with self._lineage.reading() as serving:
            return self._asked().changes(serving, query)

    def status(self, *, look: bool = False) -> IndexStatus:
        """Return the state of the index. To look compares it with the files on disk, which costs a scan."""
        with self._lineage.reading() as serving:
            return self._status(serving, look=look)

    def _status(self, serving: Generation, *, look: bool) -> IndexStatus:
        # First: work which ends during the counting then shows beside old counts, instead of missing beside them.
        running, stopped = self._runs.running(), self._runs.stopped()
        pending = count_differing(self.root, serving, self.options) if look else None
        found = describe(self.root, self.folder, serving.manifest, pending, self._answers.statistics(serving))
        found = with_models(found, self._services.routes, serving.manifest)
        found = replace(found, cache=self._services.cache.layers())
        building = building_beside(self.folder, serving.name, self._lineage.building, running, self.options)
        return going_on(found, running, stopped, building)

    def secrets(self) -> tuple[RedactedFile, ...]:
        """Return the files with redacted secrets: line and kind of each, never its value."""
        with self._lineage.reading() as serving:
            return serving.manifest.secrets()

    def skipped(self) -> tuple[FileProblem, ...]:
        """Return skipped files and folders with their reasons."""
        with self._lineage.reading() as serving:
            return serving.manifest.problems(FileState.SKIPPED)

    def _note_use(self) -> None:
        """Note the use of the index for `make_room`, at most once a minute: it costs a write."""
        now = time.monotonic()
        if now - self._used_at > _USE_NOTED_EVERY_SECONDS:
            self._used_at = now
            note_use(self.folder)
