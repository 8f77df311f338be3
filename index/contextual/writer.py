"""Write contexts for a document's chunks with a model; chunks left without one use the rules.

Chunks shown the same part of their document share a beginning. One of them is sent first, alone, and the others
together after it: by then the provider has cached the beginning.
"""

import hashlib
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from cqm.chunkers.errors import CqmError
from cqm.chunkers.model import Chunk
from cqm.index.contextual.chat import Chat, Reply
from cqm.index.contextual.cleaning import cleaned, uselessness
from cqm.index.contextual.prompt import Prompt, cut_windows, document_language, prompt_of
from cqm.index.contextual.spending import Spending
from cqm.index.contextual.workers import Health, Workers
from cqm.index.model.errors import ContextError
from cqm.index.model.options import ContextOptions
from cqm.index.model.progress import Usage
from cqm.index.remote.retries import RetryPolicy, with_retries

if TYPE_CHECKING:
    from cqm.index.cache.base import Cache

CACHE_KIND = "contexts"
_CLOSED = "The writer was closed."
WHOLE_SHARE = 0.9
"""A chunk with this share of its document needs no context."""


@dataclass(frozen=True, slots=True)
class Written:
    """The contexts of a document's chunks.

    Attributes:
        notes: one per chunk, in order; "" if the rules must do.
        problem: reason for missing contexts; empty if none is missing.
        failed: positions of chunks worth trying again. For the others the model gave a useless answer or refused, and
            would do so again.
    """

    notes: tuple[str, ...]
    problem: str = ""
    failed: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a prompt: a context, or the reason for having none and whether it is final."""

    note: str = ""
    problem: str = ""
    is_final: bool = False


@dataclass(frozen=True, slots=True)
class ContextWriter:
    """Writes contexts through one model. Its methods may be called from several threads at once.

    Attributes:
        cache: stores contexts; None for no cache.
        health: whether the service is left alone.
        workers: one thread for each request allowed at once.
    """

    name: str
    options: ContextOptions
    chat: Chat
    cache: "Cache | None"
    retries: RetryPolicy
    spending: Spending
    health: Health
    workers: Workers[Outcome]

    def write(self, path: str, text: str, chunks: Sequence[Chunk]) -> Written:
        """Return the contexts of a document's chunks. Errors of the service are part of the result, not raised.

        A chunk covering nearly the whole document gets none: there is nothing to situate it in.

        Parameters:
            path: of the document, relative to the root.
            chunks: all of its chunks, or some: the choice doesn't change a chunk's context.
        """
        prompts = self._prompts(path, text, chunks)
        outcomes = self._cached({self._key(prompt): prompt for prompt in prompts.values()})
        fresh = {self._key(prompt): prompt for prompt in prompts.values() if self._key(prompt) not in outcomes}
        outcomes |= self._written(fresh)
        return _in_order(len(chunks), {index: outcomes[self._key(prompt)] for index, prompt in prompts.items()})

    @property
    def is_ready(self) -> bool:
        """Whether asking makes sense now: the service may be asked, and the budget isn't used up."""
        return self.health.is_good and not self.spending.is_spent

    def usage(self) -> Usage:
        """Return the usage since the writer was opened."""
        return self.spending.usage()

    def close(self) -> None:
        """Close threads and connections for good, without waiting for requests under way."""
        self.workers.close()
        self.chat.close()

    def _prompts(self, path: str, text: str, chunks: Sequence[Chunk]) -> dict[int, Prompt]:
        """Prompts by the positions of the chunks needing one."""
        windows = cut_windows(text, self.options.window_tokens)
        language = document_language(text, chunks[0].metadata.source_type) if chunks else ""
        enough = WHOLE_SHARE * len(text.strip())
        return {
            index: prompt_of(path, windows.around(chunk.start, chunk.end), chunk, language, self.options.max_tokens)
            for index, chunk in enumerate(chunks)
            if len(chunk.text.strip()) < enough
        }

    def _key(self, prompt: Prompt) -> str:
        """Cache key of a context: writer, length, and everything else it depends on."""
        return f"{self.name}/{self.options.max_tokens}/{_digest(prompt.document)}/{_digest(prompt.question)}"

    def _cached(self, prompts: Mapping[str, Prompt]) -> dict[str, Outcome]:
        if self.cache is None or not prompts:
            return {}
        found = self.cache.get(CACHE_KIND, list(prompts))
        # Others may have written to the cache, so entries are cleaned like answers.
        notes = {
            key: cleaned(value.decode("utf-8", "replace"), self.options.max_tokens) for key, value in found.items()
        }
        return {key: Outcome(note) for key, note in notes.items() if note}

    def _written(self, prompts: Mapping[str, Prompt]) -> dict[str, Outcome]:
        outcomes = {}
        for key, outcome in self._asked(prompts):
            outcomes[key] = outcome
            if outcome.note and self.cache is not None:
                # One by one: contexts paid for must survive a killed process.
                self.cache.put(CACHE_KIND, {key: outcome.note.encode()})
        return outcomes

    def _asked(self, prompts: Mapping[str, Prompt]) -> Iterator[tuple[str, Outcome]]:
        """Ask all prompts, the first of each beginning before the others; yield answers as they come."""
        groups: dict[str, list[str]] = defaultdict(list)
        for key, prompt in prompts.items():
            groups[prompt.document].append(key)
        under_way: dict[Future[Outcome], list[str]] = {}
        for keys in groups.values():
            under_way[self.workers.submit(partial(self._ask, prompts[keys[0]]))] = keys
        try:
            while under_way:
                for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                    first, *rest = under_way.pop(future)
                    under_way |= {self.workers.submit(partial(self._ask, prompts[key])): [key] for key in rest}
                    yield first, future.result()
        finally:
            for future in under_way:
                future.cancel()

    def _ask(self, prompt: Prompt) -> Outcome:
        if self.workers.is_closed:
            return Outcome(problem=_CLOSED)
        most = self.spending.set_aside(prompt)
        if most is None:
            return Outcome(problem=f"The budget of {self.options.budget_usd:g} USD is used up.")
        try:
            return self._ask_healthy(prompt)
        finally:
            self.spending.settle(most)

    def _ask_healthy(self, prompt: Prompt) -> Outcome:
        if problem := self.health.problem():
            return Outcome(problem=problem)
        try:
            reply = with_retries(lambda: self._ask_once(prompt), self.retries)
        except CqmError as error:
            return Outcome(problem=str(error), is_final=self.health.failed(error))
        self.health.worked()
        return self._judged(prompt, reply)

    def _ask_once(self, prompt: Prompt) -> Reply:
        if self.workers.is_closed:  # closed while waiting for a turn or a retry
            raise ContextError(_CLOSED)
        began = time.perf_counter()
        try:
            reply = self.chat.ask(prompt)
        finally:
            self.spending.count_seconds(time.perf_counter() - began)
        self.spending.count(prompt, reply)
        return reply

    def _judged(self, prompt: Prompt, reply: Reply) -> Outcome:
        note = cleaned(reply.text, self.options.max_tokens, is_cut=reply.is_cut)
        if problem := uselessness(note, prompt.part, prompt.task):
            return Outcome(problem=problem, is_final=True)
        self.spending.count_written()
        return Outcome(note)


def _in_order(count: int, outcomes: Mapping[int, Outcome]) -> Written:
    notes = tuple(outcomes.get(index, Outcome()).note for index in range(count))
    reasons = Counter(outcome.problem for outcome in outcomes.values() if outcome.problem)
    if not reasons:
        return Written(notes)
    failed = tuple(index for index, outcome in sorted(outcomes.items()) if outcome.problem and not outcome.is_final)
    missing, reason = reasons.total(), reasons.most_common(1)[0][0]
    return Written(notes, f"{missing} of {count} chunks have no written context: {reason}", failed)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
