"""The budget of a process for documents, also when several threads spend it."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

import pytest

from cqm.index.cache import open_cache
from cqm.index.embedding import open_embedder
from cqm.index.embedding.budget import DocumentBudget
from cqm.index.embedding.cached import CachedEmbedder
from cqm.index.embedding.service.service import Role
from cqm.index.model.errors import BudgetError
from cqm.index.model.options import CacheOptions, EmbeddingOptions

if TYPE_CHECKING:
    from scripted_server import Request, ScriptedServer

PRICE = 1000.0
TEXT = "x" * 400
"""0.4 dollars, by the server that counts a token a character."""

Connect = Callable[[float], CachedEmbedder]


@pytest.fixture
def connect(server: "ScriptedServer") -> Iterator[Connect]:
    """Open embedders with a budget over the server, met already."""
    opened: list[CachedEmbedder] = []

    def open_one(usd: float) -> CachedEmbedder:
        options = EmbeddingOptions("ollama", "tiny", server.url, concurrency=4, usd_per_million_tokens=PRICE)
        embedder = open_embedder(options, variables=os.environ)
        assert embedder is not None
        budget = DocumentBudget(usd, PRICE, lambda: embedder.usage(Role.DOCUMENT).usd)
        opened.append(CachedEmbedder(embedder, open_cache(CacheOptions(enabled=False), Path("unused"), {}), budget))
        opened[-1].space()
        return opened[-1]

    yield open_one
    for embedder in opened:
        embedder.close()


def test_threads_together_keep_to_the_budget(server: "ScriptedServer", connect: Connect) -> None:
    """Once each of them looked at what was spent before any had spent it."""
    asked, released = Event(), Event()
    embedder = connect(1.0)

    def slow(_: "Request") -> None:
        asked.set()
        released.wait(240)

    server.rule = slow
    with ThreadPoolExecutor(8) as pool:
        calls = [pool.submit(embedder.embed_documents, [TEXT]) for _ in range(8)]
        assert asked.wait(240)
        released.set()
        failures = [call.exception(60) for call in calls]
    assert embedder.usage().usd <= 1.0
    assert 1 <= failures.count(None) <= 2
    assert all(failure is None or isinstance(failure, BudgetError) for failure in failures)


def test_what_is_left_is_for_whoever_comes_when_those_under_way_have_settled(connect: Connect) -> None:
    embedder = connect(1.0)
    for _ in range(2):
        embedder.embed_documents([TEXT])
    with pytest.raises(BudgetError, match=r"1 USD is used up: 0\.1\d* are left.* Raise embedding\.budget_usd"):
        embedder.embed_documents([TEXT])


def test_questions_neither_count_nor_are_refused(connect: Connect) -> None:
    embedder = connect(0.6)
    for number in range(5):
        embedder.embed_query(f"{number} {TEXT}")
    assert embedder.usage().usd > 0.6
    assert embedder.embed_documents([TEXT]).indices == (0,)
    assert embedder.embed_query(TEXT)
