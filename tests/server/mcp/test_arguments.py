"""Arguments as agents write them: other servers' names, one value for a list, null for nothing; others are refused."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client

from cqm.chunkers.tokens import estimate
from cqm.server.config.settings import load_settings
from cqm.server.mcp.allowed_paths import make_guard
from cqm.server.mcp.app import INSTRUCTIONS, make_server

pytestmark = [pytest.mark.anyio, pytest.mark.processes]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@asynccontextmanager
async def connected(folder: Path) -> AsyncIterator[Client]:
    for path, text in {
        "retry.py": "def limit_retries(attempts):\n    return attempts < 5\n",
        "retry.go": "package a\n\nfunc LimitRetries(attempts int) bool {\n\treturn attempts < 5\n}\n",
    }.items():
        (folder / "tree").mkdir(exist_ok=True)
        (folder / "tree" / path).write_text(text)
    settings = load_settings(
        overrides={"index.home": str(folder / "home"), "index.shared": False, "embedding.provider": "none"},
        environment={},
        user=folder / "no-file.yml",
    )
    guard = make_guard([folder / "tree"], working=folder, ask_clients=False)
    async with Client(make_server(settings, guard), mode="auto") as client:
        yield client


async def said(client: Client, tool: str, arguments: dict[str, Any]) -> tuple[bool, str]:
    result = await client.call_tool(tool, arguments)
    return bool(result.is_error), getattr(result.content[0], "text", "")


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": "limit retries", "language": ["go"], "limit": 1},
        {"query": "limit retries", "language": "go", "limit": 1},
        {"query": "limit retries", "languages": ["golang"], "max_results": 1},
        {"q": "limit retries", "lang": "go", "top_k": 1, "mode": None, "cursor": None},
        {"query": "limit retries", "glob": "*.go", "k": 1, "path": None},
    ],
)
async def test_an_argument_that_can_be_meant_in_one_way_is_understood(
    tmp_path: Path, arguments: dict[str, Any]
) -> None:
    async with connected(tmp_path) as client:
        is_error, text = await said(client, "search", arguments)
        assert not is_error, text
        assert text.startswith("1 result for")
        assert "LimitRetries (function)" in text


@pytest.mark.parametrize(
    ("tool", "arguments", "complaint"),
    [
        (
            "search",
            {"query": "x", "limitt": 3},
            "`search` has no argument `limitt`. Did you mean `limit`?",
        ),
        ("search", {"query": "x", "verbosity": 3}, "`search` has no argument `verbosity`. It has: query, like, path,"),
        ("search", {"query": "x", "limit": 3, "top_k": 4}, "`search` got `limit` twice, once as `top_k`."),
        ("search", {"query": "x", "max_resluts": 2}, "`search` has no argument `max_resluts`. Did you mean `limit`?"),
        ("search", {"query": 404, "limit": 0}, "`search` does not take this. `limit` 0: input should be greater than"),
        (
            "search",
            {"query": "x", "mode": "fuzzy"},
            "`search` does not take this. `mode` 'fuzzy': input should be 'hyb",
        ),
        ("usages", {}, "`usages` does not take this. `name` is missing."),
        ("search", {"query": "x", "page": 2}, "`search` has no argument `page`."),
        ("index_status", {"query": "x"}, "`index_status` has no argument `query`."),
    ],
)
async def test_an_argument_of_no_tool_is_refused_with_the_nearest(
    tmp_path: Path, tool: str, arguments: dict[str, Any], complaint: str
) -> None:
    async with connected(tmp_path) as client:
        is_error, text = await said(client, tool, arguments)
        assert is_error
        assert text.startswith(complaint)
        assert "pydantic" not in text


async def test_schemas_say_nothing_that_tells_a_model_nothing(tmp_path: Path) -> None:
    async with connected(tmp_path) as client:
        tools = (await client.list_tools()).tools
    schemas = {tool.name: tool.input_schema for tool in tools}
    assert all(schema["additionalProperties"] is False for schema in schemas.values())
    for word in ('"title"', '"null"', '"default": null'):
        assert word not in json.dumps(schemas)
    assert schemas["search"]["properties"]["language"]["type"] == "array"
    assert schemas["usages"]["required"] == ["name"]
    listed = json.dumps([tool.model_dump(by_alias=True, exclude_none=True) for tool in tools])
    assert estimate(listed) + estimate(INSTRUCTIONS) < 2_400


async def test_search_and_usages_stand_in_the_first_request_of_a_client_that_defers_tools(tmp_path: Path) -> None:
    async with connected(tmp_path) as client:
        told = {tool.name: tool.meta or {} for tool in (await client.list_tools()).tools}
    assert {name for name, meta in told.items() if meta.get("anthropic/alwaysLoad")} == {"search", "usages"}
    assert all(told[name]["anthropic/searchHint"] for name in ("search", "usages"))
