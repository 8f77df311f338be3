"""Faults of a model's service, what the user sees of each, and what the index holds: a row a fault.

After each of them the index equals one that met no fault, once the service is well.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from scripted_server import Reply, Request, ScriptedServer
from stored_vectors import stored_spaces

from cqm.index.engine import Index
from cqm.index.model.options import CacheOptions, EmbeddingOptions, IndexOptions, RouteOptions
from cqm.index.model.query import Query, SearchMode

pytestmark = pytest.mark.processes

TEXT = "def {name}(value):\n    total = 0\n" + "    total += value  # {name} adds\n" * 40 + "    return total\n"
QUOTA = {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}
CONTEXT = {"error": {"message": "This model's maximum context is 8192 tokens", "code": "context_length_exceeded"}}
ALL, NONE, ALL_BUT_ONE = "all", "none", "all but one"


@dataclass(frozen=True)
class Fault:
    """A row.

    Attributes:
        name: of the fault.
        replies: to the first requests for vectors of the tree; after these it is well.
        rule: a reply to requests as long as the service is not mended.
        vectors: what it embeds texts to as long as it is not mended.
        sees: what the reason of a failed file says; empty where no file fails.
        holds: which files have vectors while the service is not mended.
    """

    name: str
    replies: Sequence[Reply] = ()
    rule: Callable[[Request], Reply | None] = lambda _: None
    vectors: Callable[[list[str]], list[list[float]]] | None = None
    sees: str = ""
    holds: str = ALL


def right(texts: list[str]) -> list[list[float]]:
    return [[float(len(text)), 1.0, 2.0, float(sum(map(ord, text)) % 89)] for text in texts]


def one_is_nan(texts: list[str]) -> list[list[float]]:
    return [[float("nan")] * 4 if "gather_2" in text else row for text, row in zip(texts, right(texts), strict=True)]


def too_long(request: Request) -> Reply | None:
    # Its context is 900 characters: a whole file is refused, its parts are not.
    return Reply(400, json.dumps(CONTEXT)) if any(len(text) > 900 for text in request.texts) else None


FAULTS = [
    Fault("429 with Retry-After", [Reply(429, "{}", {"Retry-After": "0.1"})]),
    Fault("429 without Retry-After", [Reply(429, "{}")]),
    Fault("the quota is used up", rule=lambda _: Reply(429, json.dumps(QUOTA)), sees=r"quota.*billing", holds=NONE),
    Fault("texts over the context", rule=too_long),
    Fault("a hang", [Reply(hangs=True)]),
    Fault("half a body", [Reply(body='{"data": [', announced=400)]),
    Fault("a fault of the server", [Reply(500, "{}")]),
    Fault("a wrong count", vectors=lambda texts: right(texts)[1:], sees=r"\d vectors for \d texts", holds=NONE),
    Fault("a vector that is no number", vectors=one_is_nan, sees="no usable vector", holds=ALL_BUT_ONE),
    Fault(
        "wrong dimensions",
        vectors=lambda texts: [row[:2] if "total" in texts[0] else row for row in right(texts)],
        sees="2 dimensions, not of 4",
        holds=NONE,
    ),
    Fault("a key that is refused", rule=lambda _: Reply(401, "{}"), sees=r"answered 401", holds=NONE),
]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    for number in range(4):
        (root / f"part_{number}.py").write_text(TEXT.format(name=f"gather_{number}"))
    return root


@pytest.fixture
def opened(tree: Path, tmp_path: Path, server: ScriptedServer) -> Callable[[str], Index]:
    server.vectors = right

    def opened(home: str, url: str = "") -> Index:
        model = EmbeddingOptions("openai", "tiny", f"{url or server.url}/v1", timeout_seconds=4.0, concurrency=1)
        routes = RouteOptions(retry_seconds=0.0)
        no_cache = CacheOptions(enabled=False)
        options = IndexOptions(tmp_path / home, workers=1, embedding=model, routes=routes, cache=no_cache)
        return Index.open(tree, options)

    return opened


def held(index: Index) -> dict[str, str]:
    """The space of each chunk's stored vector, empty for none, by path and first line."""
    generation = index._lineage.serving
    stored = stored_spaces(index)
    rows = generation.manifest.chunks(stored).values()
    assert all(stored[row.id] == row.space for row in rows)
    return {f"{row.path}:{row.start_line}": row.space for row in rows}


@pytest.mark.fault("model fails")
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_after_a_fault_the_user_knows_and_the_index_becomes_what_it_should_be(
    fault: Fault, opened: Callable[[str], Index], server: ScriptedServer
) -> None:
    with opened("clean") as index:
        index.update()
        clean = held(index)
    with opened("faulty") as index:
        # The model is met before anything goes wrong with the files.
        index.search(Query("anything"))
        index._services.routes.preferred("code")  # type: ignore[union-attr,arg-type]
        server.replies, server.rule = list(fault.replies), fault.rule
        server.vectors = fault.vectors or right
        summary = index.update()
        missing = [name for name, space in held(index).items() if not space]
        assert len(missing) == {ALL: 0, NONE: len(clean), ALL_BUT_ONE: 1}[fault.holds]
        assert bool(summary.failed) == bool(missing)
        assert all(re.search(fault.sees, problem.reason) for problem in summary.failed)
        # Whatever is missing, words find it, and an answer that lacks vectors says so.
        answer = index.search(Query("gather_3"))
        assert answer.hits[0].path == "part_3.py"
        assert (answer.mode is SearchMode.HYBRID) == (fault.holds != NONE)
        assert bool(answer.degraded) == (fault.holds == NONE)
        server.replies, server.rule, server.vectors = [], lambda _: None, right
        assert index.update().failed == ()
        assert index.status().lacking == 0
        assert held(index) == clean


def test_a_service_that_goes_away_in_the_middle_of_a_run_and_comes_back_later(
    opened: Callable[..., Index], serve: Callable[..., ScriptedServer], tree: Path
) -> None:
    gone = serve()
    gone.vectors = right
    with opened("home", gone.url) as index:
        index.update()
        complete = held(index)
        gone.close()
        for path in tree.iterdir():
            path.write_text(path.read_text().replace("adds", "puts"))
        summary = index.update()
        assert len(summary.failed) == len(complete)
        assert "connection" in summary.failed[0].reason.lower()
        assert gone.url.removeprefix("http://") in summary.failed[0].reason
        assert index.search(Query("gather_1 puts")).hits[0].path == "part_1.py"
        back = serve(gone.port)
        back.vectors = right
        assert index.update().failed == ()
        assert held(index) == complete
