"""`cqm index --dry-run`: what an update would cost, without any of it."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from scripted_server import ScriptedServer

if TYPE_CHECKING:
    from conftest import Cqm


@pytest.fixture
def server(serve: Callable[[], ScriptedServer]) -> ScriptedServer:
    return serve()


def model(server: ScriptedServer, usd: str) -> dict[str, str]:
    """The variables of a model with a price."""
    return {
        "CQM_EMBEDDING_PROVIDER": "openai",
        "CQM_EMBEDDING_BASE_URL": f"{server.url}/v1",
        "CQM_EMBEDDING_MODEL": "tiny",
        "CQM_EMBEDDING_USD_PER_MILLION_TOKENS": usd,
    }


def test_chunks_tokens_and_money_are_told_and_nothing_is_asked_or_stored(cqm: "Cqm", server: ScriptedServer) -> None:
    variables = model(server, "500")
    told = cqm.json("index", "--dry-run", **variables)
    assert (told["files"], told["contexts"]) == (3, None)
    assert sum(cost["texts"] for cost in told["embedding"]) == told["chunks"]
    for cost in told["embedding"]:
        assert cost["tokens"] > cost["texts"]
        assert cost["usd"] == pytest.approx(cost["tokens"] * 500 / 1_000_000)
    assert server.requests == []
    assert cqm.json("status", **variables)["chunks"] == 0


def test_the_text_says_the_same(cqm: "Cqm", server: ScriptedServer) -> None:
    told = cqm.json("index", "--dry-run", **model(server, "500"))
    lines = cqm.run("index", "--dry-run", **model(server, "500")).stdout.splitlines()
    usd = sum(cost["usd"] for cost in told["embedding"])
    assert lines == [
        f"{cqm.project}: an update would read 3 files, with {told['chunks']} new or changed chunks",
        *(
            f"  {cost['name']} to embed: {cost['texts']} texts, about {cost['tokens']} tokens, ${cost['usd']:.4f}"
            for cost in told["embedding"]
        ),
        f"  ${usd:.4f} in all at most; texts in the cache cost nothing",
    ]
    cheap = cqm.run("index", "--dry-run", **model(server, "0.02")).stdout
    assert cheap.endswith("  under $0.0001 in all at most; texts in the cache cost nothing\n")
    free = cqm.run("index", "--dry-run", **model(server, "0")).stdout
    assert free.endswith(" tokens, free\n")


def test_a_price_that_nobody_knows_is_said_to_be_unknown(cqm: "Cqm", server: ScriptedServer) -> None:
    variables = model(server, "") | {"CQM_EMBEDDING_PROVIDER": "ollama", "CQM_EMBEDDING_MODEL": "tiny-cloud"}
    done = cqm.run("index", "--dry-run", **variables)
    assert done.stdout.endswith(" tokens, price not known\n")


def test_what_is_indexed_already_costs_nothing(cqm: "Cqm", server: ScriptedServer) -> None:
    variables = model(server, "500")
    assert cqm.run("index", **variables).returncode == 0
    told = cqm.json("index", "--dry-run", **variables)
    assert (told["chunks"], told["embedding"]) == (0, [])


def test_contexts_are_counted_by_themselves(cqm: "Cqm", server: ScriptedServer) -> None:
    variables = {
        "CQM_CONTEXT_PROVIDER": "ollama",
        "CQM_CONTEXT_BASE_URL": server.url,
        "CQM_CONTEXT_MODEL": "tiny",
        "CQM_CONTEXT_USD_PER_MILLION_INPUT": "100",
        "CQM_CONTEXT_USD_PER_MILLION_OUTPUT": "100",
        "CQM_CHUNK_APART": "true",
    }
    contexts = cqm.json("index", "--dry-run", **variables)["contexts"]
    assert contexts["name"].startswith("ollama/tiny@")
    assert contexts["output_tokens"] > 0
    assert " written, $" in cqm.run("index", "--dry-run", **variables).stdout
    assert server.requests == []
